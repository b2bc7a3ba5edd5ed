// A table, or a recorded game: shows its messages, and sends what its player chooses.

import {createActions} from "./actions.js";
import {createCoach} from "./coach.js";
import {createDeal} from "./deal.js";
import {element, pushButton, wide} from "./dom.js";
import {createLog, createSummary, endsRound} from "./log.js";
import {createNames} from "./names.js";
import {createPeople} from "./people.js";
import {createPicture, sizeFor} from "./picture.js";
import {createReplay} from "./replay.js";
import {createReview} from "./review.js";
import {createRounds} from "./rounds.js";

// How long a notice stays, in milliseconds.
const NOTICE_MS = 6_000;

/** The screen of a table (`mode` "play"), of a recorded game ("replay") or of one on a real table ("advise"). `receive(message)` takes its messages. */
export function createTable(frame, mode) {
  const advises = mode === "advise";
  const replay = mode === "replay" ? createReplay(frame) : null;
  const names = createNames();
  const picture = createPicture(act, tell, names);
  const actions = createActions(act);
  const log = createLog(names, replay === null ? null : replay.go);
  const summary = createSummary(names);
  const rounds = createRounds(names);
  const coach = createCoach(frame.send, showValues, actions.unfold, replay === null, advises);
  const review = replay === null ? null : createReview((seat) => frame.send({type: "review", seat}), replay.go, names, replay.viewed);
  const people = createPeople(frame.send, names);
  const deal = createDeal(frame.send, mode === "play", (text, reviews) => watchOwn(text, reviews));
  const status = element("h2", {class: "status", tabindex: -1});
  // At a table the log announces what happens; in a replay it holds the whole game, and this line announces each action.
  const said = element("p", {class: "said", ...(replay === null ? {"aria-hidden": "true"} : {role: "status"})});
  const guide = element("ul", {class: "guide", role: "status", hidden: true}); // of a first game
  const turn = element("p", {class: "spoken", role: "status"}); // what a screen reader says on your turn
  const notice = element("p", {class: "notice", role: "alert", hidden: true, onclick: quiet});
  let fading = 0; // the timer of the notice
  const undo = pushButton("Undo", () => frame.send({type: "undo"}), {class: "undo", hidden: true});
  const stage = element("section", {class: "stage", "aria-label": "Table"}, picture.node);
  const moves = element("section", {class: "moves", "aria-label": "Your move"}, status, undo, advises ? frame.adviser.enter : null, actions.node, turn);
  const below = replay === null ? [guide, said, coach.told, notice, moves] : [replay.controls, said, coach.told, notice, replay.below];
  const centre = element("div", {class: "centre"}, stage, ...below);
  const side = element("div", {class: "side"}, summary.node, rounds.node, people.node, review?.node ?? "", log.node, coach.node);
  const node = element(
    "div",
    {class: `table ${mode}`},
    centre,
    side,
    deal.node,
  );
  let joined = null;
  let called = []; // the names, as the messages have them
  let number = -1; // actions played, as far as the page has seen
  let busy = false; // an action is on its way
  let explained = false; // whether the guide has been read: what it says next replaces it
  let roundEnd = null; // {number, lines} of the last end of a round
  let position = null;
  let shown = [new Map(), []]; // what the coach says of the position

  new ResizeObserver(resized).observe(stage);
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
    roundEnd = null;
    position = null;
    busy = false;
    log.clear();
    summary.hide();
    quiet();
    people.seated(message, frame.invitations, frame.address);
    deal.seated(message);
    coach.offer(frame, message);
    coach.ask();
    guide.hidden = !message.guide;
    explained = true;
    explain(message.guide ? [message.guide] : []);
    if (advises) actions.unfold();
    if (replay === null) return;
    replay.opened(message);
    review.clear(message.view);
    review.node.hidden = !frame.estimates && !message.reviewed;
    if (frame.reviews || message.reviewed) review.review(message.view);
    frame.reviews = false;
  }

  // Shows the game that was played here; `reviews`: with a review of the own seat.
  function watchOwn(text, reviews) {
    frame.reviews = reviews;
    frame.returns = joined.can_undo ? "play" : "back";
    frame.watch({text, game_number: 1, number: 0, seat: joined.seat}, called);
  }

  function call(those) {
    called = replay === null ? those : (frame.called ?? those);
    names.set(called, replay === null ? joined.seat : null);
  }

  function takePeople(message) {
    call(message.seats.map((seat) => seat.name));
    people.show(message);
    if (joined.coach !== message.coach) coach.offer(frame, (joined = {...joined, coach: message.coach}));
    if (position === null) return;
    picture.show(position.svg, replay !== null);
    if (replay === null) showMoves();
    showValues(...shown);
  }

  function takeEvents(message) {
    log.add(message);
    if (message.guide?.length > 0) explain(message.guide);
    if (endsRound(message.lines)) roundEnd = message;
    if (replay === null) said.textContent = log.latest();
  }

  // The guide keeps what it has said since one's last action.
  function explain(lines) {
    if (explained && lines.length > 0) guide.replaceChildren();
    explained = false;
    guide.append(...lines.map((line) => element("li", {}, line)));
  }

  function takePosition(message) {
    const before = number < 0 ? message.number - 1 : number;
    busy = false;
    number = message.number;
    position = message;
    node.dataset.number = number;
    node.dataset.waits = message.waits_for;
    coach.clear(message.waits_for === "you");
    picture.show(message.svg, replay !== null, message.legal);
    if (replay !== null) {
      replay.arrived(message);
      log.markUntil(number);
      said.textContent = log.told(number);
    } else {
      said.textContent = message.waits_for === "over" ? "" : log.latest();
      showMoves();
      rounds.show(message.rounds, message.waits_for === "over");
      if (advises) frame.adviser.take(message);
      else showEnd(before);
    }
    if (notice.dataset.number !== String(number)) quiet();
  }

  function takeAdvice(message) {
    if (message.number !== number) return;
    const values = message.values.map((one) => ({...one, text: names.within(one.text)}));
    if (replay !== null) replay.weigh(values, position.taken);
    coach.receive({...message, values}, replay === null ? "" : names.of(position.to_move));
  }

  function showMoves() {
    const {legal, waits_for: waits, to_move: seat} = position;
    const name = seat < 0 ? "" : names.of(seat);
    status.textContent = {
      you: "Your move",
      person: `Waiting for ${name}`,
      agent: `${name} is thinking`,
      entry: `What does ${name} do?`,
      deal: "The round is over",
      over: "The game is over",
    }[waits];
    frame.entitle(`${waits === "you" ? "\u25cf " : ""}${status.textContent} - ${joined.title}`);
    turn.textContent = waits === "you" ? `Your move: ${legal.length} legal actions` : "";
    const lost = actions.show(legal.map((one) => ({...one, text: names.within(one.text)})));
    // The status line has the focus while others move.
    if (document.activeElement === status && !actions.focus()) picture.choices()[0]?.focus({preventScroll: true});
    deal.show(waits === "over", position.can_undo);
    undo.hidden = !joined.can_undo;
    undo.disabled = !position.can_undo;
    if (lost) status.focus({preventScroll: true});
  }

  // Shows the end of a round that came with this position, after the first `before` actions.
  function showEnd(before) {
    const over = position.waits_for === "over";
    const here = roundEnd !== null && roundEnd.number > before;
    if (!here && !over) return;
    (wide.matches ? side : centre).prepend(summary.node, rounds.node); // in one column, the result comes first
    const place = over && joined.seat !== null ? placeOf(joined.seat, position.places) : "";
    summary.show(roundEnd === null ? [] : roundEnd.lines, over, place, ...(over ? deal.buttonsAtTheEnd() : []));
    if (over && number > before) summary.node.scrollIntoView({block: "nearest"});
  }

  function act(action) {
    if (busy || replay !== null || position === null) return;
    busy = frame.send({type: "act", action, number});
    explained = true;
    summary.hide();
    side.prepend(rounds.node); // in one column, the board comes first again
    quiet();
  }

  // A notice of the table about the last request; the next position removes it.
  function warn(text) {
    busy = false;
    tell(text);
  }

  function tell(text) {
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
    (replay ?? actions).showValues(values, best);
    picture.showValues(values, best);
  }

  // The connection is lost: nothing can be done until the next `joined`.
  function pause() {
    busy = true;
    if (replay !== null) replay.pause();
  }

  function resized() {
    const wanted = sizeFor(stage.clientWidth);
    if (wanted !== frame.size && stage.clientWidth > 0) frame.view(wanted);
  }
}

// How `seat` finished, in words.
function placeOf(seat, places) {
  const shared = places.filter((place) => place === places[seat]).length > 1;
  if (places[seat] === 1) return shared ? "You share the win" : "You win";
  const place = ["2nd", "3rd"][places[seat] - 2] ?? `${places[seat]}th`;
  return shared ? `You share ${place} place` : `You finish ${place}`;
}
