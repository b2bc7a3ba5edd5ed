// The coach: the value of each of your legal actions, on the cards and beside the actions: its expected lead, or its
// probability by an agent. The best action has a ring.

import {capital, element, labelled, panel, pushButton, selection, withMinus} from "./dom.js";

const POINTS = "points";
// The bars of the list show at least so many points.
const SCALE = 2;
// If more actions than this are about as good as one another, none has a tick, and none is named.
const RINGS = 3;

/**
 * The panel; `send` asks the table, `show(values, best)` marks the actions; `values`: a map from actions to
 * {brief, words, bar, within}: the value on the action, in full, and the percentages of the width that its bar and a
 * whisker on either side of its end take.
 * `playing`: whether a game is played, not watched; `begins`: whether it shows points without being asked.
 */
export function createCoach(send, show, playing, begins) {
  let titles = new Map(); // of the agents, by spec
  const choice = element("div", {});
  const told = element("p", {class: "advice", role: "status"}); // stands beside the picture
  const key = element("small", {"aria-hidden": "true"}, " In the picture: points behind the best.");
  const node = panel("Coach", "coach", choice);
  const toggle = pushButton("Coach", () => choose(wanted === "" ? choice.querySelector("select").options[1].value : ""), {class: "coach-toggle", "aria-pressed": begins}); // of a narrow page
  let offered = false; // whether there is something to choose
  let wanted = begins ? POINTS : ""; // "": nothing; POINTS; else the spec of an agent

  return {node, told, toggle, offer, ask, receive, clear};

  // `coach`: whether the host allows it. Whoever watches a table gets no advice.
  function offer({agents, estimates}, {mode, seat, coach = true}) {
    offered = agents.length > 0 && coach && (mode === "replay" || seat !== null);
    node.hidden = toggle.hidden = !offered; // until an agent's own probabilities come
    if (!offered) return;
    titles = new Map(agents.map((one) => [one.spec, one.title]));
    const advisers = agents.filter((one) => one.spec !== "random").map((one) => [one.spec, one.title]);
    const points = estimates ? [[POINTS, "Expected lead, in points"]] : [];
    const options = [["", "Off"], ...points, ["What an agent would play", advisers]];
    choice.replaceChildren(labelled(playing ? "Show on my turn" : "Show at each decision", selection(options, wanted, choose)));
  }

  function choose(value) {
    wanted = value;
    toggle.setAttribute("aria-pressed", value !== "");
    choice.querySelector("select").value = value;
    clear("", false);
    ask();
  }

  // Also after reconnecting, when the table must be told again.
  function ask() {
    if (["", POINTS].includes(wanted)) send({type: "coach", shows: wanted || null});
    else send({type: "coach", shows: "policy", agent: wanted});
  }

  // In a replay, the recorded probabilities of the agent come without asking.
  // `ends`: "you end", or the same of the seat to move; `others`: the name of the other seat, or "the others".
  function receive({values, best, agent, recorded = false}, ends, others) {
    if (wanted === "" && !recorded) return;
    node.hidden = false;
    const points = values.length > 0 && values[0].unit === "points";
    const first = values.find((one) => one.action === best);
    const same = first === undefined ? [] : values.filter((one) => one === first || one.alike);
    const close = values.length > 1 && (same.length === values.length || same.length > RINGS); // nothing to choose between
    const shown = new Map();
    const high = Math.max(...values.map((one) => one.value + one.interval));
    const scale = 100 / Math.max(SCALE, high - Math.min(...values.map((one) => one.value - one.interval)));
    for (const one of values) {
      const percent = Math.round(100 * one.value);
      const chance = percent === 0 ? "" : `${percent}\u00a0%`;
      const brief = points ? withMinus((one.value - first.value).toFixed(1)) : chance;
      const bar = points ? 100 + scale * (one.value - high) : percent;
      shown.set(one.action, {brief, words: inWords(one), bar, within: points ? scale * one.interval : 0});
    }
    show(shown, (close ? [] : same).map((one) => one.action));
    if (first === undefined) told.textContent = "";
    else if (points) told.replaceChildren(element("strong", {}, bestOf(values, same, close)), element("span", {}, ` On average ${ends} up ${ahead(first)} ${others}.`, values.length === 1 ? "" : key));
    else told.textContent = `${titles.get(agent) ?? agent} ${recorded ? "preferred" : "would choose"}: ${first.text} (${inWords(first)}).`;
  }

  // A new position has come; `words`: what to say until advice follows, or why none does; `ended`: none will.
  function clear(words, ended) {
    show(new Map(), []);
    node.hidden = !offered;
    const advises = offered && wanted !== "";
    for (const part of [node, told]) part.classList.toggle("on", advises && !ended);
    told.textContent = advises ? words : "";
  }
}

// The best actions in words: `same`, which are as good as one another. The best of `values` come first.
function bestOf(values, same, close) {
  if (values.length === 1) return `The only action: ${same[0].text}.`;
  if (close) return `No clear difference${same.length > RINGS ? ` among ${same.length}` : ""}.`;
  const best = capital(same[0].text);
  if (same.length === 1) return `${best}: ${(same[0].value - values[1].value).toFixed(1)} points better than the next.`;
  const others = same.slice(1).map((one) => one.short);
  return `${best}. ${capital(others.join(" and "))} ${others.length === 1 ? "is" : "are"} about as good.`;
}

function ahead({value, interval}) {
  const within = interval < 0.05 ? "" : `\u00a0\u00b1\u00a0${interval.toFixed(1)}`;
  const size = `${Math.abs(value).toFixed(1)}${within} points`;
  if (Math.abs(value) < 0.05) return `level${within && ` (${within.trim()})`} with`;
  return `${size} ${value < 0 ? "behind" : "ahead of"}`;
}

function inWords({value, unit, interval}) {
  if (unit === "probability") return `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)}\u00a0%`;
  const within = interval < 0.005 ? "" : `\u00a0\u00b1\u00a0${interval.toFixed(2)}`;
  return withMinus(`${value < 0 ? "" : "+"}${value.toFixed(2)}${within}`);
}
