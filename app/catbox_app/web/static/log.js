// What happened: the events of all actions, as this seat sees them.

import {logo} from "./cats.js";
import {element, newId, pushButton, seatToken, wide, withMinus} from "./dom.js";

const STRONG = new Set([
  "trick_won", "paradox", "round_end", "game_end", "round_begin", "eliminated", "petrified", "x_token_lost", "claim",
]);
const OF_THE_END = new Set(["paradox", "paradox_card", "round_end", "score", "hand", "side_pot", "game_end"]);

/** The log; `names`: see names.js; `go(number)`, if given, makes each action a button that goes to the position after it. */
export function createLog(names, go = null) {
  const list = element("div", {class: "log-list", role: "log", "aria-label": "What happened", tabindex: 0});
  const heading = element("h2", {id: newId("heading")}, "What happened");
  const node = element("details", {class: "panel log", open: wide.matches}, element("summary", {}, heading), list);

  return {node, add, clear, markUntil, latest, told};

  function add({number, lines}) {
    if (lines.length === 0) return;
    const follows = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
    list.querySelector(`[data-number="${number}"]`)?.remove();
    const inside = element("ul", {}, ...lines.map((line) => eventLine(line, names)));
    const entry = element("div", {class: "entry", "data-number": number}, inside);
    if (go !== null) {
      const label = `${number}: go to where ${names.within(lines[0].text)}`;
      entry.prepend(pushButton(String(number), () => go(number), {class: "go quiet", "aria-label": label}));
    }
    list.append(entry);
    if (follows) list.scrollTop = list.scrollHeight;
  }

  // In a replay: marks what is past and what is to come.
  function markUntil(number) {
    for (const entry of list.children) {
      entry.classList.toggle("future", Number(entry.dataset.number) > number);
      entry.classList.toggle("now", Number(entry.dataset.number) === number);
    }
    const now = list.querySelector(".now");
    if (now !== null) list.scrollTop = now.offsetTop - list.clientHeight / 2;
    else if (number === 0) list.scrollTop = 0;
  }

  function clear() {
    list.replaceChildren();
  }

  // What action `number` did, in words.
  function told(number) {
    const lines = list.querySelectorAll(`:scope > [data-number="${number}"] .told`);
    return [...lines].map((line) => line.textContent).join(" ");
  }

  // The most important line of the last action, in words.
  function latest() {
    const lines = [...(list.lastElementChild?.querySelectorAll(".event") ?? [])];
    const strong = lines.filter((line) => line.classList.contains("strong"));
    return (strong.pop() ?? lines.pop())?.querySelector(".told").textContent ?? "";
  }
}

// One event as an element of a list.
function eventLine({text, kind, seat}, names) {
  const strong = STRONG.has(kind) ? " strong" : "";
  return element(
    "li",
    {class: `event${strong}`, "data-kind": kind},
    seat === null ? null : seatToken(seat),
    element("span", {class: "told"}, `${sentence(names.within(withMinus(text)))}.`),
  );
}

/** The end of a round: why it ended, each seat's points as a sum, hidden cards revealed. */
export function createSummary(names) {
  const title = element("h2", {});
  const outcome = element("p", {class: "result"});
  const scores = element("div", {class: "scores"});
  const more = element("ul", {class: "more"});
  const buttons = element("div", {class: "row"});
  const node = element("section", {class: "panel round-end", hidden: true, tabindex: -1}, logo(), title, outcome, scores, buttons, more);
  node.setAttribute("aria-label", "End of the round");

  return {node, show, hide};

  function hide() {
    node.hidden = true;
  }

  function inWords(line) {
    return eventLine(line, names);
  }

  // `place`: how this seat finished, at the end of a game; `table`: the points (rounds.js).
  function show(lines, over, place, table, ...children) {
    const told = lines.filter((line) => OF_THE_END.has(line.kind));
    const result = told.find((line) => line.kind === "game_end");
    const shown = result ?? told.find((line) => line.kind === "round_end") ?? told[0];
    const words = shown === undefined ? "The game is over" : sentence(names.within(shown.text));
    title.textContent = place === "" ? words : place;
    outcome.textContent = place === "" ? "" : `${words}.`;
    scores.replaceChildren(table);
    // When the game is over, the picture has the hands.
    const left = told.filter((line) => line !== shown && line.kind !== "score" && !(over && line.kind === "hand"));
    more.replaceChildren(...left.map(inWords));
    buttons.replaceChildren(...children);
    node.hidden = false;
  }
}

// Capitalises the first letter.
function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}`;
}

/** Whether `lines` report the end of a round. */
export function endsRound(lines) {
  return lines.some((line) => line.kind === "score");
}
