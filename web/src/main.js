// Draws the charts of a page from the data that `fairlane.look.web_charts` wrote into it.

import { Chart } from "./chart.js";
import { onPaper } from "./look.js";
import { table } from "./table.js";

const spec = JSON.parse(document.getElementById("charts-of-page").textContent);
const charts = [];
const linked = new Map();

for (const place of document.querySelectorAll("[data-chart]")) {
  const one = spec.charts[place.dataset.chart];
  const peers = one.link ? (linked.get(one.link) ?? []) : [];
  if (one.link) linked.set(one.link, peers);
  const chart = new Chart(place, one, spec.x, peers);
  peers.push(chart);
  charts.push(chart);
  place.append(table(one, spec.x));
  place.classList.add("drawn");
}

const redraw = () => charts.forEach((c) => c.redraw());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
const paper = (is) => {
  onPaper(is ? spec.paper : null);
  charts.forEach((c) => c.paper(is));
};
addEventListener("beforeprint", () => paper(true));
addEventListener("afterprint", () => paper(false));
