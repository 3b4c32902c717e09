"use strict";
// Sorting and filtering. Without this script the tables are as readable, in the order they come in.
const value = (row, column) => {
  const cell = row.cells[column];
  return cell.dataset.value ?? cell.textContent.trim();
};
const number = (text) => {
  const found = parseFloat(text);
  return Number.isNaN(found) ? -1 : found;
};
const compare = {
  number: (one, other) => number(one) - number(other),
  order: (one, other) => number(one) - number(other),
  text: (one, other) => one.localeCompare(other, undefined, { numeric: true }),
};

function sortBy(table, header) {
  const body = table.tBodies[0];
  const column = header.cellIndex;
  const kind = header.dataset.sort;
  const current = header.getAttribute("aria-sort");
  const direction =
    current === "none" ? (kind === "number" ? "descending" : "ascending")
    : current === "ascending" ? "descending" : "ascending";
  const sign = direction === "ascending" ? 1 : -1;
  const rows = Array.from(body.rows, (row) => [value(row, column), row]);
  rows.sort((one, other) => sign * compare[kind](one[0], other[0]));
  for (const other of header.parentElement.cells) {
    if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  }
  header.setAttribute("aria-sort", direction);
  body.append(...rows.map((pair) => pair[1]));
}

for (const header of document.querySelectorAll(".sortable th[data-sort]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...header.childNodes);
  header.append(button);
  header.setAttribute("aria-sort", "none");
  button.addEventListener("click", () => sortBy(header.closest("table"), header));
}

const filter = document.getElementById("filter");
const found = document.getElementById("found");
const rows = Array.from(document.querySelectorAll(".map tbody tr"));
const names = rows.map((row) => row.cells[0].firstElementChild.textContent.toLowerCase());
const groups = Array.from(document.querySelectorAll("select[data-group]"));
// A student may have several labels, with | between them.
const isIn = (row, group) =>
  group.value === "" || (row.dataset[group.dataset.group] ?? "").split("|").includes(group.value);
function show() {
  const wanted = filter.value.trim().toLowerCase();
  let count = 0;
  rows.forEach((row, index) => {
    row.hidden = !names[index].includes(wanted) || !groups.every((group) => isIn(row, group));
    count += row.hidden ? 0 : 1;
  });
  const words = count === 1 ? found.dataset.one : found.dataset.many;
  found.textContent = words.replace("{count}", count);
}
for (const input of [filter, ...groups]) input.addEventListener("input", show);
filter.closest(".tools").hidden = false;
