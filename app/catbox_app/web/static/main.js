// The page of `catbox web`: the table, over a WebSocket to the server that the page came from.
import {start} from "./app.js";
import {socketTransport} from "./connection.js";

start(document.getElementById("catbox"), socketTransport(new URL("ws", document.baseURI)), {links: true});
