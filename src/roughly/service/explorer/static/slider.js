// The number beside a slider follows it.
(() => {
  "use strict";
  document.addEventListener("input", (event) => {
    const slider = event.target;
    if (!(slider instanceof HTMLInputElement) || slider.type !== "range") return;
    const said = document.querySelector(`output[for="${slider.id}"]`);
    if (said) said.textContent = String(Number(slider.value));
  });
})();
