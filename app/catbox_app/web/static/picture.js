// The picture of a position: the SVG of the table, whose legal actions can be clicked and reached by keyboard.

import {element, shape} from "./dom.js";
import {setting} from "./settings.js";

// The smallest size of a touch target within its frame, in pixels; and where a slip can be undone.
const FINGER = 44;
const UNDOABLE = 28;
// How long something takes to move from one picture to the next, in milliseconds.
const MOVING = {duration: 260, easing: "ease-out"};
const still = matchMedia("(prefers-reduced-motion: reduce)");
// A card that is moved by fewer pixels is clicked.
const DRAGGED = 8;
// Heights of a choice, in units of the picture: up to LOW it has no room for a number, up to FLAT the number hangs from its
// lower edge, up to CELL what is drawn there makes room.
const [LOW, FLAT, CELL] = [24, 32, 42];
// The height of a number's strip, where the middle of words above it is, and the size of a badge that makes room, unless
// it is small, as in each NARROW choice.
const [STRIP, RAISED, BADGE, NARROW] = [12, 0.36, 0.64, 34];
// A tick, and a question mark.
const SIGNS = {best: "M-3 .2l2.2 2.3L3.2-2.4", wrong: "M-2.1-1.6c0-3.2 4.6-2.8 4.2 0C1.9-.3 0-.3 0 1.2M0 3.6v.1"};
const ARROWS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

/** The width in pixels of the pictures to request: in one column, or in two with a larger left one. */
export function sizeFor(width) {
  return width < 780 ? 360 : 1000;
}

/**
 * The picture; calls `act(action)` with a chosen action, even an illegal one: the table says why it is. `say(text)`
 * shows a hint, such as what a card of the hand cannot do; `names`: see names.js; `missed()`: a click hit nothing;
 * `undoable()`: whether an action can be taken back.
 * `show(svg, watched, offered)` draws a position; if `watched`, nothing can be chosen in it, as in a recorded game;
 * `offered`: actions that can be, even if another seat takes them. `pointAt(part)` outlines what has a label that begins so.
 */
