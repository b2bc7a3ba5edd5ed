// The legal actions as buttons, with the coach's value of each.

import {element} from "./dom.js";

/**
 * The list; calls `act(action)` with the chosen action. It is folded behind the line `words` until the user opens it. If
 * `act` is null, nothing can be chosen: the list of a recorded game.
 * `show(legal, taken)` marks `taken`, if given; `keepOpen(always)` shows the list without that line, or with it again.
 */
export function createActions(act, words = "All legal actions") {
  const role = act === null ? "list" : "group";
  const list = element("div", {class: "choices", role, "aria-label": "Legal actions", hidden: true});
  const line = element("summary", {}, words);
  const fold = element("details", {class: "fold"}, line, list);
  let opened = false; // by the user
  line.addEventListener("click", () => (opened = !fold.open));

  return {node: fold, show, showValues, focus, keepOpen};

  function keepOpen(always) {
    line.hidden = always;
    fold.open = always || opened;
  }

  // Focuses the first button; returns whether there is one to be seen.
  function focus() {
    if (!fold.open || list.children.length === 0) return false;
    list.firstChild.focus({preventScroll: true});
    return true;
  }

  function show(legal, taken = null) {
    const had = list.contains(document.activeElement);
    list.replaceChildren(
      ...legal.map(({action, text}) => {
        const words = element("span", {class: "words"}, action === taken ? `${text} (taken)` : text);
        const common = {class: "choice", "data-choice": action};
        if (act === null) return element("div", {role: "listitem", ...common}, words);
        return element("button", {type: "button", onclick: () => act(action), ...common}, words);
      }),
    );
    list.hidden = legal.length === 0;
    fold.hidden = list.hidden;
    if (had && legal.length > 0) list.firstChild.focus({preventScroll: true});
    return had && legal.length === 0; // whether the focused element is gone
  }

  // `values`: a map from actions to {words, bar, within}: see coach.js.
  function showValues(values, best) {
    const longest = Math.max(0, ...[...values.values()].map(({words}) => words.length));
    list.style.setProperty("--numbers", `calc(${longest + 2}ch + 10px)`); // the bars end before them
    for (const button of list.children) {
      const action = Number(button.dataset.choice);
      button.querySelector(".value")?.remove();
      button.classList.toggle("best", best.includes(action));
      if (!values.has(action)) continue;
      const {words, bar, within} = values.get(action);
      button.append(element("span", {class: "value"}, words, best.includes(action) ? " \u2713" : ""));
      button.style.setProperty("--bar", `${bar}%`);
      button.style.setProperty("--within", `${within}%`);
    }
  }
}
