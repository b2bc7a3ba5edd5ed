// The transport of a page that holds one recorded game (`catbox replay --html`): answers as a table would, from the
// messages in the page (catbox_app/web/exported.py).

/** A transport; `packed`: the messages as gzip-compressed JSON in base64. */
export function recordedTransport(packed) {
  let game = null;
  let look = {theme: "light", size: 1000};
  let shown = {number: 0, seat: null};
  const transport = {
    onmessage: () => {},
    onstate: () => {},
    async open() {
      try {
        game = await unpacked(packed);
      } catch (error) {
        transport.onstate("open");
        const reason = "DecompressionStream" in window ? String(error) : "this browser is too old: use one from 2023 or later";
        transport.onmessage({type: "failed", text: `The recorded game cannot be shown: ${reason}.`});
        return;
      }
      shown = {number: game.joined.number, seat: game.joined.view};
      transport.onstate("open");
      transport.onmessage({...game.joined, reviewed: game.reviewed.length > 0});
      tellEvents();
      tellPosition();
    },
    send(message) {
      queueMicrotask(() => answer(message));
      return true;
    },
  };
  return transport;

  function answer(message) {
    if (message.type === "view") {
      look = {theme: message.theme, size: message.size};
      if (game !== null) tellPosition();
    } else if (message.type === "step") {
      const turned = message.seat !== shown.seat;
      shown = {number: message.number, seat: message.seat};
      if (turned) tellEvents();
      tellPosition();
    } else if (message.type === "review") {
      game.reviewed.forEach(transport.onmessage);
    }
  }

  function view() {
    return game.views[shown.seat === null ? 0 : shown.seat + 1];
  }

  function tellEvents() {
    for (const message of view().events) transport.onmessage(message);
  }

  function tellPosition() {
    const {positions, policies, pictures} = view();
    const svg = pictures[`${look.theme}-${look.size}`][shown.number].map((part) => game.parts[part]).join("");
    transport.onmessage({...positions[shown.number], svg});
    if (policies[shown.number] !== null) transport.onmessage(policies[shown.number]);
  }
}

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
