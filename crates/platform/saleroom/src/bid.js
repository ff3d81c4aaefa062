// Bids in place: a second press on the same spot confirms, the answer replaces the box, and a bid whose answer is lost is sent again
// with the same key. Without this script each press loads the page.
"use strict";

const IGNORED_MS = 400;
const CONFIRM_MS = 3000;
const ANSWER_MS = 8000;
const PAUSES_MS = [300, 700, 1500, 3000];
/** Pause between two readings of the box, so that a button does not move under a finger. */
const READ_MS = 1000;

let armed = null;
let isSending = false;

const box = () => document.getElementById("bid-box");
const words = () => document.getElementById("bid-words").dataset;

function say(text, kind) {
  const answer = document.getElementById("bid-answer");
  answer.textContent = text;
  answer.className = `stand ${kind}`;
}

function disarm() {
  if (!armed) return;
  clearTimeout(armed.timer);
  armed.button.replaceChildren(...armed.content);
  armed.button.classList.remove("asks");
  armed = null;
}

function arm(form, button) {
  disarm();
  const content = [...button.childNodes];
  const total = button.querySelector("small");
  const typed = form.elements.amount.type === "hidden" ? "" : ` ${form.elements.amount.value.trim()}`;
  button.replaceChildren(`${button.dataset.confirm}${typed}`);
  if (total) button.append(total.cloneNode(true));
  button.classList.add("asks");
  armed = { form, button, content, amount: form.elements.amount.value, since: performance.now(), timer: setTimeout(disarm, CONFIRM_MS) };
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.dataset.bid) return;
  event.preventDefault();
  // The page's own script refuses a form that was sent already; this one stays on its page.
  event.stopImmediatePropagation();
  if (isSending) return;
  const button = form.querySelector("button");
  const isSame = armed && armed.form === form && armed.amount === form.elements.amount.value;
  if (!isSame) {
    arm(form, button);
    return;
  }
  if (performance.now() - armed.since < IGNORED_MS) return;
  disarm();
  send(form, button);
}, true);

async function send(form, button) {
  isSending = true;
  const body = new URLSearchParams(new FormData(form));
  body.set("confirmed", "yes");
  if (form.dataset.bid === "max") body.set("typed", "yes");
  say("", "");
  button.disabled = true;
  button.textContent = button.dataset.sending;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await fetch(form.action, { method: "POST", body, credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
      // The server, or what stands before it, is not there: it has not said what became of the bid.
      if (response.status >= 500) throw new Error(`status ${response.status}`);
      // The session has ended: the page to sign in to came instead.
      if (response.redirected) location.assign(response.url);
      else show(await response.text());
      break;
    } catch {
      say(words().lost, "wait");
      await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]));
    }
  }
  isSending = false;
}

/** Puts the parts of a fresh page in the place of those shown. What is typed into a field stays. */
function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const field = box().querySelector("input[name=amount]:not([type=hidden])");
  const typed = field && (field === document.activeElement || field.value !== field.defaultValue) ? field.value : null;
  const region = document.getElementById("bid-answer");
  const had = document.activeElement && box().contains(document.activeElement) ? document.activeElement.closest("form")?.dataset.bid : null;
  const next = page.getElementById("bid-box");
  if (!next) return;
  box().replaceWith(document.adoptNode(next));
  // The region that speaks stays in the document: a screen reader says what changes in it.
  const answered = document.getElementById("bid-answer");
  const { textContent, className } = answered;
  answered.replaceWith(region);
  region.textContent = textContent;
  region.className = className;
  const fresh = box().querySelector("input[name=amount]:not([type=hidden])");
  const isAnswer = document.getElementById("bid-answer").textContent !== "";
  if (fresh && typed !== null && !(isAnswer && had === "max")) fresh.value = typed;
  if (had) (had === "max" && fresh ? fresh : box().querySelector(`form[data-bid=${had}] button`) ?? box().querySelector("button"))?.focus({ preventScroll: true });
}

// What is shown changes with the sale: the box is read again, at most once a second, and not while the bidder is confirming.
let isReading = false;
let readAgain = false;
async function read() {
  if (isReading || isSending) {
    readAgain = true;
    return;
  }
  isReading = true;
  try {
    const response = await fetch(location.href, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
    if (response.ok && !response.redirected && !isSending) {
      const answer = document.getElementById("bid-answer");
      const shown = [answer.textContent, answer.className];
      disarm();
      show(await response.text());
      if (shown[0] !== "" && document.getElementById("bid-answer").textContent === "") say(shown[0], shown[1].replace("stand ", ""));
    }
  } catch {
    // The page's own line about the link says that the prices may be old.
  }
  setTimeout(() => {
    isReading = false;
    if (readAgain) {
      readAgain = false;
      read();
    }
  }, READ_MS);
}

document.addEventListener("lotwire:lot", ({ detail }) => {
  if (box() && detail.version > Number(box().dataset.version)) read();
});

// At zero only the server ends the lot: no button is left that says otherwise.
document.addEventListener("lotwire:checking", () => {
  disarm();
  for (const button of box()?.querySelectorAll("[data-bid] button") ?? []) {
    button.disabled = true;
    button.textContent = words().checking;
  }
});
