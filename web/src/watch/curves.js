// Charts of windows, throughputs, queues and link rates over time. A line is drawn once; what is not yet reached lies behind a veil.

import uPlot from "uplot";
import { colour, dash, faint, hue } from "../look.js";
import { make } from "../text.js";

const MOST_FLOWS = 300;
const MOST_LINKS = 8;
const LEAST_QUEUE = 0.1; // of the longest queue, for a link to have a line
const MOST_POINTS = 1200;
const AGAIN = 300; // milliseconds between two drawings of a live run
const LEAST = 4; // stills per point of a rate: over single packets it jumps between zero and the link rate
const CROSSINGS = 8; // of the slowest link, at least, per point of a rate: windows arrive in bursts
const SHARE = 60; // points of a rate over the run

/** Rate in Mbit/s of bytes between two stills. */
const rate = (bytes, s, before) => (s.time > before.time ? (bytes * 8e3) / (s.time - before.time) : null);

const PARTS = [
  { key: "windows", title: "Congestion window (packets)", of: "flow", value: (r, s, i, model) => r.ofFlow(s, i, "cwnd") / model.flows[i].mss },
  { key: "rates", title: "Throughput of each flow (Mbit/s)", of: "flow", over: (r, s, b, i) => rate(s.arrived[i] - b.arrived[i], s, b) },
  { key: "queues", title: "Queue length (packets)", of: "link", value: (r, s, i) => r.ofLink(s, i, "packets") },
  {
    key: "crossed", title: "Rate of each link (Mbit/s)", of: "link",
    // A packet counts when its transmission starts: what is not yet on the link is left out.
    over: (r, s, b, i) => Math.min(rate(s.crossed[i] - b.crossed[i], s, b), Math.max(r.ofLink(s, i, "rate"), r.ofLink(b, i, "rate")) / 1e6),
  },
];

/** Four charts of the run and its branch. */
export class Curves {
  constructor(model, say) {
    this.model = model;
    this.say = say;
    this.place = make("div", { class: "curves" });
    this.zoom = null;
    this.built = 0; // drawings of all lines
    this.parts = PARTS.map((part) => {
      const wide = make("button", { type: "button", class: "wide", "aria-pressed": "false", "aria-label": `Enlarge: ${part.title}`, title: "Enlarge (e)" }, "\u2922");
      const box = make("div", { class: "plot", role: "img", "aria-label": part.title });
      const at = make("figure", { class: "curve-of", "data-curve": part.key }, make("figcaption", {}, part.title, wide), box);
      const made = { ...part, at, box, wide, lines: [] };
      wide.addEventListener("click", () => this.enlarge(made));
      box.addEventListener("click", () => this.enlarge(made)); // after a drag uPlot keeps the click to itself
      return made;
    });
    this.place.append(...this.parts.map((p) => p.at));
    new ResizeObserver(() => this.fit()).observe(this.place);
  }

  /** Selects the lines: all flows, and the links whose queues grew longest, in their order. */
  chosen(recording, part) {
    if (part.of === "flow") {
      // Only TCP flows have a window, if there are any.
      const all = this.model.flows.map((_, i) => i);
      const own = part.key === "windows" ? all.filter((i) => this.model.flows[i].transport === "tcp") : all;
      return (own.length ? own : all).slice(0, MOST_FLOWS);
    }
    return this.links(recording);
  }

  links(recording) {
    this.peak ??= new Float64Array(this.model.links.length);
    const { stills } = recording;
    for (let k = recording.endless ? Math.max(0, stills.length - 200) : 0; k < stills.length; k += 1) {
      this.peak.forEach((p, i) => (this.peak[i] = Math.max(p, recording.ofLink(stills[k], i, "packets"))));
    }
    const queued = this.model.links.map((_, i) => i).sort((a, b) => this.peak[b] - this.peak[a]).filter((i) => this.peak[i] > Math.max(1, LEAST_QUEUE * Math.max(...this.peak))).slice(0, MOST_LINKS);
    if (!queued.length) queued.push(this.peak.indexOf(Math.max(...this.peak)));
    const picked = [...(this.picked ?? [])].filter((x) => x.startsWith("link")).map((x) => Number(x.slice(5)));
    return [...new Set([...queued, ...picked])].sort((a, b) => a - b);
  }

  number(part, i) {
    return (part.of === "flow" ? this.model.flows : this.model.links)[i].hue;
  }

  /** Returns true if other lines were picked than this one. */
  dimmed(part, i) {
    const own = [...(this.picked ?? [])].filter((x) => x.startsWith(part.of));
    return own.length > 0 && !own.includes(`${part.of} ${i}`);
  }

