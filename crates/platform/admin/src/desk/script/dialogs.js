// Dialogs: the help sheet with the keys, questions, reasons, and the lots of the sale. Keys of the desk do nothing while one is
// open. Each returns the focus to the desk.

for (const dialog of document.querySelectorAll("dialog")) {
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    closedAt = performance.now();
    // Another question may have been asked meanwhile.
    if (!document.querySelector("#confirm[open], #reason[open]")) {
      // It was left without an answer.
      if (question) say(`${question.notDone}.`);
      question = null;
    }
    desk.focus({ preventScroll: true });
  });
}

/** The question that is open: `still` says of a state whether it is worth an answer, and `notDone` what was not done. */
let question = null;

function closeQuestions() {
  question = null;
  closedAt = performance.now();
  for (const id of ["confirm", "reason"]) document.getElementById(id).close();
}

/** Closes the question, with words, when what it asks about has changed: another desk or a bidder was faster. */
function closeStaleQuestion(before) {
  if (!question || question.still(truth)) return;
  const { notDone } = question;
  closeQuestions();
  refuse(`${notDone}: ${difference(before, truth)} Look, then press again.`);
}

/** Asks once. The button that acts is away from the one that was pressed, and not focused; the key that asked does not answer.
    `first` is a better answer, before the one that was asked for. */
