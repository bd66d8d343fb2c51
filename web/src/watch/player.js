// Player for recordings and live simulations: time, keys and buttons.

import { digits, make } from "../text.js";
import { Curves } from "./curves.js";
import { Acts, rows, spanText, state } from "./panel.js";
import { View } from "./view.js";

const SLOWEST = 1e-6;
const FASTEST = 100;
const BLUR = 25; // above this multiple of the slowest link time per second, packets are visible for a frame or two only
const FULL = "as fast as possible";
const KEYS = [
  ["Space", "play or pause"], [".", "step to the next packet event"], [",", "step back (recording)"], ["+  −", "faster, slower"], ["d", "jump to the next drop or loss"],
  ["t", "jump to the next timeout"], ["m", "jump to the next mark"], ["f", "follow the next flow"], ["p", "follow one packet"], ["[  ]", "inspect the previous or next queue"], ["i", "inspect the followed flow"],
  ["l", "view: packets, link utilisation, automatic"], ["b", "branch here: two runs side by side (live)"], ["x", "close the branch (live)"], ["c", "change parameters (live)"], ["←  →", "back, forward (recording)"], ["Home  End", "go to start or end (recording)"], ["Esc", "clear the selection, close this"], ["?", "this help"],
];

export class Player {
  constructor(model, source, place) {
    Object.assign(this, { model, source, place });
    this.time = source.from;
    this.playing = false;
    this.speed = 1;
    this.calmly = matchMedia("(prefers-reduced-motion: reduce)");
    this.state = { show: "auto", flow: -1, packet: null, chosen: null, blurred: false };
    this.frames = 0;
    this.build();
  }

  button(key, words, label, act) {
    const made = make("button", { type: "button", "aria-label": label, title: `${label} (${key})`, "data-act": label.split(" ").slice(0, 3).join("-").toLowerCase() }, words);
    made.addEventListener("click", act);
    return made;
  }

