// Keys: / searches, j and k move in a list, ? shows all; an element with data-key is pressed by that key.
(() => {
  "use strict";
  const writing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
  const items = () => [...document.querySelectorAll("[data-item]")].filter((item) => item.getClientRects().length);
  const door = (item) => (item.matches("a, button") ? item : item.querySelector("a, button"));

  function move(step) {
    const all = items();
    if (!all.length) return;
    const at = all.findIndex((item) => item.contains(document.activeElement));
    const next = at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1);
    const to = door(all[next]);
    if (to) {
      to.focus();
      all[next].scrollIntoView({ block: "nearest" });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (!(event.target instanceof Element) || writing(event.target)) return;
    const help = document.getElementById("keys");
    if (event.key === "?" && help) {
      if (help.open) help.close();
      else help.showModal();
    } else if (help && help.open) {
      return;
    } else if (event.key === "/") {
      const field = document.querySelector("[data-search]");
      if (!field) return;
      field.focus();
      field.select();
    } else if (event.key === "j" || event.key === "k") {
      move(event.key === "j" ? 1 : -1);
    } else {
      const pressed = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
      if (!pressed) return;
      pressed.click();
    }
    event.preventDefault();
  });
})();
