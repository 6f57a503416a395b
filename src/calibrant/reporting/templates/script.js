(() => {
  "use strict";
  document.querySelectorAll(".control").forEach((control) => { control.hidden = false; });

  const slider = document.getElementById("bins-slider");
  slider?.addEventListener("input", () => {
    const shown = JSON.parse(slider.dataset.states)[Number(slider.value)];
    document.querySelectorAll("g[data-bins]").forEach((state) => {
      if (state.dataset.bins === shown.bins) state.removeAttribute("display");
      else state.setAttribute("display", "none");
    });
    slider.setAttribute("aria-valuetext", `${shown.bins} bins`);
    document.getElementById("bins-value").textContent = shown.text;
  });

  ["class", "group"].forEach((kind) => {
    const filter = document.getElementById(`${kind}-filter`);
    if (!filter) return;
    const all = [...document.querySelectorAll(`[data-${kind}]`)];
    const rows = all.filter((one) => one.tagName === "TR");
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      all.forEach((one) => { one.hidden = !one.dataset[kind].toLowerCase().includes(wanted); });
      const count = rows.filter((row) => !row.hidden).length;
      const noun = rows.length === 1 ? kind : { class: "classes", group: "groups" }[kind];
      document.getElementById(`${kind}-count`).textContent = wanted ? `${count} of ${rows.length} ${noun}` : "";
    });
  });

  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.classList.contains("fixed")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      const value = (row) => {
        const text = row.cells[column].childNodes[0].textContent.trim();
        const number = parseFloat(text.replace(/,/g, "").replace("−", "-"));
        return Number.isNaN(number) ? text.toLowerCase() : number;
      };
      button.addEventListener("click", () => {
        const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        heads.forEach((one) => { one.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
        rows.sort(([a], [b]) => sign * (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1));
        table.tBodies[0].append(...rows.map(([, row]) => row));
      });
    });
  });

  const output = document.getElementById("output-filter");
  output?.addEventListener("change", () => {
    document.querySelectorAll("[data-output]").forEach((one) => { one.hidden = output.value !== "" && one.dataset.output !== output.value; });
  });

  const say = (event) => {
    const point = event.target.closest("circle[tabindex]");
    if (!point) return;
    point.closest("figure").querySelector(".readout").textContent = point.querySelector("title").textContent;
  };
  document.addEventListener("focusin", say);
  document.addEventListener("pointerover", say);
  document.addEventListener("keydown", (event) => {
    const point = event.target.closest("circle[tabindex]");
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!point || !step) return;
    const points = [...point.parentNode.querySelectorAll("circle[tabindex]")];
    const next = points[points.indexOf(point) + step];
    if (next) {
      point.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    }
    event.preventDefault();
  });
})();
