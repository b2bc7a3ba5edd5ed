// The controls of a recorded game: a slider over its actions, single steps, automatic play, and any seat's view.

import {createActions} from "./actions.js";
import {element, labelled, pushButton, selection, wide} from "./dom.js";
import {calledAt, kindOf} from "./names.js";

const SECONDS = 1;

/** The controls of a recorded game, and what is shown `below` them; `frame`: see app.js. */
export function createReplay(frame) {
  const slider = element("input", {type: "range", min: 0, max: 0, value: 0, oninput: () => go(Number(slider.value))});
  const place = element("output", {class: "place"});
  const playButton = pushButton("Play", playOrPause, {class: "primary"});
  const view = element("div", {class: "field-row"});
  // The legal actions at a decision: the same list as at a table, but read-only.
  const weighed = createActions(null);
  const back = pushButton("Back to the table", () => frame.back(null));
  const playOn = pushButton("Play on from here", () => frame.back(at));
  const steps = element(
    "div",
    {class: "row"},
    pushButton("First", () => go(0)),
    pushButton("Back", () => go(at - 1)),
    playButton,
    pushButton("Forward", () => go(at + 1)),
    pushButton("Last", () => go(length)),
    playOn,
    back,
  );
  const controls = element(
    "section",
    {class: "controls steps", "aria-label": "Replay"},
    element("div", {class: "field slider"}, labelled("Action", slider), place),
    steps,
  );
  const below = element("section", {class: "controls", "aria-label": "What is shown"}, view, weighed.node);
  let at = 0; // the last requested number
  let length = 0;
  let seat = null;
  let waiting = false; // for the requested position
  let timer = 0;

  document.addEventListener("keydown", pressed);

  return {controls, below, viewed: () => seat, opened, arrived, go, pause, weigh: weighed.show, showValues: weighed.showValues};

  function opened(joined) {
    length = joined.length;
    slider.max = length;
    at = joined.number;
    waiting = false;
    seat = joined.view;
    playOn.hidden = frame.returns !== "play";
    back.hidden = frame.returns === "";
    const options = [["", "all hands open"], ...(frame.called ?? joined.names).map((name, i) => [String(i), withKind(calledAt(name, i), kindOf(name))])];
    const field = selection(options, seat === null ? "" : String(seat), (value) => {
      seat = value === "" ? null : Number(value);
      ask();
    });
    const numbers = Array.from({length: joined.games}, (_, i) => [String(i + 1), `${i + 1} of ${joined.games}`]);
    const chosen = selection(numbers, String(joined.game_number), (value) => frame.watch({game_number: Number(value), number: 0}));
    if (wide.matches) steps.append(view);
    else below.prepend(view);
    view.replaceChildren(labelled("Seen by", field), numbers.length > 1 ? labelled("Game", chosen) : "");
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
    weighed.show([]);
    if (number !== at) ask();
    else if (timer !== 0) timer = at < length ? setTimeout(() => go(at + 1), 1000 * SECONDS) : stop();
  }

  // Keys for the whole page, except where they have another meaning.
  function pressed(event) {
    if (!controls.isConnected || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, select, textarea, summary, [role=log]")) return;
    const lead = {ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(length)};
    if (!event.target.closest("button")) lead[" "] = playOrPause;
    if (!(event.key in lead)) return;
    event.preventDefault();
    lead[event.key]();
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

function withKind(name, kind) {
  return kind === null ? name : `${name} (${kind})`;
}