export function createPicture(act, say, names, missed, undoable) {
  const node = element("div", {class: "picture", tabindex: -1, onclick: clicked, onkeydown: pressed, onpointerdown: grabbed});
  let closed = false; // whether nothing can be chosen
  let asked = null; // what the picture says while no card is picked
  let meant = null; // how the label of what is outlined begins

  return {node, show, showValues, choices, pointAt};

  function show(svg, watched = false, offered = []) {
    closed = watched;
    asked = null;
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    drawn.querySelector(":scope > title")?.remove(); // browsers show it as a tooltip; the label says the same
    const focused = node.contains(document.activeElement) ? document.activeElement : null;
    const action = focused?.dataset.action;
    const picture = document.importNode(drawn, true);
    const before = node.firstElementChild;
    for (const movement of node.getAnimations({subtree: true})) movement.finish(); // places are those at rest
    const places = before === null ? null : placesIn(before);
    for (const {action, text} of offered) {
      const area = picture.querySelector(`[data-forbidden="${action}"]`);
      if (area === null) continue;
      area.removeAttribute("data-forbidden");
      for (const [key, value] of [["data-action", action], ["role", "button"], ["aria-label", text]]) area.setAttribute(key, value);
    }
    for (const button of picture.querySelectorAll("[data-action]")) {
      button.prepend(shape("title"));
      if (watched) {
        button.setAttribute("role", "img");
        button.removeAttribute("cursor");
      } else {
        button.setAttribute("tabindex", "0");
      }
    }
    node.classList.remove("choosing");
    node.replaceChildren(picture);
    const {width, height} = picture.viewBox.baseVal;
    node.closest(".table")?.style.setProperty("--shape", width / height);
    names.inPicture(picture);
    pointAt(meant);
    showValues(new Map(), []);
    const alike = before?.getAttribute("width") === picture.getAttribute("width"); // not laid out for another window
    if (alike && picturesMove()) move(before, places, picture);
    if (focused === null) return;
    const again = choices().find((choice) => choice.dataset.action === action);
    (again ?? choices()[0] ?? node).focus({preventScroll: true});
  }

  function pointAt(part) {
    meant = part;
    for (const one of node.querySelectorAll("svg [aria-label]")) {
      one.classList.toggle("meant", meant !== null && one.getAttribute("aria-label").toLowerCase().startsWith(meant));
    }
  }

  function choices() {
    return [...node.querySelectorAll("[data-action]")];
  }

  // Writes the value of each choice on it, above everything else, and in full in its tooltip. `values`: see coach.js;
  // `best`: the few actions with a tick and a ring instead; `better`: those of a review, with both; `wrong`:
  // a mistake, with a ring and a question mark.
  function showValues(values, best, better = [], wrong = null) {
    node.querySelector(".coach-marks")?.remove();
    const marks = shape("g", {class: "coach-marks", "aria-hidden": "true"});
    node.firstElementChild?.append(marks);
    for (const choice of choices()) {
      const action = Number(choice.dataset.action);
      const parts = [choice.getAttribute("aria-label"), choice.getAttribute("aria-description"), values.get(action)?.words];
      choice.querySelector("title").textContent = parts.filter((words) => words).join(", ");
      const brief = values.get(action)?.brief;
      const box = choice.getBBox();
      const kind = action === wrong ? "wrong" : [...better, ...best].includes(action) ? "best" : brief && box.height > LOW ? "value" : null;
      if (box.height > FLAT && box.height < CELL) makeRoom(choice, kind === "value");
      if (kind === null || node.clientWidth === 0) continue;
      const {a, b, c, d, e, f} = marks.getCTM().inverse().multiply(choice.getCTM());
      const mark = shape("g", {class: `coach-mark ${kind}`, "data-of": action, transform: `matrix(${[a, b, c, d, e, f]})`});
      marks.append(mark);
      if (kind === "value") number(mark, box, brief);
      else sign(mark, box, kind);
    }
  }

  // What is drawn in a small choice with a value: its words rise, and a badge shrinks into its corner.
  function makeRoom(choice, needed) {
    const {x, y, width, height} = choice.getBBox();
    const beside = choice.parentNode.querySelectorAll(":scope > [aria-hidden] > :is(text, path)");
    for (const part of [...beside, ...choice.querySelectorAll("text")]) {
      const box = part.getBBox();
      if (box.x < x || box.y < y || box.x + box.width > x + width || box.y + box.height > y + height) continue;
      const smaller = width < NARROW ? "" : `translate(${(x + width) * (1 - BADGE)} ${y * (1 - BADGE)}) scale(${BADGE})`;
      if (part.matches("text")) part.setAttribute("transform", needed ? `translate(0 ${y + RAISED * height - box.y - box.height / 2})` : "");
      else part.setAttribute("transform", needed ? smaller : "");
    }
  }

  // In a strip along the lower edge, below what is written on the choice.
  function number(mark, {x, y, width, height}, brief) {
    const [middle, bottom] = [x + width / 2, y + height + (height > FLAT ? -1.5 : 8)];
    const words = shape("text", {x: middle, y: bottom - 2.2, "text-anchor": "middle", "font-size": width > 40 ? 12 : 11}, brief.replace("\u00a0", ""));
    mark.append(words);
    const across = Math.max(width - 3, words.getComputedTextLength() + 3);
    words.before(shape("rect", {x: middle - across / 2, y: bottom - STRIP, width: across, height: STRIP, rx: 3}));
  }

  function sign(mark, {x, y, width, height}, kind) {
    const around = {x: x - 2, y: y - 2, width: width + 4, height: height + 4, rx: Math.min(8, height / 2 + 2)};
    const drawing = [shape("circle", {r: 6.5}), shape("path", {d: SIGNS[kind]})];
    mark.append(shape("rect", {class: "ring", ...around}));
    mark.append(shape("g", {class: "sign", transform: `translate(${x + 3} ${y + 3}) scale(${Math.min(1, height / LOW)})`}, ...drawing));
  }

  function clicked(event) {
    if (closed) return;
    const choice = event.target.closest("[data-action], [data-forbidden]");
    if (choice !== null && needsSecondTap(choice, event)) {
      pointOut([choice.dataset.action]);
      say(`Tap again to ${choice.getAttribute("aria-label")}.`);
    } else if (choice !== null) {
      act(Number(choice.dataset.action ?? choice.dataset.forbidden));
    }
    const card = event.target.closest("[data-leads]");
    if (card !== null) pick(card);
    else if (choice === null) missed();
  }

  // A card of the hand comes first: its cells light up. Picked again, it goes to the only one, or is put back.
  function pick(card) {
    const actions = leadsOf(card);
    if (!card.classList.contains("picked")) pointOut(actions, card);
    else if (actions.length === 1) act(Number(actions[0]));
    else pointOut([]);
  }

  // A card of the hand can be dragged to a cell.
  function grabbed(event) {
    const card = event.target.closest("[data-leads]");
    if (closed || card === null || leadsOf(card).length === 0 || event.button !== 0) return;
    const drawn = card.closest("svg").querySelector(`[data-key="hand-${card.dataset.rank}"]`);
    const unit = card.getCTM().a || 1;
    const dragging = new AbortController();
    let moved = false;
    const drag = (now) => {
      const [x, y] = [now.clientX - event.clientX, now.clientY - event.clientY];
      if (!moved && Math.hypot(x, y) < DRAGGED) return;
      if (!moved) pointOut(leadsOf(card), card);
      moved = true;
      drawn.style.transform = `translate(${x / unit}px, ${y / unit}px)`;
    };
    const drop = (now) => {
      dragging.abort();
      drawn.style.transform = "";
      if (!moved) return;
      addEventListener("click", (click) => click.stopPropagation(), {capture: true, once: true});
      const cell = document.elementsFromPoint(now.clientX, now.clientY).map((one) => one.closest("[data-action], [data-forbidden]")).find((one) => one !== null);
      if (cell !== undefined && now.type === "pointerup") act(Number(cell.dataset.action ?? cell.dataset.forbidden));
    };
    for (const [kind, listener] of [["pointermove", drag], ["pointerup", drop], ["pointercancel", drop]]) {
      addEventListener(kind, listener, {signal: dragging.signal});
    }
  }

  // A small target must be tapped twice.
  function needsSecondTap(choice, event) {
    if (event.pointerType !== "touch" || choice.dataset.action === undefined) return false;
    const {width, height} = choice.getBoundingClientRect();
    return Math.min(width, height) < (undoable() ? UNDOABLE : FINGER) && !choice.classList.contains("tapped");
  }

  // Highlights the cells to which a card of the hand can go, and dims the others.
  function pointOut(actions, card = null) {
    for (const one of node.querySelectorAll("[data-leads]")) one.classList.toggle("picked", one === card && actions.length > 0);
    node.classList.toggle("choosing", card !== null && actions.length > 0);
    const prompt = node.querySelector("[data-prompt] text");
    asked ??= prompt?.textContent;
    if (prompt !== null) prompt.textContent = card !== null && actions.length > 0 ? `${Number(card.dataset.rank) + 1}: choose its colour.` : asked;
    for (const choice of choices()) {
      choice.classList.toggle("led", actions.includes(choice.dataset.action));
      choice.classList.toggle("tapped", actions.length === 1 && choice.dataset.action === actions[0]);
      node.querySelector(`[data-of="${choice.dataset.action}"]`)?.classList.toggle("led", actions.includes(choice.dataset.action));
    }
    say(card !== null && actions.length === 0 ? "This card cannot be declared now." : "");
  }

  function pressed(event) {
    const choice = event.target.closest("[data-action]");
    if (event.key in ARROWS) {
      event.preventDefault();
      (choice === null ? choices()[0] : nearest(choices(), choice, ARROWS[event.key]))?.focus();
    } else if (choice !== null && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      act(Number(choice.dataset.action));
    }
  }
}

