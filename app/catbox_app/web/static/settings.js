// What this browser stores: its user's choices, and how its tables were opened.

function stored(storage, key) {
  try {
    return JSON.parse(storage().getItem(`catbox.${key}`));
  } catch {
    return null; // storage is unavailable, or its content is not JSON: use the default
  }
}

function store(storage, key, value) {
  try {
    storage().setItem(`catbox.${key}`, JSON.stringify(value));
  } catch {
    // Storage is unavailable or full: the choice lasts until the page is left.
  }
}

/** The setting `name`, or `otherwise` if there is none. */
export function setting(name, otherwise) {
  return stored(() => localStorage, name) ?? otherwise;
}

/** Keeps the setting `name` for later visits. */
export function keepSetting(name, value) {
  store(() => localStorage, name, value);
}

/** What this tab keeps under `name` until it is closed; null if there is nothing. */
export function ofThisTab(name) {
  return stored(() => sessionStorage, name);
}

/** Keeps `value` until this tab is closed. */
export function keepInThisTab(name, value) {
  store(() => sessionStorage, name, value);
}

/** Those of `agents` (of the message `lobby`) that play this game with this number of players. */
export function fittingAgents(agents, game, players) {
  const fits = (one) => (!one.games || one.games.includes(game)) && (!one.players || one.players.includes(players));
  return agents.filter(fits);
}

/** "light" or "dark": the user's choice, else the system's preference. */
export function preferredTheme() {
  const chosen = setting("theme", null);
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
