// Keeps the prices, clocks and standings of a page current. The stream sends whole states of lots; the words come from the page.
// Only the server ends a lot: at zero the clock says that final bids are being checked, and the next state has the result.
//
// For other scripts of the page, the document gets events: `lotwire:lot` with the state of a lot as `detail`, `lotwire:checking` when
// its clock is at zero, and `lotwire:link` with `{ isLive }`. A page is live from a snapshot on until the link is lost or the page is
// hidden.
"use strict";

(() => {
  const place = document.getElementById("live");
  if (!place) return;
  const words = place.dataset;
  const language = document.documentElement.lang || "en";

  /** Pauses between attempts to connect, and a quarter more or less. */
  const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
  /** A new stream without an event for this long is lost. */
  const FIRST_EVENT_MAX_MS = 5000;
  /** How much later than announced a sign of life may come. */
  const LATE_MAX_MS = 2000;
  /** Seconds before the end at which the time left is spoken. */
  const SPOKEN_S = [300, 60, 10];
  /** Bids and messages in the list. */
  const BIDS_MAX = 20;

  const fill = (text, values) => text.replace(/\{(\w*)\}/g, (_, name) => values[name] ?? "");
  const put = (element, text) => {
    if (element && element.textContent !== text) element.textContent = text;
  };

  // Money and times, as the server writes them.
  const minorUnits = Number(words.minorUnits);
  const digits = Math.round(Math.log10(minorUnits));
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0, useGrouping: "always" });
  const exact = new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: "always" });
  const money = (minor) => words.money.replace("{}", (minor % minorUnits ? exact : whole).format(minor / minorUnits));
  const totalOf = (total, amount) => ((total ?? amount) === amount ? "" : fill(words.total, { "": money(total) }));

  // The names of days and months come from the page: browsers shorten them in other ways.
  const [weekdays, months] = [words.weekdays.split("|"), words.months.split("|")];
  const numeric = { hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" };
  const times = new Intl.DateTimeFormat("en", { ...numeric, timeZone: words.zone });
  const offsets = new Intl.DateTimeFormat("en", { timeZone: words.zone, timeZoneName: "longOffset" });
  const zoneWords = new Map(words.zoneWords.split("|").map((pair) => pair.split("=")));
  const partsOf = (format, at) => Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const clockTime = ({ hour, minute, second }, always) => `${hour}:${minute}${always || second !== "00" ? `:${second}` : ""}`;
  const dateWords = (parts) => {
    const weekday = weekdays[(new Date(Date.UTC(parts.year, parts.month - 1, parts.day)).getUTCDay() + 6) % 7];
    return fill(words.time, { ...parts, weekday, month: months[parts.month - 1], time: clockTime(parts, false) });
  };
  const showTime = (at) => {
    // Browsers name the offset of UTC with or without its zeros.
    const offset = partsOf(offsets, at).timeZoneName.replace("+00:00", "");
    return `${dateWords(partsOf(times, at))}\u00a0${zoneWords.get(offset) ?? offset}`;
  };

  /** The time by the visitor's own clock, where that is another than the sale's. */
  function showOwnTime(element, at) {
    if (!element) return;
    let text = "";
    try {
      const own = new Intl.DateTimeFormat("en", { ...numeric, timeZone: element.dataset.ownTime || undefined });
      const [here, there] = [dateWords(partsOf(own, at)), dateWords(partsOf(times, at))];
      if (here !== there) text = fill(words.own, { "": here });
    } catch {
      // The browser does not know the time zone.
    }
    put(element, text);
    element.dateTime = new Date(at).toISOString();
    element.hidden = text === "";
  }
  for (const element of document.querySelectorAll("[data-own-time]")) showOwnTime(element, Date.parse(element.dateTime));

  // The server's clock: how far it is ahead of this page's. An event that was delayed shows too little, so a lower value counts
  // less than a higher one.
  let ahead = null;
  function hearTime(serverTime) {
    const found = Date.parse(serverTime) - performance.now();
    if (ahead === null || found - ahead > 2000) ahead = found;
    else ahead += (found - ahead) * (found > ahead ? 0.5 : 0.05);
  }
  const serverNow = () => performance.now() + (ahead ?? Date.now() - performance.now());

  // Lots.
  const places = new Map([...document.querySelectorAll("[data-lot]")].map((element) => [element.dataset.lot, element]));
  const states = new Map();
  const slot = (element, name) => element.querySelector(`[data-live="${name}"]`);
  const isSold = (item) => item.status === "SOLD" || item.status === "SOLD_BUY_NOW";
  const endOf = (item) => (item.status === "LIVE" && !item.ring && item.effectiveEndTime ? Date.parse(item.effectiveEndTime) : null);
  const plural = new Intl.PluralRules(language);
  const bidsWords = (count) => fill(words[plural.select(count) === "one" ? "bidsOne" : "bidsOther"], { n: whole.format(count) });

  /** Where the lot stands, and the class of its colour. */
  function standingOf(item) {
    const end = endOf(item);
    if (isSold(item)) return [words.sold, "good"];
    if (item.status === "UNSOLD") return [words.unsold, "off"];
    if (item.status === "PASSED") return [words.passed, "off"];
    if (item.status === "SUSPENDED") return [words.suspended, "wait"];
    if (item.ring) {
      if (item.ring.linkLost) return [words.linkLost, "wait"];
      if (item.ring.paused) return [words.ringPaused, "wait"];
      return [item.ring.warnings > 0 ? words.ringWarned : words.ring, "live"];
    }
    if (end !== null) return end <= serverNow() ? [words.checking, "wait"] : [fill(words.ends, { "": showTime(end) }), "live"];
    if (item.status === "PREVIEW" && item.endTime) return [fill(words.soon, { "": showTime(Date.parse(item.endTime)) }), "info"];
    return [words.come, "info"];
  }

  function showStanding(element, item) {
    const [text, kind] = standingOf(item);
    const standing = slot(element, "standing");
    if (!standing || standing.textContent === text) return;
    standing.textContent = text;
    standing.className = `status ${kind}`;
  }

  /** The amount that is shown, with its label and total. */
  function amountOf(item) {
    if (item.status === "UNSOLD" || item.status === "PASSED") return null;
    if (item.price === null) return item.minimumBid === null ? null : [words.start, item.minimumBid, item.minimumBidTotal];
    return [isSold(item) ? words.hammer : bidsWords(item.bidCount), item.price, item.priceTotal];
  }

  function showPart(element, name, label, amount, total) {
    const part = element.querySelector(`[data-live-part="${name}"]`);
    if (!part) return;
    part.hidden = amount === undefined;
    if (part.hidden) return;
    put(slot(part, name === "price" ? "bids" : "next-label"), label);
    put(slot(part, name), money(amount));
    put(slot(part, `${name}-total`), totalOf(total, amount));
    if (name !== "price") return;
    // The bar at the edge of a phone's screen has the price again.
    put(slot(element, "bar-bids"), label);
    put(slot(element, "bar-price"), money(amount));
  }

  const nextLabel = document.querySelector('[data-live="next-label"]')?.textContent;
  function showLot(item) {
    const before = states.get(item.uuid);
    if (before && before.version > item.version) return;
    states.set(item.uuid, item);
    const element = places.get(item.uuid);
    if (element) {
      showPart(element, "price", ...(amountOf(item) ?? []));
      if (item.ring) showPart(element, "next", words.ask, item.ring.askingPrice, item.ring.askingPriceTotal);
      else if ("timed" in words && item.status === "LIVE" && item.price !== null && item.minimumBid !== null) {
        showPart(element, "next", nextLabel, item.minimumBid, item.minimumBidTotal);
      } else showPart(element, "next");
      showStanding(element, item);
      showOwnEnd(element, item);
      showExtension(element, before, item);
      showBids(item);
      tick(item);
    }
    showStage(item);
    document.dispatchEvent(new CustomEvent("lotwire:lot", { detail: item }));
  }

  function showOwnEnd(element, item) {
    const own = element.querySelector("[data-own-time]");
    const end = endOf(item) ?? (item.status === "PREVIEW" && item.endTime ? Date.parse(item.endTime) : null);
    if (end !== null) showOwnTime(own, end);
    else if (own) own.hidden = true;
  }

  function showExtension(element, before, item) {
    const note = slot(element, "note");
    const [old, end] = [before ? endOf(before) : null, endOf(item)];
    if (!note) return;
    if (end === null) put(note, "");
    else if (old !== null && end !== old) {
      const text = end > old && item.bidCount > before.bidCount ? words.extended : words.moved;
      put(note, fill(text, { "": clockTime(partsOf(times, end), true) }));
    }
  }

  function hideLot(uuid) {
    states.delete(uuid);
    const element = places.get(uuid);
    if (!element) return;
    showPart(element, "price");
    showPart(element, "next");
    put(slot(element, "ends"), "");
    put(slot(element, "note"), "");
    const standing = slot(element, "standing");
    put(standing, words.withdrawn);
    if (standing) standing.className = "status off";
    if (slot(element, "spoken")) end(words.gone);
  }

  // The clocks: silent, and spoken at few moments.
  const spokenBefore = new Map();
  function tick(item) {
    const element = places.get(item.uuid);
    const clock = element && slot(element, "ends");
    if (!clock) return;
    const end = endOf(item);
    const left = end === null ? null : Math.ceil((end - serverNow()) / 1000);
    put(clock, left === null || left <= 0 ? "" : timeLeft(left));
    clock.classList.toggle("last", left !== null && left <= 10);
    const spoken = slot(element, "spoken");
    const before = spokenBefore.get(item.uuid);
    spokenBefore.set(item.uuid, left);
    if (left !== null && left <= 0) {
      showStanding(element, item);
      if (!(before <= 0)) document.dispatchEvent(new CustomEvent("lotwire:checking", { detail: item }));
    }
    if (!spoken || left === null || before === null || before === undefined) return;
    const moment = SPOKEN_S.find((seconds) => before > seconds && left <= seconds && left > seconds - 5);
    if (moment) put(spoken, words[`left-${moment}`]);
    else if (left > before) put(spoken, "");
  }

  function timeLeft(seconds) {
    const [d, h, m, s] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
    if (d > 0) return fill(words.days, { d, h });
    if (h > 0) return fill(words.hours, { h, m });
    return `${m}:${String(s).padStart(2, "0")}`;
  }
  setInterval(() => states.forEach(tick), 200);

  // The list of bids of a lot's page.
  const feed = document.querySelector("[data-feed]");
  const list = feed?.querySelector("ul");
  function showBids(item) {
    if (!feed || !item.bids?.length) return;
    const rows = new Map([...list.querySelectorAll("[data-bid]")].map((row) => [Number(row.dataset.bid), row]));
    const last = Math.max(0, ...rows.keys());
    // Bids between the list and the event are missing.
    if (item.bids[0].number > last + 1) readBids();
    for (const bid of item.bids) {
      const row = rows.get(bid.number) ?? document.createElement("li");
      const texts = [
        money(bid.amount),
        (bid.bidder ? fill(words.paddle, { "": bid.bidder }) : words.room) + (bid.withdrawn ? words.bidWithdrawn : ""),
        showTime(Date.parse(bid.at)),
      ];
      if (row.textContent !== texts.join("")) {
        const parts = [bid.withdrawn ? "s" : "b", "span", "span"].map((tag) => document.createElement(tag));
        parts.forEach((part, place) => put(part, texts[place]));
        parts[2].className = "soft small";
        row.replaceChildren(...parts);
        row.dataset.bid = bid.number;
        row.dataset.at = Date.parse(bid.at);
      }
      if (!row.isConnected) list.prepend(row);
    }
    shorten();
  }

  function shorten() {
    while (list.children.length > BIDS_MAX) list.lastElementChild.remove();
    feed.hidden = list.children.length === 0;
  }

  // Messages of the clerk: the last one under the stage, all of them in a list, and those of the lot among its bids.
  const message = document.querySelector("[data-message]");
  const messages = document.querySelector("[data-messages]");
  const timeOfDay = (at) => clockTime({ ...partsOf(times, Date.parse(at)), second: "00" }, false);
  function showMessages(all) {
    if (!message) return;
    const now = all.find(({ onStage }) => onStage);
    // What is shown already is not spoken again.
    if (message.dataset.message !== String(now?.number ?? "")) {
      message.dataset.message = now?.number ?? "";
      const time = now && Object.assign(document.createElement("time"), { dateTime: now.at, textContent: timeOfDay(now.at) });
      const text = now && Object.assign(document.createElement("span"), { textContent: now.text });
      message.replaceChildren(...(now ? [time, " ", text] : []));
    }
    if (messages) {
      messages.querySelector("ul").replaceChildren(...all.toReversed().map((one) => messageRow(one, timeOfDay(one.at))));
      messages.hidden = all.length === 0;
    }
    if (!feed) return;
    const lot = feed.closest("[data-lot]").dataset.lot;
    for (const one of all.filter(({ item, number }) => item === lot && !list.querySelector(`[data-message-row="${number}"]`))) {
      const row = messageRow(one, fill(words.message, { "": timeOfDay(one.at) }));
      row.dataset.at = Date.parse(one.at);
      list.insertBefore(row, [...list.children].find((other) => Number(other.dataset.at) <= Number(row.dataset.at)) ?? null);
      shorten();
    }
  }

  function messageRow({ number, text }, from) {
    const row = document.createElement("li");
    const parts = [text, from].map((words) => Object.assign(document.createElement("span"), { textContent: words }));
    parts[1].className = "soft small";
    row.dataset.messageRow = number;
    row.append(...parts);
    return row;
  }

  /** Reads the list from the server, once for several changes. Pages of a crowd do so at different moments. */
  let isReading = false;
  function readBids() {
    if (isReading) return;
    isReading = true;
    setTimeout(async () => {
      try {
        const answer = await fetch(location.href, { cache: "no-store", redirect: "error", signal: AbortSignal.timeout(5000) });
        if (!answer.ok) return;
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("[data-feed] ul");
        if (fresh) list.replaceChildren(...[...fresh.children].map((row) => document.adoptNode(row)));
      } catch {
        // The next change reads them.
      } finally {
        isReading = false;
      }
    }, 200 + Math.random() * 1500);
  }

  // The line about the lot in the ring.
  const stage = document.querySelector("[data-stage]");
  let inRing = null;
  function showStage(item) {
    if (!stage || (item.uuid !== inRing && !item.ring)) return;
    if (item.ring) {
      inRing = item.uuid;
      if (item.ring.linkLost) return put(stage, words.linkLost);
      const text = item.ring.paused ? words.stagePaused : item.ring.warnings > 0 ? words.stageWarned : words.stageRing;
      put(stage, fill(text, { lot: item.lotNumber, amount: money(item.ring.askingPrice) }));
    } else if (isSold(item) && item.price !== null) put(stage, fill(words.stageSold, { lot: item.lotNumber, amount: money(item.price) }));
    else if (item.status === "PASSED") put(stage, fill(words.stagePassed, { lot: item.lotNumber }));
    else put(stage, words.stageNone);
  }

  function showAuction({ status }) {
    if (status !== "PREVIEW" && status !== "LIVE") end(words.over);
  }

  // The link.
  const notice = document.querySelector("[data-link-notice]");
  /** The sentence about the age of the prices. */
  const state = document.querySelector("[data-live-static]");
  // A shorter sentence leaves what is below it in its place.
  if (state) state.parentElement.style.minHeight = `${state.parentElement.offsetHeight}px`;
  let source = null;
  let isLive = false;
  let isOver = false;
  let heardAt = 0;
  let silenceMaxMs = FIRST_EVENT_MAX_MS;
  let attempts = 0;
  let reconnecting = 0;

  function setLive(value) {
    if (value === isLive) return;
    isLive = value;
    words.link = isLive ? "live" : "lost";
    put(state, isLive ? words.static : words.lost);
    document.dispatchEvent(new CustomEvent("lotwire:link", { detail: { isLive } }));
  }

  function heard(event) {
    heardAt = performance.now();
    const data = JSON.parse(event.data);
    hearTime(data.serverTime);
    return data;
  }

  function connect() {
    close();
    if (document.hidden || isOver) return;
    [heardAt, silenceMaxMs, ahead] = [performance.now(), FIRST_EVENT_MAX_MS, null];
    source = new EventSource(words.stream);
    source.addEventListener("snapshot", (event) => {
      const { auction, items, messages: all } = heard(event);
      [attempts, silenceMaxMs] = [0, Math.max(silenceMaxMs, 17000)];
      items.forEach(showLot);
      showMessages(all);
      if (stage && auction.inRing === null && (inRing === null || states.get(inRing)?.ring)) put(stage, words.stageNone);
      showAuction(auction);
      if (isOver) return;
      put(notice, "");
      setLive(true);
    });
    source.addEventListener("item", (event) => showLot(heard(event).item));
    source.addEventListener("auction", (event) => showAuction(heard(event).auction));
    source.addEventListener("messages", (event) => showMessages(heard(event).messages));
    source.addEventListener("gone", (event) => hideLot(heard(event).gone));
    source.addEventListener("beat", (event) => {
      silenceMaxMs = heard(event).nextMs + LATE_MAX_MS;
    });
    source.onerror = () => lose();
  }

  function close() {
    clearTimeout(reconnecting);
    source?.close();
    source = null;
  }

  function lose() {
    close();
    setLive(false);
    if (isOver || document.hidden) return;
    put(notice, words.lost);
    const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
    attempts += 1;
    reconnecting = setTimeout(attempts > 2 ? probe : connect, pause * (0.75 + Math.random() / 2));
  }

  /** A refused stream hides the answer's status: the page itself shows whether the sale goes on. */
  async function probe() {
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (answer.status === 404) return end(words.gone);
      if (answer.ok && !(await answer.text()).includes('id="live"')) return end(words.over);
    } catch {
      // The server can't be reached.
    }
    connect();
  }

  /** The page is live no more. */
  function end(text) {
    isOver = true;
    close();
    setLive(false);
    put(state, text);
    const again = document.createElement("a");
    [again.href, again.textContent] = [location.href, words.again];
    notice.replaceChildren(`${text} `, again);
  }

  /** After sleep the link may look whole and be dead, and prices are old. */
  function wake() {
    if (isOver) return;
    attempts = 0;
    put(notice, words.back);
    connect();
  }

  document.addEventListener("visibilitychange", () => {
    // A browser opens six connections to a server: a hidden page leaves its own to others.
    if (document.hidden) {
      close();
      setLive(false);
    } else wake();
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) wake();
  });
  addEventListener("pagehide", close);
  addEventListener("offline", lose);
  addEventListener("online", () => {
    if (!source) connect();
  });
  setInterval(() => {
    if (source && performance.now() - heardAt > silenceMaxMs) lose();
  }, 250);
  connect();
})();
