// Advice in a game on a real table: the deal, and the record that this browser keeps of it.

import {catFace, catName} from "./cats.js";
import {capital, element, labelled, newId, panel, pushButton, seatToken} from "./dom.js";
import {withSuits} from "./names.js";
import {keepSetting, setting} from "./settings.js";

const ADVISED = "advised";
// A place of a board without a tile, and tiles on which players begin.
const EMPTY = "_";
const STARTS = /^(\d\.\d|\*)$/;

/**
 * Keeps the lines of a game, and sends all of them with each new one. `enter` is a form for lines that cannot be chosen;
 * `take(position)` confirms what was sent last. `resume()` shows the game that was kept, and returns whether there is one.
 */
export function createAdviser(send) {
  let record = null;
  let sent = []; // the lines of the last message; refused ones are forgotten
  const field = element("input", {type: "text", id: newId("line"), autocomplete: "off", maxlength: 100});
  const label = element("label", {for: field.id});
  const enter = element("form", {class: "enter", onsubmit: entered}, label, field, element("button", {type: "submit"}, "Enter"));

  return {enter, begin, resume, take, send: pass};

  function begin(message) {
    record = {...message, lines: []};
    tell([], null);
  }

  function resume() {
    record = setting(ADVISED, null);
    return record !== null && tell(record.lines, null);
  }

  function tell(lines, number) {
    sent = lines;
    return send({...record, lines, number});
  }

  // A table's `act` and `undo` change the record; everything else is for the server.
  function pass(message) {
    if (message.type === "undo") return tell(record.lines.slice(0, -1), null);
    if (message.type !== "act") return send(message);
    return tell([...record.lines, message.action < 0 ? "" : `#${message.action}`], record.lines.length);
  }

  function entered(event) {
    event.preventDefault();
    tell([...record.lines, field.value], record.lines.length);
  }

  function take({number, question, waits_for: waits}) {
    if (number !== sent.length) return;
    if (record.lines !== sent) field.value = "";
    record.lines = sent;
    keepSetting(ADVISED, record);
    enter.hidden = waits === "over";
    label.textContent = question === "" ? "Or type it" : capital(question);
    if (question !== "") field.focus();
  }
}

/**
 * The form for what one sees of a deal, behind a button that calls `open()`: cards that are clicked, or text. `about()`:
 * the game, players, rules and seat of the advice. `ask()` asks which cards these have, and `take(message)` shows them; `wrong` says why a deal is none; `clear()`:
 * another game is chosen.
 */
