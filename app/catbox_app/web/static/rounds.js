// The result of a round or of a game as one table: a row for each player.

import {element, seatToken, withMinus} from "./dom.js";

// What the events of the kind "score" tell, as columns.
const COLUMNS = [
  ["place", "Place"], ["tricks", "Tricks"], ["bid", "Bid"], ["bonus", "Bonus"], ["paradox", "Paradox"], ["score", "Points"], ["total", "Total"],
];

/**
 * The table of the round that `lines` end; at the end of a match, that of the points of all its `rounds`. `names`: see
 * names.js; `places`: each seat's place at the end of the game, null before.
 */
export function resultTable(lines, rounds, places, names) {
  const told = lines.filter((line) => line.kind === "score").sort((a, b) => a.seat - b.seat);
  let columns;
  if (places !== null && rounds.length > 1) {
    const total = (seat) => rounds.reduce((sum, points) => sum + points[seat], 0);
    columns = [...rounds.map((points, i) => [String(i + 1), (line) => points[line.seat]]), ["Total", (line) => total(line.seat)]];
  } else {
    const says = (key) => told.some(({data}) => ![undefined, null, false].includes(data[key])) && (key !== "total" || places === null);
    columns = COLUMNS.filter(([key]) => says(key)).map(([key, words]) => [words, (line) => line.data[key]]);
  }
  const head = ["Player", ...columns.map(([words]) => words)].map((words) => element("th", {scope: "col"}, words));
  const rows = told.map((line) => {
    const cells = columns.map(([, value]) => element("td", {}, inACell(value(line))));
    const winner = places?.[line.seat] === 1;
    const player = element("th", {scope: "row"}, seatToken(line.seat), names.face(line.seat), names.of(line.seat));
    return element("tr", {class: winner ? "winner" : null}, player, ...cells);
  });
  return element("table", {class: "result-table"}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function inACell(value) {
  if (typeof value === "boolean") return value ? "yes" : "";
  return withMinus(String(Math.round(100 * (value ?? 0)) / 100));
}
