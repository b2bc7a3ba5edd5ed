// The names of the players: people choose theirs; agents are named by their kind and the number of their seat.

// Letters of a name that fit into a sentence of a picture.
const ROOM = 12;
// A name alone is drawn at most this much wider than "player_0", and at least at this share of its size.
const WIDER = 1.05;
const SMALLEST = 0.7;
const KINDS = ["zoo", "search", "ismcts", "pimc"];

/**
 * The names of a table: `set(names, own)` takes those of a message and the seat of this page, if it has one; `of(seat)` is
 * one, `within(text)` inserts them into a text, `inPicture(svg)` into a picture, where a line such as "player_0 bids" is
 * "You bid" for the own seat.
 */
export function createNames() {
  let shown = [];
  let you = null; // the beginning of a line about the own seat

  return {set, of, within, inPicture};

  function set(names, own = null) {
    shown = names.map(calledAt);
    if (own !== null) you = new RegExp(`^player_${own} (\\w+?)s\\b`);
  }

  function of(seat) {
    return shown[seat] ?? `Player ${seat}`;
  }

  // The table calls a seat "player_1", or "player_1 (normal)".
  function within(text, room = Infinity) {
    return text.replace(/player_(\d+)(?: \([^()]*\))?/g, (_, seat) => {
      const name = of(Number(seat));
      return name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`;
    });
  }

  // `svg` is in the page: names are measured.
  function inPicture(svg) {
    for (const node of svg.querySelectorAll("text, tspan, desc, title")) {
      if (node.childElementCount > 0 || !node.textContent.includes("player_")) continue;
      const alone = /^player_\d+$/.test(node.textContent) && node.matches("text");
      const width = alone ? WIDER * node.getComputedTextLength() : Infinity;
      const text = you === null ? node.textContent : node.textContent.replace(you, "You $1").replace(/^(You .*) or folds$/, "$1 or fold");
      node.textContent = within(text, ROOM);
      const share = alone ? width / node.getComputedTextLength() : 1;
      if (share >= 1) continue;
      node.setAttribute("font-size", Math.max(share, SMALLEST) * Number(node.getAttribute("font-size")));
      while (share < SMALLEST && node.getComputedTextLength() > width) node.textContent = `${node.textContent.slice(0, -2)}\u2026`;
    }
    for (const node of svg.querySelectorAll("[aria-label*='player_']")) {
      node.setAttribute("aria-label", within(node.getAttribute("aria-label")));
    }
  }
}

/** The name to show for `name` at `seat`: the spec of an agent, "you" or "person", or "=" and a person's name. */
export function calledAt(name, seat) {
  if (name === "you" || name === "person") return `Player ${seat}`;
  if (name.startsWith("=")) return name.slice(1);
  const [kind, rest] = name.split(":", 2);
  const word = rest === undefined || KINDS.includes(kind) ? kind : rest;
  const last = word.split("/").filter((part) => part !== "").pop() ?? word;
  return `${last[0].toUpperCase()}${last.slice(1)} ${seat}`;
}
