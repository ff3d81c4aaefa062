// Uploads many images: one request for each, a few at a time, with progress. A file that fails stops no other and can be tried
// again; a file that matches no lot waits in the tray for its lot number. Without this script the form sends all files at once.
"use strict";

const AT_ONCE_MAX = 3;
const NAMES_MAX = 500;
// Pauses before a file is sent again while the server is busy.
const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
const WORDS = { waiting: ["wait", "Waits"], sending: ["info", "Sending"], refused: ["bad", "Refused"] };

const form = document.querySelector("[data-upload]");
const waiting = [];
const tray = new Set();
const count = { all: 0, done: 0, failed: 0, unmatched: 0 };
let fields = 0;
let sending = 0;
let archives = 0;

function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function status() {
  const line = document.getElementById("upload-status");
  const unmatched = tray.size ? ` ${tray.size} ${tray.size === 1 ? "waits" : "wait"} for a lot.` : "";
  const failed = count.failed ? ` ${count.failed} ${count.failed === 1 ? "was" : "were"} refused.` : "";
  const left = count.unmatched ? ` ${count.unmatched} without a lot.` : "";
  line.textContent = `${count.done} of ${count.all} ${count.all === 1 ? "file is at its lot" : "files are at their lots"}.${failed}${unmatched}${left}`;
}

// Adds a row for a file of a known lot.
function addRow(file, lot) {
  const row = element("tr");
  const cells = ["File", "Lot", "Result"].map((name) => {
    const cell = element("td");
    cell.dataset.of = name;
    row.append(cell);
    return cell;
  });
  cells[0].textContent = file.name;
  if (lot) {
    const link = element("a", lot.lotNumber);
    link.href = form.dataset.lots + lot.item;
    cells[1].append(link);
  }
  const result = element("div");
  cells[2].append(result);
  document.getElementById("file-rows").append(row);
  document.getElementById("results").hidden = false;
  return { file, lot, result, tries: 0 };
}

function show(job, [kind, words], why = "") {
  job.result.replaceChildren(element("span", words, `status ${kind}`));
  if (why) job.result.append(element("p", why));
}

function enqueue(job) {
  show(job, WORDS.waiting);
  waiting.push(job);
  sendNext();
}

function sendNext() {
  while (sending < AT_ONCE_MAX && waiting.length) send(waiting.shift());
  status();
}

function send(job) {
  sending += 1;
  show(job, WORDS.sending);
  const progress = element("progress");
  progress.setAttribute("aria-label", `Progress of ${job.file.name}`);
  progress.max = job.file.size || 1;
  progress.value = 0;
  job.result.append(" ", progress);
  const request = new XMLHttpRequest();
  request.open("POST", `${form.dataset.upload}/one?${new URLSearchParams({ item: job.lot.item, name: job.file.name })}`);
  request.setRequestHeader("content-type", "application/octet-stream");
  request.upload.onprogress = (event) => {
    progress.value = event.loaded;
  };
  request.onloadend = () => {
    sending -= 1;
    const answer = read(request);
    if (request.status === 503 && job.tries < PAUSES_MS.length) {
      show(job, WORDS.waiting);
      setTimeout(() => enqueue(job), PAUSES_MS[job.tries]);
      job.tries += 1;
    } else if (answer.state) {
      count.done += 1;
      show(job, [answer.state === "Already there" ? "off" : "good", answer.state]);
    } else {
      fail(job, answer.why);
    }
    sendNext();
  };
  request.send(job.file);
}

// What the server says about a file. Its error pages are no JSON.
function read(request) {
  if (request.status === 0) return { why: "The server can't be reached. Try again when you are online." };
  if (request.status === 401) return { why: "Your session has ended. Sign in on another page, then try again." };
  try {
    return JSON.parse(request.responseText);
  } catch {
    return { why: `The server did not store it (status ${request.status}). Try again.` };
  }
}

// Uploads an archive. The server answers with a line for each image while it stores them.
function sendArchive(file) {
  const job = addRow(file, null);
  show(job, WORDS.sending);
  const progress = element("progress");
  progress.setAttribute("aria-label", `Progress of ${file.name}`);
  progress.max = file.size || 1;
  progress.value = 0;
  job.result.append(" ", progress);
  const request = new XMLHttpRequest();
  request.open("POST", `${form.dataset.upload}/archive?${new URLSearchParams({ name: file.name })}`);
  request.setRequestHeader("content-type", "application/zip");
  request.upload.onprogress = (event) => {
    progress.value = event.loaded;
  };
  archives += 1;
  let seen = 0;
  // The answer about the archive itself, when it has no images or can't be read.
  let whole = { kind: "good", state: "Read", why: "" };
  const addImages = () => {
    if (request.status !== 200) return;
    const lines = request.responseText.slice(seen).split("\n");
    seen += request.responseText.length - seen - lines.pop().length;
    for (const line of lines) {
      const image = JSON.parse(line);
      if (image.name === file.name && !image.item) whole = image;
      else addImage(file, image);
    }
    status();
  };
  request.onprogress = addImages;
  request.onloadend = () => {
    archives -= 1;
    addImages();
    if (request.status === 200) show(job, [whole.kind, whole.state], whole.why);
    else show(job, WORDS.refused, read(request).why);
    status();
  };
  request.send(file);
}

