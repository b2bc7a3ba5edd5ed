// The review of a recorded game: the expected lead through the game, and the decisions that cost most.

import {element, panel, pushButton, seatToken, shape, withMinus} from "./dom.js";

const WIDTH = 320;
const HEIGHT = 110;
// So many decisions are named.
const COSTLIEST = 3;

/**
 * The panel. `begin(seat)` asks for the review of a seat, null for all; `go(number)` shows the position after so many
 * actions; `names`: see names.js; `viewed()`: the seat whose view is shown. `receive(reviewed)` takes one decision; `clear(seat)`: another game or view is shown.
 */
export function createReview(begin, go, names, viewed) {
  const told = element("p", {role: "status"});
  const graph = shape("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img"});
  const list = element("ul", {class: "mistakes"});
  const start = pushButton("Review", () => review(viewed()));
  const node = panel("Review", "review", told, graph, list, element("div", {class: "row"}, start));
  let decisions = [];

  return {node, review, receive, clear};

  function clear(seat) {
    decisions = [];
    told.textContent = `What each decision of ${seat === null ? "all players" : names.of(seat)} was worth, and which cost most.`;
    graph.replaceChildren();
    graph.setAttribute("hidden", "");
    list.replaceChildren();
    start.hidden = false;
  }

  function review(seat) {
    clear(seat);
    start.hidden = true;
    told.textContent = "Weighing every decision.";
    begin(seat);
  }

  function receive(message) {
    if (start.hidden === false) return; // of a game that is no longer shown
    decisions.push(message);
    told.textContent = message.done < message.total ? `${message.done} of ${message.total} decisions.` : inAll();
    draw();
    if (message.done === message.total) name();
  }

  function inAll() {
    const cost = mistakes().reduce((sum, one) => sum + one.cost, 0);
    if (cost === 0) return "No decision cost more than its error.";
    return `${mistakes().length} of ${decisions.length} decisions cost more than their error, ${cost.toFixed(1)} points together.`;
  }

  function mistakes() {
    return decisions.filter((one) => one.better !== null).sort((a, b) => b.cost - a.cost);
  }

  // A line of the expected lead for each seat; what cost more than its error has a dot.
  function draw() {
    const most = Math.max(1, ...decisions.map((one) => Math.abs(one.lead)));
    const last = Math.max(1, decisions[decisions.length - 1].number);
    const place = ({number, lead}) => [8 + ((WIDTH - 16) * number) / last, HEIGHT / 2 - ((HEIGHT / 2 - 8) * lead) / most];
    const zero = shape("line", {x1: 0, x2: WIDTH, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "zero"});
    const seats = [...new Set(decisions.map((one) => one.seat))];
    const lines = seats.map((seat) => {
      const points = decisions.filter((one) => one.seat === seat).map((one) => place(one).join(","));
      const line = shape("polyline", {points: points.join(" "), class: "lead"});
      line.style.stroke = `var(--seat-${seat % 6})`;
      return line;
    });
    const dots = mistakes().map((one) => {
      const [cx, cy] = place(one);
      return shape("circle", {cx, cy, r: 4, class: "mistake"});
    });
    graph.removeAttribute("hidden");
    graph.setAttribute("aria-label", `Expected lead, from ${withMinus((-most).toFixed(1))} to ${most.toFixed(1)}`);
    const scale = [[most, 16], [-most, HEIGHT - 6]].map(([lead, y]) => {
      const words = shape("text", {x: 4, y});
      words.textContent = withMinus(`${lead > 0 ? "+" : ""}${lead.toFixed(1)}`);
      return words;
    });
    graph.replaceChildren(zero, ...scale, ...lines, ...dots);
  }

  function name() {
    list.replaceChildren(...mistakes().slice(0, COSTLIEST).map(mistake));
  }

  // What was better stays hidden until it is asked for.
  function mistake({number, seat, taken, better, cost, interval}) {
    const words = `${taken} cost ${cost.toFixed(1)} \u00b1 ${interval.toFixed(1)}`;
    const show = pushButton("Show what was better", () => show.replaceWith(element("span", {}, `Better: ${better}`)), {class: "quiet"});
    const open = pushButton(`Action ${number + 1}`, () => go(number), {"aria-label": `Go to action ${number + 1}: ${words}`});
    return element("li", {}, seatToken(seat), element("span", {class: "told"}, names.within(words)), open, show);
  }
}
