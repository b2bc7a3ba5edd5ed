// The lobby: choose a game and who sits at the table, and open it; or open a file to watch.

import {createDealForm} from "./advise.js";
import {catFace, logo} from "./cats.js";
import {capital, copyText, element, labelled, newId, panel, pushButton, rulesInWords, seatToken, selection} from "./dom.js";
import {calledAt} from "./names.js";
import {isAlone} from "./people.js";
import {createRules} from "./rules.js";
import {keepSetting, setting} from "./settings.js";

// The paces to choose from: seconds between the actions of agents, and names.
const PACES = [["0", "Instant"], ["0.4", "Fast"], ["0.9", "Medium"], ["1.8", "Slow"], ["3.5", "Very slow"]];
const YOU = "you";
const PERSON = "person";
// The deal of a guided game, in which much happens; the terminal has the same (guide.py).
const GUIDED = 3;
// The largest file of games that the table takes, in bytes.
const LARGEST_FILE = 4 << 20;
// How the answer to a deal that is none begins.
const NO_DEAL = "Not possible: ";

/** The choice of a pace, kept for later tables; `onchange` gets the seconds. */
export function paceChoice(onchange = () => {}) {
  return selection(PACES, setting("pace", "0.9"), (value) => {
    keepSetting("pace", value);
    onchange(Number(value));
  });
}

