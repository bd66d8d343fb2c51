// The charts of a page: what `fairlane.look.live` wrote into it, drawn.

import { Chart } from "./chart.js";
import { onPaper } from "./look.js";
import { table } from "./table.js";

const told = JSON.parse(document.getElementById("charts-of-page").textContent);
const charts = [];
const linked = new Map();

for (const place of document.querySelectorAll("[data-chart]")) {
  const one = told.charts[place.dataset.chart];
  const peers = one.link ? (linked.get(one.link) ?? []) : [];
  if (one.link) linked.set(one.link, peers);
  const chart = new Chart(place, one, told.x, peers);
  peers.push(chart);
  charts.push(chart);
  place.append(table(one, told.x));
  place.classList.add("drawn");
}

const redraw = () => charts.forEach((c) => c.redraw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const paper = (is) => {
  onPaper(is ? told.paper : null);
  charts.forEach((c) => c.paper(is));
};
addEventListener("beforeprint", () => paper(true));
addEventListener("afterprint", () => paper(false));
