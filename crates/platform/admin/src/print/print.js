// The button that prints the paper. It waits for the pictures, so that no frame is empty. Without this script, the browser's
// own command prints.
"use strict";

const printButton = document.querySelector("[data-print]");

if (printButton) {
  const words = printButton.textContent;
  printButton.hidden = false;
  printButton.addEventListener("click", () => window.print());
  if (document.readyState !== "complete") {
    printButton.disabled = true;
    printButton.textContent = "Loading pictures";
    window.addEventListener("load", () => {
      printButton.disabled = false;
      printButton.textContent = words;
    });
  }
}
