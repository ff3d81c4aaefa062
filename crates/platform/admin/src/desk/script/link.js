// The link to the server. It says "changed", and the desk fetches the state. While the link is lost the keys are blocked and
// nothing is queued; when it is back, the desk shows the server's state and what became of the last command.

let source = null;
let heardAt = 0;
let attempts = 0;
let isFetching = false;
let fetchAgain = false;

class SessionEnded extends Error {}

async function request(path, options = {}) {
  const answer = await fetch(base + path, { credentials: "same-origin", redirect: "manual", cache: "no-store", ...options });
  if (answer.type === "opaqueredirect" || answer.status === 401) throw new SessionEnded();
  return answer;
}

async function fetchState() {
  const answer = await request("/state", { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  if (answer.status === 403 || answer.status === 404) {
    end((await problemOf(answer)).message);
    throw new Error("refused");
  }
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

async function problemOf(answer) {
  try {
    return await answer.json();
  } catch {
    return { code: "unreadable", message: "The server's answer can't be read. Reload the page." };
  }
}

/** Fetches the state; once more if it changed meanwhile. */
async function refresh() {
  if (isFetching) {
    fetchAgain = true;
    return;
  }
  isFetching = true;
  try {
    do {
      fetchAgain = false;
      adopt(await fetchState());
    } while (fetchAgain);
  } catch (error) {
    lose(error);
  } finally {
    isFetching = false;
  }
}

function connect() {
  heardAt = performance.now();
  source = new EventSource(`${base}/live`);
  source.addEventListener("beat", (event) => {
    heard(event);
    report();
  });
  source.addEventListener("changed", (event) => {
    heard(event);
    // A change that comes while the state is being read may not be in it.
    if (link !== "connected") fetchAgain = true;
    else if (!isKnown(JSON.parse(event.data))) refresh();
  });
  source.onerror = () => lose();
}

function isKnown({ auction, item, version }) {
  if (auction !== undefined) return auction <= truth.version.auction;
  return item !== undefined && item === truth.lot?.uuid && version <= truth.version.item;
}

function heard() {
  heardAt = performance.now();
  if (link !== "connected" && link !== "ended") recover();
}

/** Tells the server, while the sale is live, that this desk receives its stream: without a desk the saleroom takes no bids. */
let reportedAt = -Infinity;
async function report() {
  if (link !== "connected" || truth.sale.status !== "LIVE" || performance.now() - reportedAt < REPORT_EVERY_MS) return;
  reportedAt = performance.now();
  try {
    await request("/held", { method: "POST", signal: AbortSignal.timeout(ANSWER_MAX_MS) });
  } catch {
    // The next one is due soon, and the stream shows whether the link is lost.
  }
}

/** Reads the truth after a connection, with the fate of a command whose answer was lost. */
async function recover() {
  if (isFetching) return;
  isFetching = true;
  fetchAgain = false;
  const lost = unresolved;
  try {
    if (lost) {
      const answer = await request("/outcome", { ...lost.request, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { isDone, state } = await answer.json();
      unresolved = null;
      adopt(state);
      if (isDone) say(`Connected again. This was saved before the link was lost: ${lost.words}.`, "good");
      else say(`Connected again. Not sent, and not done: ${lost.words}. Give the command again if it still applies.`, "bad");
    } else {
      const wasLost = link === "lost";
      adopt(await fetchState());
      if (wasLost) say("Connected again. This is the server's state; nothing was waiting to be sent.", "good");
      else if (link === "connecting") say("Ready.");
    }
    attempts = 0;
    link = "connected";
    showLink();
    render();
    if (fetchAgain) setTimeout(refresh);
  } catch (error) {
    lose(error);
  } finally {
    isFetching = false;
  }
}

function lose(error) {
  source?.close();
  source = null;
  if (link === "ended") return;
  if (error instanceof SessionEnded) return end("Your session has ended.", true);
  link = "lost";
  // What they ask may not apply any more.
  closeQuestions();
  showLink();
  render();
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length - 1)];
  attempts += 1;
  clearTimeout(reconnecting);
  reconnecting = setTimeout(() => probe(), pause * (0.75 + Math.random() / 2));
}
let reconnecting = 0;

/** A desk that has been hidden for this long leaves its connection to other pages: a browser opens six to a server. */
const HIDDEN_MAX_MS = 30_000;
let releasing = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(releasing);
  if (document.hidden) releasing = setTimeout(release, HIDDEN_MAX_MS);
  else if (link === "connecting" && !source) connect();
});

function release() {
  if (link !== "connected" || inFlight) return;
  source.close();
  source = null;
  link = "connecting";
  closeQuestions();
  showLink();
}

/** Finds out whether the session goes on before it opens a stream, because a stream hides the answer's status. */
async function probe() {
  try {
    await fetchState();
    connect();
  } catch (error) {
    lose(error);
  }
}

/** The desk can't go on without the clerk: the session or the permission has ended. */
function end(text, signIn = false) {
  link = "ended";
  source?.close();
  source = null;
  const banner = document.getElementById("banner");
  banner.textContent = `${text} `;
  if (signIn) {
    const again = make("a", "Sign in again");
    again.href = desk.dataset.signIn;
    banner.append(again);
  }
  banner.hidden = false;
  showLink();
  if (truth) render();
}

function showLink() {
  const words = { connecting: "Connecting", connected: "Connected · saved", lost: "No connection", ended: "Stopped" };
  const element = slot("link");
  put("link", link === "connected" && inFlight ? "Sending" : words[link]);
  element.className = `link-state ${link === "connected" && inFlight ? "sending" : link}`;
  const banner = document.getElementById("banner");
  if (link === "lost") {
    const many = attempts > 2 ? " Close other pages of Lotwire in this browser if many are open: it opens six connections to a server." : "";
    banner.textContent = `The link to the server is lost. Keys are blocked and nothing is queued. The desk connects again by itself.${many}`;
  }
  if (link !== "ended") banner.hidden = link !== "lost";
  desk.dataset.link = link;
}

setInterval(() => {
  if (source && performance.now() - heardAt > SILENCE_MAX_MS) lose();
}, 250);
