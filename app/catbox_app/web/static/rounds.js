// The rounds of a match so far, as a small table: a row for each round, a column for each player.

import {element, panel, seatToken, withMinus} from "./dom.js";

/** The panel; `names`: see names.js. `show(rounds, over)`: the points of each finished round, by seat. */
export function createRounds(names) {
  const head = element("tr", {});
  const body = element("tbody", {});
  const foot = element("tfoot", {});
  const table = element("table", {class: "rounds-table"}, element("thead", {}, head), body, foot);
  const node = panel("Rounds", "rounds", table);
  node.hidden = true;

  return {node, show};

  // A game of one round needs no table.
  function show(rounds, over) {
    node.hidden = rounds.length === 0 || (over && rounds.length === 1);
    if (node.hidden) return;
    head.replaceChildren(
      element("th", {scope: "col"}, "Round"),
      ...rounds[0].map((_, seat) =>
        element("th", {scope: "col"}, seatToken(seat), element("span", {class: "spoken"}, names.of(seat))),
      ),
    );
    body.replaceChildren(...rounds.map((points, i) => roundRow(String(i + 1), points)));
    const totals = rounds[0].map((_, seat) => rounds.reduce((sum, points) => sum + points[seat], 0));
    foot.replaceChildren(roundRow("Total", totals));
  }
}

function roundRow(label, points) {
  return element("tr", {}, element("th", {scope: "row"}, label), ...points.map((one) => element("td", {}, withMinus(String(one)))));
}
