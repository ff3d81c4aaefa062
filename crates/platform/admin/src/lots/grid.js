// The grid of lots: click or Enter opens a cell, Enter saves and moves down, Tab saves, Escape cancels, arrows move. Without
// this script each cell is a link that opens it as a form. Also loads the fragments of a lot's page.
"use strict";

const grid = document.querySelector("[data-grid]");
const statusLine = document.getElementById("grid-status");

function say(text) {
  if (statusLine) statusLine.textContent = text;
}

function columnOf(element) {
  return [...element.closest("tr").children].indexOf(element.closest("td, th"));
}

// The link or field in the same column of another row, or in a column beside it.
function neighbour(cell, rows, columns) {
  const row = cell.closest("tr");
  const all = [...row.parentElement.children];
  const target = all[all.indexOf(row) + rows];
  if (!target) return null;
  for (let at = columnOf(cell) + columns; at >= 0 && at < target.children.length; at += columns) {
    const found = target.children[at].querySelector("a.cell, .cell-form input[name=value]");
    if (found || columns === 0) return found;
  }
  return null;
}

function rowOf(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.querySelector("tr");
}

function replaceRow(row, html) {
  const fresh = rowOf(html);
  const tick = row.querySelector("input[type=checkbox]");
  const freshTick = fresh.querySelector("input[type=checkbox]");
  if (tick && freshTick) freshTick.checked = tick.checked;
  row.replaceWith(fresh);
  return fresh;
}

function open(link) {
  const row = link.closest("tr");
  const name = link.dataset.c;
  const before = row.outerHTML;
  const shown = link.textContent === "–" ? "" : link.textContent;
  const input = document.createElement("input");
  input.name = "value";
  input.value = shown;
  input.className = "cell-input";
  input.dataset.c = name;
  input.setAttribute("aria-label", `${link.closest("td").dataset.of} of lot ${row.querySelector("th").textContent.trim()}`);
  link.replaceWith(input);
  input.select();
  let isDone = false;
  const cancel = () => {
    isDone = true;
    const fresh = replaceRow(row, before);
    fresh.querySelector(`a.cell[data-c=${name}]`)?.focus();
  };
  const finish = async (rows) => {
    if (isDone) return;
    isDone = true;
    if (input.value === shown) {
      const fresh = replaceRow(row, before);
      if (rows !== null) (neighbour(fresh.querySelector(`a.cell[data-c=${name}]`), rows, 0) ?? fresh.querySelector(`a.cell[data-c=${name}]`))?.focus();
      return;
    }
    await save(row, name, input.value, row.dataset.version, rows);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") cancel();
    if (event.key === "Enter") {
      event.preventDefault();
      finish(1);
    }
  });
  input.addEventListener("blur", () => finish(null));
}

// Saves a cell with the version of the row. The answer is the row: fresh, or with the field open and what is wrong.
async function save(row, name, value, version, rows) {
  say("Saving");
  row.setAttribute("aria-busy", "true");
  const lot = row.querySelector("th").textContent.trim();
  let answer;
  try {
    answer = await fetch(`${grid.dataset.grid}${row.dataset.row}/cell`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "x-fragment": "row" },
      body: new URLSearchParams({ field: name, value, version, back: location.search.slice(1) }),
    });
  } catch {
    row.removeAttribute("aria-busy");
    say(`Lot ${lot} was not saved: the server can't be reached.`);
    return;
  }
  if (answer.status !== 200 && answer.status !== 422) {
    row.removeAttribute("aria-busy");
    say(`Lot ${lot} was not saved.`);
    // The server's page says why, for example that the session has ended.
    location.reload();
    return;
  }
  const fresh = replaceRow(row, await answer.text());
  if (answer.ok) {
    say(`Lot ${lot} saved.`);
    const own = fresh.querySelector(`a.cell[data-c=${name}]`);
    if (rows !== null) (neighbour(own, rows, 0) ?? own)?.focus();
  } else {
    const field = fresh.querySelector(".cell-form input[name=value]");
    field?.focus();
    say(fresh.querySelector(".fault")?.textContent ?? "Not saved.");
  }
}

if (grid) {
  for (const keys of document.querySelectorAll(".keys")) keys.hidden = false;
  grid.addEventListener("click", (event) => {
    const link = event.target.closest("a.cell");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    open(link);
  });
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  grid.addEventListener("keydown", (event) => {
    const move = ARROWS[event.key];
    if (!move || !event.target.matches("a.cell")) return;
    const next = neighbour(event.target, move[0], move[1]);
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  grid.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches(".cell-form")) return;
    event.preventDefault();
    const data = form.elements;
    save(form.closest("tr"), data.field.value, data.value.value, data.version.value, 1);
  });
  // A tick with Shift selects the rows between.
  let lastTick = null;
  const count = document.getElementById("selected");
  grid.addEventListener("click", (event) => {
    const tick = event.target;
    if (!tick.matches("input[type=checkbox]")) return;
    const ticks = [...grid.querySelectorAll("tbody input[type=checkbox]")];
    if (event.shiftKey && lastTick) {
      const [from, to] = [ticks.indexOf(lastTick), ticks.indexOf(tick)].sort((a, b) => a - b);
      for (const other of ticks.slice(from, to + 1)) other.checked = tick.checked;
    }
    lastTick = tick;
    if (count) count.textContent = `${ticks.filter((other) => other.checked).length} selected`;
  });
  const corner = grid.querySelector("thead .tick");
  if (corner) {
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", "Select all lots on this page");
    all.addEventListener("change", () => {
      for (const tick of grid.querySelectorAll("tbody input[type=checkbox]")) tick.checked = all.checked;
      if (count) count.textContent = `${grid.querySelectorAll("tbody input:checked").length} selected`;
    });
    corner.replaceChildren(all);
  }
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
