// The coach: what each legal action of one's own is worth, as bars on the cards and beside the actions: estimated
// points, or the probabilities of an agent.

import {element, labelled, panel, selection} from "./dom.js";
import {fittingAgents} from "./settings.js";

const POINTS = "points";

/** The panel; `send` asks the table, `show(bars, shares, best)` draws the bars. */
export function createCoach(send, show) {
  const choice = element("div", {});
  const told = element("p", {class: "hint", role: "status"});
  const node = panel("Coach", "coach", choice, told);
  let wanted = ""; // "": nothing; POINTS; else the spec of an agent

  return {node, offer, ask, receive, clear};

  function offer({agents, estimates}, {game, names}) {
    const fitting = fittingAgents(agents, game, names.length);
    node.hidden = fitting.length === 0; // until an agent's own probabilities come
    if (fitting.length === 0) return;
    const probabilities = fitting.map((one) => [one.spec, one.title]);
    const points = estimates ? [[POINTS, "estimated points"]] : [];
    const options = [["", "nothing"], ...points, ["Probabilities of", probabilities]];
    choice.replaceChildren(labelled("Show at my moves", selection(options, wanted, choose)));
  }

  function choose(value) {
    wanted = value;
    clear();
    told.textContent = "";
    if (wanted === "") send({type: "coach", shows: null});
    else ask();
  }

  // Also after a new connection, when the table has to be told again.
  function ask() {
    if (wanted === POINTS) send({type: "coach", shows: POINTS});
    else if (wanted !== "") send({type: "coach", shows: "policy", agent: wanted});
  }

  // In a replay, what the agent had told itself comes without asking.
  function receive({values, best, agent, recorded = false}) {
    if (wanted === "" && !recorded) return;
    node.hidden = false;
    const numbers = values.map((one) => one.value);
    const points = values.length > 0 && values[0].unit === "points";
    const [low, high] = points ? [Math.min(0, ...numbers), Math.max(0, ...numbers)] : [0, 1];
    const [least, most] = points ? [Math.min(...numbers), Math.max(...numbers)] : [0, 1];
    const bars = new Map();
    const shares = new Map();
    for (const one of values) {
      const [zero, end] = [0, one.value].map((number) => (number - low) / (high - low || 1));
      bars.set(one.action, {from: Math.min(zero, end), to: Math.max(zero, end), zero, words: inWords(one)});
      shares.set(one.action, most === least ? 1 : (one.value - least) / (most - least));
    }
    show(bars, shares, best);
    const first = values.find((one) => one.action === best);
    told.textContent = first === undefined ? "" : `${agent} ${recorded ? "preferred" : "prefers"} ${first.text}: ${inWords(first)}.`;
  }

  // Another position has come; `asked`: one in which advice follows.
  function clear(asked = false) {
    show(new Map(), new Map(), null);
    told.textContent = asked && wanted !== "" ? "Weighing the actions." : "";
  }
}

function inWords({value, unit, interval}) {
  if (unit === "probability") return `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;
  const points = `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(2)}`;
  return `${points} \u00b1 ${interval.toFixed(2)}`;
}
