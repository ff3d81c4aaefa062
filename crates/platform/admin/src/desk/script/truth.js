// The clerk's desk. `truth` is what the server answered last; the desk shows nothing else. A command names the versions that
// the clerk saw, so of two desks one is refused, and carries a key, so it is done once however often it arrives.
"use strict";

const desk = document.getElementById("desk");
const base = desk.dataset.base;
/** A link without a sign of life for this long is lost. The server sends one each second. */
const SILENCE_MAX_MS = 3000;
/** Time between two reports that the stream is received; a little less than two signs of life. */
const REPORT_EVERY_MS = 1800;
/** A command without an answer for this long is looked up when the link is back. */
const ANSWER_MAX_MS = 5000;
/** Pauses between attempts to connect. */
const PAUSES_MS = [250, 500, 1000, 2000, 3000];
/** The web bid can't be taken for this long after the box has changed; no lot is sold or passed for this long after the
    highest waiting bid has. */
const CHANGED_DEAD_MS = 250;
/** A second press of the same key within this time is not taken. Two bids of the room are further apart. */
const TWICE_MS = 350;
/** No entry begins for this long after another desk changed the lot: the clerk means the lot before it. */
const UNSEEN_MS = 1000;
/** How long the key of "pass" is held while a bid stands. */
const HOLD_MS = 400;

let truth = null;
/** The command that is on its way; at most one. */
let inFlight = null;
/** A command whose answer was lost with the link. */
let unresolved = null;
/** connecting, connected, lost or ended. */
let link = "connecting";
/** The server's clock minus the browser's, in milliseconds. */
let clockOffset = 0;
/** When the first waiting web bid changed. */
let webBoxChangedAt = -Infinity;
/** When a dialog closed. */
let closedAt = -Infinity;
/** When the highest waiting bid changed. */
let waitingChangedAt = -Infinity;

const slots = new Map([...document.querySelectorAll("[data-slot]")].map((element) => [element.dataset.slot, element]));
const slot = (name) => slots.get(name);
const put = (name, text) => {
  const element = slot(name);
  if (element.textContent !== text) element.textContent = text;
};
const make = (tag, text, className) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
};
const serverNow = () => Date.now() + clockOffset;

/** Takes over a state of the server unless the desk has a later one. */
function adopt(state) {
  if (truth && state.version.auction < truth.version.auction) return false;
  const isSameLot = truth && truth.version.auction === state.version.auction && truth.lot?.uuid === state.lot?.uuid;
  if (isSameLot && state.version.item < truth.version.item) return false;
  if (truth?.pending[0]?.uuid !== state.pending[0]?.uuid) webBoxChangedAt = performance.now();
  if (waitingId(truth) !== waitingId(state)) waitingChangedAt = performance.now();
  const before = truth;
  truth = state;
  clockOffset = Date.parse(state.serverTime) - Date.now();
  settleEntry(before, inFlight !== null);
  render();
  closeStaleQuestion(before);
  return true;
}

/** Names the highest waiting bid with its amount. */
const waitingId = (state) => (state?.waiting ? `${state.waiting.bid} ${state.waiting.amount.minor}` : "");

const may = (command) => truth !== null && truth.commands.includes(command);

/** The largest amount that the rules take, in minor units. */
const AMOUNT_MAX = 1_000_000_000_000_000;

/** `350`, `350.50` or `1,250` in minor units; null if it is not an amount, or above the largest one. */
function minorUnits(text) {
  const minor = writtenMinorUnits(text);
  return minor !== null && minor <= AMOUNT_MAX ? minor : null;
}