export function createDealForm(frame, about, open) {
  const deal = element("textarea", {rows: 4, spellcheck: "false", oninput: draw});
  const field = labelled("What you see of the deal", deal, " ");
  const typed = element("details", {}, element("summary", {}), field);
  const offered = element("div", {class: "hand", role: "group", "aria-label": "Add a card to the deal"});
  const hand = element("div", {class: "hand fan", role: "group", "aria-label": "Your cards: click one to remove it"});
  const turned = element("div", {class: "hand", role: "group", "aria-label": "Cards turned up: click one to remove it"});
  const counter = element("p", {class: "counter", role: "status"});
  const wrong = element("p", {class: "wrong", role: "alert"});
  const button = pushButton("Advise me", advise, {class: "primary"});
  const short = element("p", {class: "hint"}, "Enter the deal and what everyone does: see what each of your actions is worth.");
  const form = element("div", {class: "watch advising-only"}, offered, counter, hand, turned, typed, wrong, button);
  const node = panel("Get advice for a game at a real table", "offer", short, pushButton("Enter the deal", open, {class: "lobby-only"}), form);
  let known = {cards: [], sizes: [0, 0], columns: 0}; // the last message `cards`

  return {node, wrong, ask, take, clear};

  function ask() {
    if (node.closest(".advising")) frame.send({type: "cards", ...about()});
  }

  function take(message) {
    if (known.columns > 0 && message.columns !== known.columns) clear();
    known = message;
    field.querySelector("small").textContent = known.words;
    const isBoard = known.columns > 0;
    const button = (card) => (isBoard ? tileButton(card, "Add", () => setTile(tiles().indexOf(EMPTY), card)) : cardButton(card, "Add", () => add(card)));
    offered.replaceChildren(...known.cards.map(button));
    typed.firstChild.textContent = isBoard ? "Type or paste the board" : "Type or paste your hand";
    hand.className = isBoard ? "hand board" : "hand fan";
    hand.style.setProperty("--columns", known.columns);
    if (isBoard && deal.value.trim() !== "") write(tiles()); // without pawns of seats that are gone
    hand.setAttribute("aria-label", isBoard ? "The board" : "Your cards: click one to remove it");
    draw();
  }

  function clear() {
    deal.value = wrong.textContent = "";
    typed.open = false;
  }

  // The cards of the hand in order, and those turned up, which stand in a second line.
  function entered() {
    const [own, up] = [...deal.value.split(/[\n/]/), ""].map((line) => line.split(/[\s,]+/).filter((card) => card !== ""));
    return [own.sort((one, other) => known.cards.indexOf(one) - known.cards.indexOf(other)), up];
  }

  function change([own, up]) {
    deal.value = own.join(" ") + (up.length > 0 ? `\n${up.join(" ")}` : "");
    wrong.textContent = "";
    draw();
  }

  function add(card) {
    const cards = entered();
    cards[cards[0].length < known.sizes[0] ? 0 : 1].push(card);
    change(cards);
  }

  // The focus goes to the next card, after the last one to the button.
  function remove(line, at) {
    const cards = entered();
    cards[line].splice(at, 1);
    change(cards);
    [...hand.querySelectorAll("button"), ...turned.querySelectorAll("button"), button][line * cards[0].length + at].focus();
  }

  // The tiles of a board, row by row, each with @ and the seat of a pawn that stands there.
  function tiles() {
    const words = deal.value.split(/[\s/]+/).filter((word) => word !== "");
    const ofPlayers = (word) => (Number(word.split("@")[1] ?? 0) < about().players ? word : word.split("@")[0]);
    return Array.from({length: known.sizes[0]}, (_, cell) => ofPlayers(words[cell] ?? EMPTY));
  }

  function write(all) {
    const rows = all.map((tile, cell) => ((cell + 1) % known.columns === 0 ? `${tile}\n` : `${tile} `));
    deal.value = all.every((tile) => tile === EMPTY) ? "" : rows.join("").trim();
  }

  function setTile(at, word) {
    write(tiles().map((tile, cell) => (cell === at ? word : tile)));
    wrong.textContent = "";
    draw();
  }

  // A complete board gets its pawns, seat by seat; else a click takes back what is there.
  function drawBoard() {
    const all = tiles();
    const missing = all.filter((tile) => tile === EMPTY).length;
    const {players, seat: own} = about();
    const pawn = Array.from({length: players}, (_, seat) => seat).find((seat) => !all.some((tile) => tile.endsWith(`@${seat}`)));
    const places = missing === 0 && pawn !== undefined;
    const focused = document.activeElement;
    for (const one of offered.childNodes) one.disabled = missing === 0;
    hand.replaceChildren(...all.map((word, cell) => {
      if (word === EMPTY) return element("span", {class: "card"});
      const [tile, seat] = word.split("@");
      const begins = seat === undefined && places && STARTS.test(tile);
      const next = seat !== undefined ? tile : begins ? `${word}@${pawn}` : EMPTY;
      const verb = seat !== undefined ? `Take ${catName(Number(seat))} off` : begins ? `Put ${catName(pawn)} on` : "Remove";
      return tileButton(word, verb, () => {
        setTile(cell, next);
        (hand.children[cell].matches("button") ? hand.children[cell] : offered.firstChild).focus();
      });
    }));
    if (missing === 0 && offered.contains(focused)) hand.firstChild.focus(); // some browsers take it from what is disabled
    counter.textContent = missing > 0 ? `Add the tiles row by row: ${all.length - missing} of ${all.length}` : places ? `Click the tile where ${pawn === own ? "you stand" : `${catName(pawn)} stands`}.` : "Complete.";
    turned.hidden = true;
    offered.hidden = counter.hidden = hand.hidden = false;
  }

  function draw() {
    if (known.columns > 0) return drawBoard();
    const [cards, [own, up]] = [entered(), known.sizes];
    const missing = known.sizes.map((size, line) => Math.max(0, size - cards[line].length));
    const complete = missing.every((number) => number === 0);
    const left = (card) => (complete ? 0 : known.copies - cards.flat().filter((one) => one === card).length);
    const focused = document.activeElement; // some browsers take the focus from a button that is disabled
    offered.childNodes.forEach((one, i) => (one.disabled = left(known.cards[i]) <= 0));
    if (focused.disabled) button.focus();
    [hand, turned].forEach((row, line) => {
      const free = Array.from({length: missing[line]}, () => element("span", {class: "card"}));
      row.replaceChildren(...cards[line].map((card, at) => cardButton(card, "Remove", () => remove(line, at))), ...free);
    });
    [...hand.children].forEach((card, i, {length}) => (card.style.rotate = `${(18 * (i + 0.5)) / length - 9}deg`));
    for (const row of [offered, counter, hand, turned]) row.hidden = known.cards.length === 0;
    const others = up === 0 ? "" : `, and ${cards[1].length} of ${up} turned up`;
    counter.textContent = `Your hand: ${cards[0].length} of ${own} cards${others}${complete ? ". Complete." : ""}`;
  }

  function advise() {
    const text = deal.value.trim();
    wrong.textContent = text === "" ? "Enter what you see of the deal first." : "";
    if (text !== "") frame.adviser.begin({type: "advise", ...about(), deal: text});
  }
}

function cardButton(card, verb, onclick) {
  const [, rank, suit] = withSuits(card).match(/^(.*?)([\u2660-\u2666]?)$/);
  return element("button", {type: "button", class: "card", "data-suit": suit, "aria-label": `${verb} ${rank}${suit}`, onclick}, rank, element("span", {}, suit));
}

// A tile: what it gives, and its colour as a small number; with the face of whoever stands on it.
function tileButton(word, verb, onclick) {
  const [tile, seat] = word.split("@");
  const [what, colour = ""] = tile.startsWith("T") ? ["T", tile.slice(1)] : tile.split(".");
  const shown = seat === undefined ? [what, element("small", {}, colour)] : [seatToken(Number(seat), catFace(Number(seat))), element("small", {}, tile)];
  return element("button", {type: "button", class: "card", "data-colour": colour, "aria-label": `${verb} ${tile}`, onclick}, ...shown);
}
