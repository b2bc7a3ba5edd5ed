// The worker in which catbox runs: Python (Pyodide) with NumPy and the archive of catbox, all from this folder.
//
// From the page: the messages of docs/protocol.md. To the page: {loaded: share of what is to be loaded, 0 to 1},
// {ready: true}, {message: object} for each message of the table, {broken: text} where it cannot go on.
import {loadPyodide} from "./pyodide/pyodide.mjs";

const HERE = new URL(".", import.meta.url);
// That nothing is compiled is said by the page.
const PREPARE = `
import site, warnings
warnings.filterwarnings("ignore", "catbox runs without Numba", RuntimeWarning)
site.getsitepackages()[0]
`;

// What of this folder is loaded: the number of its bytes is told while they arrive, for everyone who fetches.
const plainFetch = self.fetch;
let bytes = 0;
let expected = Infinity;
self.fetch = async (what, options) => {
  const answer = await plainFetch(what, options).catch((error) => {
    throw new Error(`${what} could not be loaded: ${error.message}`);
  });
  if (!answer.ok) throw new Error(`${what} could not be loaded: ${answer.status} ${answer.statusText}`);
  const counted = new TransformStream({
    transform(chunk, arriving) {
      bytes += chunk.byteLength;
      postMessage({loaded: Math.min(1, bytes / expected)});
      arriving.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counted), answer); // with its headers: WebAssembly needs its media type
};

/** Python with everything in place; nothing of catbox is imported yet. */
async function python() {
  const files = await (await fetch(new URL("files.json", HERE))).json();
  expected = files.bytes;
  const [pyodide, archive] = await Promise.all([
    loadPyodide({indexURL: new URL("pyodide/", HERE).href, packages: ["numpy"]}),
    fetch(new URL("catbox.zip", HERE)).then((answer) => answer.arrayBuffer()),
  ]);
  const packages = pyodide.runPython(PREPARE);
  pyodide.unpackArchive(archive, "zip", {extractDir: packages});
  // A trained agent is fetched when Python first reads its file.
  for (const name of files.zoo) {
    const url = new URL(`zoo/${name}`, HERE).href;
    pyodide.FS.createLazyFile(`${packages}/catbox_agents/zoo`, name, url, true, false);
  }
  return pyodide;
}

let host = null;
let timer = 0;

// Calls the host and, after the seconds that it answers with, calls it again: agents play at their pace.
function attend(call) {
  clearTimeout(timer);
  try {
    const wait = call();
    if (wait !== undefined) timer = setTimeout(() => attend(() => host.work()), 1000 * wait);
  } catch (error) {
    postMessage({broken: error.message});
  }
}

try {
  host = (await python()).pyimport("catbox_app.web.connection").Host((text) => postMessage({message: JSON.parse(text)}));
  self.onmessage = (event) => attend(() => host.receive(JSON.stringify(event.data)));
  postMessage({ready: true});
} catch (error) {
  postMessage({broken: error.message});
}
