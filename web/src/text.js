// Numbers and cells as text. Names come from scenarios: they are only ever set as text, never as markup.

/** Four significant digits, without exponents where people would not use them. */
export function digits(v) {
  if (v === null || v === undefined || !Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  if (size >= 1e7 || size < 1e-4) return minus(v.toExponential(2).replace("e+", "e"));
  const places = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return minus(String(Number(v.toFixed(places))));
}

function minus(text) {
  return text.replace(/^-/, "−");
}

/** A cell that no spreadsheet takes for a formula, quoted as RFC 4180 has it. */
export function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value);
  if (/^[=@\t\r]/.test(text) || /^[+-](?!\d)/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** Headings and rows as a CSV file, with the mark of UTF-8. */
export function csv(rows) {
  return "\ufeff" + rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** An element with attributes and children; text is text. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((x) => x !== null));
  return made;
}
