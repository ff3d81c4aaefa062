// A block of cells from a spreadsheet is pasted from the focused cell on, and Ctrl+D fills a value down over the selected
// cells. Each cell is saved as if it were typed; an error stays in its cell.
const CELLS_MAX = 2000;

// The corner at which the selection of cells begins, and the cell at which it ends: lot and column.
let range = null;

// The cells of a text as spreadsheets copy it: tabs and line breaks, and quotes around cells that contain them.
function blockOf(text) {
  const rows = [[""]];
  let isQuoted = false;
  const clean = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  for (let at = 0; at < clean.length; at += 1) {
    const char = clean[at];
    const row = rows.at(-1);
    const cell = row.at(-1);
    if (isQuoted && char === '"' && clean[at + 1] === '"') {
      row[row.length - 1] += '"';
      at += 1;
    } else if (isQuoted && char === '"') isQuoted = false;
    else if (isQuoted) row[row.length - 1] += char;
    else if (char === '"' && cell === "" && isQuotedCell(clean, at)) isQuoted = true;
    else if (char === "\t") row.push("");
    else if (char === "\n") rows.push([""]);
    else row[row.length - 1] += char;
  }
  return rows;
}

// True when the quote at this place has its end before a tab, a line break or the end: a title may begin with a quote itself.
function isQuotedCell(text, at) {
  return /^"(?:[^"]|"")*"(?=[\t\n]|$)/.test(text.slice(at));
}

// The names of the columns from this cell's on.
function namesFrom(link) {
  const all = [...link.closest("tr").querySelectorAll("[data-c], .cell-form input[name=field]")];
  const names = all.map((cell) => cell.dataset.c ?? cell.value);
  return names.slice(names.indexOf(link.dataset.c));
}

async function pasteAt(link, block) {
  if (!link) return;
  const names = namesFrom(link);
  const edits = [];
  let row = link.closest("tr");
  let rowsLeft = 0;
  for (const [place, cells] of block.entries()) {
    if (place > 0) {
      const all = allRows();
      let next = all[all.indexOf(row) + 1];
      if (!next) {
        await loadNext();
        next = allRows()[allRows().indexOf(row) + 1];
      }
      if (!next) {
        rowsLeft = block.length - place;
        break;
      }
      row = next;
    }
    for (const [at, value] of cells.slice(0, names.length).entries()) edits.push({ id: row.dataset.row, name: names[at], value: value.trim() });
  }
  const columnsLeft = Math.max(0, Math.max(...block.map((cells) => cells.length)) - names.length);
  const left = [];
  if (rowsLeft > 0) left.push(`${rowsLeft} pasted rows have no lot.`);
  if (columnsLeft > 0) left.push(`${columnsLeft} pasted columns lie beyond the last column.`);
  await applyEdits(edits, left.join(" "));
}

// Saves cells one lot after the other, and says how many were saved. Returns when all have an answer.
async function applyEdits(edits, remark) {
  if (edits.length > CELLS_MAX) {
    notify(`Nothing was saved: the block has ${edits.length} cells, and at most ${CELLS_MAX} can be pasted at once. Import the file instead.`);
    return;
  }
  forgetRange();
  const byLot = new Map();
  for (const edit of edits) byLot.set(edit.id, [...(byLot.get(edit.id) ?? []), edit]);
  const [saved, faults] = [[], { count: 0, lots: 0 }];
  let answered = 0;
  for (const [id, own] of byLot) {
    const result = await inTurnOfLot(id, () => editLot(id, own));
    saved.push(...result.saved);
    if (result.refused > 0) faults.lots += 1;
    faults.count += result.refused;
    answered += own.length;
    say(`${answered} of ${edits.length} cells`);
    if (result.isOver) break;
  }
  remember(saved);
  const words = [`${saved.length} of ${edits.length} cells changed.`];
  if (faults.count > 0) words.push(`${faults.count} refused: see the cells with an error.`);
  if (answered < edits.length) words.push("The rest was not saved: the server can't be reached.");
  if (remark) words.push(remark);
  notify(words.join(" "), saved.length > 0 ? done.at(-1) : undefined);
  say(words.join(" "));
}

