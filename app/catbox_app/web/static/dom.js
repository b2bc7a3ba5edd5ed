// Small helpers to build a page.

let counter = 0;

/** Whether the page is wide: the table has two columns, and its picture is large enough to choose in it. */
export const wide = matchMedia("(min-width: 1180px)");

/**
 * An element with attributes and children. `attributes`: a name beginning with "on" is a listener, true is an empty
 * attribute, and false, null and undefined are left out. `children`: nodes and texts; null and undefined are left out.
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An SVG element with attributes and children, which are nodes and texts. */
export function shape(kind, attributes = {}, ...children) {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [key, value] of Object.entries(attributes)) drawn.setAttribute(key, value);
  drawn.append(...children);
  return drawn;
}

/** A button with the label `words`. */
export function pushButton(words, onclick, attributes = {}) {
  return element("button", {type: "button", onclick, ...attributes}, words);
}

/** An id that no other element has. */
export function newId(name) {
  counter += 1;
  return `catbox-${name}-${counter}`;
}

/** A label and, below it, the field that it names; `kind`: one more class. */
export function labelled(words, field, note = null, kind = "") {
  field.id ||= newId("field");
  const hint = note === null ? null : element("small", {id: newId("note")}, note);
  if (hint !== null) field.setAttribute("aria-describedby", hint.id);
  return element("div", {class: `field ${kind}`}, element("label", {for: field.id}, words), field, hint);
}

/** A select; `options`: [value, words] pairs, or [heading, [pairs]] for a group. */
export function selection(options, value, onchange = () => {}) {
  const one = ([of, words]) => element("option", {value: of, selected: of === value}, words);
  const node = element(
    "select",
    {onchange: () => onchange(node.value)},
    ...options.map(([head, rest]) =>
      Array.isArray(rest) ? element("optgroup", {label: head}, ...rest.map(one)) : one([head, rest]),
    ),
  );
  return node;
}

/** A titled part of the page. */
export function panel(title, className, ...children) {
  const heading = element("h2", {id: newId("heading")}, title);
  return element("section", {class: `panel ${className}`, "aria-labelledby": heading.id}, heading, ...children);
}

/** The token of a seat: its shape, colour, and the face of its player, or without one its number. */
export function seatToken(seat, face = null) {
  return element("span", {class: "token", "data-seat": seat % 6, "aria-hidden": "true"}, face ?? String(seat));
}

/** `text` with a capital first letter. */
export function capital(text) {
  return text.replace(/^[a-z](?!\d)/, (letter) => letter.toUpperCase()); // a letter and a digit name a cell
}

/** The paragraphs of the rules of a game; what one is about, such as "Trick:", leads it in bold. */
export function rulesInWords(text) {
  return text.split("\n\n").map((paragraph) => {
    const [, lead, rest] = paragraph.match(/^([^.:]{1,20}:)?([^]*)$/);
    return element("p", {}, lead === undefined ? null : element("strong", {}, lead), rest);
  });
}

/** `text` with a proper minus sign before its negative numbers. */
export function withMinus(text) {
  return text.replace(/(?<=^|[\s(=])-(?=\d)/g, "\u2212");
}

/** Copies `text`, which the button confirms. If the clipboard is unavailable, selects the text instead. */
export async function copyText(text, button, field) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(field);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => (button.textContent = before), 2000);
}
