// A transport: how messages (docs/protocol.md) get to a table and back. The playground has another one, to a worker.
//
//   open()                connects; afterwards the two functions below are called
//   send(message)         sends an object; if the connection is lost, drops it and returns false
//   onmessage(message)    set by the page: takes each object that arrives
//   onstate(state, why, unsure)   set by the page: "open" (also again, after a loss), "lost", or "refused", until `open`
//                         is called again; `why`: what the server says; `unsure`: whether messages that were sent since may be lost

// Seconds between attempts to reconnect.
const WAITS = [0.3, 0.6, 1, 2, 3, 5];
// Seconds that an answer may take, twice as many after each failure (the link may be slow); and of silence, after which the
// server is asked whether it is there.
const [PATIENCE, SILENCE] = [5, 20];

/** A transport over a WebSocket, which reconnects by itself. `url`: a URL; http becomes ws. */
export function socketTransport(url) {
  const address = new URL(url);
  address.protocol = address.protocol.replace("http", "ws");
  address.hash = "";
  let socket = null; // null: none is open, nor being opened
  let failures = 0; // since everything was answered
  let [asked, answered] = [0, 0]; // how often this connection has asked whether the server is there, and how often it was
  let sent = 0; // `asked`, once the last message was sent
  let blocked = ""; // why no WebSocket reaches a server that answers otherwise
  let timer = 0; // of what is next: to ask, to give up, to reconnect; 0: nothing
  const transport = {
    onmessage: () => {},
    onstate: () => {},
    open() {
      asked = answered = sent = 0;
      socket = new WebSocket(address);
      socket.onopen = () => {
        transport.onstate("open");
        sent = 0; // what the page says by itself is said again
      };
      socket.onmessage = ({data}) => {
        const message = JSON.parse(data);
        if (message.type === "pong") answered += 1;
        if (answered === asked) [failures, blocked] = [0, ""];
        expect();
        transport.onmessage(message);
      };
      socket.onclose = ({code, reason}) => {
        if (code === 1008) return lose(reason, "refused"); // for good
        if (asked > 0) return lose(code === 1013 ? reason : ""); // "try again later"
        if (blocked !== "") return lose(blocked, "refused"); // for the second time
        lose();
        fetch(url).then(async (answer) => (blocked = answer.status === 426 ? await answer.text() : ""), () => {});
      };
      after(2 * PATIENCE, lose);
    },
    send(message) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      ask();
      sent = asked;
      return true;
    },
  };
  // A page that comes back may have lost its link without being told.
  for (const event of ["pageshow", "online"]) addEventListener(event, ask);
  document.addEventListener("visibilitychange", () => document.hidden || ask());
  return transport;

  // Asks whether the server is there; reconnects if that is due.
  function ask() {
    if (socket === null && timer !== 0) transport.open();
    if (socket?.readyState !== WebSocket.OPEN) return;
    socket.send('{"type":"ping"}');
    asked += 1;
    if (asked === answered + 1) expect();
  }

  function expect() {
    if (answered === asked) after(SILENCE, ask);
    else after(PATIENCE * 2 ** Math.min(failures, 5), lose);
  }

  function after(seconds, then) {
    clearTimeout(timer);
    timer = setTimeout(then, 1000 * seconds);
  }

  function lose(why = "", state = "lost") {
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    socket = null;
    clearTimeout(timer);
    timer = 0;
    if (state === "lost") after(WAITS[Math.min(failures, WAITS.length - 1)], transport.open);
    failures += 1;
    transport.onstate(state, why, answered < sent);
  }
}