function ask({ name, text, words, key = "y", notDone, act, first = null, no = "Keep bidding", still }) {
  const dialog = document.getElementById("confirm");
  const seen = truth.tag;
  question = { notDone, still: still ?? ((state) => state.tag === seen) };
  const answers = { [key]: slot("confirm-yes") };
  if (first) answers[first.key] = slot("confirm-first");
  put("confirm-name", name);
  put("confirm-text", text);
  answers[key].replaceChildren(`${words} `, make("kbd", shown(key)));
  slot("confirm-no").replaceChildren(`${no} `, make("kbd", "Esc"));
  slot("confirm-first").hidden = first === null;
  if (first) slot("confirm-first").replaceChildren(`${first.words} `, make("kbd", shown(first.key)));
  const answer = (what) => () => {
    closeQuestions();
    what();
  };
  answers[key].onclick = answer(act);
  if (first) answers[first.key].onclick = answer(first.act);
  dialog.onkeydown = (event) => {
    // A held Enter presses no button.
    if (event.key === "Enter" && event.repeat) return event.preventDefault();
    const button = answers[event.key.toLowerCase()];
    if (!button || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    button.click();
  };
  dialog.showModal();
  slot("confirm-no").focus();
}

/** The better answer to a sale or a pass while a higher bid waits and can be taken; null when none does. */
function firstTake() {
  if (!truth.waiting || !may(truth.waiting.source === "internet" ? "accept" : "commission-bid")) return null;
  return { key: "t", words: `Take it at ${takenAt(truth)}`, act: takeWaiting };
}

/** Asks for a reason, and for a paddle if one is given to begin with. As in every question, the key that asked does not answer:
    the fields have what is likely, `Y` acts, and Enter acts only in a field that the clerk went to, or in an empty paddle. */
function askReason({ name, text, words, reasons, paddle, act, notDone, still }) {
  const dialog = document.getElementById("reason");
  question = { notDone, still };
  const [why, bidder] = [document.getElementById("why"), document.getElementById("paddle")];
  put("reason-name", name);
  put("reason-text", text);
  put("reason-fault", "");
  slot("reason-yes").replaceChildren(`${words} `, make("kbd", "Y"));
  document.getElementById("reasons").replaceChildren(...reasons.map((reason) => Object.assign(make("option"), { value: reason })));
  why.value = reasons[0];
  slot("paddle-field").hidden = paddle === undefined;
  bidder.value = paddle ?? "";
  dialog.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    const missing = why.value.trim() === "" ? "Give a reason." : paddle !== undefined && bidder.value.trim() === "" ? "Give the paddle." : "";
    put("reason-fault", missing);
    if (missing) return;
    closeQuestions();
    act(why.value.trim(), bidder.value.trim());
  };
  dialog.onkeydown = (event) => {
    const isTyped = event.target instanceof HTMLInputElement;
    if (event.key.toLowerCase() !== "y" || isTyped || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    slot("reason-yes").click();
  };
  dialog.showModal();
  (paddle === "" ? bidder : dialog.querySelector("[data-close]")).focus();
}

function reopenLast() {
  const last = truth.last;
  if (!last || !may("reopen")) return refuse("Only the lot that was sold or passed last can be reopened, before another lot is sent.");
  askReason({
    name: `Reopen lot ${last.lotNumber}?`,
    text: `Lot ${last.lotNumber} is ${resultOf(last)}. It returns to the ring with the bid that stood, and the change is announced.`,
    words: "Reopen lot",
    reasons: REOPEN_REASONS,
    notDone: "Not reopened",
    still: (state) => state.commands.includes("reopen") && state.last?.uuid === last.uuid && state.last.version === last.version,
    act: (reason) => give({ command: "reopen", reason }, `reopen lot ${last.lotNumber}`),
  });
}

function offerAgain(lot) {
  return give({ command: "offer-again", item: lot.uuid }, `offer lot ${lot.lotNumber} again`);
}

/** The words of the button that names or changes the buyer of a lot. */
const buyerWords = (lot) => (lot.isBuyerOpen ? "Name buyer" : "Change buyer");

function changeBuyer(lot, paddle = "") {
  askReason({
    name: lot.isBuyerOpen ? `Name the buyer of lot ${lot.lotNumber}` : `Change the buyer of lot ${lot.lotNumber}?`,
    text: `Sold at ${lot.price?.text ?? "–"} to ${lot.buyer ? who(lot.buyer) : "an open buyer"}. The price is kept. Nothing is announced, because the status stays sold${lot.isBuyerOpen ? "" : "; the log has both buyers"}.`,
    words: buyerWords(lot),
    reasons: lot.isBuyerOpen ? [PADDLE_REASON, ...BUYER_REASONS] : BUYER_REASONS,
    paddle,
    notDone: lot.isBuyerOpen ? "No paddle set" : "The buyer is not changed",
    still: (state) => [state.last, ...state.done].every((done) => done?.uuid !== lot.uuid || done.version === lot.version),
    act: (reason, bidder) => setBuyer(lot, bidder, reason),
  });
}

let listening = null;

function openHelp() {
  showKeyRows();
  document.getElementById("characters").checked = settings.characters;
  document.getElementById("sound").checked = settings.sound;
  document.getElementById("help").showModal();
}

function showKeyRows() {
  const rows = COMMANDS.map((command) => {
    const row = make("tr");
    const keys = make("td");
    for (const key of keysOf(command.id)) keys.append(make("kbd", shown(key)), " ");
    if (!keysOf(command.id).length) keys.textContent = "none";
    const change = make("button", listening === command.id ? "Press a key" : "Change");
    change.type = "button";
    change.setAttribute("aria-label", `Change the key: ${command.words}`);
    change.addEventListener("click", () => {
      listening = command.id;
      put("key-fault", "Press the new key, also with Ctrl or Alt. Esc keeps the old one.");
      showKeyRows();
      [...slot("key-rows").querySelectorAll("button")][COMMANDS.indexOf(command)].focus();
    });
    const cell = make("td");
    cell.append(change);
    row.append(make("td", command.words), keys, cell);
    return row;
  });
  slot("key-rows").replaceChildren(...rows);
}

/** Keys that the browser or the desk itself needs. */
const RESERVED = /^(F1|F3|F5|F6|F7|F10|F11|F12|Enter|Tab|Escape|Backspace|Shift|Control|Alt|Meta|[\d.,]| )$/;

document.getElementById("help").addEventListener("keydown", (event) => {
  if (!listening || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
  const [id, key] = [listening, nameOf(event)];
  const focused = COMMANDS.findIndex((command) => command.id === id);
  const taken = COMMANDS.find((command) => command.id !== id && keysOf(command.id).includes(key));
  if (key === "Escape") put("key-fault", "");
  else if (RESERVED.test(key)) return put("key-fault", `${key === " " ? "Space" : key} is needed by the browser or by the desk. Press another key.`);
  else if (taken) return put("key-fault", `${shown(key)} is the key for “${taken.words}”. Press another key.`);
  else {
    settings.keys[id] = [key];
    store();
    showKeys();
    put("key-fault", "Saved in this browser.");
  }
  listening = null;
  showKeyRows();
  [...slot("key-rows").querySelectorAll("button")][focused].focus();
});
document.getElementById("help").addEventListener("cancel", (event) => {
  if (listening) event.preventDefault();
});
document.getElementById("help").addEventListener("close", () => {
  listening = null;
  put("key-fault", "");
});
document.querySelector("[data-reset-keys]").addEventListener("click", () => {
  settings.keys = {};
  settings.characters = true;
  document.getElementById("characters").checked = true;
  store();
  showKeys();
  showKeyRows();
  put("key-fault", "The default keys apply.");
});
for (const id of ["characters", "sound"]) {
  document.getElementById(id).addEventListener("change", (event) => {
    settings[id] = event.target.checked;
    store();
    showKeys();
  });
}

let lotsAfter = null;

/** Opens the list of lots without the search and the rows of the last time. */
function openLots(status = "") {
  slot("lots").replaceChildren();
  document.getElementById("lot-find").value = "";
  document.getElementById("lot-status").value = status;
  document.getElementById("lots").showModal();
  document.getElementById("lot-find").focus();
  loadLots(false);
}

async function loadLots(isMore) {
  const query = new URLSearchParams();
  const [number, status] = [document.getElementById("lot-find").value.trim(), document.getElementById("lot-status").value];
  if (number) query.set("number", number);
  if (status) query.set("status", status);
  if (isMore && lotsAfter !== null) query.set("after", lotsAfter);
  try {
    const answer = await request(`/lots?${query}`);
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const { lots, names, next } = await answer.json();
    Object.assign(truth.names, names);
    lotsAfter = next;
    const rows = lots.map(lotRow);
    if (isMore) slot("lots").append(...rows);
    else slot("lots").replaceChildren(...rows);
    slot("more-lots").hidden = next === null;
    slot("no-lots").hidden = slot("lots").childElementCount > 0;
  } catch (error) {
    document.getElementById("lots").close();
    refuse("The list of lots can't be loaded. Try again when the desk is connected.");
    if (error instanceof SessionEnded) lose(error);
  }
}

function lotRow(lot) {
  const row = make("tr");
  const result = lot.status === "SOLD" ? `Sold ${lot.price?.text ?? ""}` : lot.status === "PASSED" ? "Passed" : lot.isInRing ? "In the ring" : lot.waitsAgain ? "Waits again" : lot.status === "LIVE" ? (lot.estimate ? `Estimate ${lot.estimate}` : "To come") : lot.status.toLowerCase();
  const buttons = make("td");
  const button = (words, act) => {
    const made = make("button", words);
    made.type = "button";
    made.setAttribute("aria-label", `${words}: lot ${lot.lotNumber}`);
    made.addEventListener("click", () => {
      document.getElementById("lots").close();
      act();
    });
    buttons.append(made);
  };
  if (!truth.lot && may("send") && lot.status === "LIVE") button("Send", () => give({ command: "send", item: lot.uuid }, `send lot ${lot.lotNumber}`));
  if (lot.status === "PASSED" && may("offer-again")) button("Offer again", () => offerAgain(lot));
  if (lot.uuid === truth.last?.uuid && may("reopen")) button("Reopen", reopenLast);
  if (lot.status === "SOLD" && lot.isBuyerOpen !== undefined && !truth.sale.isArchived) button(buyerWords(lot), () => changeBuyer(lot));
  if (lot.isInRing && may("remove")) button("Remove from ring", () => give({ command: "remove" }, `remove lot ${lot.lotNumber} from the ring`));
  row.append(make("td", lot.lotNumber), make("td", lot.title), make("td", result), make("td", lot.buyer ? `${lot.buyer} ${bidderName(lot.buyer)}`.trim() : lot.isBuyerOpen ? "Buyer open" : ""), buttons);
  return row;
}

for (const button of document.querySelectorAll("[data-end]")) {
  button.addEventListener("click", () => openLots(button.dataset.end));
}
slot("lot-filter").addEventListener("submit", (event) => {
  event.preventDefault();
  loadLots(false);
});
slot("more-lots").addEventListener("click", () => loadLots(true));

desk.hidden = false;
showKeys();
showLink();
desk.focus({ preventScroll: true });
connect();
