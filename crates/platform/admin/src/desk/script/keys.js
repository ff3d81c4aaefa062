// Keys. Each command has a key on the number pad or a function key, and a letter for one hand. Keys that write a character can
// be turned off or changed (WCAG 2.1.4), and act only while no dialog is open.

const COMMANDS = [
  { id: "room-bid", words: "Room bid at the asking price; type a price first to jump", keys: ["+", "b"] },
  { id: "web-bid", words: "Take the web bid in the box", keys: ["*", "i"] },
  { id: "book-bid", words: "Bid for the best commission", keys: ["/", "c"] },
  { id: "undo", words: "Undo the last bid or the bids that a price cancelled; after the hammer, reopen the lot", keys: ["-", "u"] },
  { id: "warning", words: "Give fair warning", keys: ["F8", "w"] },
  { id: "sell", words: "Sell the lot", keys: ["F9", "s"] },
  { id: "pass", words: "Pass the lot; hold the key while a bid stands", keys: ["F2", "p"] },
  { id: "pause", words: "Pause or resume bidding", keys: ["F4", "h"] },
  { id: "next", words: "Send the next lot, when the last one is done", keys: ["n"] },
  { id: "lots", words: "Show the lots of the sale", keys: ["l"] },
  { id: "help", words: "Show the keys", keys: ["?"] },
];
const STORED_AS = "lotwire.desk.keys";
const MINUS = "\u2212";

const settings = { characters: true, sound: true, keys: {} };
try {
  const stored = JSON.parse(localStorage.getItem(STORED_AS) ?? "{}");
  if (typeof stored.characters === "boolean") settings.characters = stored.characters;
  if (typeof stored.sound === "boolean") settings.sound = stored.sound;
  for (const { id } of COMMANDS) {
    const keys = stored.keys?.[id];
    if (Array.isArray(keys) && keys.every((key) => typeof key === "string" && key.length < 30)) settings.keys[id] = keys;
  }
} catch {
  // Storage is off or holds something else: the default keys apply.
}

function store() {
  try {
    localStorage.setItem(STORED_AS, JSON.stringify(settings));
  } catch {
    // The settings last until the page is left.
  }
}

const keysOf = (id) => settings.keys[id] ?? COMMANDS.find((command) => command.id === id).keys;
const shown = (key) => (key === "-" ? MINUS : key.length === 1 ? key.toUpperCase() : key);
const isCharacter = (key) => key.length === 1;

/** The name of a key with its modifiers, such as `F9`, `b` or `Ctrl+b`. */
function nameOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + (event.altKey ? "Alt+" : "") + key;
}

function commandOf(key) {
  if (isCharacter(key) && !settings.characters) return null;
  return COMMANDS.find((command) => keysOf(command.id).includes(key))?.id ?? null;
}

function showKeys() {
  for (const element of document.querySelectorAll("[data-key]")) {
    const keys = keysOf(element.dataset.key).filter((key) => settings.characters || !isCharacter(key));
    element.textContent = keys.map(shown).join(" ");
    element.hidden = keys.length === 0;
    element.closest("button")?.setAttribute("aria-keyshortcuts", keys.join(" "));
  }
}

/** A held key of "pass", while a bid stands. */
let hold = null;

function beginHold(key) {
  if (hold) return;
  const why = losesEntry("pass") ?? blockedBecause();
  if (why) return refuse(why);
  document.querySelector('[data-do="pass"]').classList.add("holding");
  say(`Hold to pass lot ${truth.lot.lotNumber} while ${truth.offer.standing.amount.text} stands`, "sending");
  const seen = truth.tag;
  hold = { key, timer: setTimeout(() => {
    endHold();
    if (truth.tag === seen) actions.pass();
    else refuse("Not passed: the ring changed while the key was held. Look, then hold again.");
  }, HOLD_MS) };
}

function endHold() {
  if (!hold) return false;
  clearTimeout(hold.timer);
  hold = null;
  document.querySelector('[data-do="pass"]').classList.remove("holding");
  return true;
}

const needsHold = () => may("pass") && truth.offer?.standing != null;

/** Actions that send nothing. They work without a link. */
const LOCAL = ["help"];
/** Actions that take what was typed. */
const TYPED = ["room-bid", "enter"];
/** Actions that leave what was typed behind, with its lot. */
const LEAVING = ["sell", "pass", "next"];

/** Why the action would lose what was typed; null if it would not. */
function losesEntry(id) {
  if (!LEAVING.includes(id)) return null;
  if (isEntryRefused) return entryRefusal();
  const text = typedText();
  if (text === "") return null;
  return `“${text}” is typed and not used. Press ${truth.lot ? "+ to bid it, Enter to ask it" : "Enter to set the paddle"}, or Esc to clear it.`;
}

/** Actions that a second press would do twice, or undo. The others refuse it by the state that the first one made. */
const ONCE = ["room-bid", "web-bid", "book-bid", "undo", "warning", "pause", "enter"];
/** When each of them was pressed last, with a key or its button. */
const pressedAt = new Map();

