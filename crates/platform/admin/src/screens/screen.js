// Keeps a screen current: the stream says "changed", and the screen fetches its fragment. Without script the page loads itself
// again every two seconds.
"use strict";

const SILENCE_MAX_MS = 3000;
const PAUSES_MS = [250, 500, 1000, 2000, 3000];
const content = document.querySelector("[data-screen]");
const address = content.dataset.screen;
let source = null;
let heardAt = performance.now();
let openedAt = heardAt;
let attempts = 0;
let isFetching = false;
let fetchAgain = false;

async function refresh() {
  if (isFetching) {
    fetchAgain = true;
    return;
  }
  isFetching = true;
  try {
    do {
      fetchAgain = false;
      const answer = await fetch(`${address}/fragment`, { credentials: "same-origin", redirect: "error", cache: "no-store", signal: AbortSignal.timeout(5000) });
      // The link or the session has ended: the page says so when it is loaded again.
      if (answer.status === 401) location.reload();
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("screen");
      if (fresh) replace(document.getElementById("screen"), document.adoptNode(fresh));
    } while (fetchAgain);
    attempts = 0;
    show(true);
  } catch {
    lose();
  } finally {
    isFetching = false;
  }
}

/** Shows the fresh content. The picture of the same lot stays as it is, so that it is not loaded again, and so does
 * the place in its description. `fresh` belongs to this document: a picture that changes its document is loaded again. */
function replace(old, fresh) {
  const [shown, next] = [old.querySelector("img"), fresh.querySelector("img")];
  if (shown && next && shown.getAttribute("src") === next.getAttribute("src")) next.replaceWith(shown);
  const [read, text] = [old.querySelector(".text"), fresh.querySelector(".text")];
  const place = read && text && read.dataset.lot === text.dataset.lot ? read.scrollTop : 0;
  old.replaceWith(fresh);
  if (text) text.scrollTop = place;
}

// An address in the catalogue may lead to no picture, and the answer may have come before this script.
document.addEventListener("error", (event) => {
  if (event.target instanceof HTMLImageElement) event.target.classList.add("lost");
}, true);
for (const image of document.images) image.classList.toggle("lost", image.complete && image.naturalWidth === 0);

function show(isFresh) {
  document.getElementById("stale").hidden = isFresh;
  document.body.classList.toggle("is-stale", !isFresh);
}

function connect() {
  if (document.hidden) return;
  openedAt = performance.now();
  source = new EventSource(`${address}/live`);
  source.addEventListener("beat", () => {
    heardAt = performance.now();
  });
  source.addEventListener("changed", () => {
    heardAt = performance.now();
    refresh();
  });
  source.addEventListener("ended", () => {
    source.close();
    location.reload();
  });
  source.onerror = () => lose();
}

let reconnecting = 0;
function lose() {
  source?.close();
  source = null;
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  clearTimeout(reconnecting);
  reconnecting = setTimeout(connect, pause);
}

// A browser opens six connections to a server: a hidden page leaves its own to others.
document.addEventListener("visibilitychange", () => {
  clearTimeout(reconnecting);
  source?.close();
  source = null;
  if (document.hidden) return;
  refresh();
  connect();
});

setInterval(() => {
  const now = performance.now();
  if (now - heardAt > SILENCE_MAX_MS) show(false);
  if (source && now - Math.max(heardAt, openedAt) > SILENCE_MAX_MS) lose();
}, 250);
// No event tells of new exchange rates.
setInterval(() => {
  if (!document.hidden) refresh();
}, 30000);
connect();