// The actions that declare a card of the hand.
function leadsOf(card) {
  return card.dataset.leads.split(" ").filter((action) => action !== "");
}

// The nearest choice in the direction [right, down]; distance to the side counts twice. If there is none, the next one
// in the order of the picture, wrapping around.
function nearest(choices, from, [right, down]) {
  const start = middle(from);
  const ways = choices.map((choice) => {
    const [x, y] = middle(choice);
    const ahead = (x - start[0]) * right + (y - start[1]) * down;
    return {choice, ahead, length: ahead + 2 * Math.abs((x - start[0]) * down + (y - start[1]) * right)};
  });
  const [way] = ways.filter(({ahead}) => ahead > 1).sort((one, other) => one.length - other.length);
  const step = right + down;
  return way?.choice ?? choices[(choices.indexOf(from) + step + choices.length) % choices.length];
}

function middle(choice) {
  const box = choice.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Whether pictures move: not if the system or the user says so. */
export function picturesMove() {
  return !still.matches && setting("motion", "on") === "on";
}

// Where everything with a key stands in a picture: key -> its middle in pixels, the `matrix` from its units to those of
// the picture, and the pixels of its `unit`.
function placesIn(picture) {
  const found = new Map();
  const frame = picture.getBoundingClientRect();
  if (frame.width === 0) return found;
  const inward = picture.getScreenCTM().inverse();
  for (const one of picture.querySelectorAll("[data-key]")) {
    const [x, y] = middle(one);
    const outward = one.parentNode.getScreenCTM();
    found.set(one.dataset.key, {x: x - frame.x, y: y - frame.y, matrix: inward.multiply(outward), unit: outward.a});
  }
  return found;
}

// Moves what has a key from its `places` in the picture `before` to where it is now; what is new comes from where it
// was, and what is gone shrinks towards its end.
function move(before, places, picture) {
  const now = placesIn(picture);
  const shift = (one, other) => `translate(${(other.x - one.x) / one.unit}px, ${(other.y - one.y) / one.unit}px)`;
  for (const one of picture.querySelectorAll("[data-key]")) {
    const start = places.get(one.dataset.key) ?? places.get(one.dataset.from);
    const end = now.get(one.dataset.key);
    if (start === undefined || Math.hypot(start.x - end.x, start.y - end.y) < 1) continue;
    fly(one, end, picture, [{transform: shift(end, start)}, {transform: "none"}]);
    one.animate({opacity: [0, 0]}, MOVING);
  }
  for (const one of before.querySelectorAll("[data-to]")) {
    const [start, end] = [places.get(one.dataset.key), now.get(one.dataset.to)];
    if (now.has(one.dataset.key) || start === undefined || end === undefined) continue;
    fly(one, start, picture, [{transform: "none"}, {transform: `${shift(start, end)} scale(0.3)`, opacity: 0.2}]);
  }
}

// Moves a copy of `one`, which stands at `place`, above everything else in the picture.
function fly(one, {matrix: {a, b, c, d, e, f}}, picture, frames) {
  const copy = shape("g");
  copy.innerHTML = one.outerHTML.replace(/ (data-|aria-|role|style|tabindex)[\w-]*="[^"]*"/g, "");
  const carrier = shape("g", {class: "flying", "aria-hidden": "true", transform: `matrix(${[a, b, c, d, e, f]})`}, copy);
  picture.append(carrier);
  copy.animate(frames, MOVING).finished.finally(() => carrier.remove());
}
