// Advice in a game on a real table: the record that this browser keeps of it.

import {capital, element, newId} from "./dom.js";
import {keepSetting, setting} from "./settings.js";

const ADVISED = "advised";

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
