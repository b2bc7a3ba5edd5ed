// The controls of a recorded game: a slider over its actions, step by step or by itself, from any seat's view.

import {element, labelled, pushButton, selection} from "./dom.js";

const SECONDS = 1;

/** The controls; `send` asks for positions. */
export function createReplay(send) {
  const slider = element("input", {type: "range", min: 0, max: 0, value: 0, oninput: () => go(Number(slider.value))});
  const place = element("output", {class: "place"});
  const playButton = pushButton("Play", playOrPause, {class: "primary"});
  const view = element("div", {});
  const node = element(
    "section",
    {class: "controls", "aria-label": "Replay"},
    element("div", {class: "field slider"}, labelled("Action", slider), place),
    element(
      "div",
      {class: "row"},
      pushButton("First", () => go(0)),
      pushButton("Back", () => go(at - 1)),
      playButton,
      pushButton("Forward", () => go(at + 1)),
      pushButton("Last", () => go(length)),
      view,
    ),
  );
  let at = 0; // the number that was asked for last
  let length = 0;
  let seat = null;
  let waiting = false; // for the position that was asked for
  let timer = 0;

  return {node, opened, arrived, go, pause};

  function opened(joined) {
    length = joined.length;
    slider.max = length;
    at = 0;
    waiting = false;
    seat = null;
    const options = [["", "all hands open"], ...joined.names.map((name, i) => [String(i), `player_${i} (${name})`])];
    const field = selection(options, "", (value) => {
      seat = value === "" ? null : Number(value);
      ask();
    });
    view.replaceChildren(labelled("Seen by", field));
    show();
  }

  function go(number) {
    at = Math.max(0, Math.min(length, number));
    show();
    if (!waiting) ask();
  }

  function ask() {
    waiting = send({type: "step", number: at, seat});
  }

  // A slider that is dragged asks for one position at a time, and in the end for the last one.
  function arrived({number}) {
    waiting = false;
    if (number !== at) ask();
    else if (timer !== 0) timer = at < length ? setTimeout(() => go(at + 1), 1000 * SECONDS) : stop();
  }

  function playOrPause() {
    if (timer !== 0) return pause();
    playButton.textContent = "Pause";
    timer = setTimeout(() => go(at === length ? 0 : at + 1), 50);
  }

  function pause() {
    clearTimeout(timer);
    timer = stop();
  }

  function stop() {
    playButton.textContent = "Play";
    return 0;
  }

  function show() {
    slider.value = at;
    place.textContent = `${at} of ${length}`;
  }
}