/** The number in minor units, however large; null if the text is not an amount. */
function writtenMinorUnits(text) {
  const digits = truth.sale.minorDigits;
  const match = /^(\d{1,40})(?:[.,](\d+))?$/.exec(text.replace(/[\s']|,(?=\d{3}(?:\D|$))/g, ""));
  if (!match || (match[2] ?? "").length > digits) return null;
  const minor = Number(match[1] + (match[2] ?? "").padEnd(digits, "0"));
  return minor > 0 ? minor : null;
}

/** An amount that the clerk typed, as the server writes it. */
function written(minor) {
  const { currencySign, minorDigits } = truth.sale;
  const unit = 10 ** minorDigits;
  const whole = Math.trunc(minor / unit).toLocaleString("en-GB");
  const rest = minor % unit;
  return currencySign + whole + (rest ? "." + String(rest).padStart(minorDigits, "0") : "");
}

/** How the ring differs from what the clerk saw, in words. */
function difference(before, after) {
  const leads = (offer) => `${offer.standing.amount.text} from ${who(offer.standing.bidder)}`;
  if (before.lot && before.lot.uuid !== after.lot?.uuid) {
    const done = after.done.find((lot) => lot.uuid === before.lot.uuid);
    if (done) return `lot ${done.lotNumber} is ${resultOf(done)}.`;
    return after.lot ? `lot ${after.lot.lotNumber} is in the ring.` : `lot ${before.lot.lotNumber} left the ring.`;
  }
  if (!before.lot && after.lot) return `lot ${after.lot.lotNumber} is in the ring.`;
  if (before.lot && after.lot) {
    const [old, now] = [before.offer, after.offer];
    if (old.standing?.bid !== now.standing?.bid) return now.standing ? `${leads(now)} stands.` : "no bid stands.";
    if (old.paused !== now.paused) return now.paused ? "bidding is paused." : "bidding goes on.";
    if (old.askingPrice.minor !== now.askingPrice.minor) return `the asking price is ${now.askingPrice.text}.`;
    if (old.warnings !== now.warnings) return "fair warning was given.";
    const came = after.pending.find((bid) => !before.pending.some((other) => other.uuid === bid.uuid));
    if (came) return `a web bid of ${came.amount.text} came in.`;
    if (before.pending.length > after.pending.length) return "a web bid was taken back.";
  }
  return "the sale has changed. Look again.";
}

/** Who was faster than the clerk, in words: a bidder on the internet, or another desk. */
function fasterWords(before, after) {
  const isSameLot = before.lot !== null && before.lot.uuid === after.lot?.uuid;
  const isSameBid = isSameLot && before.offer.standing?.bid === after.offer.standing?.bid;
  const came = isSameBid && after.pending.some((bid) => !before.pending.some((other) => other.uuid === bid.uuid));
  const accepted = isSameLot && !isSameBid && after.sale.takesWebBidsAtOnce && after.offer.standing?.source === "internet";
  return `${came || accepted ? "A web bid" : "Another desk"} was faster: ${difference(before, after)}`;
}

/** Characters of a name that are shown. */
const NAME_CHARS_MAX = 24;
/** The name beside a paddle, for people who may see it; empty otherwise. */
function bidderName(bidder) {
  const name = truth?.names[bidder] ?? "";
  return name.length > NAME_CHARS_MAX ? `${name.slice(0, NAME_CHARS_MAX - 1).trimEnd()}…` : name;
}
/** A bidder in words; the buyer of a room bid may be open. */
const who = (bidder) => (bidder ? `paddle ${bidder}${bidderName(bidder) ? ` (${bidderName(bidder)})` : ""}` : "the room");
/** A paddle with its name, for a list. */
const paddleLine = (bidder) => `paddle ${bidder}${bidderName(bidder) ? ` · ${bidderName(bidder)}` : ""}`;

function resultOf(lot) {
  if (lot.status === "SOLD") return `sold at ${lot.price?.text ?? "–"} to ${lot.buyer ? who(lot.buyer) : "an open buyer"}`;
  if (lot.status === "PASSED") return lot.price ? `passed at ${lot.price.text}` : "passed";
  return lot.status === "LIVE" ? "to come" : lot.status.toLowerCase();
}
