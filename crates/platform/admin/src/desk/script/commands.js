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

/** Sends a command. `words` name it for the clerk; `typed` is the entry that it took, and `refused` handles a refusal that can
    be confirmed. Returns true when it was done. */
async function give(command, words, { typed, refused } = {}) {
  const why = blockedBecause();
  if (why) {
    refuse(why);
    return false;
  }
  const notTaken = typed ? `“${typed}” is not taken. ` : "";
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
      const isLater = adopt(state);
      const { notice } = inFlight;
      inFlight = null;
      if (!isLater) refresh();
      const done = `${notice ? `${notice} ` : ""}${doneWords(command, before, truth)} Saved.`;
      // The refusal of an entry stays to be read.
      if (isEntryRefused) say(`${done} ${entryRefusal()}`, "bad");
      else say(done, "good");
      return true;
    }
    const problem = await problemOf(answer);
    inFlight = null;
    if (answer.status === 412 && problem.state) {
      adopt(problem.state);
      refuse(`${notTaken}${fasterWords(before, truth)}`);
    } else if (answer.status >= 500 && problem.code !== "busy" && problem.code !== "unavailable") {
      throw new Error(problem.code);
    } else if (refused?.(problem)) {
      say(`Not done yet: ${words}. The desk asks first.`);
    } else {
      refuse(`${notTaken || "Not done: "}${problem.message}`);
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

/** A web bid that waited below the new asking price, in words: it is not taken. */
function droppedWebBid(before, after) {
  const dropped = before.pending.find((bid) => !after.pending.some((other) => other.uuid === bid.uuid));
  return dropped ? ` The web bid of ${dropped.amount.text} from ${who(dropped.bidder)} is not taken.` : "";
}

/** A web bid that waited at the price of a room bid, in words: the room has the price, and the web bid is not taken. Null if
    none waited. The line has room for one more sentence, and the asking price stands in its box. */
function equalWebBid(command, before, after) {
  if (command.command !== "bid") return null;
  const { amount } = after.offer.standing;
  const waited = before.pending.some((bid) => bid.amount.minor === amount.minor);
  return waited ? `A web bid of ${amount.text} waited at this price.` : null;
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
    case "commission-bid": return `${offer.standing.amount.text} from ${who(offer.standing.bidder)}. ${equalWebBid(command, before, after) ?? `Asking ${offer.askingPrice.text}.`}`;
    case "undo":
      if (before.offer.cancelled) return `The cancelled bids count again. ${offer.standing.amount.text} from ${who(offer.standing.bidder)} stands.`;
      return offer.standing ? `Undone. ${offer.standing.amount.text} from ${who(offer.standing.bidder)} stands.` : "Undone. No bid stands.";
    case "asking-price": {
      const cancelled = (before.offer.standing?.amount.minor ?? 0) >= command.amount;
      return `Asking ${offer.askingPrice.text}.${cancelled ? " Bids from there on are cancelled; undo brings them back." : ""}${droppedWebBid(before, after)}`;
    }
    case "fair-warning": return `Fair warning given.${after.waiting ? ` ${waits(after.waiting)}` : ""}`;
    case "pause": return "Bidding is paused.";
    case "resume": return "Bidding goes on.";
    case "reopen": return `Lot ${lot.lotNumber} is reopened.`;
    case "offer-again": return "The lot is offered again and waits.";
    case "remove": return "The lot left the ring undecided and waits.";
    case "change-buyer": return `The buyer is ${who(command.bidder)}; the price is kept.${command.notApproved && !after.names[command.bidder] ? " Enter the name under Registrations." : ""}`;
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

const UNDO_REASON = "The last bid was taken back at the desk";
const REOPEN_REASONS = ["The hammer fell by mistake", "A bid came as the hammer fell", "The wrong bid was recorded", "The bidder took the bid back"];
const BUYER_REASONS = ["The paddle was read wrong", "The wrong bidder was recorded", "The buyer bids with another paddle"];
const PADDLE_REASON = "The paddle was entered after the hammer";
const LIMIT_REASONS = ["The auctioneer allowed it", "The buyer pays at once", "The limit was raised by the office"];

/** What taking the waiting bid would bid: a web bid's amount, or what the book needs. */
const takenAt = ({ waiting, bookBid }) => (waiting.source === "internet" ? waiting.amount.text : (bookBid ?? waiting).amount.text);
/** The bid that waits, in words. */
const waits = (waiting) => `${takenAt(truth)} waits ${waiting.place}.`;

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
    const typed = truth.lot ? takeTyped() : "";
    const notTaken = typed && `“${typed}” is not taken. `;
    if (!may("bid")) return refuse(notTaken + (truth.offer?.paused ? "Bidding is paused. Resume it first." : "No lot takes bids now."));
    if (typed === "") return give({ command: "bid" }, `room bid ${truth.offer.askingPrice.text}`);
    const amount = readAmount(typed);
    if (amount === null) return;
    const bid = (confirmed) => give({ command: "bid", amount, ...confirmed }, `room bid ${written(amount)}`, { typed });
    if (!isFar(amount)) return bid();
    askFar(`bid ${written(amount)}`, "Not bid", () => bid({ largeJump: true }));
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
    const { cancelled, standing } = truth.offer ?? {};
    if (may("undo")) give({ command: "undo", reason: UNDO_REASON }, cancelled ? `bring back ${cancelled.amount.text}` : `undo ${standing.amount.text}`);
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
      name: waiting ? `Lot ${lot.lotNumber}: ${waits(waiting)}` : `Sell lot ${lot.lotNumber} below the reserve?`,
      text: `${from} The sale will be announced.`,
      words: isBelow ? `Sell below reserve${waiting ? "" : ` at ${price}`}` : `Sell at ${price}`,
      notDone: "Not sold",
      first: firstTake(),
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
      name: `Lot ${lot.lotNumber}: ${waits(waiting)}`,
      text: `${ending}The pass will be announced.`,
      words: `Pass lot ${lot.lotNumber}`,
      notDone: "Not passed",
      first: firstTake(),
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
    const next = truth.next[0];
    if (!may("send") || !next) return refuse("No lot waits.");
    give({ command: "send", item: next.uuid }, `send lot ${next.lotNumber}`);
  },
  enter() {
    const typed = takeTyped();
    if (typed === "") return truth.lot ? refuse("Type a price first. Enter alone sends the next lot when this one is done.") : actions.next();
    if (truth.lot) return setPrice(typed);
    const last = lastSold();
    if (!last.isBuyerOpen) return changeBuyer(last, typed);
    setBuyer(last, typed, PADDLE_REASON);
  },
  help: () => openHelp(),
  lots: () => openLots(),
};

