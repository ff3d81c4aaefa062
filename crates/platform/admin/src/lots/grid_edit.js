// Editing in cells: a click, Enter or F2 opens a cell, and so does typing, which replaces what it has. Enter saves and moves
// down, Tab moves to the next cell, Escape leaves the cell as it was, Delete clears. A person types on while a cell is saved: the
// cell shows what was typed, and the answer replaces only what nobody edits at that moment.

// Saves of one lot run one after the other: each needs the version that the one before it leads to.
const turnOfLot = new Map();
function inTurnOfLot(id, action) {
  const turn = (turnOfLot.get(id) ?? Promise.resolve()).then(action, action);
  turnOfLot.set(id, turn);
  return turn;
}

// The name of the field of a cell.
function fieldOf(cell) {
  const own = cell.querySelector("[data-c], .cell-form input[name=field]");
  return own?.dataset.c ?? own?.value;
}

// Takes over the cells of an answer. The tick stays, and so does a cell that is open or has an error, unless the answer is about
// its field. The focus stays where it was.
function updateRow(row, html, name) {
  const fresh = rowOf(html);
  if (fresh.children.length !== row.children.length) {
    // The columns were chosen anew in another window.
    location.reload();
    return fresh;
  }
  const active = row.contains(document.activeElement) ? document.activeElement : null;
  const activeField = active?.matches("a.cell") ? active.dataset.c : null;
  const isAtLot = active?.closest("th") !== null && active !== null;
  const version = fresh.dataset.version;
  for (const [at, cell] of [...fresh.children].entries()) {
    const own = row.children[at];
    const isOpen = own.querySelector(".cell-input") || (own.querySelector(".cell-form") && fieldOf(own) !== name);
    if (isOpen || own.querySelector("input[type=checkbox]")) {
      const known = own.querySelector("input[name=version]");
      if (known) known.value = version;
    } else own.replaceWith(cell);
  }
  row.id = fresh.id;
  row.dataset.version = version;
  if (activeField) row.querySelector(`a.cell[data-c=${activeField}]`)?.focus();
  else if (isAtLot) row.querySelector("th a")?.focus();
  return row;
}

// The cell beside another one; at the end of a row, the first cell of the next one, and back.
function cellBeside(cell, columns) {
  const beside = neighbour(cell, 0, columns);
  if (beside) return beside;
  const all = allRows();
  const row = all[all.indexOf(cell.closest("tr")) + columns];
  return [...(row?.querySelectorAll("a.cell, .cell-form [name=value]") ?? [])].at(columns > 0 ? 0 : -1) ?? null;
}

// Opens a cell: with its text selected ("select"), with the caret at its end ("end"), or empty for what is being typed ("type").
// `typed` is a text that was not saved.
function open(link, start, typed) {
  const row = link.closest("tr");
  const [id, name, shown] = [row.dataset.row, link.dataset.c, valueOf(link)];
  const hasLines = name === "description";
  const input = document.createElement(hasLines ? "textarea" : "input");
  input.name = "value";
  input.value = typed ?? (start === "type" ? "" : shown);
  input.className = "cell-input";
  input.dataset.c = name;
  if (hasLines) input.rows = 6;
  input.setAttribute("aria-label", `${link.closest("td").dataset.of} of lot ${lotOf(row)}`);
  if (name === "vendor") suggestIn(input);
  const isElsewhere = document.activeElement?.matches(".cell-input, .cell-form [name=value]");
  link.replaceWith(input);
  if (!isElsewhere) input.focus();
  if (start === "select") input.select();
  else input.setSelectionRange(input.value.length, input.value.length);
  let isDone = false;
  const close = (text) => {
    isDone = true;
    link.textContent = text === "" ? "–" : text;
    input.replaceWith(link);
  };
  const cancel = () => {
    close(shown);
    link.focus();
    return link;
  };
  const finish = (next) => {
    if (isDone) return;
    const value = input.value;
    close(value);
    if (next) (next(link) ?? link).focus();
    if (value !== shown) save(id, name, value, shown);
  };
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const isBack = event.shiftKey;
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && !(hasLines && (isBack || event.altKey))) {
      event.preventDefault();
      finish((cell) => neighbour(cell, isBack ? -1 : 1, 0));
    } else if (event.key === "Tab") {
      event.preventDefault();
      finish((cell) => cellBeside(cell, isBack ? -1 : 1));
    }
  });
  input.addEventListener("blur", () => finish(null));
  input.addEventListener("paste", (event) => {
    const block = blockOf(event.clipboardData.getData("text/plain"));
    if (hasLines || (block.length < 2 && block[0].length < 2)) return;
    event.preventDefault();
    pasteAt(cancel(), block);
  });
}

