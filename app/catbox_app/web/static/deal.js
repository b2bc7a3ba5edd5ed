// The deal at the table: its seed, the same or another deal, the pace, saving the game, the rules.

import {copyText, element, labelled, panel, pushButton} from "./dom.js";
import {paceChoice} from "./lobby.js";
import {keepSetting, setting} from "./settings.js";
import {playSound} from "./sounds.js";

const AGAIN = [
  ["new", "New deal"],
  ["same", "Same deal"],
  ["next_seat", "Same deal, next seat"],
];

// How long a button asks whether it is meant, in milliseconds.
const ASKING_MS = 5_000;
const TITLES = {next_seat: "The same cards, from the next player's seat"};

/** The panel. `playing`: whether a game is played, not watched. `watch(text)` shows the game of a saved file. */
export function createDeal(send, playing, watch) {
  const seed = element("code", {});
  const seedPart = element("p", {class: "seed"}, "Seed ", seed);
  const command = element("code", {class: "command"});
  const again = element("div", {class: "row"});
  const copy = pushButton("Copy", () => copyText(command.textContent, copy, command), {
    class: "quiet", "aria-label": "Copy the command",
  });
  const pace = paceChoice((seconds) => send({type: "pace", seconds}));
  const pacePart = labelled("Pace of the agents", pace);
  const motion = element("input", {
    type: "checkbox", checked: setting("motion", "on") === "on",
    onchange: () => keepSetting("motion", motion.checked ? "on" : "off"),
  });
  const sound = element("input", {
    type: "checkbox", checked: setting("sound", "off") === "on",
    onchange: () => {
      keepSetting("sound", sound.checked ? "on" : "off");
      playSound("card");
    },
  });
  const rules = element("pre", {class: "rules-text"});
  const rulesPart = element("details", {}, element("summary", {}, "Rules in short"), rules);
  const commandPart = element(
    "div",
    {class: "in-terminal"},
    element("p", {}, "The same deal in a terminal"),
    element("div", {class: "line"}, command, copy),
  );
  const node = panel(
    playing ? "This deal" : "This game",
    "deal",
    seedPart,
    again,
    pacePart,
    labelled("Pictures move", motion),
    labelled("Sounds", sound),
    commandPart,
    rulesPart,
  );
  const save = pushButton("Save the game", () => send({type: "save"}));
  let alone = true;
  let seatless = false; // whether the table is only watched
  let under = false; // whether a game is under way
  let watched = ""; // whether the next file is to be watched ("watch", "review"), not kept

  return {node, seated, ended: showSeed, show, take, buttonsAtTheEnd};

  // A saved game holds the cards of all seats: it is available at the end.
  function show(over, begun) {
    under = begun && !over;
    again.hidden = !playing || over; // then the buttons are beside the result
    for (const button of again.children) button.disabled = !over && (!alone || button === save);
    save.title = over ? "" : "Available when the game is over: the file holds the cards of all seats";
  }

  function seated(joined) {
    showSeed(joined);
    command.textContent = joined.command ?? "";
    commandPart.hidden = !joined.command;
    rules.textContent = joined.rules_text;
    rulesPart.hidden = !joined.rules_text;
    alone = joined.can_undo;
    seatless = joined.seat === null;
    pacePart.hidden = !playing || seatless;
    again.hidden = !playing;
    again.replaceChildren(...(playing ? [...buttonsAgain(), save] : []));
  }

  // Several people learn the seed when the game is over.
  function showSeed(told) {
    seed.textContent = String(told.seed);
    seedPart.hidden = told.seed === null;
  }

  // Several people have all seen the deal: only a new one can follow.
  function buttonsAgain() {
    return AGAIN.filter(([kind]) => !seatless && (alone || kind === "new")).map(([kind, words]) => {
      const begin = () => send({type: "again", deal: kind});
      const button = pushButton(words, () => (under ? ask(button, words, begin) : begin()), {title: TITLES[kind] ?? null});
      return button;
    });
  }

  // A game under way is lost only by a second press.
  function ask(button, words, begin) {
    if (button.dataset.asked === "") return begin();
    button.dataset.asked = "";
    button.textContent = `${words}: leave this game?`;
    setTimeout(() => {
      delete button.dataset.asked;
      button.textContent = words;
    }, ASKING_MS);
  }

  function buttonsAtTheEnd() {
    const watchIt = (how) => () => (watched = send({type: "save"}) ? how : "");
    const [rematch, ...others] = buttonsAgain();
    rematch.textContent = "Rematch";
    others.push(pushButton("Watch this game", watchIt("watch")), pushButton("Save the game", () => send({type: "save"})));
    const more = element("details", {}, element("summary", {}, "More"), element("div", {class: "row"}, ...others));
    return [rematch, pushButton("Review", watchIt("review")), more];
  }

  // The file of the game: watched if that was asked for, else saved.
  function take({name, text}) {
    if (watched !== "") {
      const reviews = watched === "review";
      watched = "";
      return watch(text, reviews);
    }
    const address = URL.createObjectURL(new Blob([text], {type: "application/jsonl"}));
    const link = element("a", {href: address, download: name});
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }
}