  build() {
    const { model, source } = this;
    this.views = [];
    this.scene = make("div", { class: "scenes" });
    this.play = this.button("Space", "▶", "Play", () => this.toggle());
    this.pace = make("input", { type: "range", min: 0, max: source.live ? 161 : 160, value: 120, "aria-label": "Speed" });
    this.paceText = make("output", {});
    this.pace.addEventListener("input", () => this.paced(this.pace.value));
    this.show = make("select", { "aria-label": "View" }, ...[["auto", "automatic"], ["packets", "packets"], ["loads", "link utilisation"]].map(([v, w]) => make("option", { value: v }, w)));
    this.show.addEventListener("change", () => this.showing(this.show.value));
    this.flow = make("select", { "aria-label": "Follow a flow" }, make("option", { value: -1 }, "all flows"), ...model.flows.slice(0, 500).map((f, i) => make("option", { value: i }, f.name)));
    this.flow.addEventListener("change", () => this.follow(Number(this.flow.value)));
    const jump = (key, words, label, kinds) => this.button(key, words, label, () => this.jump(kinds));
    const bar = [
      this.play, this.button(".", "▸❙", "Step one packet", () => this.step()), ...(source.live ? [] : [this.button(",", "❙◂", "Back one packet", () => this.back())]),
      jump("d", "✕ drop", "Next drop", ["drop", "loss"]), jump("t", "◔ timeout", "Next timeout", ["timeout"]), jump("m", "▲ mark", "Next mark", ["mark"]),
      make("label", { class: "pace" }, "Speed", this.pace, this.paceText), make("label", {}, "View", this.show), make("label", {}, "Follow", this.flow), this.button("p", "one packet", "Follow one packet", () => this.onePacket()),
    ];
    if (source.live) {
      this.fork = this.button("b", "branch here", "Branch here", () => this.branch());
      bar.push(this.fork);
    }
    bar.push(this.button("?", "?", "Keys and help", () => this.help()));
    this.line = make("input", { type: "range", class: "time", min: 0, max: 10000, value: 0, "aria-label": "Time" });
    this.line.addEventListener("input", () => this.seek(source.from + ((source.edge - source.from) * this.line.value) / 10000));
    this.spoken = make("p", { class: "aloud", "aria-live": "polite", role: "status" });
    this.legend = make("p", { class: "key legend-of-signs" });
    this.curves = new Curves(model);
    this.table = make("table", { class: "state" });
    this.tableName = make("h2", { class: "plain" }, "Inspect a queue or flow");
    this.names = make("select", { "aria-label": "Inspect" }, make("option", { value: "" }, "none"), ...model.links.map((l, i) => make("option", { value: `link ${i}` }, `queue ${l.name}`)), ...model.flows.slice(0, 500).map((f, i) => make("option", { value: `flow ${i}` }, `flow ${f.name}`)));
    this.names.addEventListener("change", () => this.choose(this.names.value || null));
    const aside = make("aside", {}, make("section", { class: "card", "aria-label": "State" }, this.tableName, this.names, this.table));
    if (source.live) {
      this.side = make("select", { "aria-label": "Apply to" }, make("option", { value: 0 }, "original"));
      this.acts = new Acts(model, source, (what) => this.change(what));
      this.acts.place.prepend(make("label", { class: "side", hidden: true }, "Apply to ", this.side));
      this.side.addEventListener("change", () => this.pick());
      aside.append(this.acts.place);
    }
    this.dialog = make("dialog", { "aria-label": "Keys" }, make("h2", { class: "plain" }, "Keys"), make("dl", {}, ...KEYS.flatMap(([k, w]) => [make("dt", {}, k), make("dd", {}, w)])), this.button("Esc", "close", "Close help", () => this.dialog.close()));
    this.place.replaceChildren(
      make("div", { class: "bar", role: "toolbar", "aria-label": "Time and speed" }, ...bar), ...(source.live ? [] : [this.line]),
      make("div", { class: "middle" }, make("div", { class: "stage" }, this.scene, this.legend, this.curves.place), aside), this.spoken, this.dialog,
    );
    this.signs();
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("resize", () => this.views.forEach((v) => v.view.fit()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.curves.redraw());
    this.paced(this.calmly.matches ? 100 : this.natural());
  }

  /** Returns the speed at which a packet takes 1.5 s over the slowest link. */
  natural() {
    return 60 + 20 * Math.log10(Math.min(1, Math.max(1e-3, this.model.pace / 1.5)) * 1e3);
  }

  signs() {
    const part = (sign, words) => make("span", {}, make("b", { "aria-hidden": "true" }, sign), words);
    this.legend.replaceChildren(
      ...this.model.flows.slice(0, 10).map((f, i) => {
        const swatch = make("i", { "aria-hidden": "true", class: i % 10 >= 5 ? "cored" : "" });
        swatch.style.setProperty("--own", `var(--hue${i % 5})`);
        return make("span", {}, swatch, f.name);
      }),
      ...(this.model.flows.length > 10 ? [make("span", { class: "muted" }, `and ${this.model.flows.length - 10} more flows`)] : []),
      part("✕", "dropped or lost"), part("▲", "marked"), part("◔", "timeout"), make("span", { class: "muted" }, "thin: acknowledgments; dark core: retransmissions"),
      ...(this.model.oneOf > 1 ? [make("span", { class: "muted" }, `1 of ${this.model.oneOf} packets is shown; queues, drops and curves include all`)] : []),
    );
  }

  /** Keeps one canvas per run or branch. */
  scenes() {
    const { recordings } = this.source;
    while (this.views.length > recordings.length) this.views.pop().place.remove();
    while (this.views.length < recordings.length) {
      const view = new View(this.model, () => this.calmly.matches);
      const number = this.views.length;
      const title = make("figcaption", {});
      const place = make("figure", { class: "scene" }, title, view.canvas);
      view.canvas.addEventListener("click", (e) => {
        const hit = view.hit(e.offsetX, e.offsetY);
        this.choose(hit >= 0 ? `link ${hit}` : null);
      });
      this.scene.append(place);
      this.views.push({ view, place, title, number, from: this.time });
      this.views.forEach((v) => (v.view.at = null));
    }
    this.scene.classList.toggle("two", recordings.length > 1);
    const words = (k) => this.model.futures?.[k]?.words || (recordings.length > 1 ? (k ? "branch" : "original") : "");
    this.views.forEach((v, k) => (v.title.textContent = words(k)));
  }

  start() {
    this.scenes();
    let last = performance.now();
    const frame = (now) => {
      this.tick(Math.min(0.1, (now - last) / 1000));
      last = now;
      requestAnimationFrame(frame);
    };
    this.draw();
    requestAnimationFrame(frame);
  }

  tick(seconds) {
    const { source } = this;
    this.frames += 1;
    const before = this.time;
    if (this.playing) {
      this.time = Math.min(source.edge, this.full ? source.edge : this.time + seconds * this.speed * 1e9);
      if (source.live) this.pull(seconds);
      else if (this.time >= source.edge) this.pause("End of the recording");
    } else if (source.live && !this.stepping) this.time = source.edge;
    if (this.time > before) this.pass(before);
    this.state.blurred = this.loads || (this.playing && (this.full || this.speed > this.model.pace * BLUR));
    this.draw();
  }

  /** Shows the moments since a time. */
  pass(before) {
    this.views.forEach((v, k) => {
      const recording = this.source.recordings[k];
      const { moments } = recording;
      for (let i = moments.length - 1, n = 0; i >= 0 && moments[i].time > before && n < 40; i -= 1) {
        if (moments[i].time <= this.time) {
          v.view.flash(moments[i]);
          n += 1;
        }
      }
    });
  }

  draw() {
    this.views.forEach((v, k) => v.view.draw(this.source.recordings[k], this.time, this.state));
    const now = performance.now();
    if (now - (this.lastCurves ?? 0) > 100 || !this.playing) {
      if (this.drawn !== this.time || now - (this.lastCurves ?? 0) > 500) {
        const end = this.source.live ? Math.max(this.time, 1) : this.source.edge;
        this.curves.draw(this.source.recordings, this.time, [this.source.from / 1e9, end / 1e9], this.state);
        this.tell();
        this.drawn = this.time;
        this.lastCurves = now;
      }
    }
  }

  tell() {
    const recording = this.source.recordings[0];
    document.getElementById("now").textContent = `${(this.time / 1e9).toFixed(this.speed < 1e-3 ? 6 : 3)} s`;
    if (!this.source.live && document.activeElement !== this.line) this.line.value = Math.round((10000 * (this.time - this.source.from)) / (this.source.edge - this.source.from || 1));
    this.line.setAttribute("aria-valuetext", `${(this.time / 1e9).toFixed(3)} s`);
    const still = recording.still(this.time);
    if (!still) return;
    if (this.state.chosen) {
      const shown = state(this.model, this.source.recordings[this.source.recordings.length > 1 && this.side ? Number(this.side.value) : 0], still, this.state.chosen);
      this.tableName.textContent = shown.title;
      rows(this.table, shown.rows);
    }
    this.views.forEach((v, k) => v.view.canvas.setAttribute("aria-label", this.words(this.source.recordings[k], k)));
  }

  /** Describes the visible state in a sentence. */
  words(recording, k) {
    const still = recording.still(this.time);
    if (!still) return "the network at the start";
    const queues = this.model.links.map((l, i) => [l.name, recording.ofLink(still, i, "packets")]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]).slice(0, 3);
    const head = this.source.recordings.length > 1 ? `${k ? "Branch" : "Original"}: ` : "";
    return `${head}the network at ${digits(this.time / 1e9)} s. ${queues.length ? queues.map(([n, c]) => `${c} packets queued at ${n}`).join(", ") : "all queues empty"}.`;
  }

