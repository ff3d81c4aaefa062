// Suggests consignors that match what a person types, in a house that has more of them than a page lists. Without this script
// the field takes a reference or a whole name, and offers what matches when the form is sent.
const SUGGEST_AFTER_MS = 200;

function suggestConsignors(input, list, path) {
  let due;
  let asked = "";
  input.addEventListener("input", () => {
    clearTimeout(due);
    due = setTimeout(async () => {
      const text = input.value.trim();
      if (text.length < 2 || text === asked) return;
      asked = text;
      try {
        const answer = await fetch(`${path}?${new URLSearchParams({ text })}`, { credentials: "same-origin", redirect: "error" });
        if (!answer.ok || asked !== text) return;
        const holder = document.createElement("template");
        holder.innerHTML = await answer.text();
        list.replaceChildren(holder.content);
      } catch {
        // The field works without suggestions.
      }
    }, SUGGEST_AFTER_MS);
  });
}

// The cell of a lot's consignor, or a field of a form.
function suggestIn(input) {
  const list = input.list ?? document.getElementById("consignors");
  if (!list) return;
  if (!input.list) input.setAttribute("list", list.id);
  const path = list.dataset.suggest ?? input.dataset.suggest;
  if (path) suggestConsignors(input, list, path);
}

for (const input of document.querySelectorAll("input[data-suggest], .cell-form input[list=consignors]")) suggestIn(input);
