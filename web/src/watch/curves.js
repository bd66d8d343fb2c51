// Charts of windows, queues and rates over time, drawn as time advances.

import uPlot from "uplot";
import { colour, dash, hue } from "../look.js";
import { make } from "../text.js";

const MOST = 6;

/** Three charts of the run and its branch. */
export class Curves {
  constructor(model) {
    this.model = model;
    this.place = make("div", { class: "curves" });
    this.parts = [
      { key: "windows", title: "cwnd (packets)", of: (f, s, i) => f.ofFlow(s, i, "cwnd") / model.flows[i].mss, flows: true },
      { key: "queues", title: "Queue length (packets)", of: (f, s, i) => f.ofLink(s, i, "packets"), flows: false },
      { key: "rates", title: "Throughput (Mbit/s)", of: null, flows: true },
    ].map((part) => ({ ...part, at: make("figure", { class: "curve-of" }) }));
    this.place.append(...this.parts.map((p) => p.at));
  }

  /** Selects the lines: flows, or the longest queues. */
  chosen(recording, part, state) {
    if (part.flows) {
      if (state.flow >= 0) return [state.flow];
      // Only TCP flows have a window, if there are any.
      const all = this.model.flows.map((_, i) => i);
      const own = part.key === "windows" ? all.filter((i) => this.model.flows[i].transport === "tcp") : all;
      return (own.length ? own : all).slice(0, MOST);
    }
    const chosen = /^link (\d+)$/.exec(state.chosen ?? "");
    const peak = this.model.links.map((_, i) => recording.stills.reduce((m, s) => Math.max(m, recording.ofLink(s, i, "packets")), 0));
    const order = peak.map((_, i) => i).sort((a, b) => peak[b] - peak[a]).filter((i) => peak[i] > 0).slice(0, 3);
    if (chosen && !order.includes(Number(chosen[1]))) order.unshift(Number(chosen[1]));
    return order.length ? order : [0];
  }

  build(recordings, state) {
    this.recordings = recordings;
    this.sign = this.key(recordings, state);
    for (const part of this.parts) {
      part.plot?.destroy();
      part.lines = this.chosen(recordings[0], part, state);
      const names = part.lines.map((i) => (part.flows ? this.model.flows[i].name : this.model.links[i].name));
      const more = part.flows && state.flow < 0 && part.lines.length === MOST && this.model.flows.length > MOST ? ` of the first ${MOST} flows` : "";
      const series = [{}];
      recordings.forEach((_, k) =>
        part.lines.forEach((i, n) => {
          const number = part.flows ? i : n;
          series.push({ label: names[n], stroke: () => hue(number), width: 1.8, dash: k ? [6, 4] : dash(number), points: { show: false }, spanGaps: true });
        }),
      );
      const axis = { stroke: () => colour("muted"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, font: "12px system-ui, sans-serif" };
      part.at.replaceChildren(make("figcaption", {}, part.title + more), (part.box = make("div", { class: "plot", role: "img", "aria-label": part.title })));
      const key = make("p", { class: "key" });
      names.forEach((name, n) => {
        const swatch = make("i", { "aria-hidden": "true" });
        swatch.style.background = `var(--hue${(part.flows ? part.lines[n] : n) % 5})`;
        key.append(make("span", {}, swatch, name));
      });
      if (recordings.length > 1) key.append(make("span", { class: "muted" }, "dashed: the other future"));
      part.at.append(key);
      part.plot = new uPlot(
        {
          width: Math.max(220, part.at.clientWidth), height: this.height(), cursor: { show: false }, legend: { show: false }, series, padding: [8, 10, 0, 0],
          scales: { x: { time: false, range: () => this.range() }, y: { range: (u, low, high) => [0, Math.max(1e-3, (high || 1) * 1.08)] } },
          axes: [{ ...axis, size: 28 }, { ...axis, size: 46 }],
        },
        this.columns(recordings, part),
        part.box,
      );
    }
  }

  height() {
    return innerWidth < 480 ? 130 : Math.max(130, Math.min(240, innerHeight * 0.19));
  }

  range() {
    return [this.low, Math.max(this.high, this.low + 1e-6)];
  }

  key(recordings, state) {
    return [recordings.length, state.flow, state.chosen, innerWidth].join("|");
  }

  columns(recordings, part) {
    const times = new Set();
    const rows = recordings.map((recording) => {
      const end = recording.index(this.time ?? recording.edge) + 1;
      // About as many points as pixels.
      const stills = recording.stills.slice(0, end);
      const step = Math.max(1, Math.ceil(stills.length / 700));
      const some = stills.filter((_, i) => i % step === 0 || i === stills.length - 1);
      some.forEach((s) => times.add(s.time));
      return new Map(
        some.map((s, n) => {
          // Mean over an interval: over single packets a rate jumps between zero and the link rate.
          const before = some[Math.max(0, n - Math.max(4, Math.round(some.length / 60)))];
          return [s.time, part.lines.map((i) => (part.of ? part.of(recording, s, i) : n > 0 ? Math.max(0, ((recording.ofFlow(s, i, "delivered") - recording.ofFlow(before, i, "delivered")) * 8e3) / (s.time - before.time)) : null))];
        }),
      );
    });
    const xs = [...times].sort((a, b) => a - b);
    const out = [xs.map((t) => t / 1e9)];
    rows.forEach((row) => part.lines.forEach((_, n) => out.push(xs.map((t) => row.get(t)?.[n] ?? null))));
    return out;
  }

  /** Draws the charts up to a time. */
  draw(recordings, time, span, state) {
    [this.low, this.high] = span;
    this.time = time;
    if (this.sign !== this.key(recordings, state) || (this.parts[1].lines.length < 2 && (this.tried ?? 0) + 1000 < performance.now())) {
      this.tried = performance.now();
      this.build(recordings, state);
      return;
    }
    for (const part of this.parts) part.plot.setData(this.columns(recordings, part));
  }

  redraw() {
    for (const part of this.parts) part.plot?.redraw(true, true);
  }
}
