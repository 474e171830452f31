"use strict";
// Copy a call, go from one wrong check to the next, scroll a drawing to its point, unfold a link's target.
// The page shows everything without this script.
(() => {
  const told = document.getElementById("told");
  const wrong = () => Array.from(document.querySelectorAll(".failure, .begun > .lesson:is(.invalid, .missing), #no-file"));

  const copy = async (button) => {
    const text = button.closest(".call").querySelector("pre").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a disk may have no clipboard: select, so that the browser's own command does it
      const range = document.createRange();
      range.selectNodeContents(button.closest(".call").querySelector("pre"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      if (!document.execCommand("copy")) return;
    }
    const before = button.textContent;
    button.textContent = told.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = before; told.textContent = ""; }, 1600);
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }

  const aim = (frame) => { // once, when it is first seen: what is marked in the drawing comes to its middle, else the result does
    const node = frame.querySelector("svg.graph .marked") || frame.querySelector("svg.graph g");
    if (!node || frame.dataset.aimed || frame.closest("details:not([open])")) return;
    frame.dataset.aimed = "yes";
    const [inner, outer] = [node.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    frame.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
  };
  document.querySelectorAll(".scroll").forEach(aim);
  document.addEventListener("toggle", (event) => event.target.querySelectorAll(".scroll").forEach(aim), true); // it does not bubble

  const reveal = (at) => { for (; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true; };
  const arrive = () => { // at an address within the page: older browsers do not unfold what it lies in
    const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!there) return;
    reveal(there);
    there.scrollIntoView({ block: "start" });
  };
  addEventListener("hashchange", arrive);
  arrive();

  const tools = document.getElementById("tools");
  if (!tools) return;
  tools.hidden = document.getElementById("keys").hidden = false;

  let at = null;
  const go = (by) => {
    const places = wrong();
    let index = places.indexOf(at);
    if (index < 0 || !places[index].getClientRects().length) { // from what is in view
      const below = places.findIndex((one) => one.getBoundingClientRect().top > 80);
      index = by > 0 ? (below < 0 ? 0 : below) : (below < 0 ? places.length : below) - 1;
    } else {
      index += by;
    }
    at = places[(index + places.length) % places.length];
    const focus = at.querySelector("summary") || at;
    reveal(focus);
    if (focus === at) at.tabIndex = -1;
    focus.focus({ preventScroll: true });
    at.scrollIntoView({ block: "start" });
  };

  document.getElementById("next").addEventListener("click", () => go(1));
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const by = { j: 1, k: -1 }[event.key];
    if (by) { go(by); event.preventDefault(); }
  });
})();
