// The controls of a recorded game: a slider over its actions, single steps, automatic play, and any seat's view.

import {element, labelled, pushButton, selection, shape} from "./dom.js";

const SECONDS = 1;
// The pictures on the buttons.
const ICONS = {
  First: "M4 4h2v12H4zM16 4v12l-9-6z", Back: "M14 4v12l-9-6z", Play: "M6 3l11 7-11 7z", Pause: "M5 4h4v12H5zM11 4h4v12h-4z",
  Forward: "M6 4l9 6-9 6z", Last: "M4 4l9 6-9 6zM14 4h2v12h-2z",
};

/** The controls of a recorded game; `frame`: see app.js, `names`: see names.js. */
export function createReplay(frame, names) {
  const slider = element("input", {type: "range", min: 0, max: 0, value: 0, oninput: () => go(Number(slider.value))});
  const place = element("output", {class: "place"});
  const playButton = iconButton("Play", playOrPause, "Space", "primary");
  const view = element("div", {class: "field-row"});
  const back = pushButton("Back to the table", () => frame.back(null));
  const playOn = pushButton("Play on from here", () => frame.back(at));
  const steps = element(
    "div",
    {class: "row steps"},
    iconButton("First", () => go(0), "Home"),
    iconButton("Back", () => go(at - 1), "ArrowLeft"),
    playButton,
    iconButton("Forward", () => go(at + 1), "ArrowRight"),
    iconButton("Last", () => go(length), "End"),
  );
  const controls = element(
    "section",
    {class: "controls", "aria-label": "Replay"},
    steps,
    element("div", {class: "field slider"}, labelled("Action", slider), place),
    element("div", {class: "row"}, playOn, back, view),
  );
  let at = 0; // the last requested number
  let length = 0;
  let seat = null;
  let waiting = false; // for the requested position
  let timer = 0;

  document.addEventListener("keydown", pressed);

  return {controls, steps, viewed: () => seat, opened, arrived, go, pause};

  function opened(joined) {
    length = joined.length;
    slider.max = length;
    at = joined.number;
    waiting = false;
    seat = joined.view;
    playOn.hidden = frame.returns !== "play";
    back.hidden = frame.returns === "";
    const options = [["", "All hands"], ...joined.names.map((_, i) => [String(i), names.full(i)])];
    const field = selection(options, seat === null ? "" : String(seat), (value) => {
      seat = value === "" ? null : Number(value);
      ask();
    });
    const numbers = Array.from({length: joined.games}, (_, i) => [String(i + 1), `${i + 1} of ${joined.games}`]);
    const chosen = selection(numbers, String(joined.game_number), (value) => frame.watch({game_number: Number(value), number: 0}));
    view.replaceChildren(labelled("View", field), numbers.length > 1 ? labelled("Game", chosen) : "");
    show();
  }

  function go(number) {
    at = Math.max(0, Math.min(length, number));
    show();
    if (!waiting) ask();
  }

  function ask() {
    frame.watched({number: at, seat});
    waiting = frame.send({type: "step", number: at, seat});
  }

  // While the slider is dragged, one position at a time is requested, and finally the last one.
  function arrived({number}) {
    waiting = false;
    if (number !== at) ask();
    else if (timer !== 0 && at < length) timer = setTimeout(() => go(at + 1), 1000 * SECONDS);
    else if (timer !== 0) pause();
  }

  // Keys for the whole page, except where they have another meaning.
  function pressed(event) {
    if (!controls.isConnected || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, textarea, summary, dialog, [role=log]")) return;
    const lead = {ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(length)};
    if (!event.target.closest("button")) lead[" "] = playOrPause;
    if (!(event.key in lead)) return;
    event.preventDefault();
    lead[event.key]();
  }

  function playOrPause() {
    if (timer !== 0) return pause();
    setIcon(playButton, "Pause");
    timer = setTimeout(() => go(at === length ? 0 : at + 1), 50);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    setIcon(playButton, "Play");
  }

  function show() {
    slider.value = at;
    place.textContent = `${at} of ${length}`;
  }
}

// `key` presses it too.
function iconButton(name, onclick, key, className = null) {
  const button = pushButton("", onclick, {class: className, "aria-keyshortcuts": key});
  setIcon(button, name);
  return button;
}

function setIcon(button, name) {
  const drawing = shape("path", {d: ICONS[name], fill: "currentColor"});
  button.replaceChildren(shape("svg", {viewBox: "0 0 20 20", width: 20, height: 20, "aria-hidden": "true"}, drawing));
  button.title = `${name}: key ${button.getAttribute("aria-keyshortcuts").replace("Arrow", "arrow ").toLowerCase()}`;
  button.setAttribute("aria-label", name);
}
