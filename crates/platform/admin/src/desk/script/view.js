// What the desk shows, from the server's state only. Every text is set as text, never as markup.

const SOURCES = { room: "room", internet: "web", commission: "book", absentee: "commission" };
const detail = (id, text) => {
  const element = document.querySelector(`[data-detail="${id}"]`);
  if (element.textContent !== text) element.textContent = text;
};

function render() {
  if (!truth) return;
  const { sale, lot, offer } = truth;
  put("sale-status", sale.status === "LIVE" ? (offer?.paused ? "Paused" : "Live") : sale.status.toLowerCase());
  slot("sale-status").className = `status ${sale.status === "LIVE" ? (offer?.paused ? "wait" : "live") : "wait"}`;
  put("counts", [lot ? `Lot ${lot.lotNumber} of ${sale.total}` : `${sale.total} lots`, `${sale.live} to come`, sale.passed ? `${sale.passed} passed` : ""].filter(Boolean).join(" · "));
  put("pace", truth.lotsPerHour ? `${truth.lotsPerHour} lots an hour` : "");
  put("tag", `Version ${truth.tag}`);
  renderLot(lot);
  renderOffer(lot, offer);
  renderBids();
  renderEntry();
  renderButtons(lot, offer);
  renderList("next", truth.next, nextLine, noLotWaits());
  renderEnd();
  renderList("done", truth.done, doneLine, "Lots that are sold or passed appear here.");
  renderLate();
  renderMessage();
  const open = truth.openBuyers ?? 0;
  slot("open-buyers").hidden = open === 0;
  put("open-buyers", open === 1 ? "1 buyer open" : `${open} buyers open`);
}

/** Below "Next" when no lot waits. The end of the sale says it in a box. */
function noLotWaits() {
  if (truth.end) return "";
  if (may("offer-again")) return "No lot waits. Passed lots can be offered again in the list of lots.";
  return truth.sale.status === "LIVE" ? "No lot waits." : "Lots are sent while the sale is live.";
}

function renderLot(lot) {
  const last = lot ? null : lastDone();
  document.querySelector(".lot").classList.toggle("is-done", Boolean(last));
  put("lot-number", lot || last ? `Lot ${(lot ?? last).lotNumber}` : "No lot");
  put("lot-title", (lot ?? last)?.title ?? (truth.next.length ? "Send the next lot to begin." : "No lot waits."));
  put("lot-text", lot?.description ?? (last ? sentence(resultOf(last)) : ""));
  put("estimate", lot?.estimate ?? "–");
  put("opening", lot?.opening ?? "–");
  const reserve = lot?.reserve;
  const cell = slot("reserve");
  if (!lot || !reserve) put("reserve", lot ? "None" : "–");
  else {
    const amount = reserve.amount ? `${reserve.amount.text} ` : "";
    const words = reserve.isMet ? "met" : reserve.short ? `${reserve.short.text} short` : "not met";
    const mark = make("span", words, `status ${reserve.isMet ? "good" : "wait"}`);
    if (cell.textContent !== amount + words) cell.replaceChildren(amount, mark);
  }
  const picture = slot("picture");
  // The picture stays at the hammer, until the next lot comes.
  const address = (lot ? lot.picture : last && truth.lastPicture) ?? "";
  if ((picture.getAttribute("src") ?? "") !== address) {
    if (address) picture.src = address;
    else picture.removeAttribute("src");
    picture.alt = address ? `Lot ${(lot ?? last).lotNumber}` : "";
    picture.dataset.lost = "";
  }
  picture.hidden = !address || picture.dataset.lost === "yes";
  slot("no-picture").hidden = !picture.hidden;
  const book = truth.commissions.map((left) => {
    const line = make("li");
    line.append(make("span", sentence(paddleLine(left.bidder)).slice(0, -1)), make("b", `to ${left.maximum.text}`));
    if (left.bidder === truth.bookBid?.bidder) line.append(make("span", "next", "status"));
    return line;
  });
  for (const { bidder, number, line } of truth.telephone ?? []) {
    const called = make("li");
    called.append(make("span", `Telephone, paddle ${bidder}${line ? `: ${line}` : ""}`), make("b", number));
    book.push(called);
  }
  slot("book").replaceChildren(...(book.length ? book : [make("li", lot ? "No commission bid on this lot" : "–", "empty-line")]));
}

// An address in the catalogue may lead to no picture.
slot("picture").addEventListener("error", () => {
  slot("picture").dataset.lost = "yes";
  slot("picture").hidden = true;
  slot("no-picture").hidden = false;
});

