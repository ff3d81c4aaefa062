// Further lots load while a person scrolls; each page of the list is a tbody. At most CHUNKS_MAX pages are in the document,
// and the address names the page that is on the screen. Without this script the links below the grid lead on.
const CHUNKS_MAX = 5;
const NEAR_PX = 900;

// The queries of the pages that were removed above the first one.
const above = [];
let isLoading = false;
// Where the document was scrolled to, and whether a look at what is near is due.
let lastY = 0;
let isLookDue = false;

function chunks() {
  return [...grid.querySelectorAll("tbody")];
}

async function chunkOf(query) {
  let answer;
  try {
    answer = await fetch(`${location.pathname}?${query}`, { credentials: "same-origin", headers: { "x-fragment": "rows" } });
  } catch {
    say("More lots can't be loaded: the server can't be reached.");
    return null;
  }
  if (!answer.ok) {
    say("More lots can't be loaded. Reload the page.");
    return null;
  }
  const holder = document.createElement("template");
  holder.innerHTML = await answer.text();
  const chunk = holder.content.querySelector("tbody");
  for (const kept of document.querySelectorAll("#bulk [data-parked]")) {
    const tick = chunk.querySelector(`input[name=lot][value="${CSS.escape(kept.value)}"]`);
    if (!tick) continue;
    tick.checked = true;
    kept.remove();
  }
  return chunk;
}

function countRows() {
  const total = document.getElementById("grid-total");
  if (total) total.textContent = `${allRows().length} lots loaded`;
}

// Removes a page from the document. Its selected lots stay selected.
function drop(chunk) {
  if (chunk.contains(document.activeElement)) document.activeElement.blur();
  for (const tick of chunk.querySelectorAll("input[name=lot]:checked")) {
    const kept = document.createElement("input");
    kept.type = "hidden";
    kept.name = "lot";
    kept.value = tick.value;
    kept.dataset.parked = "";
    document.getElementById("bulk").append(kept);
  }
  chunk.remove();
}

// Changes rows above the screen, and keeps what is on the screen where it is.
function keepPlace(anchor, change) {
  const before = anchor.getBoundingClientRect().top;
  change();
  window.scrollBy(0, anchor.getBoundingClientRect().top - before);
  lastY = window.scrollY;
}

async function loadNext() {
  const last = chunks().at(-1);
  if (isLoading || last?.dataset.next === undefined) return;
  isLoading = true;
  const chunk = await chunkOf(last.dataset.next);
  if (chunk) {
    last.after(chunk);
    const all = chunks();
    if (all.length > CHUNKS_MAX) {
      keepPlace(last, () => {
        above.push(all[0].dataset.query);
        drop(all[0]);
      });
    }
    countRows();
    lookSoon();
  }
  isLoading = false;
}

async function loadPrevious() {
  const first = chunks()[0];
  const query = above.at(-1) ?? first?.dataset.previous;
  if (isLoading || query === undefined) return;
  isLoading = true;
  const chunk = await chunkOf(query);
  if (chunk) {
    above.pop();
    keepPlace(first, () => first.before(chunk));
    const all = chunks();
    if (all.length > CHUNKS_MAX) drop(all.at(-1));
    countRows();
  }
  isLoading = false;
}

// Loads the rows again that are loaded, for example after their order has changed.
async function reloadChunks() {
  if (isLoading) return;
  isLoading = true;
  for (const chunk of chunks()) {
    const fresh = await chunkOf(chunk.dataset.query);
    if (!fresh) continue;
    for (const tick of chunk.querySelectorAll("input[name=lot]:checked")) {
      const own = fresh.querySelector(`input[name=lot][value="${CSS.escape(tick.value)}"]`);
      if (own) own.checked = true;
    }
    chunk.replaceWith(fresh);
  }
  isLoading = false;
}

// Loads what comes near, and names the page on the screen in the address.
async function look() {
  isLookDue = false;
  const isUp = window.scrollY < lastY;
  lastY = window.scrollY;
  const all = chunks();
  if (all.length === 0) return;
  const isTopNear = isUp && all[0].getBoundingClientRect().top > -NEAR_PX;
  const isEndNear = all.at(-1).getBoundingClientRect().bottom < window.innerHeight + NEAR_PX;
  if (isTopNear) await loadPrevious();
  else if (isEndNear) await loadNext();
  const shown = chunks().find((chunk) => chunk.getBoundingClientRect().bottom > 0);
  const query = shown?.dataset.query;
  if (query !== undefined && `?${query}` !== location.search && chunks().length > 1) {
    history.replaceState(null, "", `${location.pathname}?${query}`);
  }
}

function lookSoon() {
  if (isLookDue) return;
  isLookDue = true;
  requestAnimationFrame(look);
}

if (grid) {
  // The place is kept by `keepPlace`, in browsers that would keep it and in those that would not.
  document.documentElement.style.overflowAnchor = "none";
  lastY = window.scrollY;
  window.addEventListener("scroll", lookSoon, { passive: true });
  // At the top of the document nothing scrolls any more.
  window.addEventListener("wheel", (event) => {
    if (event.deltaY < 0 && window.scrollY === 0) loadPrevious();
  }, { passive: true });
}
