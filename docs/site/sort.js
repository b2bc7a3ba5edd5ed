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

// Bars in the column of scores of all scenarios: how long each is beside the longest, and whether it is below 0.
function drawBars(rows, column) {
  const scores = rows.map((row) => -key(row, column));
  const longest = Math.max(...scores.map(Math.abs).filter(Number.isFinite));
  rows.forEach((row, k) => {
    if (Number.isFinite(scores[k])) {
      row.cells[column].className = scores[k] < 0 ? "bar below" : "bar";
      row.cells[column].style.setProperty("--length", `${(100 * Math.abs(scores[k])) / longest}%`);
    }
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
