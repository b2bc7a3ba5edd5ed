// A table, or a recorded game: shows its messages, and sends what its player chooses.

import {createActions} from "./actions.js";
import {createCoach} from "./coach.js";
import {createDeal} from "./deal.js";
import {capital, element, pushButton, seatToken, wide} from "./dom.js";
import {createLog} from "./log.js";
import {createNames} from "./names.js";
import {createPeople} from "./people.js";
import {createPicture, sizeFor} from "./picture.js";
import {createReplay} from "./replay.js";
import {createReview} from "./review.js";
import {createSummary} from "./rounds.js";
import {playSound} from "./sounds.js";

// How long a notice stays, in milliseconds.
const NOTICE_MS = 6_000;
// What a position waits for while nothing can be chosen.
const IDLE = ["person", "agent", "over"];
// What the side of a wide page takes at least, with the gap before it, in pixels: the picture may have the rest.
const SIDE = 336;

/** The screen of a table (`mode` "play"), of a recorded game ("replay") or of one on a real table ("advise"). `receive(message)` takes its messages. */
export function createTable(frame, mode) {
  const advises = mode === "advise";
  const names = createNames();
  const replay = mode === "replay" ? createReplay(frame, names) : null;
  const picture = createPicture(act, tell, names, missed, () => joined.can_undo);
  const actions = createActions(act, advises ? "List" : undefined);
  const log = createLog(names, replay === null ? null : replay.go);
  const summary = createSummary(names);
  const coach = createCoach(frame.send, showValues, replay === null, advises);
  const ranked = advises ? actions : createActions(replay === null ? act : null, "By value"); // what the coach says
  if (!advises) {
    coach.node.append(ranked.node);
    ranked.keepOpen(true);
  }
  const review = replay === null ? null : createReview((seat) => frame.send({type: "review", seat}), replay.go, names, log.moment, () => (joined.reviewed ? null : replay.viewed()), point);
  const people = createPeople(frame.send, names);
  const deal = createDeal(frame.send, mode === "play", people.yourName, watchOwn);
  const status = element("h2", {class: "status", tabindex: -1});
  const said = element("p", {class: "said spoken", role: "status"}); // in a replay, whose log holds the whole game
  const rule = element("p", {role: "status"});
  const rulePlace = element("small", {});
  const nextRule = pushButton("Next", () => explain(rules.slice(1)));
  const skipGuide = pushButton("Skip", skipTheGuide, {class: "quiet"});
  const guide = element("div", {class: "guide", hidden: true}, rule, rulePlace, nextRule, skipGuide); // of a first game
  const turn = element("p", {class: "spoken", role: "status"}); // what a screen reader says
  const notice = element("p", {class: "notice", role: "alert", hidden: true, onclick: quiet});
  let fading = 0; // the timer of the notice
  const undo = pushButton("Undo", () => frame.send({type: "undo"}), {class: "undo", hidden: true});
  const stage = element("section", {class: "stage", "aria-label": "Table", onclick: () => goOn()}, picture.node);
  const line = element("div", {class: "turn"}, status, undo);
  const dashed = element("p", {class: "dashed"}, "Click a dashed space on the board.");
  const entry = advises ? [coach.told, dashed, actions.node, frame.adviser.enter] : [coach.toggle, actions.node];
  const moves = element("section", {class: advises ? "panel moves" : "moves", "aria-label": "Your move"}, line, ...entry, turn);
  const below = replay !== null ? [replay.controls, said, coach.told, notice] : advises ? [notice] : [coach.told, notice, moves];
  const centre = element("div", {class: "centre"}, guide, people.asking, stage, ...below);
  const side = element("div", {class: "side"}, summary.node, advises ? moves : null, review?.node ?? people.node, coach.node, log.node);
  const node = element("div", {class: `table ${mode}`}, centre, side, deal.node);
  let joined = null;
  let called = []; // the names, as the messages have them
  let number = -1; // actions played, as far as the page has seen
  let busy = false; // an action is on its way
  let rules = []; // of the guide, to be read one by one (see catbox_app/guide.py)
  let skipped = false; // whether the guide is
  let ended = []; // what the last action that ended a round did
  let position = null;
  let next = null; // the position after the end of a round, while that is shown
  let seen = -1; // actions played at the last end of a round that was left
  let going = 0; // the timer that leaves it
  let advised = null; // what the coach said meanwhile
  let shown = [new Map(), []]; // what the coach says of the position
  let pointed = [[], null]; // what the review says of it

  new ResizeObserver(resized).observe(node);
  return {node, mode, receive, pause};

  function receive(message) {
    const take = {
      joined: takeJoined, position: takePosition, events: takeEvents, people: takePeople, record: deal.take,
      coach: takeAdvice, ended: deal.ended, reviewed: (told) => review?.receive(told),
      lobby: () => joined !== null && coach.offer(frame, joined),
      refused: (told) => warn(told.text),
      failed: (told) => warn(told.text),
    }[message.type];
    if (take !== undefined) take(message);
  }

  function takeJoined(message) {
    joined = message;
    call(message.names);
    number = -1;
    ended = [];
    position = null;
    leaveEnd();
    seen = -1;
    busy = false;
    log.clear();
    summary.hide();
    quiet();
    people.seated(message, frame.invitations, frame.address);
    deal.seated(message);
    coach.offer(frame, message);
    coach.ask();
    guide.hidden = skipped || !message.guide?.length;
    explain(message.guide ?? []);
    if (replay === null) return;
    replay.opened(message);
    review.clear();
    review.node.hidden = !frame.estimates && !message.reviewed;
    if (!review.node.hidden && (frame.reviews || message.reviewed)) review.review();
    frame.reviews = false;
  }

  // Shows the game that was played here, with a review of the own seat.
  function watchOwn(text) {
    frame.reviews = true;
    frame.returns = joined.can_undo ? "play" : "back";
    frame.watch({text, game_number: 1, number: 0, seat: joined.seat}, called);
  }

  function call(those) {
    called = replay === null ? those : (frame.called ?? those);
    names.set(called, replay === null ? joined.seat : frame.own);
    frame.company.textContent = called.map((_, seat) => names.full(seat)).join(", ");
    if (joined.result) frame.company.append(`. ${capital(names.within(joined.result))}.`);
  }

  function takePeople(message) {
    call(message.seats.map((seat) => seat.name));
    people.show(message);
    if (joined.coach !== message.coach) coach.offer(frame, (joined = {...joined, coach: message.coach}));
    if (position === null || next !== null) return;
    picture.show(position.svg, replay !== null);
    if (replay === null) showMoves();
    showValues(...shown);
  }

  function takeEvents(message) {
    log.add(message);
    const tips = message.guide ?? [];
    if (tips.length > 0) explain(position === null ? tips : [...rules, ...tips]); // before a reload they were read
    if (message.lines.some(({kind}) => kind === "score")) ended = message.lines;
    if (position === null || replay !== null) return;
    const kinds = message.lines.map((line) => line.kind);
    playSound(kinds.includes("paradox") ? "paradox" : kinds.includes("score") ? "end" : kinds.includes("trick_won") ? "trick" : "card");
  }

  // Shows the first of these rules of the guide; none: the box stays, so that nothing moves.
  function explain(tips) {
    rules = skipped ? [] : tips;
    nextRule.hidden = rules.length < 2;
    skipGuide.textContent = /^(\d+) of \1$/.test(rules[0]?.[2] ?? "") ? "Done" : "Skip";
    const [part, words, place] = rules[0] ?? [null, "", ""];
    rule.textContent = names.within(words);
    rulePlace.textContent = place;
    picture.pointAt(part && names.within(part).toLowerCase());
  }

  function skipTheGuide() {
    guide.hidden = skipped = true;
    explain([]);
    status.focus({preventScroll: true});
  }

  function takePosition(message) {
    busy = false;
    if (next !== null) {
      if (!message.ended || message.number === next.number) {
        if (message.ended) picture.show(message.ended.svg, true); // in another theme or size
        return (next = message);
      }
      leaveEnd();
    }
    if (message.ended && message.number > seen) showRoundEnd(message);
    else show(message);
  }

  function show(message) {
    number = message.number;
    position = message;
    node.dataset.number = number;
    node.dataset.waits = message.waits_for;
    coach.clear(adviceTo(message), replay === null && message.waits_for === "over");
    if (!advises && ranked.show([])) status.focus({preventScroll: true});
    picture.show(message.svg, replay !== null, message.legal);
    if (replay !== null) {
      replay.arrived(message);
      log.markUntil(number);
      review.mark(number);
      said.textContent = log.told(number);
    } else {
      showMoves();
      if (advises) frame.adviser.take(message);
      else if (message.waits_for === "over") showEnd(deal.buttonsAtTheEnd(joined.seat));
    }
    if (notice.dataset.number !== String(number)) quiet();
  }

  // What the coach says before its advice comes, or why it has none.
  function adviceTo({waits_for: waits, to_move: seat}) {
    if (waits === "you") return "Analysing your options\u2026";
    if (replay === null || seat < 0 || [null, seat].includes(replay.viewed())) return "";
    return `No advice for ${seat === frame.own ? "you" : names.of(seat)} in this view: choose All hands.`;
  }

  function takeAdvice(message) {
    if (next !== null) return (advised = message);
    if (message.number !== number) return;
    const values = message.values.map((one) => ({...one, text: names.within(one.text), short: names.brief(one.text)}));
    values.sort((one, other) => other.value - one.value);
    ranked.show(values.map((one) => (advises ? one : {...one, text: capital(one.short)})), position.taken);
    const mover = position.to_move;
    const own = replay === null || mover === frame.own;
    const rival = mover === 1 - frame.own && replay !== null ? "you" : names.of(1 - mover);
    coach.receive({...message, values}, own ? "you end" : `${names.of(mover)} ends`, called.length === 2 ? rival : "the others");
  }

  function showMoves() {
    const {legal, waits_for: waits, to_move: seat} = position;
    const name = seat < 0 ? "" : names.of(seat);
    const words = {
      you: "Your move",
      person: `Waiting for ${name}`,
      agent: `${name} is thinking`,
      entry: `Enter what ${name} does`,
      deal: "The round is over",
      over: "The game is over",
    }[waits];
    const mark = waits === "agent" ? names.face(seat) : advises && seat >= 0 && waits !== "over" ? seatToken(seat, names.face(seat)) : null;
    status.replaceChildren(...[mark, words].filter((part) => part !== null));
    frame.entitle(`${waits === "you" ? "\u25cf " : ""}${words} - ${joined.title}`);
    announce(waits === "you" ? `Your move: ${legal.length} legal actions` : "");
    const lost = actions.show(legal.map((one) => ({...one, text: waits === "entry" ? names.brief(one.text) : names.within(one.text)})));
    // What others do is chosen in the picture, if that has all of it.
    dashed.hidden = waits !== "entry" || picture.choices().length < legal.length;
    if (advises) actions.keepOpen(dashed.hidden);
    // The status line has the focus while others move.
    if (document.activeElement === status && !actions.focus()) picture.choices()[0]?.focus({preventScroll: true});
    deal.show(waits === "over", position.can_undo);
    undo.hidden = !joined.can_undo || (waits === "over" && !advises);
    undo.disabled = !position.can_undo;
    if (lost) status.focus({preventScroll: true});
  }

  // What happened, unless the log announces it, which a narrow page folds; and `words`.
  function announce(words) {
    turn.textContent = `${wide.matches ? "" : log.told(number)} ${words}`.trim();
  }

  // The last board of a round stays until a click, or for some seconds.
  function showRoundEnd(message) {
    next = position = message;
    number = message.number;
    node.dataset.number = number;
    node.dataset.waits = "next";
    coach.clear("", true);
    actions.show([]);
    picture.show(message.ended.svg, true);
    status.textContent = "The round is over";
    announce("");
    const button = pushButton("Next round", goOn, {class: "primary"});
    const playing = [document.body, status].includes(document.activeElement) || centre.contains(document.activeElement);
    showEnd([button]);
    if (playing) button.focus({preventScroll: true});
    going = setTimeout(goOn, 1000 * message.ended.seconds);
  }

  function goOn() {
    if (next === null) return;
    const message = next;
    const focused = summary.node.contains(document.activeElement);
    seen = message.number;
    leaveEnd();
    if (joined.seat !== null) frame.send({type: "next"});
    show(message);
    if (advised !== null) takeAdvice(advised);
    if (focused) (picture.choices()[0] ?? status).focus({preventScroll: true});
  }

  function leaveEnd() {
    clearTimeout(going);
    next = null;
    summary.hide();
  }

  // Shows the result of a round, or of the game.
  function showEnd(buttons) {
    if (wide.matches) side.prepend(summary.node);
    else stage.before(summary.node);
    summary.show(ended, position, joined.seat, ...buttons);
    if (!wide.matches) scrollTo(0, 0);
  }

  function act(action) {
    if (busy || replay !== null || position === null) return;
    if (IDLE.includes(position.waits_for)) return missed();
    busy = frame.send({type: "act", action, number});
    explain(rules.slice(1).slice(-3)); // the first is read, and what is old no longer fits
    people.settle();
    quiet();
  }

  // A click while nothing can be chosen.
  function missed() {
    if (next === null && replay === null && position !== null && IDLE.includes(position.waits_for)) tell(`${status.textContent}.`);
  }

  // A notice of the table about the last request; the next position removes it.
  function warn(text) {
    busy = false;
    tell(text);
    notice.classList.add("warning");
  }

  function tell(text) {
    notice.classList.remove("warning");
    notice.textContent = names.within(text);
    notice.dataset.number = number;
    notice.hidden = text === "";
    clearTimeout(fading);
    fading = setTimeout(quiet, NOTICE_MS);
  }

  function quiet() {
    notice.hidden = true;
    notice.textContent = "";
  }

  function showValues(values, best) {
    shown = [values, best];
    ranked.showValues(values, best);
    picture.showValues(values, best, ...pointed);
  }

  function point(better, wrong) {
    pointed = [better, wrong];
    showValues(...shown);
  }

  // The connection is lost: nothing can be done until the next `joined`.
  function pause() {
    busy = true;
    if (replay !== null) replay.pause();
  }

  // On a narrow page the way to the next mistake is among the controls, which stay in view, and the graph above them.
  function resized() {
    if (review !== null) {
      (wide.matches ? review.node : replay.steps).append(review.onward);
      (wide.matches ? review.list : replay.controls).before(review.graph);
    }
    const wanted = sizeFor(node.clientWidth - (wide.matches ? SIDE : 0));
    if (wanted !== frame.size && node.clientWidth > 0) frame.view(wanted);
  }
}
