"use strict";
// Sort, filter and search the table of submissions. Without this script the page is complete, but the table is static.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row, place) => ({
    row, place, name: (row.cells[0].firstChild.textContent + "\n" + row.dataset.name).toLocaleLowerCase(), score: Number(row.dataset.score),
    mistakes: Number(row.cells[3].textContent), states: row.dataset.states.split(" "), section: row.dataset.section, made: row.dataset.made, wrong: row.dataset.wrong,
  }));
  const section = document.getElementById("section"); // is there if the roster has sections
  const [search, state, clear, shown, nobody] = ["search", "state", "clear", "shown", "nobody"].map((id) => document.getElementById(id));
  let only = null; // {kind: "made" or "wrong", number, what}: who made a mistake, who got a check wrong

  const show = () => {
    const words = search.value.toLocaleLowerCase().trim();
    let count = 0;
    for (const one of rows) {
      const fits = (!words || one.name.includes(words)) && (!state.value || one.states.includes(state.value))
        && (!section || !section.value || one.section.split(", ").includes(section.value))
        && (!only || one[only.kind].includes(" " + only.number + " "));
      if (one.row.hidden === fits) one.row.hidden = !fits;
      count += fits;
    }
    const filtered = Boolean(words || state.value || only || (section && section.value));
    clear.hidden = !filtered;
    nobody.hidden = count > 0;
    shown.textContent = (filtered ? count + " of " + rows.length : String(rows.length)) + (only ? ": " + only.what : "");
  };

  const sort = (heading) => {
    const key = heading.dataset.key;
    const before = heading.getAttribute("aria-sort");
    const down = before ? before === "ascending" : key !== "name"; // numbers begin with the most
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = (a, b) => (key === "name" ? a.place - b.place : a[key] - b[key]) * (down ? -1 : 1) || a.place - b.place;
    body.remove(); // rows move faster where nothing is laid out
    body.append(...rows.sort(order).map((one) => one.row));
    table.append(body);
  };

  const follow = () => {
    const [, kind, value] = /^#(made|wrong|state)-(\w+)$/.exec(location.hash) || [];
    if (!kind) { // the browser unfolds what a target lies in, not a target that is folded itself
      const target = document.getElementById(location.hash.slice(1));
      if (target && target.tagName === "DETAILS") target.open = true;
      return;
    }
    const link = document.querySelector("a.show[href='" + location.hash + "']");
    const about = link && link.closest("li, tr");
    const title = about && about.querySelector("h3, .name, th");
    const name = title ? title.firstChild.textContent.trim() : "";
    state.value = kind === "state" ? value : "";
    only = kind === "state" ? null : { kind, number: value, what: (kind === "made" ? "" : "not right in ") + "“" + name + "”" };
    search.value = "";
    show();
    document.getElementById("submissions").scrollIntoView();
    search.focus({ preventScroll: true });
  };

  for (const heading of table.tHead.querySelectorAll("[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }
  const reset = () => { only = null; history.replaceState(null, "", location.pathname + location.search); };
  search.addEventListener("input", show);
  state.addEventListener("change", show);
  if (section) section.addEventListener("change", show);
  clear.addEventListener("click", () => { reset(); search.value = state.value = ""; if (section) section.value = ""; show(); search.focus(); });
  document.addEventListener("click", (event) => { // the same link once more: the address does not change then
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) { event.preventDefault(); follow(); }
  });
  addEventListener("hashchange", follow);
  document.getElementById("tools").hidden = false;
  show();
  follow();
})();
