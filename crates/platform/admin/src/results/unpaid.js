// Counts and sums the lots that are ticked on the form of unpaid lots. The page after the form shows the same without
// this script.
const chosenLots = document.querySelector("[data-chosen]");
if (chosenLots) {
  // An amount of zero shows how the server writes amounts, such as `£0.00`.
  const [, currency, decimals] = chosenLots.dataset.zero.match(/^(.*?)0(?:\.(0+))?$/);
  const digits = decimals?.length ?? 0;
  const written = (minor) => {
    const text = minor.toString().padStart(digits + 1, "0");
    const whole = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, ",");
    return `${currency}${whole}${digits ? `.${text.slice(-digits)}` : ""}`;
  };
  const show = () => {
    const lots = [...document.querySelectorAll("[name=lot]:checked")];
    const sum = lots.reduce((total, lot) => total + BigInt(lot.dataset.minor), 0n);
    chosenLots.textContent = `${lots.length} ${lots.length === 1 ? "lot" : "lots"}, ${written(sum)}`;
  };
  addEventListener("change", show);
  // A browser restores the ticks when a person comes back.
  addEventListener("pageshow", show);
  show();
}
