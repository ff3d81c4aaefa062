// Shows what is new for a bidder at the top of the page, on every page, and lets this browser show it while no page is open.
"use strict";

(() => {
  const region = document.getElementById("new-notices");
  if (!region) return;
  const { house, key } = region.dataset;
  /** Pause between two questions what is new, and the shortest one after a change of a lot. */
  const READ_MS = 5000;
  const SOON_MS = 700;
  const ANSWER_MS = 8000;

  let latest = region.dataset.latest;
  let timer = null;
  let isReading = false;

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(read, pause);
  }

  async function read() {
    if (isReading || document.hidden) return;
    isReading = true;
    try {
      const response = await fetch(`${house}/notices/new?after=${latest}`, { credentials: "same-origin", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(ANSWER_MS) });
      if (response.status === 200) show(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // The next question finds what this one missed.
    }
    isReading = false;
    later(READ_MS);
  }

  /** The lot of this page says itself how its bidder stands. */
  const isOfPage = (notice) => document.querySelector(`.lot-text[data-lot="${notice.dataset.item}"]`) !== null;

  function show(page) {
    const found = page.querySelector("[data-new-notices]");
    if (!found) return;
    latest = found.dataset.latest;
    for (const count of document.querySelectorAll("[data-notices-count]")) {
      count.textContent = found.dataset.count;
      count.hidden = found.dataset.count === "";
    }
    const fresh = [...found.querySelectorAll("[data-notice]")].filter((notice) => !isOfPage(notice));
    if (fresh.length > 0) region.replaceChildren(...fresh.map((notice) => document.adoptNode(notice)));
  }

  region.addEventListener("click", ({ target }) => {
    const notice = target.closest("[data-notice]");
    if (!notice) return;
    const body = new URLSearchParams({ through: notice.dataset.notice });
    fetch(`${house}/notices/seen`, { method: "POST", body, credentials: "same-origin", redirect: "manual", keepalive: true }).catch(() => {});
    if (target.closest("button")) notice.remove();
  });

  document.addEventListener("lotwire:lot", () => later(SOON_MS));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) later(0);
  });
  later(READ_MS);

  // Notices in this browser while no page is open.
  const canPush = key !== "" && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!canPush) return;
  const worker = `${house}/push/worker.js`;

  /** The worker, as soon as it runs. */
  async function registration() {
    const registered = await navigator.serviceWorker.register(worker);
    const coming = registered.installing ?? registered.waiting;
    if (registered.active || !coming) return registered;
    await new Promise((resolve) => coming.addEventListener("statechange", () => {
      if (coming.state === "activated" || coming.state === "redundant") resolve();
    }));
    return registered;
  }

  async function subscription() {
    const registered = await navigator.serviceWorker.getRegistration(worker);
    return registered ? registered.pushManager.getSubscription() : null;
  }

  const text = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const told = (name, made) => {
    const body = new URLSearchParams({ endpoint: made.endpoint, p256dh: text(made.getKey("p256dh")), auth: text(made.getKey("auth")) });
    return fetch(`${house}/${name}`, { method: "POST", body, credentials: "same-origin", redirect: "error" });
  };

  async function on() {
    if ((await Notification.requestPermission()) !== "granted") return false;
    const registered = await registration();
    const made = await registered.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    return (await told("push", made)).status === 204;
  }

  async function off() {
    const made = await subscription();
    if (!made) return;
    await told("push/remove", made);
    await made.unsubscribe();
  }

  // A browser belongs to the session that is signed in now: it says so once for each window.
  const BOUND = `push-bound ${house}`;
  if (Notification.permission === "granted" && !sessionStorage.getItem(BOUND)) {
    subscription().then((made) => made && told("push", made)).then(() => sessionStorage.setItem(BOUND, "yes")).catch(() => {});
  }

  // The page on which a bidder chooses, and the offer after the first bid or watch. No page asks when it is loaded.
  const part = document.querySelector("[data-push]");
  const answer = document.querySelector("[data-push-answer]");
  const words = region.dataset;
  async function showState() {
    const isOn = Notification.permission === "granted" && (await subscription()) !== null;
    part.querySelector("[data-push-on]").hidden = isOn;
    part.querySelector("[data-push-off]").hidden = !isOn;
  }
  if (part) {
    document.querySelector("[data-push-none]").hidden = true;
    part.hidden = false;
    showState();
    part.querySelector("[data-push-on]").addEventListener("click", async () => {
      answer.textContent = (await on().catch(() => false)) ? words.isOn : words.refused;
      showState();
    });
    part.querySelector("[data-push-off]").addEventListener("click", async () => {
      await off().catch(() => {});
      answer.textContent = words.isOff;
      showState();
    });
  }

  const ASKED = `push-asked ${house}`;
  const line = document.getElementById("push-offer");
  /** The bidder has bid on the lot of this page, or watches it. */
  const isFollowed = () => line.dataset.followed === "true" || document.getElementById("own-standing") !== null || document.getElementById("bid-answer")?.dataset.standing === "yes";

  function offer() {
    if (line.hidden && isFollowed() && Notification.permission === "default" && !localStorage.getItem(ASKED)) line.hidden = false;
  }

  function endOffer() {
    localStorage.setItem(ASKED, "yes");
    line.hidden = true;
  }

  if (line) {
    line.querySelector("[data-push-on]").addEventListener("click", async () => {
      await on().catch(() => false);
      endOffer();
    });
    line.querySelector("[data-push-later]").addEventListener("click", endOffer);
    setInterval(offer, READ_MS);
    offer();
  }
})();
