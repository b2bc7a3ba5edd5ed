// Who sits at the table, your own name, and the secret links to the seats of other people.

import {copyText, element, labelled, panel, pushButton, seatToken} from "./dom.js";
import {keepSetting, setting} from "./settings.js";

// Names of this machine that mean nothing to others.
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** The panel; `send` tells the table, `names`: see names.js. `seated(joined, invitations)` when you have sat down, `show(people)` when somebody comes or goes. */
export function createPeople(send, names) {
  const list = element("ul", {class: "people-list"});
  const links = element("ul", {class: "links"});
  const alone = element("p", {class: "hint"}, "Only this machine can open them: for others, start  catbox web --host 0.0.0.0");
  const invite = element(
    "div",
    {class: "invite"},
    element("p", {}, "Send each of these secret links to one person. Whoever has it can play that seat and see its cards."),
    alone,
    links,
  );
  const field = element("input", {type: "text", maxlength: 20, autocomplete: "nickname", value: setting("name", ""), onchange: call});
  const yourName = labelled("Your name", field);
  const node = panel("At the table", "people", list, yourName, invite);
  let own = null;
  let base = location.href;

  return {node, seated, show};

  // `address`: at which other machines reach the server, if they can.
  function seated(joined, invitations, address) {
    base = address ?? location.href;
    alone.hidden = address !== null || !LOCAL.includes(location.hostname);
    own = joined.mode === "play" ? joined.seat : null;
    yourName.hidden = own === null;
    if (own !== null && field.value !== "") send({type: "name", name: field.value});
    list.replaceChildren(...joined.names.map((_, seat) => row(seat, null)));
    invite.hidden = invitations.length === 0;
    links.replaceChildren(...invitations.map(invitation));
  }

  function show({seats}) {
    list.replaceChildren(...seats.map(({seat, present}) => row(seat, present)));
    for (const link of links.children) {
      const there = seats.some(({seat, present}) => String(seat) === link.dataset.seat && present);
      link.classList.toggle("taken", there);
    }
  }

  function call() {
    keepSetting("name", field.value.trim());
    send({type: "name", name: field.value});
  }

  function row(seat, present) {
    const you = seat === own && names.of(seat) !== "You" ? element("span", {class: "badge"}, "you") : null;
    const away = present === false ? element("span", {class: "badge away"}, "not here") : null;
    return element("li", {}, seatToken(seat), element("span", {class: "name"}, names.of(seat)), you, away);
  }

  function invitation({seat, key}) {
    const address = new URL(`#seat=${key}`, base).href;
    const shown = element("code", {class: "link"}, address);
    const button = pushButton("Copy", () => copyText(address, button, shown), {
      "aria-label": `Copy the link to seat ${seat}`,
    });
    return element("li", {"data-seat": seat}, seatToken(seat), shown, button);
  }
}
