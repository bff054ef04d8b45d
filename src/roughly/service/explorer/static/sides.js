// Two texts side by side scroll together: common parts are at the same height. `d` scrolls to the next difference.
(() => {
  "use strict";
  const panes = [...document.querySelectorAll(".pane[data-side]")];
  if (panes.length !== 2) return;
  const anchors = (pane) => new Map([...pane.querySelectorAll("[data-at]")].map((one) => [one.dataset.at, one]));
  const maps = panes.map(anchors);
  const shared = [...maps[0].keys()].filter((name) => maps[1].has(name));
  let driven = null;

  // Places (top in one pane, top in the other), rising in the first: what is scrolled between them is interpolated.
  function places(from, into) {
    const found = [[0, 0]];
    for (const name of shared) {
      const here = maps[from].get(name);
      const there = maps[into].get(name);
      found.push([here.offsetTop, there.offsetTop]);
      found.push([here.offsetTop + here.offsetHeight, there.offsetTop + there.offsetHeight]);
    }
    found.push([panes[from].scrollHeight, panes[into].scrollHeight]);
    return found.sort((a, b) => a[0] - b[0]);
  }

  function follow(from, into) {
    const top = panes[from].scrollTop;
    const all = places(from, into);
    let at = 0;
    while (at + 1 < all.length && all[at + 1][0] <= top) at += 1;
    const [x0, y0] = all[at];
    const [x1, y1] = all[Math.min(at + 1, all.length - 1)];
    const part = x1 > x0 ? (top - x0) / (x1 - x0) : 0;
    driven = panes[into];
    panes[into].scrollTop = y0 + part * (y1 - y0);
  }

  panes.forEach((pane, number) => {
    pane.addEventListener("scroll", () => {
      if (driven === pane) {
        driven = null;
        return;
      }
      follow(number, 1 - number);
    }, { passive: true });
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "d" || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof Element && event.target.closest("input, textarea, select")) return;
    for (const pane of panes) {
      const next = [...pane.querySelectorAll("del, ins, .moved")].find((one) => one.offsetTop > pane.scrollTop + 24);
      if (next) {
        pane.scrollTop = Math.max(0, next.offsetTop - 20);
        return;
      }
    }
  });
})();
