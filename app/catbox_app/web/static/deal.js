// The deal at the table: the pace, sounds, and more: the same or another deal, its seed.

import {element, labelled, panel, pushButton} from "./dom.js";
import {paceChoice} from "./lobby.js";
import {keepSetting, setting} from "./settings.js";
import {playSound} from "./sounds.js";

const SAME_DEAL = "Play this deal again";
// How long a button asks whether it is meant, in milliseconds.
const ASKING_MS = 5_000;

/**
 * The panel. `playing`: whether a game is played, not watched. `yourName`: the field for the name of its player. `watch(text)`
 * shows the game of a saved file.
 */
export function createDeal(send, playing, yourName, watch) {
  const seed = element("code", {});
  const seedPart = element("p", {class: "seed", title: "This number deals the same cards, or the same board, again"}, "Seed ", seed);
  const again = element("div", {class: "row", hidden: true}, buttonAgain("new", "New deal"), buttonAgain("same", SAME_DEAL));
  const pacePart = labelled("Speed of the agents", paceChoice((seconds) => send({type: "pace", seconds})));
  const more = element(
    "details",
    {},
    element("summary", {}, "More"),
    element("div", {class: "row"}, again, seedPart, onOff("motion", "on", "Animations"), yourName),
  );
  const sounds = onOff("sound", "off", "Sounds", () => playSound("card"));
  const node = panel(playing ? "This deal" : "This game", "deal", pacePart, sounds, more);
  let alone = true;
  let under = false; // whether a game is under way
  let reviews = false; // whether the next file is to be reviewed, not kept

  return {node, seated, ended: showSeed, show, take, buttonsAtTheEnd};

  // At the end of the game, the buttons are beside its result.
  function show(over, begun) {
    under = begun && !over;
    again.hidden = over || !playing || !alone;
  }

  function seated(joined) {
    showSeed(joined);
    alone = joined.can_undo;
    pacePart.hidden = !playing || joined.seat === null;
  }

  // Several people learn the seed when the game is over.
  function showSeed(told) {
    seed.textContent = String(told.seed);
    seedPart.hidden = told.seed === null;
  }

  // A game under way is lost only by a second press.
  function buttonAgain(deal, words, className = null) {
    const button = pushButton(words, begin, {class: className});
    return button;

    function begin() {
      if (!under || button.textContent !== words) return send({type: "again", deal});
      button.textContent = `${words}: leave this game?`;
      setTimeout(() => (button.textContent = words), ASKING_MS);
    }
  }

  function buttonsAtTheEnd(seat) {
    // Several people have all seen the deal: only a new one can follow.
    const deals = seat === null ? [] : [buttonAgain("new", "Rematch", "primary"), alone ? buttonAgain("same", SAME_DEAL) : ""];
    return [...deals, pushButton("Review", () => (reviews = send({type: "save"}))), pushButton("Save", () => send({type: "save"}))];
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