/** The lobby; `show(message)` takes the message `lobby`. */
export function createLobby(frame) {
  const node = element("form", {class: "lobby", onsubmit: open});
  const pace = paceChoice();
  const seed = element("input", {type: "text", inputmode: "numeric", pattern: "[0-9]{1,18}", placeholder: "a new deal", autocomplete: "off"});
  const file = element("input", {type: "file", accept: ".jsonl,.json,.txt", "aria-label": "File of games", hidden: true, onchange: watch});
  const saved = element("p", {class: "hint"}, "Watch and review a file saved at a table, or by the commands play, watch and arena.");
  const tooLarge = element("p", {role: "alert", hidden: true}, "This file is larger than 4 MB: show it with  catbox replay FILE --web");
  const games = element("div", {class: "games"});
  const players = element("div", {class: "chips"});
  const seats = element("ol", {class: "seats", start: 0});
  const levels = element("div", {class: "chips", role: "group", "aria-label": "All opponents"});
  const rules = createRules();
  const rulesTitle = element("summary", {});
  const rulesText = element("div", {class: "rules-text"});
  const mine = element("select", {onchange: () => seatTaken(Number(mine.value), YOU)});
  const advice = createDealForm(frame, () => ({game: game.id, players: count, rules: rules.chosen(), seat: occupants.indexOf(YOU)}), () => advising(true));
  const closeButton = pushButton("Close", () => advising(false), {class: "advising-only"});
  const openButton = element("button", {type: "submit", class: "primary"}, "Play");
  const note = element("p", {class: "hint"});
  const command = element("code", {}, "catbox web --host 0.0.0.0");
  const copy = pushButton("Copy", () => copyText(command.textContent, copy, command), {"aria-label": "Copy the command"});
  const alone = element("p", {class: "unreached", hidden: true}, "Only this machine can reach the server. To invite others, stop it and start it with ", command, " ", copy);
  const yours = element("div", {class: "yours"}); // back to your tables
  let lobby = null;
  let game = null;
  let count = 0;
  let occupants = [];

  node.append(
    yours,
    element(
      "div",
      {class: "lobby-head"},
      logo(),
      element("div", {class: "lobby-only"}, element("h1", {}, "Open a table"), element("p", {}, "Pick a game and pull up a chair: the cats are ready to play.")),
      pushButton("New here? Learn in one game", guided, {class: "lobby-only"}),
      element("h1", {class: "advising-only"}, "Your game at a real table"),
      closeButton,
    ),
    chooser("Game", games),
    element("details", {class: "about"}, rulesTitle, rulesText),
    element(
      "div",
      {class: "lobby-columns"},
      element(
        "div",
        {},
        chooser("Players", players),
        element("div", {class: "field-row"}, rules.rounds, labelled("Speed of the agents", pace, null, "lobby-only"), labelled("Your seat", mine, null, "advising-only")),
        element(
          "details",
          {class: "rules"},
          element("summary", {}, "Other rules", element("span", {class: "lobby-only"}, " and the seed")),
          labelled("Seed", seed, "The same number makes the same deal.", "lobby-only"),
          rules.node,
        ),
        element(
          "div",
          {class: "more"},
          advice.node,
          panel("Open a saved game", "offer lobby-only", saved, pushButton("Choose a file", () => file.click()), file, tooLarge),
        ),
      ),
      element("div", {class: "lobby-only"}, chooser("Who sits where", levels, seats, note, alone), openButton),
    ),
  );

  node.addEventListener("change", advice.ask); // what is chosen decides which cards there are

  return {node, show, pointOut, takeCards: advice.take, close: () => advising(false)};

  // Leads to the form for a deal, beside which only what belongs to it is shown, or back.
  function advising(on) {
    node.classList.toggle("advising", on);
    advice.ask();
    (on ? closeButton : advice.node.querySelector("button.lobby-only")).focus();
  }

  // Leads to what an error is about; returns what is left to say, "" if it stands there.
  function pointOut(text) {
    const told = rules.pointOut(text);
    if (told !== text || !text.startsWith(NO_DEAL)) return told;
    advice.wrong.textContent = capital(text.replace(NO_DEAL, "").replace("deal: ", ""));
    return "";
  }

  function show(message) {
    lobby = message;
    advice.node.hidden = !message.estimates;
    const wanted = game === null ? setting("game", null) : game.id;
    yours.replaceChildren(
      ...lobby.yours.map(({key, title, seats: those}) => {
        const names = those.map(({name, seat}) => (name === "you" ? "You" : calledAt(name, seat))).join(", ");
        return pushButton(`Back to your table: ${title} (${names})`, () => frame.go(key));
      }),
    );
    games.replaceChildren(...lobby.games.map(gameCard));
    chooseGame(lobby.games.find((one) => one.id === wanted) ?? lobby.games[0]);
  }

  function gameCard(one) {
    const least = Math.min(...one.players);
    const most = Math.max(...one.players);
    const picture = element("span", {class: "thumbnail", "aria-hidden": "true"});
    const svg = one.svg.replace(/player_(\d+)/g, (_, seat) => calledAt("", Number(seat))).replaceAll('role="button"', "");
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    for (const part of drawn.querySelectorAll("title, desc")) part.remove();
    for (const head of drawn.querySelectorAll("[data-face]")) head.replaceChildren(...catFace(Number(head.dataset.face)).childNodes);
    // A thumbnail shows the first panel of a picture: the first part that is wider than the token of a seat.
    const parts = [...drawn.children].filter((part) => part.matches("g[transform]"));
    const first = parts.find((part) => Number(part.querySelector("rect")?.getAttribute("width")) > 100);
    if (first !== undefined) {
      const ground = first.querySelector("rect");
      const corner = first.getAttribute("transform").match(/[\d.]+/g);
      ground.setAttribute("stroke", "none");
      drawn.replaceChildren(first);
      drawn.setAttribute("viewBox", [...corner, ground.getAttribute("width"), ground.getAttribute("height")].join(" "));
    }
    drawn.setAttribute("preserveAspectRatio", "xMinYMin slice");
    picture.append(document.importNode(drawn, true));
    return choice("game", one.id, "game", () => chooseGame(one), [
      picture,
      element("strong", {}, one.title),
      element("span", {class: "sentence"}, one.about),
      element("small", {}, least === most ? `${least} players` : `${least} to ${most} players`),
    ]);
  }

  function chooseGame(one) {
    const another = game === null || game.id !== one.id;
    game = one;
    check(games, one.id);
    if (another) {
      rules.show(one.rules);
      advice.clear();
    }
    rulesTitle.textContent = `How to play ${one.title}`;
    players.replaceChildren(...one.players.map((n) => choice("players", n, "chip", () => choosePlayers(n), [String(n)])));
    const kept = another ? setting(`players.${one.id}`, null) : count;
    choosePlayers(one.players.includes(kept) ? kept : one.players[Math.floor((one.players.length - 1) / 2)]);
  }

  function choosePlayers(n) {
    count = n;
    check(players, n);
    rules.adapt(game.players.indexOf(n), n);
    rulesText.replaceChildren(...rulesInWords(game.rules_texts[game.players.indexOf(n)]));
    const offered = lobby.agents.map((agent) => agent.spec);
    const usual = offered.includes("normal") ? "normal" : offered[0];
    const kept = occupants.length > 0 ? occupants : [YOU];
    occupants = Array.from({length: n}, (_, seat) => {
      const before = kept[seat] ?? kept[kept.length - 1];
      return before === YOU && seat >= kept.length ? usual : before;
    }).map((spec) => (spec === YOU || spec === PERSON || offered.includes(spec) ? spec : usual));
    if (!occupants.includes(YOU)) occupants[0] = YOU;
    levels.replaceChildren(
      element("span", {class: "hint"}, "All opponents"),
      ...lobby.agents
        .filter((agent) => agent.group === "levels")
        .map((agent) => pushButton(agent.title, () => fill(agent.spec), {class: "chip-button", "data-level": agent.spec})),
    );
    showSeats();
  }

  function showSeats() {
    seats.replaceChildren(
      ...occupants.map((spec, seat) => {
        const field = selection(occupantOptions(), spec, (value) => seatTaken(seat, value));
        return element("li", {}, seatToken(seat, catFace(seat)), labelled(calledAt(spec, seat), field));
      }),
    );
    mine.replaceChildren(...occupants.map((_, seat) => element("option", {value: seat}, calledAt("", seat))));
    mine.value = occupants.indexOf(YOU);
    const opponents = occupants.filter((spec) => spec !== YOU);
    for (const chip of levels.querySelectorAll("button")) {
      chip.setAttribute("aria-pressed", opponents.every((spec) => spec === chip.dataset.level));
    }
    const invited = occupants.includes(PERSON);
    openButton.textContent = invited ? "Open and invite" : "Play";
    alone.hidden = !invited || !isAlone(lobby.address);
    note.textContent = invited ? "Each guest gets a secret link to a seat. Nobody can choose the seed then: it reveals all cards." : (lobby.note ?? "");
    seed.disabled = invited;
    if (invited) seed.value = "";
  }

  // Exactly one seat is yours: taking another swaps the two, and giving yours away moves you to the next.
  function seatTaken(seat, value) {
    const yours = occupants.indexOf(YOU);
    if (value === YOU) [occupants[yours], occupants[seat]] = [occupants[seat], YOU];
    else if (seat === yours) [occupants[seat], occupants[(seat + 1) % count]] = [value, YOU];
    else occupants[seat] = value;
    showSeats();
    seats.querySelectorAll("select")[seat].focus();
  }

  function fill(spec) {
    occupants = occupants.map((before) => (before === YOU || before === PERSON ? before : spec));
    showSeats();
  }

  function occupantOptions() {
    const people = [[YOU, "You"]];
    if (frame.links) people.push([PERSON, "Another person, by link"]);
    const groups = new Map();
    for (const agent of lobby.agents) {
      groups.set(agent.group, [...(groups.get(agent.group) ?? []), [agent.spec, agent.title]]);
    }
    return [["People", people], ...[...groups].map(([group, rest]) => [capital(group), rest])];
  }

  // A fixed deal against easy opponents, explained.
  function guided() {
    const players = game.players.find((number) => number >= 3) ?? game.players[0];
    const seats = Array.from({length: players}, (_, seat) => (seat === 0 ? PERSON : "easy"));
    frame.open({type: "open", game: game.id, players, rules: {}, seats, seed: GUIDED, pace: 1.6, guide: true}, 0);
  }

  function open(event) {
    event.preventDefault();
    if (node.classList.contains("advising")) return;
    keepSetting("game", game.id);
    keepSetting(`players.${game.id}`, count);
    const message = {
      type: "open",
      game: game.id,
      players: count,
      rules: rules.chosen(),
      seats: occupants.map((spec) => (spec === YOU ? PERSON : spec)),
      seed: seed.value.trim() === "" ? null : Number(seed.value),
      pace: Number(pace.value),
    };
    frame.open(message, occupants.indexOf(YOU));
  }

  async function watch() {
    if (file.files.length === 0) return;
    const [chosen] = file.files;
    file.value = "";
    tooLarge.hidden = chosen.size <= LARGEST_FILE;
    if (tooLarge.hidden) frame.watch({text: await chosen.text(), game_number: 1});
  }
}

// A radio button that looks like a card or a chip.
function choice(name, value, className, onchange, words) {
  const field = element("input", {type: "radio", name: `catbox-${name}`, value, onchange, id: newId(name)});
  return element("label", {class: className}, field, element("span", {class: "face"}, ...words));
}

function check(group, value) {
  for (const field of group.querySelectorAll("input")) field.checked = field.value === String(value);
}

function chooser(title, ...content) {
  return element("fieldset", {}, element("legend", {}, title), ...content);
}
