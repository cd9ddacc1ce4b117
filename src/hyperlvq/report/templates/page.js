"use strict";

// Sortable tables: a header becomes a button; what has no value stays last either way.
function valueOf(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value === undefined) return cell.textContent.trim();
  return cell.dataset.value === "" ? null : Number(cell.dataset.value);
}

function compare(a, b) {
  return typeof a === "number" ? a - b : a.localeCompare(b);
}

function sortBy(table, header, column) {
  const isNumeric = table.tBodies[0].rows[0].cells[column].dataset.value !== undefined;
  const first = isNumeric ? "descending" : "ascending";
  const other = isNumeric ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, value: valueOf(row, column) }));
  rows.sort((a, b) => {
    if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
    return sign * compare(a.value, b.value);
  });
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  table.tBodies[0].append(...rows.map(({ row }) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sortBy(table, header, column));
  });
}

// Points: the tooltip follows the pointer's nearest point, a tap, or the keyboard.
const REACH = 12; // user units of the figure, so that a finger hits
const tip = document.getElementById("tip");
const pointsOf = (figure) => [...figure.querySelectorAll(".points circle")];
const everyPoint = [...document.querySelectorAll(".points circle")];

for (const point of everyPoint) {
  // The browser's own tooltip would cover ours.
  const title = point.querySelector("title");
  point.setAttribute("aria-label", title.textContent);
  title.remove();
}

function line(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}

function hide() {
  tip.hidden = true;
  for (const point of everyPoint) point.classList.remove("active", "linked");
}

function show(point) {
  hide();
  for (const other of everyPoint) {
    other.classList.toggle("linked", other.dataset.set === point.dataset.set && other !== point);
  }
  point.classList.add("active");
  const name = point.dataset.set;
  const values = point.getAttribute("aria-label").slice(name.length + 2).split("; ");
  tip.replaceChildren(line("b", name), ...values.map((value) => line("span", value)));
  const under = pointsOf(point.closest("figure")).filter((other) =>
    other.getAttribute("cx") === point.getAttribute("cx") &&
    other.getAttribute("cy") === point.getAttribute("cy")).length - 1;
  if (under > 0) tip.append(line("span", `and ${under} more at this place`));
  tip.hidden = false;
  placeTip();
}

function placeTip() {
  const point = document.querySelector("circle.active");
  if (!point) return;
  const place = point.getBoundingClientRect();
  const left = Math.min(Math.max(place.left + place.width / 2 - tip.offsetWidth / 2, 6),
    document.documentElement.clientWidth - tip.offsetWidth - 6);
  const above = place.top - tip.offsetHeight - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 6 ? above : place.bottom + 8}px`;
}

function nearest(figure, event) {
  const matrix = figure.querySelector("svg").getScreenCTM().inverse();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  let best = null;
  let distance = REACH;
  for (const point of pointsOf(figure)) {
    const apart = Math.hypot(point.cx.baseVal.value - at.x, point.cy.baseVal.value - at.y);
    if (apart < distance) [best, distance] = [point, apart];
  }
  return best;
}

function showNearest(figure, event) {
  const point = nearest(figure, event);
  if (point) show(point); else hide();
}

function step(figure, event) {
  const moves = { ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, ArrowUp: 1 };
  const points = pointsOf(figure);
  const current = points.indexOf(document.activeElement);
  if (event.key === "Escape") hide();
  if (current < 0 || !(event.key in moves)) return;
  event.preventDefault();
  const next = points[(current + moves[event.key] + points.length) % points.length];
  points[current].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

for (const figure of document.querySelectorAll("figure:has(.points)")) {
  figure.addEventListener("pointermove", (event) => showNearest(figure, event));
  figure.addEventListener("click", (event) => showNearest(figure, event));
  figure.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  figure.addEventListener("focusin", (event) => { if (event.target.matches("circle")) show(event.target); });
  figure.addEventListener("focusout", hide);
  figure.addEventListener("keydown", (event) => step(figure, event));
}
document.addEventListener("scroll", placeTip, { passive: true });

// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  hide();
  for (const details of document.querySelectorAll("details")) details.open = true;
});