/** An amount in minor units; null, with a refusal, when the text is none or is too large. */
function readAmount(typed) {
  const minor = minorUnits(typed);
  if (minor === null && writtenMinorUnits(typed) !== null) refuse(`“${typed}” is too much. Type at most ${written(AMOUNT_MAX)}.`);
  else if (minor === null) refuse(`“${typed}” is not an amount. Type digits, such as 350 or 350.50.`);
  return minor;
}

/** True when the price needs a confirmation, because it is far above the asking price or the estimate. */
const isFar = (amount) => amount > truth.offer.unconfirmedMax.minor;

/** Asks before a price that is far from the asking price. */
function askFar(what, notDone, act, isLow = false) {
  const { lot, offer } = truth;
  const estimate = lot.estimate ? ` The estimate is ${lot.estimate}.` : "";
  const text = `The asking price is ${offer.askingPrice.text}.${estimate} ${isLow ? `From ${offer.unconfirmedMin.text} on, a price` : `Up to ${offer.unconfirmedMax.text}, a price`} is taken without this question.`;
  ask({ name: `Lot ${lot.lotNumber}: ${what}?`, text, words: sentence(what).slice(0, -1), notDone, act });
}

/** Bids that are named in a question. */
const NAMED_MAX = 6;

/** Sets the asking price; asks first when it is far off, and when it cancels bids. */
function setPrice(typed) {
  const amount = readAmount(typed);
  if (amount === null) return;
  const price = written(amount);
  const set = (confirmed) => give({ command: "asking-price", amount, ...confirmed }, `ask ${price}`, { typed });
  if (isFar(amount)) return askFar(`ask ${price}`, "Not asked", () => set({ largeJump: true }));
  const { lot, offer } = truth;
  if (!offer.standing || amount > offer.standing.amount.minor) {
    if (amount >= offer.unconfirmedMin.minor) return set();
    return askFar(`ask ${price}`, "Not asked", () => set({ largeJump: true }), true);
  }
  const cancelled = truth.bids.filter((bid) => !bid.struck && bid.amount.minor >= amount);
  const named = cancelled.slice(0, NAMED_MAX).map((bid) => `${bid.amount.text} from ${who(bid.bidder)}`);
  if (cancelled.length > NAMED_MAX) named.push(`${cancelled.length - NAMED_MAX} more`);
  ask({
    name: `Lot ${lot.lotNumber}: ask ${price}, below the bid of ${offer.standing.amount.text}?`,
    text: `This cancels ${cancelled.length === 1 ? "a bid" : `${cancelled.length} bids`}: ${named.join(", ")}. Undo brings ${cancelled.length === 1 ? "it" : "all of them"} back.`,
    words: `Ask ${price}`,
    notDone: "Not asked",
    act: () => set({ belowStandingBid: true }),
  });
}

/** Names the buyer. A paddle that is not registered, and a limit, ask and leave no buyer open. */
function setBuyer(lot, paddle, reason, confirmed = {}) {
  const command = { command: "change-buyer", item: lot.uuid, version: lot.version, bidder: paddle, reason, ...confirmed };
  const still = (state) => [state.last, ...state.done].every((done) => done?.uuid !== lot.uuid || done.version === lot.version);
  const question = { name: `Lot ${lot.lotNumber}: paddle ${paddle}?`, notDone: "No paddle set", still };
  const refused = ({ code, message, registers, similar }) => {
    if (code === "bidder_not_approved" && !confirmed.notApproved) {
      const act = () => setBuyer(lot, paddle, reason, { ...confirmed, notApproved: true });
      if (similar) {
        const first = { key: "y", words: `Paddle ${similar}`, act: () => setBuyer(lot, similar, reason) };
        const text = `Paddle ${paddle} is not registered. ${message}`;
        ask({ ...question, text, first, words: `Register ${paddle}`, key: "r", no: "Leave as it is", act });
        return true;
      }
      const text = `${message} ${registers ? "It is registered for this sale now, and named later." : "The lot is sold to it all the same; its registration stays as it is."}`;
      ask({ ...question, text, words: registers ? `Register paddle ${paddle}` : `Sell to paddle ${paddle}`, no: "Leave as it is", act });
    } else if (code === "spending_limit_reached" && !confirmed.overLimit) {
      const act = (why) => setBuyer(lot, paddle, why, { ...confirmed, overLimit: true });
      askReason({ ...question, text: message, words: "Sell above the limit", reasons: LIMIT_REASONS, act });
    } else return false;
    return true;
  };
  return give(command, `paddle ${paddle} for lot ${lot.lotNumber}`, { typed: paddle, refused });
}
