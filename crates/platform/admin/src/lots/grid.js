// The grid of lots: its rows and the keys that move between its cells. Without this script each cell is a link that opens it as
// a form. Also loads the fragments of a lot's page.
"use strict";

const grid = document.querySelector("[data-grid]");
const statusLine = document.getElementById("grid-status");
const noticeLine = document.getElementById("grid-notice");

function say(text) {
  if (statusLine) statusLine.textContent = text;
}

// What was done, the newest last: each is a function that undoes it.
const done = [];

// The changes that this page made: the version of a lot before each with the one after it. An undo that knows an earlier
// version continues from the newest one, unless someone else changed the lot in between.
const ownChanges = new Map();

function noteChange(id, before, after) {
  if (Number(after) > Number(before)) ownChanges.set(`${id}.${before}`, String(after));
}

function versionSince(id, version) {
  let newest = String(version);
  while (ownChanges.has(`${id}.${newest}`)) newest = ownChanges.get(`${id}.${newest}`);
  return newest;
}

// Moves and undos run one after the other: each needs the versions that the one before it leads to.
let lastInTurn = Promise.resolve();
function inTurn(action) {
  lastInTurn = lastInTurn.then(action, action);
  return lastInTurn;
}

// Undoes the last change, or the one that a button names, once what was typed is saved.
function undoInTurn(undo) {
  return inTurn(async () => {
    await Promise.all(turnOfLot.values());
    const at = undo ? done.indexOf(undo) : done.length - 1;
    return at >= 0 ? done.splice(at, 1)[0]() : undefined;
  });
}

function columnOf(element) {
  return [...element.closest("tr").children].indexOf(element.closest("td, th"));
}

// All rows, over the pages that are loaded.
function allRows() {
  return [...grid.querySelectorAll("tbody tr")];
}

function rowOfLot(id) {
  return grid.querySelector(`tr[data-row="${CSS.escape(id)}"]`);
}

function lotOf(row) {
  return row.querySelector("th").textContent.trim();
}

// What a cell shows, as it is typed.
function valueOf(link) {
  return link.textContent === "–" ? "" : link.textContent;
}

// The link or field in the same column of another row, or in a column beside it.
function neighbour(cell, rows, columns) {
  const all = allRows();
  const target = all[all.indexOf(cell.closest("tr")) + rows];
  if (!target) return null;
  for (let at = columnOf(cell) + columns; at >= 0 && at < target.children.length; at += columns) {
    const found = target.children[at].querySelector("a.cell, .cell-form [name=value]");
    if (found || columns === 0) return found;
  }
  return null;
}

function rowOf(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.querySelector("tr");
}

if (grid) {
  for (const keys of document.querySelectorAll(".keys")) keys.hidden = false;
  grid.addEventListener("click", (event) => {
    const link = event.target.closest("a.cell");
    if (!link || event.ctrlKey || event.metaKey || event.button !== 0) return;
    event.preventDefault();
    if (event.shiftKey) extendTo(link);
    else open(link, "select");
  });
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.addEventListener("keydown", async (event) => {
    const move = ARROWS[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey || !event.target.matches("a.cell")) return;
    event.preventDefault();
    const from = event.target;
    const isLast = move[0] !== 0 && !neighbour(from, move[0], 0);
    if (isLast) await (move[0] > 0 ? loadNext() : loadPrevious());
    const next = neighbour(from, move[0], move[1]);
    if (!next) return;
    if (event.shiftKey && next.matches("a.cell")) extendTo(next);
    else forgetRange();
    next.focus();
  });
  // A tick with Shift selects the rows between.
  let lastTick = null;
  grid.addEventListener("click", (event) => {
    const tick = event.target;
    if (!tick.matches("tbody input[type=checkbox]")) return;
    const ticks = [...grid.querySelectorAll("tbody input[type=checkbox]")];
    if (event.shiftKey && lastTick?.isConnected) {
      const [from, to] = [ticks.indexOf(lastTick), ticks.indexOf(tick)].sort((a, b) => a - b);
      for (const other of ticks.slice(from, to + 1)) other.checked = tick.checked;
    }
    lastTick = tick;
    countTicks();
  });
  const corner = grid.querySelector("thead .tick");
  if (corner) {
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", "Select all lots that are loaded");
    all.addEventListener("change", () => {
      for (const tick of grid.querySelectorAll("tbody input[type=checkbox]")) tick.checked = all.checked;
      if (!all.checked) for (const kept of document.querySelectorAll("#bulk [data-parked]")) kept.remove();
      countTicks();
    });
    corner.replaceChildren(all);
  }
  document.addEventListener("keydown", (event) => {
    const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
    if (!isUndo || event.target.matches("input, textarea, select") || done.length === 0) return;
    event.preventDefault();
    undoInTurn();
  });
}

function countTicks() {
  const count = document.getElementById("selected");
  if (!count) return;
  const ticks = grid.querySelectorAll("tbody input:checked").length + document.querySelectorAll("#bulk [data-parked]").length;
  count.textContent = `${ticks} selected`;
}

// A text with a button that undoes what was done last.
function notify(text, undo) {
  if (!noticeLine) return;
  const words = document.createElement("p");
  words.textContent = text;
  noticeLine.hidden = false;
  noticeLine.replaceChildren(words);
  if (!undo) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = "Undo";
  button.addEventListener("click", () => undoInTurn(undo));
  noticeLine.append(button);
}

// What the provider answers arrives after the page.
for (const place of document.querySelectorAll("[data-fragment]")) {
  fetch(place.dataset.fragment, { credentials: "same-origin", redirect: "error" })
    .then(async (answer) => {
      if (!answer.ok) return;
      const holder = document.createElement("template");
      holder.innerHTML = await answer.text();
      place.replaceChildren(holder.content);
    })
    .catch(() => {});
}
