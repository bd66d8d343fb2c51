// Bundles src/ and uPlot into one file that is shipped with the package. The first line says of which sources it is made;
// tests/test_report.py compares it, and `npm run check` builds again and compares the whole.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const out = new URL("../python/fairlane/look/charts.js", import.meta.url);
const here = (name) => new URL(name, import.meta.url);
const files = [...readdirSync(here("src")).sort().map((f) => `src/${f}`), "package-lock.json"];
const hash = createHash("sha256");
for (const f of files) hash.update(readFileSync(here(f)));

const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();
const { version } = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8"));
const css = readFileSync(here("node_modules/uplot/dist/uPlot.min.css"), "utf8").trim();
const made = await build({
  entryPoints: [here("src/main.js").pathname],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  write: false,
  charset: "ascii",
});
const code = made.outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(code)) throw new Error("the bundle would end the script element that it stands in");
const banner = `/* fairlane: web/src ${hash.digest("hex")}, with uPlot ${version}:\n\n${licence}\n*/\n`;
const text = `${banner}${code}\n`;
const style = `/* uPlot ${version}, MIT licence, see charts.js. */\n${css}\n`;
const outCss = new URL("../python/fairlane/look/charts.css", import.meta.url);
if (process.argv.includes("--check")) {
  const same = readFileSync(out, "utf8") === text && readFileSync(outCss, "utf8") === style;
  if (!same) {
    console.error("python/fairlane/look/charts.js is not what web/ makes: npm run build");
    process.exit(1);
  }
} else {
  writeFileSync(out, text);
  writeFileSync(outCss, style);
}
