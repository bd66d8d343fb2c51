// Data of a chart: a table that is built on opening, and a CSV file.

import { csv, digits, make } from "./text.js";

const MOST = 1000; // most rows of a table

/** Returns headings, and a row for each position on the axis. */
export function values(spec, xs) {
  const heads = [spec.x.label];
  const rows = new Map();
  if (spec.kind === "dots") {
    const out = spec.lines.flatMap((line) =>
      xs[line.x].map((x, k) => [line.name, line.labels?.[k] ?? "", x, line.y[k], line.low?.[k] ?? null, line.high?.[k] ?? null]),
    );
    return [["series", "name", spec.x.label, spec.y.label, "low", "high"], ...out];
  }
  const wide = spec.lines.reduce((n, line) => n + (line.low ? 3 : 1), 0);
  let column = 0;
  for (const line of spec.lines) {
    const parts = line.low ? [line.y, line.low, line.high] : [line.y];
    heads.push(line.name, ...(line.low ? [`${line.name}: ${spec.ends[0]}`, `${line.name}: ${spec.ends[1]}`] : []));
    xs[line.x].forEach((x, k) => {
      if (!rows.has(x)) rows.set(x, new Array(wide).fill(null));
      parts.forEach((part, i) => (rows.get(x)[column + i] = part[k]));
    });
    column += parts.length;
  }
  const name = (x) => (spec.x.names ? (spec.x.names[x] ?? x) : x);
  const body = [...rows].sort(([a], [b]) => a - b).map(([x, row]) => [name(x), ...row]);
  return [heads, ...body];
}

export function table(spec, xs) {
  const save = make("button", { type: "button", class: "get" }, "CSV");
  save.addEventListener("click", () => {
    const link = make("a", { download: `${spec.name}.csv`, href: URL.createObjectURL(new Blob([csv(values(spec, xs))], { type: "text/csv" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  const made = make("details", { class: "values" }, make("summary", {}, "Show data as a table"));
  made.addEventListener("toggle", () => {
    if (!made.open || made.querySelector("table")) return;
    const [heads, ...rows] = values(spec, xs);
    const text = (v) => (typeof v === "number" ? digits(v) : (v ?? "–"));
    const head = make("tr", {}, ...heads.map((h) => make("th", { scope: "col", class: "n" }, h)));
    const body = rows.slice(0, MOST).map((row) => make("tr", {}, make("th", { scope: "row", class: "n" }, text(row[0])), ...row.slice(1).map((v) => make("td", { class: "n" }, text(v)))));
    const label = `${spec.title}: values`;
    made.append(
      make("div", { class: "scroll tall", tabindex: "0", role: "region", "aria-label": label }, make("table", {}, make("caption", {}, label), make("thead", {}, head), make("tbody", {}, ...body))),
    );
    if (rows.length > MOST) made.append(make("p", { class: "small muted" }, `The first ${MOST} of ${rows.length} rows; the CSV file has all rows.`));
  });
  return make("div", { class: "behind" }, made, save);
}