  say(text) {
    this.spoken.textContent = text;
  }

  toggle() {
    if (this.playing) this.pause();
    else {
      if (!this.source.live && this.time >= this.source.edge) this.seek(this.source.from);
      this.playing = true;
      [this.play.textContent, this.play.title] = ["❙❙", "Pause (Space)"];
      this.play.setAttribute("aria-label", "Pause");
      this.say("playing");
    }
  }

  pause(why = "Paused") {
    this.playing = false;
    [this.play.textContent, this.play.title] = ["▶", "Play (Space)"];
    this.play.setAttribute("aria-label", "Play");
    this.say(`${why}. ${this.words(this.source.recordings[0], 0)}`);
  }

  paced(value) {
    const v = Math.max(0, Math.min(Number(this.pace.max), Math.round(value)));
    this.pace.value = v;
    this.full = v > 160;
    this.speed = Math.min(FASTEST, SLOWEST * 10 ** (v / 20));
    const words = this.full ? FULL : `${spanText(this.speed * 1e9)} per second`;
    this.paceText.textContent = words;
    this.pace.setAttribute("aria-valuetext", words);
    this.mode();
  }

  seek(time) {
    if (this.source.live) return;
    this.time = Math.max(this.source.from, Math.min(this.source.edge, time));
    this.views.forEach((v) => (v.view.flashes = []));
    this.draw();
  }