// Adds what became of an image of an archive. One without a lot waits in the tray, and is taken from the archive later.
function addImage(archive, image) {
  count.all += 1;
  if (image.packed) {
    toTray({ name: image.name, open: () => unpack(archive, image) }, image.why);
    return;
  }
  const job = addRow({ name: image.name }, image.item ? image : null);
  if (image.isUnmatched) count.unmatched += 1;
  else if (image.why) count.failed += 1;
  else count.done += 1;
  show(job, [image.kind, image.state], image.why);
}

// The image of an archive, from the part that the server has named.
async function unpack(archive, { name, packed }) {
  const part = archive.slice(packed.offset, packed.offset + packed.bytes);
  if (!packed.isDeflated) return new File([part], name);
  const unpacked = part.stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new File([await new Response(unpacked).blob()], name);
}

function fail(job, why) {
  count.failed += 1;
  show(job, WORDS.refused, why);
  const again = element("button", "Try again", "quiet");
  again.type = "button";
  again.setAttribute("aria-label", `Try again: ${job.file.name}`);
  again.addEventListener("click", () => {
    count.failed -= 1;
    job.tries = 0;
    enqueue(job);
  });
  job.result.append(again);
}

// Asks for the lots of these names, in their order.
async function matches(names) {
  const found = [];
  for (let at = 0; at < names.length; at += NAMES_MAX) {
    const body = new URLSearchParams(names.slice(at, at + NAMES_MAX).map((name) => ["name", name]));
    const answer = await fetch(`${form.dataset.upload}/match`, { method: "POST", credentials: "same-origin", redirect: "error", body });
    if (!answer.ok) throw new Error(answer.status === 401 ? "Your session has ended. Sign in again." : `The server did not match the files (status ${answer.status}). Try again.`);
    found.push(...(await answer.json()).files);
  }
  return found;
}

function begin(file, lot) {
  const job = addRow(file, lot);
  if (file.size > Number(form.dataset.bytesMax)) {
    fail(job, `The image has more than ${Number(form.dataset.bytesMax) >> 20} MiB: make it smaller.`);
    status();
  } else {
    enqueue(job);
  }
}

// Asks for the lot of a file. `open` gives its content.
function toTray({ name, open }, why) {
  const entry = element("li");
  const field = element("input");
  field.autocomplete = "off";
  field.maxLength = 32;
  field.className = "short";
  const label = element("label", "Lot");
  fields += 1;
  field.id = `tray-${fields}`;
  label.htmlFor = field.id;
  field.setAttribute("aria-label", `Lot of ${name}`);
  const fault = element("span", why, "soft");
  const leave = element("button", "Leave out", "quiet");
  leave.type = "button";
  leave.setAttribute("aria-label", `Leave out ${name}`);
  const waits = { name, open, entry, field, fault };
  leave.addEventListener("click", () => {
    remove(waits);
    count.all -= 1;
    status();
  });
  entry.append(element("b", name), " ", fault, " ", label, " ", field, " ", leave);
  document.getElementById("tray-files").append(entry);
  tray.add(waits);
  document.getElementById("tray").hidden = false;
}

function remove(waits) {
  tray.delete(waits);
  waits.entry.remove();
  document.getElementById("tray").hidden = tray.size === 0;
}

function say(text) {
  document.getElementById("upload-status").textContent = text;
}

async function start(chosen) {
  const isArchive = (file) => /\.zip$/i.test(file.name);
  chosen.filter(isArchive).forEach(sendArchive);
  const files = chosen.filter((file) => !isArchive(file));
  if (!files.length) return;
  say("Matching the files to the lots");
  let found;
  try {
    found = await matches(files.map((file) => file.name));
  } catch (error) {
    say(error instanceof TypeError ? "The server can't be reached. Choose the files again when you are online." : error.message);
    return;
  }
  count.all += files.length;
  files.forEach((file, place) => {
    const { why, ...lot } = found[place];
    if (why) toTray({ name: file.name, open: async () => file }, `${why}.`);
    else begin(file, lot);
  });
  status();
}

if (form) {
  for (const text of document.querySelectorAll("[data-without-script]")) text.hidden = true;
  for (const text of document.querySelectorAll("[data-with-script]")) text.hidden = false;
  const input = document.getElementById("files");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const files = [...input.files];
    form.reset();
    start(files);
  });
  const drop = document.querySelector("[data-drop]");
  const mark = (isOver) => drop.classList.toggle("dropping", isOver);
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(true);
  });
  drop.addEventListener("dragleave", () => mark(false));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(false);
    start([...event.dataTransfer.files]);
  });
  document.getElementById("tray-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const named = [...tray].filter((waits) => waits.field.value.trim());
    if (!named.length) return;
    let found;
    try {
      // With an ending, so that a point in a lot number is not taken for one.
      found = await matches(named.map((waits) => `${waits.field.value.trim()}.jpg`));
    } catch (error) {
      say(error.message);
      return;
    }
    const refuse = (waits, why) => {
      waits.fault.textContent = why;
      waits.fault.className = "fault";
    };
    for (const [place, waits] of named.entries()) {
      const { why, ...lot } = found[place];
      if (why) {
        refuse(waits, `No lot has the number ${waits.field.value.trim()}.`);
        waits.field.setAttribute("aria-invalid", "true");
        continue;
      }
      try {
        const file = await waits.open();
        remove(waits);
        begin(file, lot);
      } catch {
        refuse(waits, "The archive can't be read any more. Choose it again.");
      }
    }
    tray.values().next().value?.field.focus();
    status();
  });
  addEventListener("beforeunload", (event) => {
    if (sending || archives || waiting.length || tray.size) event.preventDefault();
  });
}
