// The legal actions as buttons, with the coach's value of each.

import {element} from "./dom.js";

/**
 * The list; calls `act(action)` with the chosen action. It is one Tab stop; arrow keys move inside. It is folded until the
 * user, or `unfold()`, opens it. If `act` is null, nothing can be chosen: the list of a recorded game.
 * `show(legal, taken)` marks `taken`, if given.
 */
export function createActions(act) {
  const role = act === null ? "list" : "toolbar";
  const list = element("div", {class: "choices", role, "aria-label": "Legal actions", hidden: true, onkeydown: pressed});
  let chosen = false; // whether it was opened or folded on purpose
  const summary = element("summary", {onclick: () => (chosen = true)}, "All legal actions");
  const fold = element("details", {class: "fold"}, summary, list);

  return {node: act === null ? list : fold, show, showValues, focus, unfold};

  function unfold() {
    fold.open = chosen = true;
  }

  // Focuses the first button; returns whether there is one to be seen.
  function focus() {
    if (!fold.open || list.children.length === 0) return false;
    buttons()[0].focus({preventScroll: true});
    return true;
  }

  function show(legal, taken = null) {
    const had = list.contains(document.activeElement);
    list.replaceChildren(
      ...legal.map(({action, text}, i) => {
        const words = element("span", {class: "words"}, action === taken ? `${text} (taken)` : text);
        const common = {class: "choice", "data-choice": action};
        if (act === null) return element("div", {role: "listitem", ...common}, words);
        const button = {type: "button", tabindex: i === 0 ? 0 : -1, onclick: () => act(action)};
        return element("button", {...button, ...common}, words);
      }),
    );
    list.hidden = legal.length === 0;
    fold.hidden = list.hidden;
    if (had && legal.length > 0) buttons()[0].focus({preventScroll: true});
    return had && legal.length === 0; // whether the focused element is gone
  }

  function buttons() {
    return [...list.children];
  }

  // `values`: a map from actions to {share, words}: the length of the bar from 0 to 1, and the value in words.
  function showValues(values, best) {
    list.classList.toggle("coached", values.size > 0);
    if (values.size > 0 && !chosen) fold.open = true;
    for (const button of buttons()) {
      for (const part of button.querySelectorAll(".value, .axis")) part.remove();
      const action = Number(button.dataset.choice);
      const value = values.get(action);
      button.classList.toggle("best", best.includes(action));
      if (value === undefined) continue;
      const bar = element("span", {class: "filled"});
      bar.style.width = `${100 * value.share}%`;
      button.append(
        element("span", {class: "value"}, best.includes(action) ? `${value.words}, ${best.length === 1 ? "best" : "as good as the best"}` : value.words),
        element("span", {class: "axis", "aria-hidden": "true"}, bar),
      );
    }
  }

  function pressed(event) {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    const all = buttons();
    let next = null;
    if (step !== undefined) next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
    if (event.key === "Home") next = all[0];
    if (event.key === "End") next = all[all.length - 1];
    if (!next) return;
    event.preventDefault();
    for (const button of all) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }
}
