"use strict";
// Click a column to sort by it, again to turn it round; what is not measured stays last.
const missing = text => ["nan", "", "–"].includes(text);
const valueOf = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
function sortBy(head) {
  const down = head.getAttribute("aria-sort") === "ascending", column = head.cellIndex;
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = head.closest("table").tBodies[0], rows = [...body.rows];
  const numeric = rows.every(row => missing(valueOf(row, column)) || !isNaN(valueOf(row, column)));
  const compare = (a, b) => numeric ? a - b : a.localeCompare(b);
  rows.sort((first, second) => {
    const [a, b] = [valueOf(first, column), valueOf(second, column)];
    return missing(a) - missing(b) || (missing(a) ? 0 : (down ? -1 : 1) * compare(a, b));
  });
  body.append(...rows);
}
for (const head of document.querySelectorAll(".sortable th")) head.addEventListener("click", () => sortBy(head));

// Show the claims that have the words and the verdict.
const words = document.getElementById("words"), verdict = document.getElementById("verdict");
function filterClaims() {
  const wanted = words.value.toLowerCase().split(/\s+/);
  for (const row of document.querySelectorAll("[data-verdict]")) {
    const text = row.textContent.toLowerCase(), right = !verdict.value || row.dataset.verdict === verdict.value;
    row.hidden = !(right && wanted.every(word => text.includes(word)));
  }
  for (const list of document.querySelectorAll("details.claims")) if (words.value || verdict.value) {
    list.open = !!list.querySelector("[data-verdict]:not([hidden])");
  }
}
for (const field of [words, verdict]) field.addEventListener("input", filterClaims);

// Within Snakemake's report there are no folders to link to.
if (!["file:", "http:", "https:"].includes(location.protocol)) {
  for (const link of document.querySelectorAll("a:not([href^='#'])")) link.removeAttribute("href");
}