// Saves cells of one lot. A cell that is refused stays open with its error while the others are saved.
async function editLot(id, edits) {
  const result = { saved: [], refused: 0, isOver: false };
  let version = edits[0].version;
  for (const { name, value } of edits) {
    const row = rowOfLot(id);
    const link = row?.querySelector(`a.cell[data-c=${name}]`);
    if (link && valueOf(link) === value) continue;
    const before = link ? valueOf(link) : undefined;
    row?.setAttribute("aria-busy", "true");
    const known = row?.dataset.version ?? versionSince(id, version);
    const answer = await send(id, name, value, known, row ? queryOf(row) : location.search.slice(1));
    row?.removeAttribute("aria-busy");
    if (!answer || (answer.status !== 200 && answer.status !== 422)) {
      result.isOver = true;
      break;
    }
    const html = await answer.text();
    const fresh = row ? updateRow(row, html, name) : rowOf(html);
    version = fresh.dataset.version;
    if (answer.ok) {
      noteChange(id, known, version);
      result.saved.push({ id, name, before, version });
    } else result.refused += 1;
  }
  return result;
}

// Keeps how to undo saved cells.
function remember(saved) {
  const known = saved.filter((edit) => edit.before !== undefined);
  if (known.length === 0) return;
  const undo = async () => {
    const edits = known.map((edit) => ({ id: edit.id, name: edit.name, value: edit.before, version: edit.version })).reverse();
    const count = done.length;
    await applyEdits(edits, "That was the undo.");
    // An undo is not undone: its own entry goes.
    done.length = Math.min(done.length, count);
  };
  done.push(undo);
}

function extendTo(link) {
  const from = range?.from ?? placeOf(document.activeElement?.matches("a.cell") ? document.activeElement : link);
  range = { from, to: placeOf(link) };
  const cells = selected();
  for (const cell of grid.querySelectorAll("td.picked")) cell.classList.remove("picked");
  for (const row of cells) for (const cell of row) cell.closest("td").classList.add("picked");
  say(`${cells.length} rows and ${cells[0]?.length ?? 0} columns selected. Ctrl+D fills down.`);
}

function forgetRange() {
  range = null;
  for (const cell of grid.querySelectorAll("td.picked")) cell.classList.remove("picked");
}

function placeOf(link) {
  return { id: link.closest("tr").dataset.row, name: link.dataset.c };
}

// The selected cells by row.
function selected() {
  if (!range) return [];
  const all = allRows();
  const rows = [range.from, range.to].map((place) => all.indexOf(rowOfLot(place.id)));
  if (rows.includes(-1)) return [];
  const [first, last] = rows.sort((a, b) => a - b);
  const columns = [...all[first].querySelectorAll("a.cell")].map((cell) => cell.dataset.c);
  const [left, right] = [range.from, range.to].map((place) => columns.indexOf(place.name)).sort((a, b) => a - b);
  const names = columns.slice(left, right + 1);
  return all.slice(first, last + 1).map((row) => names.map((name) => row.querySelector(`a.cell[data-c=${name}]`)).filter(Boolean));
}

function fillDown(link) {
  let cells = selected();
  if (cells.length < 2) {
    const ahead = neighbour(link, -1, 0);
    if (!ahead?.matches("a.cell")) return;
    cells = [[ahead], [link]];
  }
  const values = new Map(cells[0].map((cell) => [cell.dataset.c, valueOf(cell)]));
  const edits = cells.slice(1).flatMap((row) => row.map((cell) => ({ ...placeOf(cell), value: values.get(cell.dataset.c) })));
  applyEdits(edits.filter((edit) => edit.value !== undefined), "");
}

if (grid) {
  grid.addEventListener("keydown", (event) => {
    if (!event.target.matches("a.cell")) return;
    if (event.key === "Escape") forgetRange();
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "d") {
      event.preventDefault();
      fillDown(event.target);
    }
  });
  document.addEventListener("paste", (event) => {
    const link = document.activeElement;
    if (!link?.matches("[data-grid] a.cell")) return;
    event.preventDefault();
    pasteAt(link, blockOf(event.clipboardData.getData("text/plain")));
  });
  document.addEventListener("copy", (event) => {
    const link = document.activeElement;
    if (!link?.matches("[data-grid] a.cell") || !window.getSelection().isCollapsed) return;
    const cells = range ? selected() : [[link]];
    event.preventDefault();
    event.clipboardData.setData("text/plain", cells.map((row) => row.map(valueOf).join("\t")).join("\n"));
  });
}
