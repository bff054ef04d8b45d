// A file dropped on a [data-drop] is put into its field and sent.
(() => {
  "use strict";
  for (const zone of document.querySelectorAll("[data-drop]")) {
    const field = zone.querySelector("input[type=file]");
    const form = zone.closest("form");
    for (const name of ["dragenter", "dragover"]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.add("over");
      });
    }
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!event.dataTransfer || !event.dataTransfer.files.length) return;
      field.files = event.dataTransfer.files;
      form.requestSubmit();
    });
  }
})();