  async step() {
    this.pause("Stepped");
    if (this.source.live) await this.look("packet");
    else this.go(this.source.recordings[0].nearest(this.time, false));
    this.say(this.words(this.source.recordings[0], 0));
  }

  back() {
    if (this.source.live) return;
    this.pause("Stepped back");
    this.go(this.source.recordings[0].nearest(this.time, true));
  }

  go(time) {
    if (time === null) return;
    const before = this.time;
    this.seek(time);
    if (time > before) this.pass(Math.max(before, time - 1));
  }

  async jump(kinds) {
    if (this.playing) this.pause();
    const name = { drop: "drop or loss", timeout: "timeout", mark: "mark" }[kinds[0]];
    let found = null;
    if (this.source.live) found = (await this.look(kinds[0])) ? this.source.recordings[0].moments.findLast((m) => kinds.includes(m.kind)) : null;
    else {
      found = this.source.recordings[0].next(this.time, kinds);
      if (found) this.go(found.time);
    }
    if (!found) this.say(`no ${name} after this time`);
    else this.say(`${name} of ${this.model.flows[found.flow].name}${found.link >= 0 ? ` at ${this.model.links[found.link].name}` : ""} at ${digits(found.time / 1e9)} s`);
  }

  showing(what) {
    this.state.show = what;
    this.show.value = what;
    this.mode();
    this.say(`view: ${{ auto: "automatic", packets: "packets", loads: "link utilisation" }[what]}`);
  }

  follow(flow) {
    this.state.flow = flow;
    this.state.packet = null;
    this.flow.value = flow;
    this.say(flow < 0 ? "all flows" : `following ${this.model.flows[flow].name}`);
    if (flow >= 0) this.choose(`flow ${flow}`);
  }

  /** Follows the newest visible data packet, of the followed flow if any. */
  onePacket() {
    const recording = this.source.recordings[0];
    let best = null;
    recording.lanes.forEach((lane, link) =>
      lane.each(this.time, (i) => {
        if (lane.size[i] < 200 || (lane.bits[i] & 64) !== 0 || (this.state.flow >= 0 && lane.flow[i] !== this.state.flow)) return;
        if (!best || lane.came[i] > best.came) best = { came: lane.came[i], flow: lane.flow[i], number: lane.number[i], back: false, link };
      }),
    );
    this.state.packet = best;
    this.say(best ? `following packet ${best.number} of ${this.model.flows[best.flow].name}, at ${this.model.links[best.link].name}` : "no packet to follow");
  }

  choose(what) {
    this.state.chosen = what;
    this.names.value = what ?? "";
    if (!what) {
      this.tableName.textContent = "Inspect a queue or flow";
      rows(this.table, []);
    } else if (what.startsWith("link") && this.acts) {
      this.acts.link.value = what.slice(5);
      this.acts.fill();
    }
    this.drawn = null;
    this.tell();
  }

  neighbour(by) {
    const n = this.model.links.length;
    const at = this.state.chosen?.startsWith("link") ? Number(this.state.chosen.slice(5)) + by : by > 0 ? 0 : n - 1;
    this.choose(`link ${(at + n) % n}`);
    this.say(`queue ${this.model.links[(at + n) % n].name}`);
  }

