// The rules of a game that can be chosen in the lobby.

import {catName} from "./cats.js";
import {capital, element, labelled, selection} from "./dom.js";

// What players call the options; others are called by their names.
const LABELS = {
  num_ranks: "Highest rank", num_colors: "Colours", copies: "Cards of each rank", hand_size: "Cards in hand",
  bonus_max_tricks: "Most tricks for the bonus", revealed_cards: "Cards shown at the start", start_player: "Who starts",
};
// What the page says of options whose descriptions are for programmers.
const HELPS = {
  rounds: "A match is one round per player.", bids: "Which numbers of tricks may be bid.", start_player: "In the first round.",
  move_rule: "Exact: a number takes you exactly so many steps. Up to: at most so many.", region: "Laos and Vietnamese play alike.",
};

/**
 * The options of a game: `show(rules)` offers them, `rounds` beside the others in `node`; `chosen()` returns those that differ from the defaults. `pointOut(text)`
 * leads to the option that an error is about, and returns the error with its label; `adapt(index, players)` shows what
 * is usual, and the seats, for this number of players at this place.
 */
export function createRules() {
  const rounds = element("div", {class: "rounds"});
  const node = element("div", {class: "rules-list"});
  let fields = [];

  return {node, rounds, show, chosen, pointOut, adapt};

  function show(rules) {
    fields = rules.map((rule) => ({rule, field: fieldOf(rule)}));
    rounds.replaceChildren();
    node.replaceChildren();
    for (const {rule, field} of fields) (rule.name === "rounds" ? rounds : node).append(row(rule, field));
    rounds.hidden = !rounds.hasChildNodes();
  }

  function adapt(index, players) {
    for (const {rule, field} of fields) {
      field.placeholder = [rule.usual[index]].flat().join(", ");
      if (rule.name !== "start_player") continue;
      const wanted = field.value || JSON.stringify(rule.default);
      const seats = Array.from({length: players}, (_, seat) => element("option", {value: seat}, catName(seat)));
      field.replaceChildren(...seats, element("option", {value: '"random"'}, "At random"));
      if ([...field.options].some(({value}) => value === wanted)) field.value = wanted;
    }
  }

  function chosen() {
    const values = fields.map(({rule, field}) => [rule.name, valueOf(rule, field), rule.default]);
    return Object.fromEntries(values.filter(([, value, usual]) => value !== usual).map(([name, value]) => [name, value]));
  }

  function pointOut(text) {
    const found = fields.find(({rule}) => text.startsWith(`${rule.name}=`));
    if (found === undefined) return text;
    for (let fold = found.field; fold !== null; fold = fold.parentElement.closest("details")) fold.open = true;
    found.field.focus();
    return `${labelOf(found.rule)} ${text.slice(found.rule.name.length + 1)}. Change it, then try again.`;
  }
}

function labelOf(rule) {
  return LABELS[rule.name] ?? capital(rule.name.replaceAll("_", " "));
}

function fieldOf(rule) {
  if (typeof rule.default === "boolean") {
    return element("input", {type: "checkbox", checked: rule.default});
  }
  if (rule.name === "start_player") return element("select");
  if (rule.choices) {
    const options = rule.choices.map((value) => [JSON.stringify(value), capital(String(value)).replaceAll("_", " ")]);
    return selection(options, JSON.stringify(rule.default));
  }
  const type = rule.type === "int" ? "number" : "text";
  return element("input", {type, value: usualText(rule)});
}

function usualText(rule) {
  return rule.default === null ? "" : String(rule.default);
}

// The table reads texts as the command line does.
function valueOf(rule, field) {
  if (field.type === "checkbox") return field.checked;
  if (field.matches("select")) return JSON.parse(field.value);
  const text = field.value.trim();
  return text === "" || text === usualText(rule) ? rule.default : text;
}

function row(rule, field) {
  const node = labelled(labelOf(rule), field, HELPS[rule.name] ?? rule.help);
  node.className = field.type === "checkbox" ? "rule tick" : "rule";
  return node;
}
