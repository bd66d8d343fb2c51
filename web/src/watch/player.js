// Player for recordings and live simulations: time, keys and buttons.

import { digits, make } from "../text.js";
import { button, controls, help, hint } from "./bar.js";
import { Curves } from "./curves.js";
import { Legend } from "./legend.js";
import { Lesson } from "./lesson.js";
import { Acts, rows, state } from "./panel.js";
import { BLUR, running } from "./running.js";
import { Automatic, MOST, speedWords, toPosition, toSpeed } from "./speed.js";
import { TimeLine } from "./timeline.js";
import { View } from "./view.js";

const FULL = "as fast as possible";
const QUIET = 5e8; // nanoseconds of a live run to pass quickly while no flow runs

export class Player {
  constructor(model, source, place) {
    Object.assign(this, { model, source, place });
    this.time = source.from;
    this.playing = false;
    this.speed = 1;
    this.calmly = matchMedia("(prefers-reduced-motion: reduce)");
    this.picked = new Set();
    this.state = { show: "auto", flow: -1, flows: new Set(), links: [], packet: null, chosen: null, blurred: false };
    this.frames = 0;
    this.schedule = new Automatic(model.pace, (source.live ? model.duration : source.edge - source.from) / 1e9);
    this.build();
  }

  build() {
    const { model, source } = this;
    this.views = [];
    this.scene = make("div", { class: "scenes" });
    const bars = controls(this);
    this.timeline = new TimeLine(model, source, (time) => this.seek(time));
    this.line = this.timeline.line;
    this.spoken = make("p", { class: "aloud", "aria-live": "polite", role: "status" });
    this.legend = new Legend(model, this.picked, () => this.pickedChanged());
    this.curves = new Curves(model, (text) => this.say(text));
    this.big = button("Space", "\u25b6", "Play the animation", () => this.toggle());
    this.big.classList.add("big");
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
    this.dialog = help(() => this.dialog.close());
    this.lesson = model.lesson ? new Lesson(model.lesson, this) : null;
    this.place.replaceChildren(
      ...(this.lesson ? [this.lesson.place] : []), ...bars, this.timeline.place,
      make("div", { class: "middle" }, make("div", { class: "stage" }, make("div", { class: "staged" }, this.scene, this.timeline.sentence, this.big), this.legend.place), aside),
      this.curves.place, ...(this.lesson?.questions ? [this.lesson.questions] : []), hint(), this.spoken, this.dialog,
    );
    addEventListener("keydown", (e) => this.key(e));
    addEventListener("resize", () => this.views.forEach((v) => v.view.fit()));
    addEventListener("hashchange", () => this.address());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.curves.redraw());
    this.automatic();
  }

  /** Goes to the time in the address, such as #t=12.5; returns true if it has one. */
  address() {
    const found = /[#&]t=([0-9.]+)/.exec(location.hash);
    const time = found ? Number(found[1]) * 1e9 : NaN;
    if (!Number.isFinite(time)) return false;
    if (this.source.live) this.reach(time);
    else this.seek(time);
    return true;
  }

  pickedChanged() {
    this.state.flows = new Set([...this.picked].filter((x) => x.startsWith("flow")).map((x) => Number(x.slice(5))));
    this.drawn = null;
    this.draw();
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
    this.legend.branched(recordings.length > 1);
    const words = (k) => this.model.futures?.[k]?.words || (recordings.length > 1 ? (k ? "branch" : "original") : "");
    this.views.forEach((v, k) => (v.title.textContent = words(k)));
  }

  start() {
    this.scenes();
    const opened = this.address();
    let last = performance.now();
    const frame = (now) => {
      this.tick(Math.min(0.1, (now - last) / 1000));
      last = now;
      requestAnimationFrame(frame);
    };
    this.draw();
    requestAnimationFrame(frame);
    if (this.calmly.matches || (opened && this.lesson)) return;
    // In a frame of a page, the animation waits until it is in view.
    const begin = new IntersectionObserver((seen) => {
      if (!seen.some((s) => s.isIntersecting)) return;
      begin.disconnect();
      if (!this.playing && !this.started) this.toggle();
    });
    begin.observe(this.scene);
  }

  tick(seconds) {
    const { source } = this;
    this.frames += 1;
    const before = this.time;
    if (this.playing) {
      if (this.scheduled) this.hurry(seconds);
      const to = Math.min(source.edge, this.full ? source.edge : this.time + seconds * this.speed * 1e9);
      this.time = this.lesson ? this.lesson.limit(before, to) : to;
      if (source.live) this.pull(seconds);
      else if (this.time >= source.edge) this.pause("End of the recording");
    } else if (source.live && !this.stepping) this.time = source.edge;
    if (this.time > before) this.pass(before);
    this.state.blurred = this.loads || (this.playing && (this.full || this.steady > this.model.pace * BLUR));
    this.draw();
  }

  /** Sets the automatic speed: gaps in which nothing happens are crossed quickly. */
  hurry(seconds) {
    const recording = this.source.recordings[0];
    let next = this.time;
    if (!this.source.live) {
      if (!(this.time >= this.asked && this.time < this.coming)) [this.asked, this.coming] = [this.time, recording.nearest(this.time, false) ?? this.source.edge];
      next = this.coming;
    } else {
      const still = recording.still(this.time);
      if (still && !this.model.flows.some((_, i) => recording.ofFlow(still, i, "begun") === 1)) next += QUIET;
    }
    // While a packet is on a link, its arrival is not farther away than the longest time on a link.
    const quiet = (next - this.time) / 1e9;
    const speed = this.schedule.next(seconds, quiet > 2 * this.model.pace ? quiet : 0);
    if (speed !== this.speed) this.setSpeed(speed);
  }

  /** Speed that decides whether packets are shown: a gap that is crossed quickly does not count. */
  get steady() {
    return this.scheduled ? this.schedule.speed : this.speed;
  }

  /** Shows the moments since a time. */
  pass(before) {
    this.timeline.pass(before, this.time);
    this.views.forEach((v, k) => {
      const { moments } = this.source.recordings[k];
      // The last moment up to now, by halves: there may be thousands.
      let [low, high] = [0, moments.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (moments[middle].time <= this.time) low = middle + 1;
        else high = middle;
      }
      for (let i = low - 1, n = 0; i >= 0 && moments[i].time > before && n < 40; i -= 1, n += 1) v.view.flash(moments[i]);
    });
  }

  draw() {
    this.views.forEach((v, k) => v.view.draw(this.source.recordings[k], this.time, this.state));
    const { recordings } = this.source;
    const end = this.source.live ? Math.max(this.time, 1) : this.source.edge;
    this.curves.draw(recordings, this.time, [this.source.from / 1e9, end / 1e9], this.source.live, this.picked);
    const now = performance.now();
    if (this.drawn !== this.time && (now - (this.told ?? 0) > 100 || !this.playing)) {
      this.tell();
      this.drawn = this.time;
      this.told = now;
    }
  }

  tell() {
    if (this.timeline.update() && this.acts) this.acts.knobs().then((now) => this.acts.pressed(now));
    this.timeline.show(this.time);
    this.state.links = this.curves.parts[2].lines;
    this.legend.linked(this.state.links);
    const recording = this.source.recordings[0];
    const words = `${(this.time / 1e9).toFixed(this.speed < 1e-3 ? 6 : 3)} s`;
    if (this.clock.textContent !== words) this.clock.textContent = words;
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
      this.started = true;
      if (this.scheduled) this.schedule.restart();
      [this.play.textContent, this.play.title] = ["\u2759\u2759", "Pause (Space)"];
      this.play.setAttribute("aria-label", "Pause");
      this.big.hidden = true;
      this.say("playing");
      this.lesson?.show();
    }
  }

  pause(why = "Paused") {
    this.playing = false;
    [this.play.textContent, this.play.title] = ["\u25b6", "Play (Space)"];
    this.play.setAttribute("aria-label", "Play");
    this.big.hidden = this.source.live || this.time < this.source.edge;
    if (why) this.say(`${why}. ${this.words(this.source.recordings[0], 0)}`);
    this.lesson?.show();
  }

  /** Sets the speed by the position of its slider. */
  paced(value) {
    const v = Math.max(0, Math.min(Number(this.pace.max), Math.round(value)));
    this.scheduled = false;
    this.full = v > MOST;
    this.setSpeed(toSpeed(v), v);
  }

  faster(by) {
    this.paced(Number(this.pace.value) + by);
  }

  /** Returns to the automatic speed, from slow to fast. */
  automatic() {
    this.scheduled = true;
    this.full = false;
    this.schedule.restart();
    this.setSpeed(this.schedule.speed);
  }

  setSpeed(speed, position = toPosition(speed)) {
    this.speed = speed;
    const words = this.full ? FULL : speedWords(speed);
    this.auto.setAttribute("aria-pressed", String(this.scheduled));
    if (this.pace.value !== String(position)) this.pace.value = position;
    if (this.paceText.textContent !== words) {
      this.paceText.textContent = words;
      this.pace.setAttribute("aria-valuetext", words);
    }
    this.mode();
  }

  seek(time) {
    if (this.source.live) return;
    this.time = Math.max(this.source.from, Math.min(this.source.edge, time));
    this.views.forEach((v) => (v.view.flashes = []));
    this.lesson?.sought(this.time);
    if (this.time < this.source.edge) this.big.hidden = this.started || !this.calmly.matches;
    this.draw();
  }

  /** Jumps to the next named event, or with -1 to the one before. */
  named(by) {
    if (this.source.live) return;
    if (this.playing) this.pause();
    if (!this.timeline.next(this.time, by)) this.say("no event with a name there");
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
      " ": () => this.toggle(), ".": () => this.step(), ",": () => this.back(), "+": () => this.faster(5), "=": () => this.faster(5), "-": () => this.faster(-5), a: () => this.automatic(), n: () => this.named(1), N: () => this.named(-1),
      e: () => this.curves.enlargeNext(), z: () => this.curves.around(this.time / 1e9, 1 / 4), Z: () => this.curves.zoomed(null),
      d: () => this.jump(["drop", "loss"]), t: () => this.jump(["timeout"]), m: () => this.jump(["mark"]), f: () => this.follow(this.state.flow + 1 < this.model.flows.length ? this.state.flow + 1 : -1), p: () => this.onePacket(),
      "[": () => this.neighbour(-1), "]": () => this.neighbour(1), i: () => this.state.flow >= 0 && this.choose(`flow ${this.state.flow}`),
      l: () => this.showing({ auto: "packets", packets: "loads", loads: "auto" }[this.state.show]),
      b: () => this.branch(), x: () => this.unbranch(), c: () => this.acts?.link.focus(), "?": () => this.help(),
      ArrowLeft: () => this.seek(this.time - wide), ArrowRight: () => this.seek(this.time + wide), Home: () => this.seek(this.source.from), End: () => this.seek(this.source.edge), Escape: () => this.dialog.open || (this.follow(-1), this.choose(null), this.legend.clear()),
    };
    const act = acts[e.key];
    if (!act || (this.dialog.open && e.key !== "?")) return;
    e.preventDefault();
    act();
  }
}

Object.assign(Player.prototype, running);
