// The message to all visitors: what they see now, and the form that writes another one or clears it.

const messageForm = document.getElementById("message");
const messageField = document.getElementById("message-text");

function renderMessage() {
  const shown = truth.message;
  for (const name of ["message", "message-now"]) {
    put(name, shown ? `${clock(shown.at).slice(0, 5)} ${shown.text}` : "No message is shown.");
    slot(name).classList.toggle("empty-line", !shown);
  }
  slot("message").title = shown?.text ?? "";
  document.querySelector("[data-message=clear]").hidden = !shown;
}

/** Sends a text, or null to clear. A text that arrives twice is shown once, so a lost answer is no harm. */
async function sendMessage(text) {
  put("message-fault", "");
  const body = JSON.stringify({ text });
  const headers = { "Content-Type": "application/json" };
  try {
    const answer = await request("/message", { method: "POST", headers, body, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    if (!answer.ok) return put("message-fault", (await problemOf(answer)).message);
    adopt(await answer.json());
    messageForm.close();
    say(text === null ? "Visitors see no message." : "All visitors see the message.", "good");
  } catch (error) {
    if (error instanceof SessionEnded) {
      messageForm.close();
      return lose(error);
    }
    put("message-fault", "The server has not answered. Send it again: it is shown once.");
  }
}

document.querySelector("[data-message=write]").addEventListener("click", () => {
  if (!truth) return;
  put("message-fault", "");
  messageField.value = "";
  messageForm.showModal();
  messageField.focus();
});
document.querySelector("[data-message=clear]").addEventListener("click", () => sendMessage(null));
// The field has no `maxlength`, because a browser cuts a longer pasted text without a message.
messageField.addEventListener("input", () => {
  const [chars, max] = [[...messageField.value.trim()].length, Number(messageField.dataset.charsMax)];
  put("message-fault", chars > max ? `The message has ${chars} characters: shorten it to at most ${max}.` : "");
});
messageForm.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  sendMessage(messageField.value);
});