function renderOffer(lot, offer) {
  const standing = offer?.standing;
  const last = lot ? null : lastDone();
  if (last) {
    const buyer = last.buyer ? paddleLine(last.buyer) : "buyer open";
    put("bid-name", last.status === "SOLD" ? `Sold · lot ${last.lotNumber} · ${buyer}` : `Passed · lot ${last.lotNumber}`);
    figure("bid", last.price?.text ?? "–");
  } else {
    put("bid-name", standing ? `Bid · ${standing.bidder ? paddleLine(standing.bidder) : "buyer open"} · ${SOURCES[standing.source] ?? standing.source}` : "Bid");
    figure("bid", standing?.amount.text ?? (lot ? "No bid" : "–"));
  }
  const warned = offer?.warnings ? (offer.warnings === 1 ? " · warning given" : ` · ${offer.warnings} warnings`) : "";
  put("ask-name", offer?.paused ? "Asking · paused" : `Asking${warned}`);
  figure("ask", offer?.askingPrice.text ?? "–");
  const bid = truth.pending[0];
  slot("web-box").classList.toggle("waits", Boolean(bid));
  put("web-amount", bid?.amount.text ?? "–");
  put("web-who", bid ? waitsSince(bid) : "No web bid waits");
  const more = truth.pending.length - 1;
  put("web-more", more > 0 ? `${more} more, ${truth.pending[1].amount.text} from paddle ${truth.pending[1].bidder}` : "");
}

/** The lot that was sold or passed last, while the ring is empty. */
const lastDone = () => truth.done.find((lot) => lot.isLast && (lot.status === "SOLD" || lot.status === "PASSED")) ?? null;
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** A large amount, as large as its box allows. */
function figure(name, text) {
  put(name, text);
  slot(name).style.setProperty("--chars", Math.max(8, text.length));
}

/** The bidder of a web bid, with its age. */
const waitsSince = (bid) => [`paddle ${bid.bidder}`, `${age(bid.at)} ago`, bidderName(bid.bidder)].filter(Boolean).join(" · ");

