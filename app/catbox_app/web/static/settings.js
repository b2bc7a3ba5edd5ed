// What this browser stores: its user's choices, and how its tables were opened.

/** What this browser keeps under `name`, or in `storage` this tab alone; `otherwise` if there is nothing. */
export function setting(name, otherwise, storage = "localStorage") {
  try {
    return JSON.parse(window[storage].getItem(`catbox.${name}`)) ?? otherwise;
  } catch {
    return otherwise; // storage is unavailable, or its content is not JSON
  }
}

/** Keeps `value` under `name` for later visits, or in `storage` until this tab is closed. */
export function keepSetting(name, value, storage = "localStorage") {
  try {
    window[storage].setItem(`catbox.${name}`, JSON.stringify(value));
  } catch {
    // Storage is unavailable or full: the choice lasts until the page is left.
  }
}

/** "light" or "dark": the user's choice, else the system's preference. */
export function preferredTheme() {
  const chosen = setting("theme", null);
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
