// The deal at the table: the same or another one, saving the game, and more: its seed, the pace, the rules.

import {copyText, element, labelled, panel, pushButton} from "./dom.js";
import {paceChoice} from "./lobby.js";
import {keepSetting, setting} from "./settings.js";
import {playSound} from "./sounds.js";

const AGAIN = [["new", "New deal", null], ["same", "Same deal", "The same cards, or the same board, once more"]];
// How long a button asks whether it is meant, in milliseconds.
const ASKING_MS = 5_000;

/** The panel. `playing`: whether a game is played, not watched. `watch(text)` shows the game of a saved file. */
export function createDeal(send, playing, watch) {
  const seed = element("code", {});
  const seedPart = element("p", {class: "seed", title: "This number deals the same cards, or the same board, again"}, "Seed ", seed);
  const command = element("code", {class: "command"});
  const again = element("div", {class: "row"});
  const copy = pushButton("Copy", () => copyText(command.textContent, copy, command), {
    class: "quiet", "aria-label": "Copy the command",
  });
  const pacePart = labelled("Pace of the agents", paceChoice((seconds) => send({type: "pace", seconds})));
  const rules = element("pre", {class: "rules-text"});
  const commandPart = element("p", {class: "in-terminal"}, "In a terminal: ", command, " ", copy);
  const more = element(
    "details",
    {},
    element("summary", {}, "More"),
    element("div", {class: "row"}, seedPart, pacePart, onOff("motion", "on", "Animations"), onOff("sound", "off", "Sounds", () => playSound("card"))),
    commandPart,
    rules,
  );
  const node = panel(playing ? "This deal" : "This game", "deal", again, more);
  const save = pushButton("Save the game", () => send({type: "save"}));
  let alone = true;
  let under = false; // whether a game is under way
  let reviews = false; // whether the next file is to be reviewed, not kept

  return {node, seated, ended: showSeed, show, take, buttonsAtTheEnd};

  // A saved game holds the cards of all seats: it is available at the end.
  function show(over, begun) {
    under = begun && !over;
    for (const button of again.children) button.disabled = !over && (!alone || button === save);
    save.title = over ? "" : "Available when the game is over: the file holds the cards of all seats";
  }

  function seated(joined) {
    showSeed(joined);
    command.textContent = joined.command ?? "";
    commandPart.hidden = !joined.command;
    rules.textContent = joined.rules_text;
    alone = joined.can_undo;
    const seatless = joined.seat === null;
    pacePart.hidden = !playing || seatless;
    // Several people have all seen the deal: only a new one can follow.
    const kinds = AGAIN.filter(([kind]) => !seatless && (alone || kind === "new"));
    again.replaceChildren(...(playing ? [...kinds.map(buttonAgain), save] : []));
  }

  // Several people learn the seed when the game is over.
  function showSeed(told) {
    seed.textContent = String(told.seed);
    seedPart.hidden = told.seed === null;
  }

  // A game under way is lost only by a second press.
  function buttonAgain([deal, words, title]) {
    const button = pushButton(words, begin, {title});
    return button;

    function begin() {
      if (!under || button.textContent !== words) return send({type: "again", deal});
      button.textContent = `${words}: leave this game?`;
      setTimeout(() => (button.textContent = words), ASKING_MS);
    }
  }

  function buttonsAtTheEnd(seat) {
    const rematch = pushButton("Rematch", () => send({type: "again", deal: "new"}), {class: "primary"});
    return [...(seat === null ? [] : [rematch]), pushButton("Review", () => (reviews = send({type: "save"})))];
  }

  // The file of the game: reviewed if that was asked for, else saved.
  function take({name, text}) {
    if (reviews) {
      reviews = false;
      return watch(text);
    }
    const address = URL.createObjectURL(new Blob([text], {type: "application/jsonl"}));
    const link = element("a", {href: address, download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
}

// A setting that is on or off.
function onOff(name, usual, words, onchange = () => {}) {
  const field = element("input", {
    type: "checkbox", checked: setting(name, usual) === "on",
    onchange: () => {
      keepSetting(name, field.checked ? "on" : "off");
      onchange();
    },
  });
  return labelled(words, field);
}