  help() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const tag = e.target.tagName;
    if (/^(SELECT|TEXTAREA)$/.test(tag) || (tag === "INPUT" && (e.target.type === "text" || /^(Arrow|Home|End|Page)/.test(e.key)))) return;
    if (e.key === " " && tag === "BUTTON") return;
    const wide = (this.source.edge - this.source.from) / 100;
    const acts = {
      " ": () => this.toggle(), ".": () => this.step(), ",": () => this.back(), "+": () => this.paced(Number(this.pace.value) + 5), "=": () => this.paced(Number(this.pace.value) + 5), "-": () => this.paced(Number(this.pace.value) - 5),
      d: () => this.jump(["drop", "loss"]), t: () => this.jump(["timeout"]), m: () => this.jump(["mark"]), f: () => this.follow(this.state.flow + 1 < this.model.flows.length ? this.state.flow + 1 : -1), p: () => this.onePacket(),
      "[": () => this.neighbour(-1), "]": () => this.neighbour(1), i: () => this.state.flow >= 0 && this.choose(`flow ${this.state.flow}`),
      l: () => this.showing({ auto: "packets", packets: "loads", loads: "auto" }[this.state.show]),
      b: () => this.branch(), x: () => this.unbranch(), c: () => this.acts?.link.focus(), "?": () => this.help(),
      ArrowLeft: () => this.seek(this.time - wide), ArrowRight: () => this.seek(this.time + wide), Home: () => this.seek(this.source.from), End: () => this.seek(this.source.edge), Escape: () => this.dialog.open || (this.follow(-1), this.choose(null)),
    };
    const act = acts[e.key];
    if (!act || (this.dialog.open && e.key !== "?")) return;
    e.preventDefault();
    act();
  }

  // --- live simulation ---

  /** Requests single packets, except at high speeds and in large networks. */
  mode() {
    if (!this.source.live || !this.source.socket) return;
    const large = this.model.links.length > 150 && this.state.show === "auto";
    const loads = this.full || large || this.state.show === "loads" || this.speed > this.model.pace * BLUR;
    if (loads === this.loads) return;
    this.loads = loads;
    this.source.ask({ op: "mode", oneOf: loads ? 0 : 1 });
  }

  async pull() {
    const { source } = this;
    if (source.busy > 1 || source.over) return;
    const ahead = this.full ? this.model.duration : Math.min(this.model.duration, Math.max(this.time + 0.12 * this.speed * 1e9, source.edge));
    if (!this.full && ahead <= source.edge && source.edge < this.model.duration) return;
    const answer = await source.ask({ op: "go", to: Math.ceil(ahead), spend: this.full ? 14000 : 30000 });
    if (answer.error) this.pause(answer.error);
    else if (answer.over && this.playing && this.time >= source.edge - 1) this.pause("End of the run");
  }

  async look(what) {
    this.stepping = true;
    if (this.loads) {
      this.loads = false;
      await this.source.ask({ op: "mode", oneOf: 1 });
    }
    let answer = await this.source.ask({ op: "seek", what, fresh: true });
    while (answer.found === null) answer = await this.source.ask({ op: "seek", what, fresh: false });
    this.stepping = false;
    const before = this.time;
    this.time = this.source.edge;
    this.pass(Math.max(before, this.time - 2));
    if (answer.error) this.say(answer.error);
    return answer.found === true;
  }

  async change(what) {
    return this.source.ask({ ...what, future: this.side ? Number(this.side.value) : 0 });
  }

  async branch() {
    if (!this.source.live || this.source.recordings.length > 1) return;
    this.pause();
    const answer = await this.source.branch();
    if (answer.error) {
      this.say(answer.error);
      return;
    }
    this.side.replaceChildren(make("option", { value: 0 }, "original"), make("option", { value: 1, selected: true }, "branch"));
    this.side.parentElement.hidden = false;
    this.scenes();
    this.pick();
    this.say("branch created: changes apply to the branch");
  }

  async unbranch() {
    if (!this.source.live || this.source.recordings.length < 2) return;
    this.pause();
    await this.source.drop();
    this.side.value = 0;
    this.side.parentElement.hidden = true;
    this.scenes();
    this.pick();
    this.say("branch closed");
  }

  pick() {
    this.acts.future = Number(this.side.value);
    this.acts.fill();
  }
}
