// The front end: lobby, table and replay, driven by the messages of docs/protocol.md.
// It knows no game's rules: pictures, events and legal actions all come from the table.

import {createAdviser} from "./advise.js";
import {logo} from "./cats.js";
import {element, pushButton, rulesInWords, shape} from "./dom.js";
import {createLobby} from "./lobby.js";
import {keepSetting, preferredTheme, setting} from "./settings.js";
import {sizeFor} from "./picture.js";
import {createTable} from "./table.js";

// A moon and a sun: the theme to which one can switch.
const THEMES = {
  dark: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  light: "M12 8a4 4 0 1 0 .01 0zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
};

/**
 * Shows the front end in `root`.
 *
 * `transport`: see connection.js. `links`: whether the address of the page names the seat (`#seat=KEY`), so that a
 * reload comes back to it and other people can be invited; false if tables live in the page itself.
 * `lobby`: false if there is nothing to choose (a page that shows one replay): the transport sends `joined` by itself.
 */
export function start(root, transport, {links = false, lobby = true} = {}) {
  const title = element("h1", {class: "spoken", hidden: true});
  const company = element("span", {class: "company"}); // who plays
  const themeButton = pushButton("", switchTheme, {class: "quiet"});
  const rules = element("div", {class: "rules-text"});
  const rulesDialog = element("dialog", {"aria-label": "Rules"}, rules, pushButton("Close", () => rulesDialog.close()));
  const rulesButton = pushButton("Rules", () => rulesDialog.showModal(), {class: "quiet", hidden: true});
  const leaveButton = pushButton("New table", leave, {class: "quiet", hidden: true});
  const banner = element("div", {class: "banner", role: "alert", hidden: true});
  const main = element("main", {class: "content", tabindex: -1});
  const adviser = createAdviser(send);
  const frame = {
    adviser,
    company,
    links,
    agents: [],
    address: null, // at which other machines reach the server
    estimates: false, // whether the table estimates points
    send, open, watch, watched, back, view, entitle, go,
    size: null, // of the pictures, in pixels; null: not requested yet
    theme: preferredTheme(),
    invitations: [],
    called: null, // the names of the players of a recorded game that was played in this page
    own: null, // and the seat of this page
    reviews: false, // whether the next recorded game is reviewed at once
    returns: "", // whether one can go "back" to its table, or also "play" on there
  };
  root.classList.add("catbox");
  root.replaceChildren(
    element(
      "header",
      {class: "bar"},
      element("span", {class: "brand"}, logo(), "catbox"),
      title,
      company,
      element("span", {class: "tools"}, themeButton, rulesButton, leaveButton),
      rulesDialog,
    ),
    banner,
    main,
  );

  let lobbyScreen = null;
  let table = null;
  let seatKey = null;
  let opening = 0; // the seat of this page at the table that it opens
  let replay = null; // the message `replay` being watched
  let advises = false; // whether a game on a real table is shown, or asked for
  const page = String(Math.random()); // by which the server knows it over the next connection
  let lost = ["There is no connection to the table."]; // what the banner shows, while there is none
  let unsure = false; // whether what was sent last may be lost
  // Why this page has no seat, by the code of the message `failed`, and what to do about it.
  const withoutSeat = {no_seat: (text) => showBanner(text, pushButton("Open a new table", leave)), taken: offerToTakeOver, taken_over: offerToTakeOver};

  transport.onstate = (state, ...details) => (state === "open" ? connected() : disconnected(state, ...details));
  transport.onmessage = receive;
  if (links) addEventListener("hashchange", enter);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showTheme(preferredTheme()));
  showTheme(frame.theme);
  transport.open();

  function connected() {
    view(frame.size ?? sizeFor(root.clientWidth));
    ask();
    enter();
    if (seatKey === null && replay === null && !advises) resumed();
  }

  // What was shown is shown again.
  function resumed() {
    lost = null;
    hideBanner();
    if (unsure) showBanner("The connection is back. What you chose last may be lost: if so, choose it again.");
    unsure = false;
  }

  function disconnected(state, why = "", mayBeLost = false) {
    unsure ||= mayBeLost;
    const before = lost?.[0];
    if (state === "refused") lost = [why, pushButton("Try again", transport.open)];
    else lost = [`${why || "The connection to the table is lost."} Reconnecting; nothing is sent until then.`];
    if (lost[0] !== before) showBanner(...lost);
    if (table !== null) table.pause();
  }

  // Asks what can be chosen, and which tables of this browser are under way; leaves the table of this page.
  function ask() {
    if (lobby) send({type: "lobby", theme: frame.theme, seat_keys: setting("tables", [])});
  }

  // Where to go: to the seat or the table of the address, or of this page; else to the lobby.
  function enter() {
    const address = new URLSearchParams(links ? location.hash.slice(1) : "");
    if (links) seatKey = address.get("seat") ?? address.get("watch");
    advises = address.has("advise") && adviser.resume();
    if (address.get("replay") !== null) replay = replayOf(address);
    if (seatKey !== null) send({type: "join", seat_key: seatKey, page});
    else if (replay !== null) send(replay);
    else if (lobby && !advises) showLobby();
  }

  // Opens a table where this page takes `seat`.
  function open(message, seat) {
    opening = seat;
    hideBanner();
    send(message);
  }

  // Requests pictures of this width, in the theme of the page.
  function view(size) {
    frame.size = size;
    send({type: "view", theme: frame.theme, size});
  }

  // Shows a recorded game; `message` holds what differs from the current one. For a game that was played in this page,
  // `called` are the names of the players, and `seat` is that of this page; a file has the names of its agents.
  function watch(message, called = null) {
    if (message.text !== undefined) [frame.called, frame.own] = [called, called === null ? null : message.seat];
    if (message.text !== undefined && called === null) frame.returns = "";
    replay = {...replay, type: "replay", ...message};
    send(replay);
  }

  // Back to the table whose game was watched; `number`: to play on after so many actions, null: as it was left.
  function back(number) {
    replay = null;
    send({type: "join", seat_key: seatKey});
    if (number !== null) send({type: "again", deal: "from", number});
  }

  // Where in the recorded game this page is: a new connection resumes there.
  function watched(place) {
    if (replay !== null) replay = {...replay, ...place};
  }

  function receive(message) {
    if (["failed", "refused"].includes(message.type)) lost = null;
    if (message.type === "lobby") {
      frame.agents = message.agents;
      frame.estimates = message.estimates;
      frame.address = message.address;
      lobbyScreen ??= createLobby(frame);
      lobbyScreen.show(message);
      if (table !== null) table.receive(message);
      else if (seatKey === null && replay === null && !advises) showLobby();
    } else if (message.type === "cards") {
      lobbyScreen?.takeCards(message);
    } else if (message.type === "opened") {
      const {key} = message.seats[opening];
      keepSetting(`table.${key}`, [...message.seats, {seat: null, key: message.watch_key}], "sessionStorage");
      go(key);
    } else if (message.type === "joined") {
      if (seatKey !== null || replay !== null || !lobby || message.mode === "advise") showTable(message);
    } else if (message.type === "failed" && message.code in withoutSeat) {
      if (table !== null) table.pause();
      withoutSeat[message.code](message.text);
    } else if (table !== null) {
      table.receive(message);
    } else if (message.type === "failed" || message.type === "refused") {
      replay = null;
      if (advises) showLobby();
      advises = false;
      const text = lobbyScreen === null ? message.text : lobbyScreen.pointOut(message.text);
      if (text !== "") showBanner(text);
    }
  }

  function go(key) {
    seatKey = key;
    if (links) location.hash = `seat=${key}`; // `enter` joins
    else enter();
  }

  function showTable(joined) {
    resumed();
    advises = joined.mode === "advise";
    if (advises && links && location.hash !== "#advise") history.pushState(null, "", "#advise");
    frame.invitations = [];
    if (joined.mode === "play" && joined.seat !== null) {
      const others = setting("tables", []).filter((key) => key !== seatKey);
      keepSetting("tables", [seatKey, ...others].slice(0, 10)); // the latest ones
    }
    if (links && joined.mode === "play") {
      const seats = setting(`table.${seatKey}`, [], "sessionStorage"); // of a table that this page has opened
      frame.invitations = seats.filter((seat) => seat.key && seat.key !== seatKey);
    }
    if (table === null || table.mode !== joined.mode) {
      const own = joined.mode === "advise" ? Object.assign(Object.create(frame), {send: adviser.send}) : frame;
      table = createTable(own, joined.mode);
      main.replaceChildren(table.node);
      lobbyScreen?.close();
      scrollTo(0, 0); // the lobby may have been scrolled
      if (document.activeElement === document.body) main.focus({preventScroll: true});
    }
    title.textContent = joined.title;
    title.hidden = false;
    title.classList.toggle("spoken", lobby); // the picture shows it
    root.firstChild.classList.toggle("alone", !lobby);
    entitle(joined.title);
    rules.replaceChildren(...rulesInWords(joined.rules_text));
    rulesButton.hidden = false;
    leaveButton.hidden = !lobby;
    table.receive(joined);
  }

  // Sets the title of the tab, unless the page is embedded.
  function entitle(words) {
    if (links) document.title = `${words} - catbox`;
  }

  function showLobby() {
    if (table !== null) {
      table.pause();
      table = null;
      ask();
    }
    if (links) document.title = "catbox";
    rulesDialog.close();
    title.hidden = rulesButton.hidden = leaveButton.hidden = true;
    company.textContent = "";
    if (lobbyScreen !== null && main.firstChild !== lobbyScreen.node) {
      main.replaceChildren(lobbyScreen.node);
      scrollTo(0, 0);
    }
  }

  function leave() {
    hideBanner();
    replay = null;
    if (links && location.hash !== "") {
      location.hash = ""; // `enter` shows the lobby
    } else {
      seatKey = null;
      showLobby();
    }
    main.focus();
  }

  // Another page plays this seat.
  function offerToTakeOver(text) {
    const takeOver = () => send({type: "join", seat_key: seatKey, take_over: true});
    showBanner(text, pushButton("Take the seat over", takeOver), pushButton("Open a new table", leave));
  }

  function send(message) {
    const sent = transport.send(message);
    if (!sent && lost === null) disconnected("lost", "", true);
    else if (!sent) showBanner(...lost);
    return sent;
  }

  function showBanner(text, ...buttons) {
    banner.replaceChildren(element("p", {}, text), ...buttons);
    if (buttons.length === 0 && lost === null) banner.append(pushButton("Close", hideBanner, {class: "quiet"}));
    banner.hidden = false;
  }

  function hideBanner() {
    banner.hidden = true;
    banner.replaceChildren();
  }

  function switchTheme() {
    keepSetting("theme", frame.theme === "dark" ? "light" : "dark");
    showTheme(preferredTheme());
  }

  function showTheme(theme) {
    const changed = theme !== frame.theme;
    frame.theme = theme;
    root.dataset.theme = theme;
    const other = theme === "dark" ? "light" : "dark";
    themeButton.replaceChildren(shape("svg", {viewBox: "0 0 24 24", "aria-hidden": "true"}, shape("path", {d: THEMES[other]})));
    for (const name of ["aria-label", "title"]) themeButton.setAttribute(name, `Switch to the ${other} theme`);
    if (!changed) return;
    view(frame.size);
    if (table === null) ask();
  }
}

// The recorded game that the address of the page names: #replay=KEY&game=1&view=0&number=12.
function replayOf(address) {
  const message = {type: "replay", key: address.get("replay")};
  for (const [name, key] of [["game", "game_number"], ["view", "seat"], ["number", "number"]]) {
    if (address.get(name) !== null) message[key] = Number(address.get(name));
  }
  return message;
}