/** True, with a refusal, when the press follows another one at once: a key that bounced, a slip, or the second half of a
    double click or a double Enter, whose first half closed a dialog. */
function isPressedTwice(id, key) {
  const now = performance.now();
  const isAfterDialog = (id === "enter" || (key === "pointer" && id !== "lots" && !LOCAL.includes(id))) && now - closedAt < TWICE_MS;
  const isTwice = ONCE.includes(id) && now - (pressedAt.get(id) ?? -Infinity) < TWICE_MS;
  pressedAt.set(id, now);
  if (!isTwice && !isAfterDialog) return false;
  const notice = isAfterDialog ? "A question has just closed. Look, then press again." : `Pressed twice: the second ${key === "pointer" ? "press" : shown(key)} is not taken.`;
  if (inFlight) inFlight.notice = notice;
  refuse(notice);
  return true;
}

function act(id, key) {
  if (!truth) return;
  if (id !== "pass") endHold();
  if (isPressedTwice(id, key)) return;
  if (TYPED.includes(id) && isEntryRefused) return id === "enter" ? endRefusedEntry() : takesEntry();
  const why = LOCAL.includes(id) ? null : (losesEntry(id) ?? blockedBecause());
  if (why) return refuse(why);
  if (id === "pass" && needsHold()) {
    if (!hasJustChanged()) beginHold(key);
  }
  else actions[id]();
}

/** Commands that act after the hammer, or say why not: their letters are typed only in the field itself. */
const actsAfterHammer = { next: () => true, undo: () => may("reopen"), lots: () => true };

/** True when the key is a letter of a paddle: after the hammer, unless it is the letter of a command that acts now. Left out,
    the digits after it would name another paddle. */
function isLetterOfPaddle(key, id) {
  if (!settings.characters || !truth || fieldName(truth) !== "paddle" || !/^\p{L}$/u.test(key)) return false;
  return !actsAfterHammer[id]?.();
}

document.addEventListener("keydown", (event) => {
  // A key that answered a question has closed it.
  if (document.querySelector("dialog[open]") || event.isComposing || event.defaultPrevented) return;
  const target = event.target;
  const isEntry = isField(target) && !target.readOnly;
  if (!isField(target) && target.closest?.("input, select, textarea")) return;
  const key = nameOf(event);
  if (key === "Escape") {
    event.preventDefault();
    if (endHold()) say("Not passed.");
    if (isField(target)) desk.focus({ preventScroll: true });
    return endRefusedEntry() || clearFields();
  }
  if (key === "Enter") {
    // Enter on a button that was reached with Tab presses that button.
    if (target.closest?.("a, button")) return;
    event.preventDefault();
    if (isField(target)) desk.focus({ preventScroll: true });
    if (!event.repeat && truth) act("enter", key);
    return;
  }
  // A paddle may have letters: in its field they are typed.
  if (target === fields.paddle && isEntry && isCharacter(key)) return;
  const id = commandOf(key);
  if (isLetterOfPaddle(key, id)) {
    event.preventDefault();
    typeCharacter(event.key);
    return;
  }
  if (id) {
    event.preventDefault();
    if (!event.repeat) act(id, key);
    return;
  }
  if (settings.characters && !isEntry && truth && /^[\d.,]$/.test(key)) {
    event.preventDefault();
    typeCharacter(key);
  } else if (settings.characters && !isEntry && key === "Backspace") {
    event.preventDefault();
    eraseCharacter();
  }
});
document.addEventListener("keyup", (event) => {
  if (!hold || hold.key !== nameOf(event)) return;
  endHold();
  refuse(`Not passed: hold the key for ${HOLD_MS / 1000} s, because a bid stands.`);
});
window.addEventListener("blur", () => endHold());

for (const button of document.querySelectorAll("[data-do]")) {
  const id = button.dataset.do;
  let heldByPointer = false;
  button.addEventListener("pointerdown", (event) => {
    if (id !== "pass" || event.button !== 0 || !needsHold()) return;
    heldByPointer = true;
    beginHold("pointer");
  });
  button.addEventListener("pointerleave", () => {
    if (heldByPointer && endHold()) say("Not passed.");
    heldByPointer = false;
  });
  button.addEventListener("click", (event) => {
    if (heldByPointer) {
      heldByPointer = false;
      if (endHold()) refuse(`Not passed: hold the button for ${HOLD_MS / 1000} s, because a bid stands.`);
    } else if (id === "pass" && needsHold() && !losesEntry("pass") && !blockedBecause()) {
      // Pressed from the keyboard or by assistive technology, which can't hold.
      if (truth.waiting) actions.pass();
      else {
        const { lot, offer } = truth;
        const text = `${offer.standing.amount.text} from ${who(offer.standing.bidder)} stands and will end. The pass will be announced.`;
        ask({ name: `Pass lot ${lot.lotNumber}?`, text, words: "Pass lot", notDone: "Not passed", act: () => actions.pass() });
      }
    } else {
      act(id, "pointer");
    }
    // After a click the keys belong to the desk again, so that Enter does not press the button once more.
    if (event.detail > 0) desk.focus({ preventScroll: true });
  });
}
