// The page of the playground: the table of `catbox web`, played in this browser.
import {start} from "./app.js";
import {workerTransport} from "./worker_transport.js";

const root = document.getElementById("catbox");
const bar = document.createElement("progress");
const told = document.createElement("p");
bar.max = 1;
bar.setAttribute("aria-label", "Loading Python");

async function begin() {
  told.textContent = "Loading Python into this page: about 17 MB, which the browser keeps for the next time.";
  bar.removeAttribute("value");
  root.replaceChildren(told, bar);
  try {
    const transport = await workerTransport(new URL("worker.js", import.meta.url), (share) => {
      bar.value = share;
      if (share === 1) told.textContent = "Starting Python.";
    });
    start(root, transport);
  } catch (error) {
    told.textContent = `The table could not be started in this browser. ${error.message}`;
    const again = document.createElement("button");
    again.textContent = "Try again";
    again.onclick = begin;
    root.replaceChildren(told, again);
  }
}

begin();
