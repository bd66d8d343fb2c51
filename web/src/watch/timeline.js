// Time line with a mark for each named event, and the sentence that names an event when it happens.

import { variable } from "../look.js";
import { make } from "../text.js";
import { eventWords } from "./events.js";

const SIGNS = { start: "\u25b8", end: "\u25a0", exit: "\u2197", drop: "\u2715", loss: "\u2715", mark: "\u25b2", timeout: "\u25d4", rate: "\u21c5" };
const MOST = 120; // marks on the line
const MOST_MAIN = 24; // of them with a button in the list
const SHOWN = 4000; // milliseconds that a sentence stays

const at = (ns) => `${Number((ns / 1e9).toPrecision(4))} s`;

export class TimeLine {
  /** `go(time)`: jumps to a time in nanoseconds. */
  constructor(model, source, go) {
    Object.assign(this, { model, source, go });
    this.line = make("input", { type: "range", class: "time", min: 0, max: 10000, value: 0, "aria-label": "Time" });
    this.line.addEventListener("input", () => go(source.from + ((source.edge - source.from) * this.line.value) / 10000));
    this.ticks = make("div", { class: "ticks", "aria-hidden": "true" });
    this.list = make("div", { class: "chips events", role: "group", "aria-label": "Jump to an event" });
    this.sentence = make("p", { class: "happens", role: "status", "aria-live": "polite" });
    this.place = make("div", { class: "timeline" }, ...(source.live ? [] : [make("div", { class: "lined" }, this.line, this.ticks)]), this.list);
    this.version = -1;
  }

  get events() {
    return this.source.recordings[0]?.named.list ?? [];
  }

  /** Shows the marks of all events so far; returns true if there are new ones. */
  update() {
    const version = this.source.recordings[0]?.named.version;
    if (version === undefined || version === this.version) return false;
    this.version = version;
    const main = this.events.filter((e) => e.main);
    const some = [...main, ...this.events.filter((e) => !e.main)].slice(0, MOST);
    const { from, edge } = this.source;
    this.ticks.replaceChildren(
      ...(this.source.live ? [] : some).map((e) => {
        const tick = make("i", { class: e.main ? "main" : "", title: `${at(e.time)}: ${eventWords(this.model, e)}` });
        tick.style.left = `${(100 * (e.time - from)) / (edge - from || 1)}%`;
        if (e.flow >= 0) tick.style.background = variable(this.model.flows[e.flow].hue);
        return tick;
      }),
    );
    const shown = this.source.live ? main.slice(-MOST_MAIN) : main.slice(0, MOST_MAIN);
    this.list.replaceChildren(
      ...shown.map((e) => {
        const words = `${at(e.time)} ${eventWords(this.model, e)}`;
        const made = make(this.source.live ? "span" : "button", { class: "chip", type: this.source.live ? null : "button", "data-at": e.time, title: this.source.live ? null : "Jump to this event" }, make("b", { "aria-hidden": "true" }, SIGNS[e.kind]), words);
        if (!this.source.live) made.addEventListener("click", () => this.jump(e));
        return made;
      }),
    );
    return true;
  }

  jump(event) {
    this.go(event.time);
    this.name([event]);
  }

  /** Jumps to the next event, or with -1 to the one before. */
  next(time, by) {
    const found = by > 0 ? this.events.find((e) => e.time > time + 1) : this.events.findLast((e) => e.time < time - 1);
    if (found) this.jump(found);
    return found ?? null;
  }

  /** Names the events since a time. */
  pass(before, time) {
    const { events } = this;
    let last = events.length - 1;
    while (last >= 0 && events[last].time > time) last -= 1;
    const found = [];
    for (let i = last; i >= 0 && events[i].time > before && found.length < 3; i -= 1) found.unshift(events[i]);
    if (found.length) this.name(found);
  }

  name(events) {
    this.sentence.textContent = events.map((e) => `${at(e.time)}: ${eventWords(this.model, e)}`).join(" \u00b7 ");
    this.sentence.classList.add("now");
    this.since = performance.now();
  }

  /** Shows a time; the sentence fades. */
  show(time) {
    if (this.since && performance.now() - this.since > SHOWN) {
      this.sentence.classList.remove("now");
      this.since = 0;
    }
    const { from, edge } = this.source;
    if (!this.source.live && document.activeElement !== this.line) this.line.value = Math.round((10000 * (time - from)) / (edge - from || 1));
    this.line.setAttribute("aria-valuetext", `${(time / 1e9).toFixed(3)} s`);
  }
}