function age(at) {
  const seconds = Math.max(0, Math.round((serverNow() - Date.parse(at)) / 1000));
  return seconds < 60 ? `${seconds} s` : seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

function renderBids() {
  const rows = truth.bids.map((bid) => {
    const row = make("tr", undefined, bid.struck ? "over" : "");
    const kind = (SOURCES[bid.source] ?? bid.source) + (bid.struck ? ` · ${bid.struck}` : "") + (bid.reachesReserve ? " · reserve met" : "");
    row.append(make("td", bid.amount?.text ?? "–"), make("td", bid.bidder ? paddleLine(bid.bidder) : "buyer open"), make("td", kind));
    const aged = make("td", age(bid.at));
    aged.dataset.at = bid.at;
    row.append(aged);
    return row;
  });
  if (!rows.length) {
    const row = make("tr");
    const cell = make("td", truth.lot ? "Bids on this lot appear here." : "–", "empty-line");
    cell.colSpan = 4;
    row.append(cell);
    rows.push(row);
  }
  slot("bids").replaceChildren(...rows);
}

/** A list that holds buttons is not rebuilt while the pointer is in it or one of them has the focus. */
const waitingLists = new Map();
function renderList(name, entries, line, empty) {
  const list = slot(name);
  const build = () => {
    const text = JSON.stringify([entries, link, empty, truth.names, truth.commands, truth.sale.isArchived]);
    if (list.dataset.shown === text) return;
    list.dataset.shown = text;
    list.replaceChildren(...(entries.length ? entries.map(line) : empty ? [make("li", empty, "empty-line")] : []));
  };
  const isHeld = name === "done" && list.dataset.shown && (list.matches(":hover") || list.contains(document.activeElement));
  if (isHeld) waitingLists.set(name, build);
  else {
    waitingLists.delete(name);
    build();
  }
}
for (const name of ["done"]) {
  const rebuild = () => setTimeout(() => {
    const list = slot(name);
    if (!waitingLists.has(name) || list.matches(":hover") || list.contains(document.activeElement)) return;
    waitingLists.get(name)();
    waitingLists.delete(name);
  });
  slot(name).addEventListener("pointerleave", rebuild);
  slot(name).addEventListener("focusout", rebuild);
}

function described(name, small) {
  const text = make("span");
  text.append(make("span", name, "name"), make("small", small));
  return text;
}

/** The end of the sale: what is left to do. */
function renderEnd() {
  const { end } = truth;
  slot("end").hidden = !end;
  if (!end) return;
  put("end-text", end.text);
  for (const button of slot("end").querySelectorAll("[data-end]")) button.hidden = !(button.dataset.end === "passed" ? end.passed : end.openBuyers);
}

function nextLine(next) {
  const line = make("li");
  const estimate = next.estimate ? `Estimate ${next.estimate}` : "No estimate";
  line.append(described(`${next.lotNumber} ${next.title}`, next.waitsAgain ? `Waits again · ${estimate}` : estimate));
  return line;
}

function doneLine(lot) {
  const line = make("li");
  const isSold = lot.status === "SOLD";
  const result = isSold ? `Sold ${lot.price?.text ?? ""}` : lot.status === "PASSED" ? "Passed" : lot.status.toLowerCase();
  const top = make("span", undefined, "top");
  const at = make("small", clock(lot.at));
  top.append(make("span", `${lot.lotNumber} ${result}`, "name"), at);
  const buyer = make("small", isSold ? (lot.isBuyerOpen ? "Buyer open" : paddleLine(lot.buyer)) : "", lot.isBuyerOpen ? "open" : "");
  buyer.title = buyer.textContent;
  if (lot.event) {
    const mark = make("span", "✓", "event-mark");
    mark.title = `Event ${lot.event} announced ${clock(lot.at)}`;
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", mark.title);
    at.append(" ", mark);
  }
  line.append(top, buyer);
  const button = (words, act) => {
    const made = make("button", words);
    made.type = "button";
    made.setAttribute("aria-label", `${words}: lot ${lot.lotNumber}`);
    made.addEventListener("click", (event) => {
      act();
      if (event.detail > 0) made.blur();
    });
    line.append(made);
  };
  if (lot.isLast && may("reopen")) button("Reopen", reopenLast);
  else if (lot.status === "PASSED" && may("offer-again")) button("Offer again", () => offerAgain(lot));
  if (lot.status === "SOLD" && lot.isBuyerOpen !== undefined && !lot.isLast && !truth.sale.isArchived) button(buyerWords(lot), () => changeBuyer(lot));
  return line;
}

/** Refused web bids are shown this long; the server forgets them then, too. */
const LATE_SHOWN_MS = 15000;

function renderLate() {
  const late = truth.late.filter((bid) => serverNow() - Date.parse(bid.at) < LATE_SHOWN_MS);
  const refused = [...late, ...truth.lost];
  renderList("late", refused, lateLine, "");
  slot("late-name").hidden = refused.length === 0;
}

function lateLine(bid) {
  const line = make("li");
  line.append(described(`${bid.amount.text} · ${paddleLine(bid.bidder)}`, bid.text));
  return line;
}

function clock(at) {
  if (!at) return "";
  return new Date(at).toLocaleTimeString("en-GB", { timeZone: truth.sale.timeZone });
}

function renderRoomBid() {
  const minor = truth?.offer && typedText() ? minorUnits(typedText()) : null;
  const lands = truth?.offer && !minor && truth.commissions.some((left) => left.maximum.minor === truth.offer.askingPrice.minor);
  detail("room-bid", truth?.offer ? (minor ? `jump to ${written(minor)}` : `${truth.offer.askingPrice.text}${lands ? " · book’s max" : ""}`) : "");
}

function renderButtons(lot, offer) {
  const set = (id, enabled, text, className = "") => {
    const button = document.querySelector(`[data-do="${id}"]`);
    button.setAttribute("aria-disabled", String(!(enabled && link === "connected")));
    button.classList.toggle("act", className === "act");
    button.classList.toggle("alert", className === "alert");
    if (text !== null) detail(id, text);
  };
  const [bid, best] = [truth.pending[0], truth.bookBid];
  renderRoomBid();
  set("room-bid", may("bid"), null);
  set("web-bid", may("accept"), bid ? `${bid.amount.text} · ${bid.bidder}` : "none", may("accept") ? "act" : "");
  set("book-bid", may("commission-bid"), best ? `${best.amount.text} · ${best.bidder}` : "none");
  put("undo-what", may("reopen") ? "Reopen lot" : offer?.cancelled ? "Bring back" : "Undo bid");
  set("undo", may("undo") || may("reopen"), may("undo") ? (offer.cancelled ?? offer.standing).amount.text : may("reopen") ? `lot ${truth.last.lotNumber}` : "");
  const given = offer?.warnings ? `${offer.warnings} given` : "";
  set("warning", may("fair-warning"), given && truth.waiting ? `${takenAt(truth)} waits` : given, offer?.warnings ? "alert" : "");
  set("sell", may("sell"), may("sell") ? `${offer.standing.amount.text} · ${offer.standing.bidder ?? "open"}` : lot ? "no bid" : "");
  set("pass", may("pass"), may("pass") && offer.standing ? "hold key" : "");
  put("pause-what", may("resume") ? "Resume bids" : "Pause bids");
  set("pause", may("pause") || may("resume"), may("resume") ? "paused" : "", may("resume") ? "alert" : "");
  set("enter", Boolean(lot) || Boolean(lastSold()), null);
  const next = truth.next[0];
  set("next", may("send") && Boolean(next), next ? `${next.lotNumber} ${next.title}` : "none waits", may("send") && next && !lastSold()?.isBuyerOpen ? "act" : "");
}

setInterval(() => {
  if (!truth) return;
  const bid = truth.pending[0];
  if (bid) put("web-who", waitsSince(bid));
  renderLate();
  for (const cell of document.querySelectorAll("[data-at]")) cell.textContent = age(cell.dataset.at);
  put("server-time", link === "connected" ? new Date(serverNow()).toLocaleTimeString("en-GB", { timeZone: truth.sale.timeZone }) : "–");
}, 1000);
