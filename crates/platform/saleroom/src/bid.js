// Bids in place: a second press on the same spot confirms, the answer replaces the box, and a bid whose answer is lost is sent again
// with the same key. The box is read again when the lot has changed. Without this script each press loads the page.
"use strict";

(() => {
  /** Presses that come this soon after the first are one double press. */
  const IGNORED_MS = 400;
  const CONFIRM_MS = 3000;
  const ANSWER_MS = 8000;
  const PAUSES_MS = [300, 700, 1500, 3000];
  /** Pause between two readings of the box, so that a button does not move under a finger. */
  const READ_MS = 1000;
  /** Pause between two readings of a box with an offer, because the stream has no event for the end of an offer. */
  const OFFER_READ_MS = 10000;
  /** In a webcast, the button says "Outbid" for this long, so that nobody bids the next amount by a press that was meant for the last. */
  const LOCK_MS = 1000;

  const box = () => document.getElementById("bid-box");
  const region = () => document.getElementById("bid-answer");
  const standing = () => document.getElementById("own-standing");
  const amountOf = (form) => form.elements.amount?.value ?? "";
  const typedField = () => box().querySelector("input[name=amount]:not([type=hidden])");
  if (!box()) return;

  /** Shows words where a screen reader speaks what changes. `isStanding`: they say where the bidder stands. */
  function say(text, kind, isStanding = false) {
    region().textContent = text;
    region().className = `stand ${kind}`;
    region().dataset.standing = isStanding ? "yes" : "";
  }

  const said = () => document.getElementById("bid-words").dataset;

  // One tap: the bidder's choice for a sale, kept in this browser for each paddle.
  const switchOf = () => box().querySelector("[data-one-tap]");
  const choice = () => `one-tap ${switchOf().dataset.oneTap} ${box().dataset.paddle}`;
  function showSwitch() {
    if (!switchOf()) return;
    try {
      switchOf().querySelector("input").checked = localStorage.getItem(choice()) === "yes";
      switchOf().hidden = false;
    } catch {
      // The browser keeps nothing for this site: every bid is confirmed.
    }
  }
  const isOneTap = () => switchOf()?.querySelector("input").checked ?? false;
  document.addEventListener("change", ({ target }) => {
    if (!target.closest("[data-one-tap]")) return;
    disarm();
    if (target.checked) localStorage.setItem(choice(), "yes");
    else localStorage.removeItem(choice());
  });

  // The button with the next bid, and when its amount changed.
  const next = () => box().querySelector("[data-bid=next]");
  let changedAt = -Infinity;
  let lockedUntil = -Infinity;
  const isLocked = () => performance.now() < lockedUntil;
  function lock() {
    const button = next()?.querySelector("button");
    if (!isLocked() || !button || button.ariaDisabled === "true") return;
    const content = [...button.childNodes];
    button.ariaDisabled = "true";
    button.replaceChildren(said().outbid);
    setTimeout(() => {
      button.ariaDisabled = null;
      button.replaceChildren(...content);
    }, lockedUntil - performance.now());
  }

  // The first press on a button asks.
  let armed = null;
  function disarm() {
    if (!armed) return;
    clearTimeout(armed.timer);
    armed.button.replaceChildren(...armed.content);
    armed = null;
  }

  function expire() {
    disarm();
    say(said().expired, "info");
    read();
  }

  function arm(form, button) {
    disarm();
    const content = [...button.childNodes];
    const total = button.querySelector("small");
    button.replaceChildren(button.dataset.confirm);
    if (total) button.append(total.cloneNode(true));
    armed = { form, button, content, since: performance.now(), timer: setTimeout(expire, CONFIRM_MS) };
  }

  /** The question about a typed maximum comes from the server, which has read it. */
  const asked = () => box().querySelector("[data-bid=asked]");
  let askedAt = 0;

  // The answer to an offer is shown on a fresh page, because the lot can have changed since the offer was shown.
  const ANSWER = "answer to an offer";
  function showAfresh(page) {
    const { textContent: text, className } = page.getElementById("bid-answer");
    try {
      sessionStorage.setItem(ANSWER, JSON.stringify({ lot: box().dataset.page, text, kind: className.replace("stand ", "") }));
    } catch {
      // The fresh page says where the bidder stands.
    }
    if (location.pathname === box().dataset.page) location.reload();
    else location.assign(box().dataset.page);
  }
  function sayKeptAnswer() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(ANSWER));
      sessionStorage.removeItem(ANSWER);
      if (kept?.lot !== box().dataset.page) return;
      say(kept.text, kept.kind, true);
      standing()?.remove();
      box().querySelector(".stand.off#offer")?.remove();
    } catch {
      // The browser keeps nothing for this site.
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.bid) return;
    event.preventDefault();
    // The page's own script refuses a form that was sent already; this one stays on its page.
    event.stopImmediatePropagation();
    if (isSending || (form.dataset.bid === "next" && isLocked())) return;
    const button = form.querySelector("button");
    if (form.dataset.bid === "max") send(form, button, false);
    else if (form.dataset.bid === "asked") {
      if (performance.now() - askedAt >= IGNORED_MS) send(form, button, true);
    } else if (form.dataset.bid === "next" && isOneTap()) {
      if (performance.now() - changedAt >= IGNORED_MS) send(form, button, true);
    } else if (armed?.form !== form) arm(form, button);
    else if (performance.now() - armed.since >= IGNORED_MS) send(form, button, true);
  }, true);

  let isSending = false;
  async function send(form, button, isConfirmed) {
    isSending = true;
    if (armed) clearTimeout(armed.timer);
    armed = null;
    const body = new URLSearchParams(new FormData(form));
    if (isConfirmed) body.set("confirmed", "yes");
    const { lost } = said();
    say("", "");
    button.disabled = true;
    button.textContent = button.dataset.sending;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response = await fetch(form.action, { method: "POST", body, credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) });
        // The server, or what stands before it, is not there: it has not said what became of the bid.
        if (response.status >= 500) throw new Error(`status ${response.status}`);
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        if (response.redirected) {
          // The first attempt was not taken. An earlier one, whose answer was lost, may have been.
          say(attempt === 0 ? said().notSent : said().signedOut, "bad");
          button.hidden = true;
          isSending = false;
          return read(true);
        }
        // The lot is gone: the page says so when it is loaded again.
        if (!page.getElementById("bid-box")) location.assign(box().dataset.page);
        else if (form.action.endsWith("/offer")) return showAfresh(page);
        else show(page);
        askedAt = performance.now();
        break;
      } catch {
        say(lost, "wait");
        await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]));
      }
    }
    isSending = false;
    read();
  }

  /** Puts the box of a fresh page in the place of this one. What is typed, the focus, and the region that speaks stay. */
  function show(page) {
    const kept = region();
    const field = typedField();
    const typed = field && (field === document.activeElement || field.value !== field.defaultValue) ? field.value : null;
    const isOnSwitch = switchOf()?.contains(document.activeElement);
    const amount = next() && amountOf(next());
    const focused = box().contains(document.activeElement) ? document.activeElement.closest("form")?.dataset.bid : undefined;
    box().replaceWith(document.adoptNode(page.getElementById("bid-box")));
    const answer = region();
    answer.replaceWith(kept);
    say(answer.textContent, answer.className.replace("stand ", ""), answer.dataset.standing === "yes");
    const isAnswered = kept.textContent !== "" && focused !== undefined;
    if (next() && amountOf(next()) !== amount) changedAt = performance.now();
    showSwitch();
    lock();
    if (isOnSwitch) switchOf()?.querySelector("input").focus({ preventScroll: true });
    if (typed !== null && typedField() && !isAnswered) typedField().value = typed;
    if (!focused) return;
    const button = asked()?.querySelector("button") ?? box().querySelector(`form[data-bid=${focused}] button`) ?? box().querySelector("form button");
    (focused === "max" && typedField() ? typedField() : button)?.focus({ preventScroll: true });
  }

  /** The box is older than this version of the lot, or than the saleroom's link. */
  let wanted = 0;
  let isLinkLost = null;
  const isOld = () => wanted > Number(box().dataset.version) || (isLinkLost !== null && String(isLinkLost) !== box().dataset.linkLost);
  let isReading = false;
  async function read(isWanted = false) {
    if (isReading || isSending || !(isWanted || (isOld() && !asked()))) return;
    isReading = true;
    try {
      const response = await fetch(box().dataset.page, { credentials: "same-origin", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(ANSWER_MS) });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const isSame = !isOld() && isSignedIn(page) === isSignedIn(document) && (armed || offerIn(page) === offerIn(document));
      if (response.ok && !isSending && page.getElementById("bid-box") && !isSame) showAgain(page);
    } catch {
      // The page's own line about the link says that the prices may be old.
    }
    setTimeout(() => {
      isReading = false;
      read();
    }, READ_MS);
  }

  const isSignedIn = (page) => page.querySelector("#bid-box[data-signed-in]") !== null;
  /** The form that accepts an open offer: it has the offer, the version of the lot and the total. */
  const offerIn = (page) => page.querySelector("#bid-box [data-bid=accept]")?.outerHTML;
  function readOffer() {
    if (!document.hidden && !armed && offerIn(document)) read(true);
  }
  setInterval(readOffer, OFFER_READ_MS);
  document.addEventListener("visibilitychange", readOffer);
  addEventListener("focus", readOffer);
  addEventListener("online", readOffer);

  /**
   * Shows a box that was read again. Where the bidder stands, that an offer has ended, and that the bidder is signed out, is spoken
   * when it has changed.
   */
  function showAgain(page) {
    const hadOffer = offerIn(document) !== undefined;
    const wasSignedIn = isSignedIn(document);
    const wasArmed = armed !== null;
    disarm();
    const [text, kind, wasStanding] = [region().textContent, region().className.replace("stand ", ""), region().dataset.standing === "yes"];
    const before = wasStanding ? text : (standing()?.textContent ?? "");
    const old = { ...box().dataset };
    const isOutbid = (fresh) =>
      "webcast" in fresh && !("withdrawn" in fresh) && fresh.leads === "false" && fresh.waiting === "" && (old.leads === "true" || old.waiting !== "");
    if (isOutbid(page.getElementById("bid-box").dataset)) lockedUntil = performance.now() + LOCK_MS;
    show(page);
    const now = standing();
    const ended = hadOffer && box().querySelector("#offer.off");
    if (wasSignedIn && !isSignedIn(document)) {
      say(text === said().notSent ? text : said().signedOut, "bad");
      document.getElementById("sign-in-again")?.removeAttribute("hidden");
    } else if (ended) {
      say(ended.textContent, "off");
      ended.remove();
    } else if (now && isFromElsewhere(old)) {
      say(box().dataset.elsewhere, "good", true);
      now.remove();
    } else if (now && (wasStanding || now.textContent !== before)) {
      say(now.textContent, now.className.replace("stand ", ""), true);
      now.remove();
    } else if (wasArmed) say(said().moved, "info");
    else if (!wasStanding) say(text, kind);
  }

  /** The bidder leads by a bid that this page did not send, and did not see waiting for the clerk. */
  function isFromElsewhere(old) {
    const { leads, ownBid, maximum } = box().dataset;
    if (leads !== "true" || old.waiting !== "") return false;
    const isNew = Number(ownBid) > Number(old.ownBid);
    if (old.leads !== "true" || "webcast" in old) return isNew;
    return Number(maximum) > Number(old.maximum);
  }

  document.addEventListener("lotwire:lot", ({ detail }) => {
    wanted = Math.max(wanted, detail.version);
    isLinkLost = Boolean(detail.ring?.linkLost);
    // The fresh box comes up to a second later.
    if (!isSending && /^(SOLD|SOLD_BUY_NOW|UNSOLD|PASSED)$/.test(detail.status)) turnOff();
    read();
  });

  // At zero only the server ends the lot: no button is left that says otherwise.
  document.addEventListener("lotwire:checking", () => {
    turnOff();
    for (const button of box().querySelectorAll("[data-bid=next] button, [data-bid=asked] button")) button.textContent = said().checking;
  });

  /** Bids on this lot are not taken any more. An offer that waits for its second press still can be accepted. */
  function turnOff() {
    if (armed?.form.action.endsWith("/bid")) disarm();
    for (const button of box().querySelectorAll("form[action$='/bid'] button")) button.disabled = true;
  }

  showSwitch();
  sayKeptAnswer();
})();
