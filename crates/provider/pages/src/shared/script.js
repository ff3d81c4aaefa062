// Every page works without this. It signs in by a magic link, keeps a form from being sent twice, copies, and shows progress.
"use strict";

// A magic link has its key in the fragment, which is sent nowhere: take it from there, and out of the history. Where this page is
// shown already, a link changes nothing but the fragment.
const login = document.getElementById("login");
function enter() {
  if (!location.hash.startsWith("#key=")) return;
  const key = location.hash.slice("#key=".length);
  history.replaceState(null, "", location.pathname);
  try {
    login.elements.key.value = decodeURIComponent(key);
  } catch {
    // It was cut on its way here. The page asks for it.
    return;
  }
  document.getElementById("entering").hidden = false;
  login.submit();
}
if (login) {
  enter();
  window.addEventListener("hashchange", enter);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
// A page that comes back out of the browser's memory may be sent again.
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// What is under way is fetched again until it is not, unless somebody is reading or typing in it.
const PAUSE_MS = 2000;
const FETCHES_MAX = 300;
let fetches = 0;
async function follow() {
  const shown = document.querySelector("[data-live]");
  if (!shown || fetches >= FETCHES_MAX) return;
  if (!document.hidden && !shown.contains(document.activeElement) && !shown.querySelector("details[open]")) {
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
