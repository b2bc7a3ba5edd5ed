// The page of the playground: the table of `catbox web`, played in this browser.
import {start} from "./app.js";
import {element, pushButton} from "./dom.js";
import {preferredTheme} from "./settings.js";
import {workerTransport} from "./worker_transport.js";

const WORKER = new URL("worker.js", import.meta.url);
const root = document.getElementById("catbox");
root.classList.add("catbox");
root.dataset.theme = preferredTheme();

function show(title, ...content) {
  root.replaceChildren(
    element("main", {class: "content"}, element("div", {class: "lobby"}, element("h1", {}, title), ...content)),
  );
}

async function begin() {
  const bar = element("progress", {max: 1, "aria-label": "Loaded", style: "width: 100%; margin-top: 20px"});
  const told = element("p", {role: "status"}, "Python is loaded into this page, about 17 MB the first time.");
  show("Loading the table", told, bar);
  try {
    const transport = await workerTransport(WORKER, (share) => {
      bar.value = share;
      if (share === 1) told.textContent = "Python starts.";
    });
    start(root, transport);
  } catch (error) {
    show(
      "The table could not be started",
      element("p", {role: "alert"}, `${error.message}.`),
      element("p", {style: "margin: 12px 0 20px"}, "Is this device online, and the browser one of the last three years?"),
      pushButton("Try again", begin, {class: "primary"}),
    );
  }
}

begin();
