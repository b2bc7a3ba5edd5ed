// The review of a recorded game: the expected lead through the game, and the decisions that cost most.

import {capital, element, panel, pushButton, seatToken, shape, wide, withMinus} from "./dom.js";

const WIDTH = 320;
const HEIGHT = wide.matches ? 160 : 96;
// The room for the scale, above and below the graph.
const EDGE = 22;
// The grades of mistakes: their names, the least cost in points, in words, and the radius of a dot.
const GRADES = [["Blunders", 1, "1 point or more", 6.5], ["Mistakes", 0.5, "0.5 or more", 5], ["Inaccuracies", 0, "under 0.5", 4]];

/**
 * The panel. `begin(seat)` asks for the review of a seat, null for all; `go(number)` shows the position after so many
 * actions; `names`: see names.js, `moment`: log.js; `viewed()`: the seat whose view is shown; `point(better, wrong)` draws rings around the
 * mistake in the position that is shown, and around the actions that were better. `receive(reviewed)` takes one decision;
 * `clear()`: another game is shown; `mark(number)`: another position or view is. `graph`, `onward` can stand elsewhere.
 */
export function createReview(begin, go, names, moment, viewed, point) {
  const told = element("p", {role: "status"});
  const graph = shape("svg", {class: "graph", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img"});
  const cursor = shape("line", {y1: 0, y2: HEIGHT, class: "cursor"});
  const list = element("ul", {class: "mistakes"});
  const start = pushButton("Review", review);
  const onward = pushButton("Next mistake", toNext);
  const node = panel("Review", "review", told, graph, list, start, onward);
  let decisions = [];
  let running = false;
  let seat = null; // whose decisions they are; null: those of all
  let at = 0; // actions played in the position that is shown

  graph.addEventListener("click", clicked);
  return {node, list, graph, onward, review, receive, clear, mark};

  function clear() {
    decisions = [];
    point([], null);
    onward.hidden = true;
    told.textContent = "What each decision was worth, and which were mistakes.";
    graph.setAttribute("hidden", "");
    list.replaceChildren();
    start.hidden = running = false;
  }

  function review() {
    clear();
    start.hidden = running = true;
    seat = viewed();
    told.textContent = "Analysing decisions\u2026";
    begin(seat);
  }

  function receive(message) {
    if (!running) return; // of a game that is no longer shown
    decisions.push(message);
    draw();
    told.textContent = `${message.done} of ${message.total} decisions.`;
    if (message.done === message.total) finish();
  }

  // Lists the mistakes, and leads to the worst of them.
  function finish() {
    const found = mistakes();
    const cost = decisions.reduce((sum, one) => sum + one.cost, 0);
    const compared = `${Math.abs(cost).toFixed(1)} points ${cost < 0 ? "more" : "less"} than the coach's choices would have`;
    const total = `All ${decisions.length} decisions together earned ${compared}.`;
    told.replaceChildren(...(found.length > 0 ? GRADES.map(counted) : ["No decision was a clear mistake."]), " ", element("span", {}, total));
    list.replaceChildren(...found.map(mistake));
    onward.hidden = found.length < 2;
    running = false;
    if (found.length > 0 && at === 0) go(found[0].number);
    mark(at);
  }

  // After the last mistake comes the first.
  function toNext() {
    const numbers = mistakes().map(({number}) => number).sort((a, b) => a - b);
    go(numbers.find((number) => number > at) ?? numbers[0]);
  }

  function mistakes() {
    return decisions.filter((one) => one.better !== null).sort((a, b) => b.cost - a.cost);
  }

  function xOf(number) {
    return 8 + ((WIDTH - 16) * number) / Math.max(1, decisions[decisions.length - 1].number);
  }

  // To the decision that is nearest to the pointer.
  function clicked(event) {
    const {left, width} = graph.getBoundingClientRect();
    const away = ({number}) => Math.abs(xOf(number) - (WIDTH * (event.clientX - left)) / width);
    go(decisions.reduce((one, other) => (away(other) < away(one) ? other : one)).number);
  }

  function mark(number) {
    at = number;
    if (decisions.length === 0) return;
    start.hidden = running || viewed() === seat;
    cursor.setAttribute("transform", `translate(${Math.min(xOf(at), WIDTH - 1)} 0)`);
    const {taken, better, revealed} = mistakes().find(({number}) => number === at) ?? {};
    for (const one of list.querySelectorAll("[data-number]")) one.setAttribute("aria-current", Number(one.dataset.number) === at);
    list.scrollTop = list.querySelector("[aria-current=true]")?.parentNode.offsetTop ?? list.scrollTop;
    point(revealed ? [better.action] : [], taken?.action ?? null);
  }

  // A line of the expected lead after each decision for each seat, filled up to zero if it is the only one. A clear
  // mistake is a fall from the lead that the best action had, to a dot.
  function draw() {
    const leads = (one) => (one.better === null ? [one.lead] : [one.lead + one.cost, one.lead]);
    const all = decisions.flatMap(leads);
    const [high, low] = [Math.max(0.5, ...all), Math.min(-0.5, ...all)];
    const yOf = (lead) => EDGE + ((HEIGHT - 2 * EDGE) * (high - lead)) / (high - low);
    const place = (one) => leads(one).map((lead) => [xOf(one.number), yOf(lead)]);
    const level = yOf(0);
    const zero = shape("line", {x1: 0, x2: WIDTH, y1: level, y2: level, class: "zero"});
    const seats = [...new Set(decisions.map((one) => one.seat))];
    const lines = seats.map((seat) => {
      const points = decisions.filter((one) => one.seat === seat).flatMap(place);
      const line = shape("polyline", {points: points.join(" "), class: "lead"});
      line.style.stroke = `var(--seat-${seat % 6})`;
      return line;
    });
    const outline = [[xOf(decisions[0].number), level], ...decisions.flatMap(place), [xOf(decisions.at(-1).number), level]];
    const areas = ["above", "below"].map((half) => shape("polygon", {points: outline.join(" "), class: half}));
    graph.style.setProperty("--level", `${(100 * level) / HEIGHT}%`);
    const dots = mistakes().map((one) => {
      const [[cx, cy], [from, to]] = [place(one)[1], leads(one).map((lead) => withMinus(lead.toFixed(1)))];
      const words = `${capital(names.brief(one.taken.text))} cost ${one.cost.toFixed(1)}: the expected lead fell from ${from} to ${to}`;
      const [grade, , , r] = gradeOf(one);
      return shape("circle", {cx, cy, r, class: "mistake", "data-grade": grade}, shape("title", {}, words));
    });
    graph.removeAttribute("hidden");
    graph.setAttribute("aria-label", `Expected lead, from ${withMinus(low.toFixed(1))} to ${high.toFixed(1)}`);
    const ends = [[`${high.toFixed(1)} points ahead`, 15], ["0", level - 4], [`${(-low).toFixed(1)} points behind`, HEIGHT - 7]];
    const scale = ends.map(([words, y]) => shape("text", {x: words === "0" ? WIDTH - 12 : 4, y}, words));
    scale.push(shape("text", {x: WIDTH - 4, y: HEIGHT - 7, "text-anchor": "end"}, "actions \u2192"));
    graph.replaceChildren(...(seats.length > 1 ? [] : areas), zero, ...lines, cursor, ...scale, ...dots);
    mark(at);
  }

  // "Mistakes (0.5 or more): 2", with their dot.
  function counted(grade) {
    const count = mistakes().filter((decision) => gradeOf(decision) === grade).length;
    return element("span", {"data-grade": grade[0]}, `${grade[0]} `, element("small", {}, `(${grade[2]})`), `: ${count}. `);
  }

  // One row; what was better stays hidden until it is asked for.
  function mistake(decision) {
    const {number, seat, taken, better, cost} = decision;
    const what = element("span", {}, element("strong", {}, capital(names.brief(taken.text))), ` cost ${cost.toFixed(1)}`);
    const open = pushButton(what, () => go(number), {class: "quiet", "data-number": number, "data-grade": gradeOf(decision)[0]});
    const whose = names.of(seat) === "You" ? "your" : `${names.of(seat)}'s`;
    open.append(element("small", {}, capital(moment(number, whose))));
    const show = pushButton("Show best move", reveal, {class: "quiet"});
    return element("li", {}, decisions.some((one) => one.seat !== seat) ? seatToken(seat, names.face(seat)) : null, open, show);

    function reveal() {
      decision.revealed = true;
      what.append(": ", element("strong", {}, names.brief(better.text)), " was best");
      show.remove();
      go(number);
    }
  }
}

// By the cost as it is shown.
function gradeOf({cost}) {
  return GRADES.find(([, least]) => Number(cost.toFixed(1)) >= least);
}