// Saves a value with the version of the lot. The answer is the row: fresh, or with the field open and what is wrong.
async function send(id, name, value, version, back) {
  try {
    return await fetch(`${grid.dataset.grid}${id}/cell`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "x-fragment": "row" },
      body: new URLSearchParams({ field: name, value, version, back }),
    });
  } catch {
    return null;
  }
}

function queryOf(row) {
  return row.closest("tbody")?.dataset.query ?? location.search.slice(1);
}

// Saves what was typed into a cell, in turn with other saves of the lot. `before` is the value that an undo restores.
function save(id, name, value, before) {
  const last = rowOfLot(id);
  return inTurnOfLot(id, async () => {
    // A row that was scrolled away in between is saved, too.
    const row = rowOfLot(id) ?? last;
    say("Saving");
    row.setAttribute("aria-busy", "true");
    const lot = lotOf(row);
    const form = row.querySelector(`.cell-form:has(input[name=field][value=${name}])`);
    const version = versionSince(id, form?.elements.version.value ?? row.dataset.version);
    const answer = await send(id, name, value, version, queryOf(row));
    row.removeAttribute("aria-busy");
    if (!answer) {
      const words = `Lot ${lot} was not saved: the server can't be reached.`;
      say(words);
      notify(words);
      const link = row.querySelector(`a.cell[data-c=${name}]`);
      if (link) {
        link.textContent = before === "" || before === undefined ? "–" : before;
        open(link, "end", value);
      }
      return;
    }
    if (answer.status !== 200 && answer.status !== 422) {
      say(`Lot ${lot} was not saved.`);
      // The server's page says why, for example that the session has ended.
      location.reload();
      return;
    }
    const isFormActive = form?.contains(document.activeElement);
    updateRow(row, await answer.text(), name);
    if (answer.ok) {
      noteChange(id, version, row.dataset.version);
      say(`Lot ${lot} saved.`);
      if (before !== undefined) remember([{ id, name, before, version: row.dataset.version }]);
      const own = row.querySelector(`a.cell[data-c=${name}]`);
      if (isFormActive) (neighbour(own, 1, 0) ?? own)?.focus();
      return;
    }
    // A person who went on to another cell is left there: the next key belongs to it.
    const isElsewhere = document.activeElement?.matches("a.cell, .cell-input, .cell-form [name=value]");
    const refused = row.querySelector(`.cell-form:has(input[name=field][value=${name}])`);
    if (!isElsewhere) refused?.elements.value.focus();
    say(refused?.querySelector(".fault")?.textContent ?? "Not saved.");
  });
}

// Empties the selected cells, or this one.
function clearCells(link) {
  const cells = range ? selected().flat() : [link];
  applyEdits(cells.map((cell) => ({ ...placeOf(cell), value: "" })), "");
}

if (grid) {
  grid.addEventListener("keydown", (event) => {
    const link = event.target;
    if (!link.matches("a.cell") || event.isComposing) return;
    const hasCommand = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
    if (event.key === "F2") {
      event.preventDefault();
      open(link, "end");
    } else if ((event.key === "Delete" || event.key === "Backspace") && !hasCommand) {
      event.preventDefault();
      clearCells(link);
    } else if ([...event.key].length === 1 && event.key !== " " && !hasCommand) {
      // The browser writes the character into the field, which has the focus by then.
      forgetRange();
      open(link, "type");
    }
  });
  grid.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches(".cell-form")) return;
    event.preventDefault();
    save(form.closest("tr").dataset.row, form.elements.field.value, form.elements.value.value);
  });
}
