// Shows a picture of a lot as large as the screen, with the others beside it. Without this script a picture is a link to its file.
"use strict";

(() => {
  const dialog = document.getElementById("zoom");
  const links = [...document.querySelectorAll(".pictures a")];
  if (!dialog || links.length === 0) return;
  const picture = dialog.querySelector("img");
  const [before, after] = [dialog.querySelector("[data-zoom=previous]"), dialog.querySelector("[data-zoom=next]")];
  let shown = 0;

  function show(place) {
    shown = (place + links.length) % links.length;
    picture.src = links[shown].href;
    picture.alt = links[shown].querySelector("img").alt;
  }

  before.hidden = after.hidden = links.length === 1;
  before.addEventListener("click", () => show(shown - 1));
  after.addEventListener("click", () => show(shown + 1));
  dialog.querySelector("[data-zoom=close]").addEventListener("click", () => dialog.close());
  // A press beside the picture closes, too.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowLeft") show(shown - 1);
    if (key === "ArrowRight") show(shown + 1);
  });
  dialog.addEventListener("close", () => links[shown].focus());

  links.forEach((link, place) => {
    link.addEventListener("click", (event) => {
      // A new tab or window is the visitor's wish.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      show(place);
      dialog.showModal();
    });
  });
})();
