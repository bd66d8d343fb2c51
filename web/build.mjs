// Bundles src/ and uPlot into files that are shipped with the package: the charts of pages, and the animation. The first line of each names
// the hash of its sources; tests compare it, and `npm run check` rebuilds and compares the files.

import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const here = (name) => new URL(name, import.meta.url);
const there = (name) => here(`../python/fairlane/${name}`);
const sources = (folder) =>
  readdirSync(here(folder))
    .filter((f) => f.endsWith(".js"))
    .sort()
    .map((f) => `${folder}/${f}`);
const licence = readFileSync(here("node_modules/uplot/LICENSE"), "utf8").trim();
const { version } = JSON.parse(readFileSync(here("node_modules/uplot/package.json"), "utf8"));

async function bundle(entry, files, name) {
  const hash = createHash("sha256");
  for (const f of files) hash.update(readFileSync(here(f)));
  const made = await build({
    entryPoints: [here(entry).pathname],
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
  return `/* fairlane: ${name} ${hash.digest("hex")}, with uPlot ${version}:\n\n${licence}\n*/\n${code}\n`;
}

const css = readFileSync(here("node_modules/uplot/dist/uPlot.min.css"), "utf8").trim();
const style = `/* uPlot ${version}, MIT licence, see charts.js. */\n${css}\n`;
const shared = ["src/look.js", "src/text.js"];
const made = {
  "look/charts.js": await bundle("src/main.js", [...sources("src"), "package-lock.json"], "web/src"),
  "look/charts.css": style,
  "watch/watch.js": await bundle("src/watch/main.js", [...sources("src/watch"), ...shared, "package-lock.json"], "web/src/watch"),
};
for (const [name, text] of Object.entries(made)) {
  if (!process.argv.includes("--check")) writeFileSync(there(name), text);
  else if (readFileSync(there(name), "utf8") !== text) {
    console.error(`python/fairlane/${name} is not what web/ makes: npm run build`);
    process.exit(1);
  }
}
