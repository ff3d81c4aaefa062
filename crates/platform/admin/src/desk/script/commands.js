// Commands of the clerk. One is on its way at a time; it counts when the server has answered, which it does after the commit.

/** A random key; `crypto.randomUUID` exists on HTTPS only. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Why no command can be given now; null if one can. */
function blockedBecause() {
  if (link === "lost" || link === "connecting") return "No connection: nothing was sent.";
  if (link === "ended") return "The desk has stopped.";
  if (inFlight) return `Still sending: ${inFlight.words}. This key was not sent.`;
  return null;
}

/** Sends a command. `words` name it for the clerk. Returns true when it was done. */
async function give(command, words) {
  const why = blockedBecause();
  if (why) {
    refuse(why);
    return false;
  }
  fault("");
  const before = truth;
  const headers = { "content-type": "application/json", "if-match": `"${before.tag}"`, "idempotency-key": newKey() };
  const options = { method: "POST", headers, body: JSON.stringify(command) };
  inFlight = { words, request: options };
  say(`Sending: ${words}`, "sending");
  showLink();
  try {
    const answer = await request("/commands", { ...options, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    if (answer.ok) {
      const { state } = await answer.json();
      inFlight = null;
      if (!adopt(state)) refresh();
      say(`${doneWords(command, before, truth)} Saved.`, "good");
      return true;
    }
    const problem = await problemOf(answer);
    inFlight = null;
    if (answer.status === 412 && problem.state) {
      adopt(problem.state);
      refuse(`Another desk was faster: ${difference(before, truth)}`);
    } else if (answer.status >= 500 && problem.code !== "busy" && problem.code !== "unavailable") {
      throw new Error(problem.code);
    } else {
      fault(problem.message);
      refuse(`Not done: ${problem.message}`);
    }
  } catch (error) {
    // The command may have been done or not. The desk asks when it is connected again, and sends nothing by itself.
    inFlight = null;
    if (error instanceof SessionEnded) refuse(`Not done: ${words}. Your session has ended.`);
    else {
      unresolved = { words, request: options };
      refuse(`No answer yet to: ${words}. The desk looks it up.`);
    }
    lose(error);
  } finally {
    inFlight = null;
    showLink();
    render();
  }
  return false;
}

function doneWords(command, before, after) {
  const lot = after.lot ?? before.lot;
  const offer = after.offer;
  switch (command.command) {
    case "send": return `Lot ${lot.lotNumber} is in the ring at ${offer.askingPrice.text}.`;
    case "sell":
    case "pass": {
      const done = after.done.find((done) => done.uuid === before.lot.uuid);
      return `Lot ${before.lot.lotNumber} ${done ? resultOf(done) : "is done"}.`;
    }
    case "bid":
    case "accept":
    case "commission-bid": return `${offer.standing.amount.text} from ${who(offer.standing.bidder)}. Asking ${offer.askingPrice.text}.`;
    case "undo": return offer.standing ? `Undone. ${offer.standing.amount.text} from ${who(offer.standing.bidder)} stands.` : "Undone. No bid stands.";
    case "asking-price": {
      const cancelled = (before.offer.standing?.amount.minor ?? 0) >= command.amount;
      return `Asking ${offer.askingPrice.text}.${cancelled ? ` Bids from there on were cancelled; ask for ${before.offer.askingPrice.text} again to bring them back.` : ""}`;
    }
    case "fair-warning": return `Fair warning given.${after.waiting ? ` ${waits(after.waiting)}` : ""}`;
    case "pause": return "Bidding is paused.";
    case "resume": return "Bidding goes on.";
    case "reopen": return `Lot ${lot.lotNumber} is reopened.`;
    case "offer-again": return "The lot is offered again and waits.";
    case "remove": return "The lot left the ring undecided and waits.";
    case "change-buyer": return `The buyer is paddle ${command.bidder}; the price is kept.`;
    default: return "Done.";
  }
}

/** The one polite line of the desk. */
function say(text, kind = "") {
  const line = slot("say");
  line.className = `say ${kind}`;
  line.textContent = text;
  line.title = text;
}

/** Says why nothing was done, with a sound. */
function refuse(text) {
  say(text, "bad");
  beep();
}

/** What is wrong with what was typed, beside the field. */
function fault(text) {
  put("fault", text);
}

let sounds = null;
function beep() {
  if (!settings.sound || !navigator.userActivation?.hasBeenActive) return;
  sounds ??= new AudioContext();
  const tone = sounds.createOscillator();
  const volume = sounds.createGain();
  volume.gain.value = 0.06;
  tone.frequency.value = 220;
  tone.connect(volume).connect(sounds.destination);
  tone.start();
  tone.stop(sounds.currentTime + 0.12);
}

const entry = document.getElementById("entry");

/** The typed amount; undefined when nothing was typed. Null, with a fault, when it is not an amount. */
function typedAmount() {
  if (entry.value.trim() === "") return undefined;
  const minor = minorUnits(entry.value.trim());
  if (minor === null) fault("This is not an amount. Type digits, such as 350 or 350.50.");
  return minor;
}

async function giveTyped(command, words) {
  if (await give(command, words)) clearEntry();
}

function clearEntry() {
  entry.value = "";
  fault("");
  renderEntry();
}

const UNDO_REASON = "The last bid was taken back at the desk";
const REOPEN_REASONS = ["The hammer fell by mistake", "A bid came as the hammer fell", "The wrong bid was recorded", "The bidder took the bid back"];
const BUYER_REASONS = ["The paddle was read wrong", "The wrong bidder was recorded", "The buyer bids with another paddle"];
const PADDLE_REASON = "The paddle was entered after the hammer";

/** The bid that waits, in words. */
const waits = (waiting) => `${waiting.amount.text} waits ${waiting.place}.`;

/** True, with a refusal, right after the highest waiting bid has changed: the clerk can't have read it. */
function hasJustChanged() {
  const isNew = performance.now() - waitingChangedAt < CHANGED_DEAD_MS;
  if (isNew) refuse(truth.waiting ? `${waits(truth.waiting)} Look, then press again.` : "The bid that waited is gone. Look, then press again.");
  return isNew;
}

/** Takes the highest waiting bid. */
function takeWaiting() {
  const { bid, source, bidder, amount } = truth.waiting;
  if (source === "internet") give({ command: "accept", bid }, `web bid ${amount.text} of paddle ${bidder}`);
  else actions["book-bid"]();
}

/** What each button and key does. */
const actions = {
  "room-bid"() {
    if (!may("bid")) return refuse(truth.offer?.paused ? "Bidding is paused. Resume it first." : "No lot takes bids now.");
    const amount = typedAmount();
    if (amount === null) return refuse("The amount can't be read.");
    const price = amount === undefined ? truth.offer.askingPrice.text : written(amount);
    giveTyped({ command: "bid", amount }, `room bid ${price}`);
  },
  "web-bid"() {
    const bid = truth.pending[0];
    if (!bid) return refuse("No web bid waits.");
    if (performance.now() - webBoxChangedAt < CHANGED_DEAD_MS) return refuse("The web bid has just changed. Look, then press again.");
    if (!may("accept")) return refuse(truth.offer?.paused ? "Bidding is paused. Resume it first." : "This web bid can't be taken now.");
    give({ command: "accept", bid: bid.uuid }, `web bid ${bid.amount.text} of paddle ${bid.bidder}`);
  },
  "book-bid"() {
    const next = truth.bookBid;
    if (!may("commission-bid") || !next) return refuse(truth.offer?.paused ? "Bidding is paused. Resume it first." : "No commission bid is above the bid that stands.");
    give({ command: "commission-bid" }, `book bid ${next.amount.text} for paddle ${next.bidder}`);
  },
  undo() {
    if (may("undo")) give({ command: "undo", reason: UNDO_REASON }, `undo ${truth.offer.standing.amount.text}`);
    else if (may("reopen")) reopenLast();
    else refuse("There is no bid to undo and no lot to reopen.");
  },
  warning() {
    if (may("fair-warning")) give({ command: "fair-warning" }, "fair warning");
    else refuse("No lot takes bids now.");
  },
  sell() {
    if (!may("sell")) return refuse(truth.lot ? (truth.offer.paused ? "Bidding is paused. Resume it first." : "No bid stands. Pass the lot, or take a bid.") : "No lot is in the ring.");
    if (hasJustChanged()) return;
    const { lot, offer, waiting } = truth;
    const price = offer.standing.amount.text;
    const isBelow = lot.reserve?.isMet === false;
    const command = { command: "sell", ...(isBelow && { belowReserve: true }), ...(waiting && { overWaitingBid: true }) };
    const sale = () => give(command, `sell lot ${lot.lotNumber} at ${price}`);
    if (!isBelow && !waiting) return sale();
    const short = lot.reserve?.short ? `${lot.reserve.short.text} below the reserve of ${lot.reserve.amount.text}` : "below the reserve";
    const from = `${price} from ${who(offer.standing.bidder)}${isBelow ? ` is ${short}` : " stands"}.`;
    ask({
      name: waiting ? waits(waiting) : `Sell lot ${lot.lotNumber} below the reserve?`,
      text: `${from} The sale will be announced.`,
      words: isBelow ? `Sell below reserve at ${price}` : `Sell at ${price}`,
      notDone: "Not sold",
      act: sale,
    });
  },
  pass() {
    if (!may("pass")) return refuse(truth.offer?.paused ? "Bidding is paused. Resume it first." : "No lot is in the ring.");
    if (hasJustChanged()) return;
    const { lot, offer, waiting } = truth;
    const words = `pass lot ${lot.lotNumber}`;
    if (!waiting) return give({ command: "pass" }, words);
    const ending = offer.standing ? `${offer.standing.amount.text} from ${who(offer.standing.bidder)} stands and will end. ` : "";
    ask({
      name: waits(waiting),
      text: `${ending}The pass will be announced.`,
      words: `Pass lot ${lot.lotNumber}`,
      notDone: "Not passed",
      act: () => give({ command: "pass", overWaitingBid: true }, words),
    });
  },
  pause() {
    if (may("resume")) give({ command: "resume" }, "resume bidding");
    else if (may("pause")) give({ command: "pause" }, "pause bidding");
    else refuse("No lot is in the ring.");
  },
  next() {
    if (truth.lot) return refuse(`Lot ${truth.lot.lotNumber} is in the ring. Sell or pass it first.`);
    if (!may("send")) return refuse("No lot waits.");
    const next = truth.next[0];
    give({ command: "send", item: next?.uuid }, next ? `send lot ${next.lotNumber}` : "send the next lot");
  },
  enter() {
    const text = entry.value.trim();
    if (text === "") return truth.lot ? refuse("Type an amount first. Enter alone sends the next lot when this one is done.") : actions.next();
    if (truth.lot) {
      const amount = typedAmount();
      if (amount === null) return refuse("The amount can't be read.");
      return giveTyped({ command: "asking-price", amount }, `ask ${written(amount)}`);
    }
    const last = lastSold();
    if (!last) return refuse("There is no sold lot to give a paddle to.");
    if (!last.isBuyerOpen) return changeBuyer(last, text);
    giveTyped({ command: "change-buyer", item: last.uuid, version: last.version, bidder: text, reason: PADDLE_REASON }, `paddle ${text} for lot ${last.lotNumber}`);
  },
  clear() {
    clearEntry();
  },
  help: () => openHelp(),
  lots: () => openLots(),
};

/** The lot that was sold last, while no other lot is in the ring. */
const lastSold = () => (truth.lot ? null : truth.done.find((lot) => lot.isLast && lot.status === "SOLD") ?? null);
