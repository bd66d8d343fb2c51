// Numbers and cells as text. Names from scenarios are set as text, never as markup.

/** Formats a number with four significant digits, without exponents for usual magnitudes. */
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

/** Formats a CSV cell (RFC 4180), escaped so that spreadsheets do not read a formula. */
export function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value);
  if (/^[=@\t\r]/.test(text) || /^[+-](?!\d)/.test(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

/** Returns headings and rows as a UTF-8 CSV file with a byte order mark. */
export function csv(rows) {
  return "\ufeff" + rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

/** Creates an element with attributes and children; strings become text nodes. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((x) => x !== null));
  return made;
}
