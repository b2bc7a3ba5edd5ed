// What happened: the events of all actions, as this seat sees them.

import {capital, element, newId, pushButton, seatToken, wide, withMinus} from "./dom.js";

const STRONG = new Set([
  "trick_won", "paradox", "round_end", "game_end", "round_begin", "eliminated", "petrified", "x_token_lost", "claim",
]);

/** The log; `names`: see names.js; `go(number)`, if given, makes each action a button that goes to the position after it. */
export function createLog(names, go = null) {
  const list = element("div", {class: "log-list", role: "log", "aria-label": "What happened", tabindex: 0});
  const heading = element("h2", {id: newId("heading")}, "What happened");
  const node = element("details", {class: "panel log", open: wide.matches}, element("summary", {}, heading), list);
  let follows = true; // whether the end is in view, and stays there, also when the list gets smaller
  let height = 0;
  list.addEventListener("scroll", () => (follows = list.clientHeight < height ? follows : list.scrollHeight - list.scrollTop - list.clientHeight < 60));
  new ResizeObserver(follow).observe(list);

  return {node, add, clear, markUntil, told, moment};

  function add({number, lines}) {
    if (lines.length === 0) return;
    list.querySelector(`[data-number="${number}"]`)?.remove();
    const inside = element("ul", {}, ...lines.map((line) => eventLine(line, names)));
    const entry = element("div", {class: "entry", "data-number": number}, inside);
    if (go !== null) {
      const label = `${number}: go to where ${names.within(lines[0].text)}`;
      entry.prepend(pushButton(String(number), () => go(number), {class: "go quiet", "aria-label": label}));
    }
    list.append(entry);
    follow();
  }

  function follow() {
    height = list.clientHeight;
    if (follows) list.scrollTop = list.scrollHeight;
  }

  // In a replay: hides what is to come.
  function markUntil(number) {
    for (const entry of list.children) entry.classList.toggle("future", Number(entry.dataset.number) > number);
    list.scrollTop = list.scrollHeight;
  }

  function clear() {
    follows = true;
    list.replaceChildren();
  }

  // What `whose` decision after so many actions was: "trick 2, your lead", "your bid".
  function moment(number, whose) {
    const before = [...list.querySelectorAll(".event")].filter((line) => line.closest(".entry").dataset.number <= number);
    const kinds = before.map((line) => line.dataset.kind);
    const rounds = kinds.filter((kind) => kind === "round_begin").length;
    const {kind} = list.querySelector(`:scope > [data-number="${number + 1}"] .event`).dataset;
    const round = rounds === 0 ? "" : `round ${rounds + 1}, `;
    if (["bid", "discard"].includes(kind)) return `${round}${whose} ${kind}`;
    if (["move", "teleport_exit"].includes(kind)) return `move ${number + 1}, ${whose} turn`;
    const trick = kinds.slice(kinds.lastIndexOf("round_begin") + 1).filter((kind) => kind === "trick_won").length + 1;
    const leads = / leads? /.test(told(number + 1));
    return `${round}trick ${trick}, ${whose} ${leads ? "lead" : ["play", "choose", "fold"].includes(kind) ? "card" : "choice"}`;
  }

  // What action `number` did, in words.
  function told(number) {
    const lines = list.querySelectorAll(`:scope > [data-number="${number}"] .told`);
    return [...lines].map((line) => line.textContent).join(" ");
  }
}

// One event as an element of a list.
function eventLine({text, kind, seat}, names) {
  const strong = STRONG.has(kind) ? " strong" : "";
  return element(
    "li",
    {class: `event${strong}`, "data-kind": kind},
    seat === null ? null : seatToken(seat, names.face(seat)),
    element("span", {class: "told"}, `${capital(names.within(withMinus(text)))}.`),
  );
}