  build(recordings) {
    this.built += 1;
    for (const part of this.parts) {
      part.lines = this.chosen(recordings[0], part);
      part.count = recordings.length;
      part.plot?.destroy();
      const series = [{}];
      recordings.forEach((_, k) =>
        part.lines.forEach((i) => {
          const number = this.number(part, i);
          series.push({ stroke: () => (this.dimmed(part, i) ? faint(hue(number), 0.15) : hue(number)), width: 1.8, dash: k ? [6, 4] : dash(number), points: { show: false }, spanGaps: true });
        }),
      );
      const axis = { stroke: () => colour("muted"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
      part.plot = new uPlot(
        {
          ...this.size(part), series, padding: [8, 12, 0, 0], legend: { show: false },
          cursor: { points: { show: false }, y: false, drag: { x: true, y: false, setScale: false, dist: 6 }, bind: { dblclick: () => () => this.zoomed(null) } },
          scales: { x: { time: false, range: () => this.range() }, y: { range: (u, low, high) => [0, Math.max(1e-3, (high || 1) * 1.08)] } },
          axes: [{ ...axis, size: 30, values: (u, splits) => splits.map((v) => `${Number(v.toPrecision(6))} s`) }, { ...axis, size: 48 }],
          hooks: { setSelect: [(u) => this.selected(u)] },
        },
        this.columns(recordings, part),
        part.box,
      );
      part.veil = make("div", { class: "veil", "aria-hidden": "true" });
      part.plot.over.append(make("div", { class: "veiled" }, part.veil));
    }
  }

  size(part) {
    const large = part.at.classList.contains("large");
    const high = innerWidth < 544 ? 170 : Math.max(190, Math.min(420, innerHeight * 0.27));
    return { width: Math.max(200, part.box.clientWidth), height: Math.round(large ? Math.min(innerHeight * 0.75, 2 * high) : high) };
  }

  fit() {
    for (const part of this.parts) {
      const { width, height } = this.size(part);
      if (part.plot && (part.plot.width !== width || part.plot.height !== height)) part.plot.setSize({ width, height });
    }
    this.veils();
  }

  range() {
    const [low, high] = this.zoom ?? this.span ?? [0, 1];
    return [low, Math.max(high, low + 1e-9)];
  }

  selected(u) {
    if (u.select.width < 4) return;
    const ends = [u.select.left, u.select.left + u.select.width].map((x) => u.posToVal(x, "x"));
    u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.zoomed(ends);
  }

  /** Shows a part of the time in all charts; null for all of it. */
  zoomed(ends) {
    this.zoom = ends;
    this.inside = false;
    this.place.classList.toggle("zoomed", ends !== null);
    this.say(ends ? `charts from ${Number(ends[0].toPrecision(4))} s to ${Number(ends[1].toPrecision(4))} s` : "charts of all of the time");
    this.rescale();
  }

  /** Zooms around a time in seconds by a factor. */
  around(time, factor) {
    const [low, high] = this.range();
    const wide = (high - low) * factor;
    if (wide >= this.span[1] - this.span[0]) {
      this.zoomed(null);
      return;
    }
    const from = Math.max(this.span[0], Math.min(this.span[1] - wide, time - wide / 2));
    this.zoomed([from, from + wide]);
  }

  rescale() {
    const [min, max] = this.range();
    for (const part of this.parts) part.plot?.setScale("x", { min, max });
    this.veils();
  }

  enlarge(part) {
    for (const p of this.parts) {
      const large = p === part && !p.at.classList.contains("large");
      p.at.classList.toggle("large", large);
      p.wide.setAttribute("aria-pressed", String(large));
    }
    this.fit();
  }

  /** Enlarges the next chart, or none after the last. */
  enlargeNext() {
    const at = this.parts.findIndex((p) => p.at.classList.contains("large"));
    this.enlarge(this.parts[at + 1] ?? this.parts[at]);
  }

  columns(recordings, part) {
    return uPlot.join(
      recordings.map((recording) => {
        const { stills } = recording;
        const step = Math.max(1, Math.ceil(stills.length / MOST_POINTS));
        const some = stills.filter((_, i) => i % step === 0 || i === stills.length - 1);
        const window = Math.max((recording.edge - recording.from) / SHARE, CROSSINGS * this.model.pace * 1e9);
        let first = 0;
        const begin = some.map((s, n) => {
          while (first < n && some[first + 1].time <= s.time - window) first += 1;
          return some[Math.max(0, Math.min(first, n - LEAST))];
        });
        const rows = part.lines.map((i) => some.map((s, n) => (part.value ? part.value(recording, s, i, this.model) : n > 0 ? part.over(recording, s, begin[n], i) : null)));
        return [some.map((s) => s.time / 1e9), ...rows];
      }),
    );
  }

  /** Draws the charts up to a time; `live`: the run still grows. */
  draw(recordings, time, span, live, picked) {
    this.span = span;
    this.time = time;
    const sign = `${recordings.length}|${[...picked].join()}`;
    const now = performance.now();
    this.picked = picked;
    if (this.sign !== sign || (live && this.links(recordings[0]).join() !== this.parts[2].lines.join())) {
      this.sign = sign;
      this.build(recordings);
      this.fresh = now;
    } else if (live && now - this.fresh > AGAIN && this.edge !== recordings[0].edge) {
      for (const part of this.parts) part.plot.setData(this.columns(recordings, part));
      this.edge = recordings[0].edge;
      this.fresh = now;
    }
    // A zoomed part moves with the time, once the time was in it.
    const within = this.zoom !== null && time / 1e9 >= this.zoom[0] && time / 1e9 <= this.zoom[1];
    this.inside ||= within;
    if (this.zoom && this.inside && !within) {
      const wide = this.zoom[1] - this.zoom[0];
      const from = Math.max(span[0], Math.min(span[1] - wide, time / 1e9 - wide * 0.1));
      this.zoom = [from, from + wide];
      this.rescale();
    }
    this.veils();
  }

  veils() {
    for (const { plot, veil } of this.parts) {
      if (!plot) continue;
      const at = Math.max(-9, Math.min(plot.over.clientWidth, plot.valToPos((this.time ?? 0) / 1e9, "x")));
      if (plot.veiled === at) continue;
      plot.veiled = at;
      veil.style.transform = `translateX(${at.toFixed(1)}px)`;
    }
  }

  redraw() {
    for (const part of this.parts) part.plot?.redraw(true, true);
  }
}
