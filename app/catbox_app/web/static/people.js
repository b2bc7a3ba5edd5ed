// Who sits at a table to which people are invited, and the secret links to their seats; and your own name.

import {copyText, element, labelled, panel, pushButton, seatToken} from "./dom.js";
import {kindOf} from "./names.js";
import {keepSetting, setting} from "./settings.js";

// Names of this machine that mean nothing to others.
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** Whether no other machine reaches the server; `address`: at which others do, or null. */
export function isAlone(address) {
  return address === null && LOCAL.includes(location.hostname);
}

/** The panel; `send` tells the table, `names`: see names.js. `seated(joined, invitations)` when you have sat down, `show(people)` when somebody comes or goes; `asking`: a form for a name. */
export function createPeople(send, names) {
  const list = element("ul", {class: "people-list"});
  const links = element("ul", {class: "links"});
  const secret = element("p", {class: "hint"});
  const heading = element("summary", {});
  const fold = element("details", {}, heading, secret, links);
  const invite = element("div", {class: "invite"}, fold);
  const field = element("input", {type: "text", maxlength: 20, autocomplete: "nickname", value: setting("name", ""), onchange: call});
  const yourName = labelled("Your name", field);
  const asking = element("form", {class: "asking", hidden: true, onsubmit: called}, element("button", {class: "primary"}, "Sit down"));
  const notes = element("p", {class: "hint", role: "status"});
  const coach = element("input", {type: "checkbox", onchange: () => send({type: "host", coach: coach.checked})});
  const coachPart = labelled("People may use the coach", coach);
  const node = panel("At the table", "people", list, notes, coachPart, invite);
  let own = null;
  let several = false; // whether other people have seats
  let base = location.href;

  return {node, asking, yourName, seated, show, settle};

  // `address`: at which other machines reach the server, if they can.
  function seated(joined, invitations, address) {
    base = address ?? location.href;
    const alone = isAlone(address);
    several = !joined.can_undo;
    node.hidden = !several;
    own = joined.mode === "play" ? joined.seat : null;
    coachPart.hidden = true; // the message `people` says who decides
    asking.hidden = !several || own === null || field.value !== "";
    yourName.hidden = own === null;
    if (!asking.hidden) asking.prepend(yourName);
    else if (several) notes.after(yourName);
    if (own !== null && field.value !== "") send({type: "name", name: field.value});
    secret.hidden = invitations.every(({seat}) => seat === null);
    invite.hidden = secret.hidden && (invitations.length === 0 || alone);
    links.replaceChildren(...invitations.map(invitation));
    secret.textContent = `${alone ? "Open each of these links in another window." : "Send each of these secret links to one person."} Whoever has it can play that seat and see its cards.`;
    fold.open = !alone;
    heading.textContent = alone ? "Links for other windows on this machine" : "Links to the seats";
  }

  function show({seats, host, coach: allowed, watching: count}) {
    const hosts = several && own !== null && own === host; // this page does
    list.replaceChildren(...seats.map((one) => row({...one, host: several && one.seat === host}, hosts)));
    const people = seats.filter(({name, stand_in: replaced}) => kindOf(name) === null && !replaced);
    const here = people.filter(({present}) => present !== false);
    const missing = node.classList.toggle("missing", here.length < people.length);
    notes.textContent = [
      missing ? `${here.length} of ${people.length} here.` : "",
      own === null ? "You are watching, and see what everybody sees." : count > 0 ? `${count} watching.` : "",
      allowed ? "" : "The host has switched the coach off.",
    ].join(" ");
    coach.checked = allowed;
    coachPart.hidden = !hosts;
    if (!missing) fold.open = false; // everybody has come
    node.hidden = !several && count === 0 && invite.hidden;
  }

  function call() {
    keepSetting("name", field.value.trim());
    send({type: "name", name: field.value});
  }

  // The field has told the name.
  function called(event) {
    event.preventDefault();
    asking.closest("main").focus({preventScroll: true});
    settle();
  }

  // Whoever plays without a name is not asked any more.
  function settle() {
    if (asking.hidden) return;
    asking.hidden = true;
    notes.after(yourName);
  }

  // `replaceable`: whether an agent may be sent to the seat of somebody who is not here.
  function row({seat, present, stand_in: replaced, host}, replaceable = false) {
    const away = present === false;
    const parts = [seatToken(seat, names.face(seat)), element("span", {class: "name"}, names.full(seat))];
    const badge = (words, kind = "") => parts.push(element("span", {class: `badge ${kind}`}, words));
    if (seat === own && names.of(seat) !== "You") badge("you");
    if (host) badge("host");
    if (away) badge(replaced ? "not here, an agent plays" : "not here", "away");
    if (away && replaceable && !replaced) parts.push(pushButton("Let an agent play", () => send({type: "host", stand_in: seat})));
    return element("li", {}, ...parts);
  }

  function invitation({seat, key}) {
    const [what, token] = seat === null ? ["watch", "Watch"] : [`the seat of ${names.of(seat)}`, seatToken(seat, names.face(seat))];
    const address = new URL(`#${seat === null ? "watch" : "seat"}=${key}`, base).href;
    const shown = element("code", {class: "link"}, address);
    const button = pushButton("Copy", () => copyText(address, button, shown), {
      "aria-label": `Copy the link to ${what}`,
    });
    return element("li", {"data-seat": seat}, token, shown, button);
  }
}
