// A click on the head of a column sorts a table in .sortable: the highest number or the first word comes first, with the
// next click last. Empty cells stay at the end.

// Higher numbers are lower keys.
function key(row, column) {
  const words = row.cells[column].textContent.trim();
  return /^[+\u2212\d]/.test(words) ? -parseFloat(words.replace("\u2212", "-").replaceAll(",", "")) : words;
}

function compare(one, other) {
  return typeof one === "number" && typeof other === "number" ? one - other : `${one}`.localeCompare(`${other}`);
}

// Bars in the column of scores of all scenarios, each from 0, which a line marks, to its score.
function drawBars(rows, column) {
  const scores = rows.map((row) => -key(row, column));
  const known = [0, ...scores.filter(Number.isFinite)];
  const low = Math.min(...known);
  const at = (score) => `${(100 * (score - low)) / (Math.max(...known) - low)}%`;
  rows.forEach((row, k) => {
    if (!Number.isFinite(scores[k])) return;
    row.cells[column].className = scores[k] < 0 ? "bar below" : "bar";
    row.cells[column].style.setProperty("--zero", at(0));
    row.cells[column].style.setProperty("--from", at(Math.min(0, scores[k])));
    row.cells[column].style.setProperty("--to", at(Math.max(0, scores[k])));
  });
}

for (const table of document.querySelectorAll(".sortable table")) {
  const heads = [...table.tHead.rows[0].cells];
  const all = heads.findIndex((head) => head.textContent === "all");
  if (all >= 0) drawBars([...table.tBodies[0].rows], all);
  let sorted = -1;
  let sign = 1;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.onclick = () => {
      sign = sorted === column ? -sign : 1;
      sorted = column;
      const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
      const full = rows.filter(([one]) => one !== "").sort(([one], [other]) => sign * compare(one, other));
      const empty = rows.filter(([one]) => one === "");
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      const numbers = full.some(([one]) => typeof one === "number");
      head.setAttribute("aria-sort", numbers === (sign === 1) ? "descending" : "ascending");
      table.tBodies[0].append(...[...full, ...empty].map(([, row]) => row));
    };
  });
}
