// The names of the players: a cat for each seat, unless its player has a name. An agent has its kind beside it.

import {catFace, catName} from "./cats.js";

// Letters of a name that fit into a sentence of a picture.
const ROOM = 12;
// A name alone is drawn at most this much wider than "player_0", and at least at this share of its size.
const WIDER = 1.05;
const SMALLEST = 0.7;
// So far above the middle of its row is a name with a note below it.
const NAME_ABOVE = 8;
const KINDS = ["zoo", "search", "ismcts", "pimc", "heuristic"];
// The verbs whose second person is not the third without its "s".
const SECOND_PERSON = {does: "do", has: "have", is: "are", passes: "pass"};
const SUITS = {S: "\u2660", H: "\u2665", D: "\u2666", C: "\u2663"};

/**
 * The names of a table: `set(names, own)` takes those of a message and the seat of this page, if it has one; `of(seat)` is
 * one, `full(seat)` the same with the kind of an agent, `face(seat)` a face (null without a seat), `within(text)` inserts the
 * names into a text, `brief(text)` into that of an action, without "play", `inPicture(svg)` names and faces into a picture, where a line such as "player_0 bids" is "You bid"
 * for the own seat.
 */
export function createNames() {
  let shown = [];
  let kinds = [];
  let own = null; // the seat of this page
  let unnamed = false; // whether its player has no name, and is "you"

  return {set, of, full, face, within, brief, inPicture};

  function set(names, seat = null) {
    own = seat;
    unnamed = own !== null && ["you", "person"].includes(names[own]);
    shown = names.map((name, at) => (unnamed && at === own ? "You" : calledAt(name, at)));
    kinds = names.map(kindOf);
  }

  function face(seat) {
    return kinds[seat] === undefined ? null : catFace(seat);
  }

  function of(seat) {
    return shown[seat] ?? catName(seat);
  }

  function full(seat) {
    return (kinds[seat] ?? null) === null ? of(seat) : `${of(seat)} (${kinds[seat]})`;
  }

  // The table calls a seat "player_1", or "player_1 (normal)".
  function within(text, room = Infinity) {
    const told = withSuits(unnamed ? addressed(text).replace(`player_${own}, you,`, `player_${own},`) : text);
    return told.replaceAll("X-token", "X\u2011token").replace(/player_(\d+)(?: \([^()]*\))?/g, (_, seat, at) => {
      const name = unnamed && Number(seat) === own && at > 0 ? "you" : of(Number(seat));
      return [...name].length <= room ? name : `${first(name, room - 1)}\u2026`;
    });
  }

  function brief(text) {
    return within(text.replace(/^(play|move to) /, ""));
  }

  // The note "you" below a name goes if the name is "You", and where nobody plays; without another note the name takes
  // the middle.
  function withoutYou(node) {
    if (!/^you( \u00b7 |$)/.test(node.textContent)) return;
    node.textContent = node.textContent.replace(/^you(?: \u00b7 )?/, "");
    const name = node.previousElementSibling;
    if (node.textContent === "" && Number(node.getAttribute("y")) > Number(name?.getAttribute("y"))) name.setAttribute("y", Number(name.getAttribute("y")) + NAME_ABOVE);
  }

  // "player_1 bids" as "You bid", if seat 1 is one's own; the table may call it "player_1 (you)".
  function addressed(line) {
    if (own === null) return line;
    const seat = `player_${own}(?: \\([^()]*\\))?`;
    return line
      .replace(new RegExp(`(h)and of ${seat}`, "i"), (_, h) => `${h === "H" ? "Your" : "your"} hand`)
      .replace(new RegExp(`${seat}'s paradox`), "your paradox")
      .replace(
        new RegExp(`(^|[.,:] )${seat} (\\w+)(.*)$`),
        (_, before, verb, rest) => `${before}${/[,:]/.test(before) ? "you" : "You"} ${secondPerson(verb)}${alsoSecond(rest)}`,
      );
  }

  // `svg` is in the page: names are measured.
  function inPicture(svg) {
    for (const node of svg.querySelectorAll("text, tspan, desc, title")) {
      if (node.childElementCount > 0) continue;
      if (unnamed || own === null) withoutYou(node);
      if (!node.textContent.includes("player_")) continue;
      const alone = /^player_\d+$/.test(node.textContent) && node.matches("text");
      const width = alone ? WIDER * node.getComputedTextLength() : Infinity;
      node.textContent = within(addressed(node.textContent), ROOM);
      const share = alone ? width / node.getComputedTextLength() : 1;
      if (share >= 1) continue;
      node.setAttribute("font-size", Math.max(share, SMALLEST) * Number(node.getAttribute("font-size")));
      while (share < SMALLEST && node.getComputedTextLength() > width) node.textContent = `${first(node.textContent, -2)}\u2026`;
    }
    for (const node of svg.querySelectorAll("[aria-label*='player_']")) {
      node.setAttribute("aria-label", within(node.getAttribute("aria-label")));
    }
    for (const head of svg.querySelectorAll("[data-face]")) {
      const cat = face(Number(head.dataset.face));
      if (cat !== null) head.replaceChildren(...cat.childNodes);
    }
  }
}

// What follows the first verb of a line about "you".
function alsoSecond(rest) {
  return rest.replace(/\b(and|or) (claims|folds|has|is|loses|stays|turns|wins)\b/g, (_, word, verb) => `${word} ${secondPerson(verb)}`);
}

function secondPerson(verb) {
  return SECOND_PERSON[verb] ?? verb.replace(/s$/, "");
}

/** Cards such as "4H" with the sign of their suit. */
export function withSuits(text) {
  return text.replace(/\b(10|[2-9JQKA])([SHDC])\b/g, (_, rank, suit) => `${rank}${SUITS[suit]}`);
}

// The first characters of a text; emoji stay whole.
function first(text, count) {
  return [...text].slice(0, count).join("");
}

/** The name to show for `name` at `seat`: the spec of an agent, "you" or "person", or "=" and a person's name. */
export function calledAt(name, seat) {
  return name.startsWith("=") ? name.slice(1) : catName(seat);
}

/** The kind of an agent, such as "Normal", by its spec; null for a person. */
export function kindOf(name) {
  if (name === "you" || name === "person" || name.startsWith("=")) return null;
  const [kind, rest] = name.split(":", 2);
  const word = rest === undefined || KINDS.includes(kind) ? kind : rest;
  const last = word.split("/").filter((part) => part !== "").pop() ?? word;
  return `${last[0].toUpperCase()}${last.slice(1)}`;
}
