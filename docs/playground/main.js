// The page of the playground: the table of `catbox web`, played in this browser.
import {start} from "./app.js";
import {element, pushButton} from "./dom.js";
import {preferredTheme} from "./settings.js";
import {workerTransport} from "./worker_transport.js";

const WORKER = new URL("worker.js", import.meta.url);
const root = document.getElementById("catbox");

// In a page of the documentation site the table stands below the text, out of reach of the text's styles, and follows the
// page's theme. The site's keys for the previous and the next page (p and n) are switched off: they would end the game.
const siteTheme = () => (document.body.dataset.mdColorScheme === "slate" ? "dark" : "light");
const inSite = document.body.dataset.mdColorScheme !== undefined;
root.classList.add("catbox");
root.dataset.theme = inSite ? siteTheme() : preferredTheme();
if (inSite) {
  root.closest("article").after(root);
  document.querySelectorAll("link[rel=prev], link[rel=next]").forEach((link) => link.remove());
}

function followSite() {
  if (root.dataset.theme !== siteTheme()) root.querySelector(".tools button").click();
}

function show(title, ...content) {
  root.replaceChildren(
    element("main", {class: "content"}, element("div", {class: "lobby"}, element("h1", {}, title), ...content)),
  );
}

// The board fills the window, below the text of the page: it is scrolled into view when a game begins.
function showBoard() {
  if (root.querySelector(".picture")) root.scrollIntoView();
}

async function begin() {
  const bar = element("progress", {max: 1, "aria-label": "Loaded", style: "width: 100%; margin-top: 20px"});
  const told = element("p", {role: "status"}, "Downloading Python: about 17 MB on the first visit.");
  show("Loading the table", told, bar);
  try {
    const transport = await workerTransport(WORKER, (share) => {
      bar.value = share;
      told.textContent = share === 1 ? "Starting Python." : `Downloading Python: ${Math.round(100 * share)} % of about 17 MB.`;
    });
    start(root, transport);
    if (inSite) {
      new MutationObserver(showBoard).observe(root.querySelector("main"), {childList: true});
      followSite();
      new MutationObserver(followSite).observe(document.body, {attributeFilter: ["data-md-color-scheme"]});
    }
  } catch (error) {
    show(
      "The table could not be started",
      element("p", {role: "alert"}, `${error.message}.`),
      element("p", {style: "margin: 12px 0 20px"}, "Check that you are online and that your browser is no more than three years old."),
      pushButton("Try again", begin, {class: "primary"}),
    );
  }
}

begin();
