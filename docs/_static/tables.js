/* Tables of the class "arena" or "sortable": a click on a heading sorts, a field filters, and "arena" tables are drawn, any column against any other. */
"use strict";

const numberOf = (cell) => {
  const found = cell.textContent.trim().match(/^[-+]?[\d,]*\.?\d+/);
  return found ? Number(found[0].replaceAll(",", "")) : null;
};

const element = (name, attributes = {}, ...children) => {
  const made = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children);
  return made;
};

const labelled = (text, field) => element("label", {}, text, field);

function sortBy(table, column, heading) {
  const down = heading.getAttribute("aria-sort") !== "descending";
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, number: numberOf(row.cells[column]), text: row.cells[column].textContent.trim() }));
  const empty = (item) => item.text === "";
  rows.sort((a, b) => {
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    const order = a.number !== null && b.number !== null ? a.number - b.number : a.text.localeCompare(b.text);
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows.map((item) => item.row));
  table.querySelectorAll("thead th").forEach((th) => th.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
}

function plot(table, figure, x, y, headings) {
  const points = [...table.tBodies[0].rows].filter((row) => !row.hidden)
    .map((row) => ({ name: row.cells[0].textContent.trim(), ours: !!row.cells[0].querySelector("strong"), x: numberOf(row.cells[x]), y: numberOf(row.cells[y]) }))
    .filter((p) => p.x !== null && p.y !== null);
  figure.querySelector("svg")?.remove();
  if (!points.length) return;
  const [width, height, left, bottom] = [640, 380, 64, 44];
  const svg = element("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${headings[y]} by ${headings[x]}, a point for each method` });
  const span = (values) => { const [a, b] = [Math.min(...values), Math.max(...values)]; const m = (b - a || 1) * 0.05; return [a - m, b + m]; };
  const [xs, ys] = [span(points.map((p) => p.x)), span(points.map((p) => p.y))];
  const px = (v) => left + ((v - xs[0]) / (xs[1] - xs[0])) * (width - left - 16);
  const py = (v) => height - bottom - ((v - ys[0]) / (ys[1] - ys[0])) * (height - bottom - 16);
  svg.append(element("svg:path", { d: `M${left} 16V${height - bottom}H${width - 16}`, fill: "none" }));
  const digits = (s) => Math.max(0, 1 - Math.floor(Math.log10(s[1] - s[0])));
  for (let i = 0; i <= 4; i++) {
    const [u, v] = [xs, ys].map((s) => s[0] + ((s[1] - s[0]) * i) / 4);
    svg.append(element("svg:text", { x: px(u), y: height - bottom + 18, "text-anchor": "middle" }, u.toFixed(digits(xs))));
    svg.append(element("svg:text", { x: left - 8, y: py(v) + 4, "text-anchor": "end" }, v.toFixed(digits(ys))));
  }
  svg.append(element("svg:text", { x: (width + left) / 2, y: height - 6, "text-anchor": "middle" }, headings[x]));
  svg.append(element("svg:text", { x: 14, y: height / 2, transform: `rotate(-90 14 ${height / 2})`, "text-anchor": "middle" }, headings[y]));
  const said = figure.querySelector("figcaption");
  points.sort((a, b) => a.x - b.x).forEach((p, i) => {
    const words = `${p.name}: ${headings[x]} ${p.x}, ${headings[y]} ${p.y}`;
    const point = element("svg:circle", { cx: px(p.x), cy: py(p.y), r: 6, tabindex: i ? -1 : 0, role: "img", "aria-label": words, class: p.ours ? "ours" : "" });
    ["mouseenter", "focus"].forEach((event) => point.addEventListener(event, () => { said.textContent = words; }));
    point.addEventListener("keydown", (event) => {
      const next = { ArrowRight: point.nextElementSibling, ArrowLeft: point.previousElementSibling }[event.key];
      if (next?.tagName !== "circle") return;
      event.preventDefault();
      point.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    });
    svg.append(point);
  });
  figure.prepend(svg);
}

function live(table, index) {
  const cells = [...table.querySelectorAll("thead th")];
  const headings = cells.map((th) => th.textContent.trim());
  [...table.tBodies[0].rows].forEach((row) => [...row.cells].slice(1).forEach((cell) => cell.classList.toggle("number", numberOf(cell) !== null && cell.textContent.length < 28)));
  cells.forEach((th, column) => {
    const button = element("button", { type: "button", class: "sort" }, th.textContent.trim());
    button.addEventListener("click", () => sortBy(table, column, th));
    th.replaceChildren(button);
  });
  const holder = table.closest(".pst-scrollable-table-container") ?? table;
  const filter = element("input", { type: "search", id: `filter-${index}` });
  const count = element("output", { for: `filter-${index}` });
  const controls = element("div", { class: "table-controls" }, labelled("Show rows with", filter));
  let draw = () => {};
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [...table.tBodies[0].rows];
    rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
    draw();
  };
  filter.addEventListener("input", show);
  controls.append(count);
  const numeric = headings.map((_, i) => i).filter((i) => i && [...table.tBodies[0].rows].filter((row) => numberOf(row.cells[i]) !== null).length > 1);
  if (table.classList.contains("arena") && headings[0] === "method" && numeric.length > 2) {
    const choose = (text, chosen) => {
      const field = element("select", {}, ...numeric.map((i) => element("option", { value: i }, headings[i])));
      field.value = chosen;
      field.addEventListener("change", () => draw());
      controls.append(labelled(text, field));
      return field;
    };
    const worse = numeric.find((i) => headings[i].startsWith("worse")) ?? numeric[2];
    const rate = numeric.find((i) => headings[i].startsWith("win rate")) ?? numeric[1];
    const [across, up] = [choose("Across", worse), choose("Up", rate)];
    const figure = element("figure", { class: "table-plot" }, element("figcaption", { "aria-live": "polite" }, "Ours in blue, peers in orange; point at a method, or go from one to the next with the arrow keys, to read it."));
    draw = () => plot(table, figure, Number(across.value), Number(up.value), headings);
    holder.before(controls, figure);
  } else {
    holder.before(controls);
  }
  show();
}

document.querySelectorAll("table.arena, table.sortable").forEach(live);

// The theme names its search field by another word than it shows.
document.querySelectorAll(".search-button-field[aria-label]").forEach((button) => {
  button.setAttribute("aria-label", button.textContent.trim().replace(/\s+/g, " "));
});

// Links on pictures of the gallery show their words only as a caption beside them.
document.querySelectorAll(".sphx-glr-thumbcontainer a:not([aria-label])").forEach((link) => link.setAttribute("aria-label", link.textContent.trim()));

// What is wider than the screen is moved by the keyboard too.
document.querySelectorAll(".formula").forEach((formula) => { if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0; });
