// Who sits at the table, and the secret links to seats that are still to be given to people.

import {copyText, element, panel, pushButton, seatToken} from "./dom.js";

/** The panel: `seated(joined, invitations)` when one has sat down, `show(people)` when somebody comes or goes. */
export function createPeople() {
  const list = element("ul", {class: "people-list"});
  const links = element("ul", {class: "links"});
  const invite = element(
    "div",
    {class: "invite"},
    element("p", {}, "Send each of these secret links to one person. Who has it plays this seat and sees its cards."),
    links,
  );
  const node = panel("At the table", "people", list, invite);
  let own = null;

  return {node, seated, show};

  function seated(joined, invitations) {
    own = joined.mode === "play" ? joined.seat : null;
    list.replaceChildren(...joined.names.map((name, seat) => row(seat, name, null)));
    invite.hidden = invitations.length === 0;
    links.replaceChildren(...invitations.map(invitation));
  }

  function show({seats}) {
    list.replaceChildren(...seats.map(({seat, name, present}) => row(seat, name, present)));
    for (const link of links.children) {
      const there = seats.some(({seat, present}) => String(seat) === link.dataset.seat && present);
      link.classList.toggle("taken", there);
    }
  }

  function row(seat, name, present) {
    const you = seat === own ? element("span", {class: "badge"}, "you") : null;
    const away = present === false ? element("span", {class: "badge away"}, "not here") : null;
    const words = name === "you" && you !== null ? `player_${seat}` : name;
    return element("li", {}, seatToken(seat), element("span", {class: "name"}, words), you, away);
  }

  function invitation({seat, key}) {
    const address = new URL(`#seat=${key}`, location.href).href;
    const shown = element("code", {class: "link"}, address);
    const button = pushButton("Copy", () => copyText(address, button, shown), {
      "aria-label": `Copy the link to the seat of player_${seat}`,
    });
    return element("li", {"data-seat": seat}, seatToken(seat), shown, button);
  }
}
