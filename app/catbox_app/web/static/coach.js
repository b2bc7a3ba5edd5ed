// The coach: what an agent thinks of each legal action of one's own, as bars on the cards and beside the actions.

import {element, labelled, panel, selection} from "./dom.js";
import {keepSetting, setting} from "./settings.js";

/** The panel; `send` asks the table, `show(values, shares, best)` draws the bars. */
export function createCoach(send, show) {
  const agentField = element("div", {});
  const shows = selection([["policy", "probabilities"], ["points", "points"]], setting("coach.shows", "points"), choose);
  const told = element("p", {class: "hint", role: "status"});
  const node = panel("Coach", "coach", element("div", {class: "field-row"}, agentField, labelled("Shows", shows)), told);
  let agent = "";
  let field = null;

  return {node, offer, ask, receive, clear, problem};

  function offer(agents, game) {
    const fitting = agents.filter((one) => !one.games || one.games.includes(game));
    const options = [["", "nobody"], ...fitting.map((one) => [one.spec, one.title])];
    field = selection(options, agent, choose);
    agentField.replaceChildren(labelled("Advice from", field));
  }

  function choose() {
    agent = field.value;
    keepSetting("coach.shows", shows.value);
    clear();
    send({type: "coach", agent: agent === "" ? null : agent, shows: shows.value});
    told.textContent = agent === "" ? "" : "Comes with each of your positions.";
  }

  // After a new connection the table has to be told again.
  function ask() {
    if (agent !== "") send({type: "coach", agent, shows: shows.value});
  }

  function receive({values, best, agent: name}) {
    if (agent === "") return;
    const numbers = values.map((one) => one.value);
    const points = values.length > 0 && values[0].unit === "points";
    const [low, high] = points ? [Math.min(0, ...numbers), Math.max(0, ...numbers)] : [0, 1];
    const width = high - low || 1;
    const bars = new Map();
    const shares = new Map();
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
    for (const one of values) {
      const ends = [0, one.value].sort((a, b) => a - b).map((end) => (end - low) / width);
      bars.set(one.action, {from: ends[0], to: ends[1], words: inWords(one)});
      shares.set(one.action, points ? (most === least ? 1 : (one.value - least) / (most - least)) : one.value);
    }
    show(bars, shares, best);
    const first = values.find((one) => one.action === best);
    told.textContent = first === undefined ? "" : `${name} prefers ${first.text}: ${inWords(first)}.`;
  }

  function clear() {
    show(new Map(), new Map(), null);
    if (agent !== "") told.textContent = "";
  }

  function problem(text) {
    told.textContent = text;
  }
}

function inWords({value, unit, interval = null}) {
  if (unit === "probability") return `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
  const points = `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(2)}`;
  const half = Array.isArray(interval) ? (interval[1] - interval[0]) / 2 : interval;
  return half === null ? points : `${points} \u00b1 ${half.toFixed(2)}`;
}
