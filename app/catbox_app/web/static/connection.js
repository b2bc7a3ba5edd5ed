// A transport: how messages (docs/protocol.md) get to a table and back. The playground has another one, to a worker.
//
//   open()                connects; afterwards the two functions below are called
//   send(message)         sends an object; if the connection is lost, drops it and returns false
//   onmessage(message)    set by the page: takes each object that arrives
//   onstate(state)        set by the page: "open" (also again, after a loss), or "lost"

// Seconds between attempts to reconnect.
const WAITS = [0.3, 0.6, 1, 2, 3, 5];

/** A transport over a WebSocket, which reconnects by itself. `url`: a URL; http becomes ws. */
export function socketTransport(url) {
  const address = new URL(url);
  address.protocol = address.protocol.replace("http", "ws");
  address.hash = "";
  let socket = null;
  let failures = 0;
  let timer = 0;
  const transport = {
    onmessage: () => {},
    onstate: () => {},
    open() {
      clearTimeout(timer);
      socket = new WebSocket(address);
      socket.onopen = () => {
        failures = 0;
        transport.onstate("open");
      };
      socket.onmessage = (event) => transport.onmessage(JSON.parse(event.data));
      socket.onclose = () => {
        transport.onstate("lost");
        timer = setTimeout(transport.open, 1000 * WAITS[Math.min(failures, WAITS.length - 1)]);
        failures += 1;
      };
    },
    send(message) {
      if (socket === null || socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
  };
  return transport;
}
