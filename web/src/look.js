// Colours: those of the page (light or dark) on a screen, the light ones on paper. `fairlane.look.theme` numbers flows and links.

const HUES = 8;
const dashes = [[], [8, 4], [2, 3], [8, 3, 2, 3]];
let paper = null;

export function onPaper(light) {
  paper = light;
}

export function colour(name) {
  if (paper) return paper[name];
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || "#777";
}

export const hue = (number) => colour("hue" + (number % HUES));
/** Returns the pattern of a line: solid for the first eight, then others. */
export const dash = (number) => dashes[Math.floor(number / HUES) % dashes.length];
export const variable = (number) => `var(--hue${number % HUES})`;

/** Returns a colour with transparency. */
export function faint(text, alpha) {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  return hex ? `rgba(${hex.slice(1).map((x) => parseInt(x, 16)).join(", ")}, ${alpha})` : text;
}
