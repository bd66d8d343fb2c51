// Buttons and selections of the player, and the list of keys.

import { make } from "../text.js";
import { MOST } from "./speed.js";

const KEYS = [
  ["Space", "play or pause"], ["n  N", "jump to the next event that has a name, to the one before"], ["+  \u2212", "faster, slower"], ["a", "automatic speed: slow at first, then faster"], [".", "step to the next packet event"], [",", "step back (recording)"],
  ["d", "jump to the next drop or loss"], ["t", "jump to the next timeout"], ["m", "jump to the next mark"], ["e", "enlarge the next chart"], ["z  Z", "zoom all charts around the time, show all of it"],
  ["f", "follow the next flow"], ["p", "follow one packet"], ["[  ]", "inspect the previous or next queue"], ["i", "inspect the followed flow"], ["l", "view: packets, link utilisation, automatic"],
  ["b", "branch here: two runs side by side (live)"], ["x", "close the branch (live)"], ["c", "change parameters (live)"], ["\u2190  \u2192", "back, forward (recording)"], ["Home  End", "go to start or end (recording)"], ["Esc", "clear the selection, close this"], ["?", "this help"],
];

export function button(key, words, label, act) {
  const made = make("button", { type: "button", "aria-label": label, title: `${label} (${key})`, "data-act": label.split(" ").slice(0, 3).join("-").toLowerCase() }, words);
  made.addEventListener("click", act);
  return made;
}

function select(label, options, act) {
  const made = make("select", { "aria-label": label }, ...options.map(([value, words]) => make("option", { value }, words)));
  made.addEventListener("change", () => act(made.value));
  return made;
}

/** Creates the controls of a player as its fields; returns the rows of the page. */
export function controls(player) {
  const { model, source } = player;
  player.play = button("Space", "\u25b6", "Play", () => player.toggle());
  player.play.classList.add("play");
  player.clock = make("output", { class: "clock", "aria-label": "Time of the network" }, "0 s");
  player.pace = make("input", { type: "range", min: 0, max: source.live ? MOST + 1 : MOST, value: MOST / 2, "aria-label": "Speed" });
  player.paceText = make("output", { class: "speed" });
  player.pace.addEventListener("input", () => player.paced(player.pace.value));
  player.auto = button("a", "auto", "Automatic speed", () => player.automatic());
  player.show = select("View", [["auto", "automatic"], ["packets", "packets"], ["loads", "link utilisation"]], (v) => player.showing(v));
  player.flow = select("Follow a flow", [[-1, "all flows"], ...model.flows.slice(0, 500).map((f, i) => [i, f.name])], (v) => player.follow(Number(v)));
  const jump = (key, words, label, kinds) => button(key, words, label, () => player.jump(kinds));
  const more = [
    button(".", "\u25b8\u2759", "Step one packet", () => player.step()), ...(source.live ? [] : [button(",", "\u2759\u25c2", "Back one packet", () => player.back())]),
    jump("d", "\u2715 drop", "Next drop", ["drop", "loss"]), jump("t", "\u25d4 timeout", "Next timeout", ["timeout"]), jump("m", "\u25b2 mark", "Next mark", ["mark"]),
    make("label", {}, "View", player.show), make("label", {}, "Follow", player.flow), button("p", "one packet", "Follow one packet", () => player.onePacket()),
  ];
  if (source.live) {
    player.fork = button("b", "branch here", "Branch here", () => player.branch());
    more.push(player.fork);
  }
  const second = make("div", { class: "bar more", role: "toolbar", "aria-label": "Steps and views" }, ...more);
  const opens = make("button", { type: "button", class: "opens", "aria-expanded": "false" }, "more");
  opens.addEventListener("click", () => opens.setAttribute("aria-expanded", String(second.classList.toggle("open"))));
  const first = make(
    "div", { class: "bar", role: "toolbar", "aria-label": "Time and speed" },
    player.play, player.clock, ...(source.live ? [] : [button("n", "next event \u25b8", "Jump to the next event", () => player.named(1))]),
    make("div", { class: "pace", role: "group", "aria-label": "Speed" }, button("-", "\u2212", "Slower", () => player.faster(-5)), player.pace, button("+", "+", "Faster", () => player.faster(5)), player.auto, player.paceText),
    opens, button("?", "?", "Keys and help", () => player.help()),
  );
  return [first, second];
}

/** Returns the dialog with all keys. */
export function help(close) {
  return make("dialog", { "aria-label": "Keys" }, make("h2", { class: "plain" }, "Keys"), make("dl", {}, ...KEYS.flatMap(([k, w]) => [make("dt", {}, k), make("dd", {}, w)])), button("Esc", "close", "Close help", close));
}

const HINT = [["Space", "play, pause"], ["n", "next event"], ["+ \u2212", "speed"], [".", "one packet"], ["e", "enlarge a chart"], ["?", "all keys"]];

/** Returns the line with the most useful keys. */
export function hint() {
  return make("p", { class: "hint small muted" }, ...HINT.flatMap(([k, w]) => [make("kbd", {}, k), ` ${w} `]));
}
