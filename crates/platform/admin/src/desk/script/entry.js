// What the clerk types. A price while a lot is in the ring, a paddle after the hammer: two fields, each in its place, and the
// state says which of them takes the digits. An entry that can't be taken is refused whole, never the rest of its digits.

const fields = { price: document.getElementById("price"), paddle: document.getElementById("buyer") };

/** True after an entry was refused, until Esc or Enter. */
let isEntryRefused = false;

/** The lot that was sold last, while no other lot is in the ring and a buyer can be named. */
const soldLast = (state) => (!state || state.lot || state.sale.isArchived ? null : state.done.find((lot) => lot.isLast && lot.status === "SOLD") ?? null);
const lastSold = () => soldLast(truth);

/** The name of the field that takes what is typed; null when neither does. */
const fieldName = (state) => (state?.lot ? "price" : soldLast(state) ? "paddle" : null);
const activeField = () => fields[fieldName(truth)] ?? null;
const isField = (element) => element === fields.price || element === fields.paddle;
const typedText = () => activeField()?.value.trim() ?? "";

/** What an entry is about: the field and the lot. */
const entryPlace = (state) => `${fieldName(state)} ${state?.lot?.uuid ?? state?.done.find((lot) => lot.isLast)?.uuid ?? ""}`;

/** Why neither field takes an entry, and where the paddle of an earlier lot goes. */
function noField() {
  if (truth.sale.isArchived) return "The sale is archived: no price and no paddle is entered any more.";
  const none = "No lot takes a price or a paddle now.";
  if (!truth.openBuyers) return none;
  if (truth.end) return `${none} Choose “Name the buyer” for a lot whose buyer is open.`;
  return `${none} Choose “Name buyer” of the lot in the list of lots.`;
}

/** The refusal of an entry in words, until Esc or Enter. */
const entryRefusal = () => (activeField() ? "What you type is not taken: press Esc, then type it again." : `${noField()} Press Esc.`);

/** Refuses the entry that begins, until Esc or Enter. */
function refuseEntry(why = "") {
  clearFields();
  isEntryRefused = true;
  refuse(`${why} ${entryRefusal()}`.trim());
}

/** False, with a sound, when what is typed can't be taken now. */
function takesEntry() {
  if (isEntryRefused) {
    refuse(entryRefusal());
    return false;
  }
  const field = activeField();
  if (!field) {
    refuseEntry();
    return false;
  }
  const isUnseen = performance.now() - placeChanged.at < UNSEEN_MS;
  const why = field.value === "" ? (blockedBecause() ?? (isUnseen ? `Another desk was faster: ${placeChanged.words}` : null)) : null;
  if (why) refuseEntry(why);
  return !why;
}

/** Takes a character that was typed anywhere on the desk. */
function typeCharacter(character) {
  if (!takesEntry()) return;
  const field = activeField();
  if (field.value.length < field.maxLength) field.value += character;
  renderEntry();
}

function eraseCharacter() {
  const field = activeField();
  if (!field) return;
  field.value = field.value.slice(0, -1);
  renderEntry();
}

function clearFields() {
  for (const field of Object.values(fields)) field.value = "";
  renderEntry();
}

/** Esc and Enter end a refused entry. True when there was one. */
function endRefusedEntry() {
  if (!isEntryRefused) return false;
  isEntryRefused = false;
  placeChanged.at = -Infinity;
  clearFields();
  say(`The entry is cleared. ${activeField() ? "Type it again." : noField()}`);
  return true;
}

/** Takes what was typed out of its field, which is empty from now on. */
function takeTyped() {
  const text = typedText();
  clearFields();
  return text;
}

/** When another desk changed what an entry is about, and what it did. */
let placeChanged = { at: -Infinity, words: "" };

/** An entry for a lot that is over belongs to no other lot: it is refused whole if another desk ended the lot. */
function settleEntry(before, isOwn) {
  if (!before || entryPlace(before) === entryPlace(truth)) return;
  if (!isOwn) placeChanged = { at: performance.now(), words: difference(before, truth) };
  const text = Object.values(fields).map((field) => field.value).join("").trim();
  if (text === "") return;
  if (isOwn) clearFields();
  else refuseEntry(`“${text}” is not taken: ${difference(before, truth)}`);
}

function renderEntry() {
  const last = lastSold();
  const name = fieldName(truth);
  put("price-name", truth ? `Price, ${truth.sale.currency}` : "Price");
  put("paddle-name", last ? `${last.isBuyerOpen ? "Paddle" : "New paddle"}, lot ${last.lotNumber}` : "Paddle");
  for (const key of Object.keys(fields)) {
    fields[key].readOnly = key !== name;
    slot(`${key}-box`).classList.toggle("off", key !== name);
  }
  slot("paddle-box").classList.toggle("asks", Boolean(last?.isBuyerOpen));
  const text = typedText();
  put("enter-what", name === "paddle" ? "Set paddle" : "Set price");
  const minor = name === "price" && text ? minorUnits(text) : null;
  detail("enter", name === "paddle" ? text : minor ? written(minor) : "");
  renderRoomBid();
}

for (const field of Object.values(fields)) {
  field.addEventListener("beforeinput", (event) => {
    if (event.inputType.startsWith("insert") && !takesEntry()) event.preventDefault();
  });
  field.addEventListener("input", renderEntry);
}
