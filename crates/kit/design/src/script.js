// Every page works without this script. It signs in with a magic link, keeps a form from being sent twice, copies texts to the
// clipboard, and updates progress.
"use strict";

// A magic link has its key in the fragment, which a browser never sends to a server. The script puts the key into the form and
// removes it from the history. If the page is open already, opening a link changes the fragment only.
const login = document.getElementById("login");
function enter() {
  if (!location.hash.startsWith("#key=")) return;
  const key = location.hash.slice("#key=".length);
  history.replaceState(null, "", location.pathname);
  try {
    login.elements.key.value = decodeURIComponent(key);
  } catch {
    // The key is incomplete: the page asks the visitor to paste the link.
    return;
  }
  if (window.top !== window.self && !keepsCookies()) {
    const elsewhere = document.getElementById("elsewhere");
    elsewhere.hidden = false;
    // The key stays in the fragment of the new page as well.
    elsewhere.querySelector("a").href = `${location.pathname}#key=${key}`;
    return;
  }
  document.getElementById("entering").hidden = false;
  login.submit();
}
// In a frame of another site, a browser may keep no cookie, not even one that is for this site's frames there only.
function keepsCookies() {
  const probe = `probe=1; SameSite=None; Secure; Partitioned; Path=${location.pathname}`;
  document.cookie = probe;
  const isKept = document.cookie.includes("probe=1");
  document.cookie = `${probe}; Max-Age=0`;
  return isKept;
}
if (login) {
  enter();
  window.addEventListener("hashchange", enter);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  // A form that opens a tab of its own may be sent again: its page stays open.
  if (form.method !== "post" || form.target === "_blank") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
// A page that the browser restores from its back/forward cache may send its form again.
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    const region = document.getElementById("copied");
    if (region) region.textContent = "Copied to the clipboard.";
  });
}

// The number of messages that are newer than the page. The list itself never moves while it is read.
const tail = document.querySelector("[data-tail]");
if (tail && window.EventSource) {
  let source = null;
  const listen = () => {
    source?.close();
    // A browser opens six connections to a server: a hidden page leaves its own to others.
    if (document.hidden) return;
    source = new EventSource(tail.dataset.tail);
    source.addEventListener("newer", (event) => {
      tail.querySelector("a").textContent = `${event.data} new: show`;
      tail.hidden = false;
    });
  };
  document.addEventListener("visibilitychange", listen);
  listen();
}

// The element with `data-live` is fetched again while it has that attribute, except while the visitor types or reads in it.
const PAUSE_MS = 2000;
const FETCHES_MAX = 300;
let fetches = 0;
async function follow() {
  const shown = document.querySelector("[data-live]");
  if (!shown || fetches >= FETCHES_MAX) return;
  if (!document.hidden && !shown.contains(document.activeElement) && !shown.querySelector("details[open]:not([data-auto])")) {
    fetches += 1;
    const answer = await fetch(location.pathname + location.search, { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(shown.id);
    if (fresh) shown.replaceWith(fresh);
  }
  setTimeout(follow, PAUSE_MS);
}
setTimeout(() => follow().catch(() => {}), PAUSE_MS);

// An address is checked by the server while it is typed: the verdict appears below its field.
const CHECK_AFTER_MS = 900;
const checked = document.querySelector("input[data-check]");
if (checked) {
  let timer = 0;
  let request = new AbortController();
  checked.addEventListener("input", () => {
    clearTimeout(timer);
    request.abort();
    timer = setTimeout(() => check().catch(() => {}), CHECK_AFTER_MS);
  });
  const check = async () => {
    if (!/^https?:\/\/[^/]+\.[^/]+|^https?:\/\/[^/]+:\d+/.test(checked.value.trim())) return;
    request = new AbortController();
    const body = new URLSearchParams({ url: checked.value, part: "verdict" });
    const answer = await fetch(checked.dataset.check, { method: "POST", body, credentials: "same-origin", redirect: "error", signal: request.signal });
    if (!answer.ok) return;
    const verdict = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".verdict");
    // The page moves only while the visitor is still at the address.
    if (verdict && document.activeElement === checked) document.getElementById("url-verdict").replaceChildren(verdict);
  };
}

// Distances from now go on while the page is open. The words are those of relative_time.rs. The age of the page is added to the
// server's distance, so this computer's clock does not matter.
const shownAt = new WeakMap();
function distance(seconds) {
  const nearest = (unit) => Math.floor((seconds + unit / 2) / unit);
  if (seconds < 5) return "";
  const [count, unit] = seconds < 60 ? [seconds, "second"] : nearest(60) < 60 ? [nearest(60), "minute"] : nearest(3600) < 24 ? [nearest(3600), "hour"] : [nearest(86400), "day"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
function keepDistances() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    if (!shownAt.has(time)) shownAt.set(time, performance.now());
    const ago = Number(time.dataset.ago) + Math.floor((performance.now() - shownAt.get(time)) / 1000);
    const words = distance(Math.abs(ago));
    const past = "lasts" in time.dataset ? (words ? `for ${words}` : "for a few seconds") : words ? `${words} ago` : "just now";
    time.querySelector(".words").textContent = ago >= 0 ? past : words ? `in ${words}` : "in a moment";
  }
}
keepDistances();
setInterval(keepDistances, 5000);

// Times that the page counts down to during their last day. The server's clock decides; this one only shows.
const DAY_S = 86400;
const countdowns = document.querySelectorAll("time[data-countdown]");
if (countdowns.length > 0) {
  const left = (time) => (Date.parse(time.dateTime) - Date.now()) / 1000;
  const two = (number) => String(number).padStart(2, "0");
  const tick = () => {
    for (const time of countdowns) {
      const seconds = Math.ceil(left(time));
      if (seconds > DAY_S) continue;
      time.querySelector(".words").textContent = seconds > 0 ? `in ${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}` : "now";
    }
  };
  tick();
  setInterval(tick, 1000);
}

// The menu of a row closes when the visitor goes elsewhere, or presses Escape.
addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".row-menu[open]")) menu.open = menu.contains(event.target);
});
addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".row-menu[open]");
  if (!menu) return;
  menu.open = false;
  if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
});
