// The result of a round or of a game: why it ended, and a table with a row for each player.

import {logo} from "./cats.js";
import {capital, element, seatToken, withMinus} from "./dom.js";

const OF_THE_END = ["game_end", "round_end", "paradox", "score"]; // the first of them says why it ended

// What the events of the kind "score" tell, as columns.
const COLUMNS = [
  ["place", "Place"], ["tricks", "Tricks"], ["bonus", "Bonus"], ["score", "Points"], ["total", "Total"],
];

/** The end of a round; the log tells the rest. `names`: see names.js. */
export function createSummary(names) {
  const node = element("section", {class: "panel round-end", hidden: true, tabindex: -1, "aria-label": "End of the round"});

  return {node, show, hide: () => (node.hidden = true)};

  // `lines`: what the last action did; `own`: the seat of this page, null for one that watches.
  function show(lines, {place, places, rounds}, own, ...buttons) {
    const kind = OF_THE_END.find((one) => lines.some((line) => line.kind === one));
    const shown = lines.find((line) => line.kind === kind);
    const words = shown === undefined ? "The game is over" : capital(names.within(shown.text));
    node.replaceChildren(
      (places && names.face(places.indexOf(1))) || logo(),
      element("h2", {}, place || words),
      element("p", {class: "result"}, place ? `${words}.` : ""),
      resultTable(lines, rounds, places, own, names),
      element("div", {class: "row"}, ...buttons),
    );
    node.hidden = false;
  }
}

/**
 * The table of the round that `lines` end; at the end of a match, that of the points of all its `rounds`. `names`: see
 * names.js; `places`: each seat's place at the end of the game, by which the rows are sorted, null before; `own`: the
 * seat of this page, if it has one.
 */
function resultTable(lines, rounds, places, own, names) {
  const order = (line) => 10 * (places?.[line.seat] ?? 0) + line.seat;
  const told = lines.filter((line) => line.kind === "score").sort((a, b) => order(a) - order(b));
  const ofMatch = places !== null && rounds.length > 1;
  let columns;
  if (ofMatch) {
    const total = (seat) => rounds.reduce((sum, points) => sum + points[seat], 0);
    columns = [...rounds.map((points, i) => [String(i + 1), (line) => points[line.seat]]), ["Total", (line) => total(line.seat)]];
  } else {
    const says = (key) => told.some(({data}) => data[key] !== undefined && data[key] !== null) && (places === null || !["place", "total"].includes(key));
    columns = COLUMNS.filter(([key]) => says(key)).map(([key, words]) => [words, ({data}) => (key === "tricks" && Number.isInteger(data.bid) ? wonOfBid(data) : data[key])]);
  }
  const head = ["Player", ...columns.map(([words]) => words)].map((words) => element("th", {scope: "col"}, words));
  // In a column, all numbers have as many decimals, at most two.
  const decimals = (number) => (String(Math.round(100 * number) / 100).split(".")[1] ?? "").length;
  const digits = columns.map(([, value]) => Math.max(...told.map((line) => decimals(value(line) ?? 0))));
  const rows = told.map((line) => {
    const cells = columns.map(([, value], at) => {
      const shown = value(line) ?? 0;
      return element("td", {}, typeof shown === "string" ? shown : withMinus(shown.toFixed(digits[at])));
    });
    const classes = [places?.[line.seat] === 1 ? "winner" : "", line.seat === own ? "own" : ""];
    const medal = places && element("span", {class: "medal", "data-place": places[line.seat]}, String(places[line.seat]));
    const note = line.data.paradox && !ofMatch ? element("small", {}, "paradox: \u22121 per trick") : null;
    const player = element("th", {scope: "row"}, medal, seatToken(line.seat, names.face(line.seat)), names.of(line.seat), note);
    return element("tr", {class: classes.join(" ")}, player, ...cells);
  });
  return element("table", {class: "result-table"}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

// Whether the bid was hit, which the bonus needs.
function wonOfBid({tricks, bid, hit}) {
  return `bid ${bid}, won ${tricks} ${hit ? "\u2713" : "\u2717"}`;
}
