// The values behind a chart: a table that is made when it is opened, and a CSV file.

import { csv, digits, make } from "./text.js";

const MOST = 1000; // rows of a table that a person may still want to scroll through

/** Headings, and a row for each place of the axis. */
export function values(told, xs) {
  const heads = [told.x.label];
  const rows = new Map();
  if (told.kind === "dots") {
    const out = told.lines.flatMap((line) =>
      xs[line.x].map((x, k) => [line.name, line.labels?.[k] ?? "", x, line.y[k], line.low?.[k] ?? null, line.high?.[k] ?? null]),
    );
    return [["series", "name", told.x.label, told.y.label, "low", "high"], ...out];
  }
  const wide = told.lines.reduce((n, line) => n + (line.low ? 3 : 1), 0);
  let column = 0;
  for (const line of told.lines) {
    const parts = line.low ? [line.y, line.low, line.high] : [line.y];
    heads.push(line.name, ...(line.low ? [`${line.name}: ${told.ends[0]}`, `${line.name}: ${told.ends[1]}`] : []));
    xs[line.x].forEach((x, k) => {
      if (!rows.has(x)) rows.set(x, new Array(wide).fill(null));
      parts.forEach((part, i) => (rows.get(x)[column + i] = part[k]));
    });
    column += parts.length;
  }
  const name = (x) => (told.x.names ? (told.x.names[x] ?? x) : x);
  const body = [...rows].sort(([a], [b]) => a - b).map(([x, row]) => [name(x), ...row]);
  return [heads, ...body];
}

export function table(told, xs) {
  const save = make("button", { type: "button", class: "get" }, "CSV");
  save.addEventListener("click", () => {
    const link = make("a", { download: `${told.name}.csv`, href: URL.createObjectURL(new Blob([csv(values(told, xs))], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const made = make("details", { class: "values" }, make("summary", {}, "The values as a table"));
  made.addEventListener("toggle", () => {
    if (!made.open || made.querySelector("table")) return;
    const [heads, ...rows] = values(told, xs);
    const text = (v) => (typeof v === "number" ? digits(v) : (v ?? "–"));
    const head = make("tr", {}, ...heads.map((h) => make("th", { scope: "col", class: "n" }, h)));
    const body = rows.slice(0, MOST).map((row) => make("tr", {}, make("th", { scope: "row", class: "n" }, text(row[0])), ...row.slice(1).map((v) => make("td", { class: "n" }, text(v)))));
    const label = `${told.title}: values`;
    made.append(
      make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": label }, make("table", {}, make("caption", {}, label), make("thead", {}, head), make("tbody", {}, ...body))),
    );
    if (rows.length > MOST) made.append(make("p", { class: "small muted" }, `The first ${MOST} of ${rows.length} rows; the CSV file has all.`));
  });
  return make("div", { class: "behind" }, made, save);
}
