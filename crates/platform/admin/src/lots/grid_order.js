// A lot moves to another place of the running order: its number is dragged, or Alt with an arrow key moves it by one place.
// Without this script the form above the grid moves lots.
async function arrange(path, body) {
  say("Moving");
  let answer;
  try {
    answer = await fetch(`${grid.dataset.grid}${path}`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "x-fragment": "order" },
      body,
    });
  } catch {
    notify("Nothing was moved: the server can't be reached.");
    return;
  }
  if (answer.status !== 200 && answer.status !== 422) {
    location.reload();
    return;
  }
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const words = holder.content.querySelector("p");
  for (const change of (words.dataset.changes ?? "").split(" ").filter(Boolean)) noteChange(...change.split("."));
  say(words.textContent);
  noticeLine.hidden = false;
  noticeLine.replaceChildren(holder.content);
  const form = noticeLine.querySelector("[data-undo]");
  if (form) {
    const undo = () => {
      const body = new URLSearchParams(new FormData(form));
      const lots = body.getAll("lot").map((lot) => {
        const [id, version, ...place] = lot.split(".");
        return [id, versionSince(id, version), ...place].join(".");
      });
      body.delete("lot");
      for (const lot of lots) body.append("lot", lot);
      return arrange("order/apply", body);
    };
    done.push(undo);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      undoInTurn(undo);
    });
  }
  const focused = document.activeElement?.closest("[data-grid] tr")?.dataset.row;
  const column = document.activeElement?.dataset?.c;
  if (answer.ok) await reloadChunks();
  const row = focused && rowOfLot(focused);
  if (row) (row.querySelector(column ? `a.cell[data-c=${column}]` : "th a") ?? row.querySelector("a"))?.focus();
}

// Moves a lot to the place beside another one; `side` is "before" or "after".
function moveBeside(row, side, other) {
  const body = new URLSearchParams({ lot: row.dataset.row, side, beside: other.dataset.row });
  return inTurn(() => arrange("order/drop", body));
}

if (grid?.hasAttribute("data-order")) {
  let isMoving = false;
  grid.addEventListener("keydown", async (event) => {
    const row = event.target.closest("tbody tr");
    if (!row || !event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown") || event.target.matches("input")) return;
    event.preventDefault();
    if (isMoving) return;
    isMoving = true;
    const at = () => allRows().indexOf(row);
    const isDown = event.key === "ArrowDown";
    const step = isDown ? 1 : -1;
    if (!allRows()[at() + step]) await (isDown ? loadNext() : loadPrevious());
    const other = allRows()[at() + step];
    if (other) await moveBeside(row, isDown ? "after" : "before", other);
    isMoving = false;
  });

  let dragged = null;
  const clear = () => {
    for (const row of grid.querySelectorAll(".drop-before, .drop-after")) row.classList.remove("drop-before", "drop-after");
  };
  const isLower = (event, row) => {
    const box = row.getBoundingClientRect();
    return event.clientY > box.top + box.height / 2;
  };
  grid.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("tbody th")?.closest("tr") ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", lotOf(dragged));
  });
  grid.addEventListener("dragover", (event) => {
    const row = event.target.closest("tbody tr");
    if (!dragged || !row) return;
    event.preventDefault();
    clear();
    row.classList.add(isLower(event, row) ? "drop-after" : "drop-before");
  });
  grid.addEventListener("dragend", () => {
    dragged = null;
    clear();
  });
  grid.addEventListener("drop", async (event) => {
    const row = event.target.closest("tbody tr");
    const moved = dragged;
    if (!moved || !row) return;
    event.preventDefault();
    clear();
    if (moved !== row) await moveBeside(moved, isLower(event, row) ? "after" : "before", row);
  });
}
