// Windows, queues and rates over time, which draw themselves as time goes on.

import uPlot from "uplot";
import { colour, dash, hue } from "../look.js";
import { make } from "../text.js";

const MOST = 6;

/** The three charts of one or two futures. */
export class Curves {
  constructor(told) {
    this.told = told;
    this.place = make("div", { class: "curves" });
    this.parts = [
      { key: "windows", title: "Congestion windows (packets)", of: (f, s, i) => f.ofFlow(s, i, "cwnd") / told.flows[i].mss, flows: true },
      { key: "queues", title: "Queues (packets)", of: (f, s, i) => f.ofLink(s, i, "packets"), flows: false },
      { key: "rates", title: "Rates of flows (Mbit/s)", of: null, flows: true },
    ].map((part) => ({ ...part, at: make("figure", { class: "curve-of" }) }));
    this.place.append(...this.parts.map((p) => p.at));
  }

  /** Which lines: the flows, or the queues that were fullest. */
  chosen(film, part, state) {
    if (part.flows) {
      if (state.flow >= 0) return [state.flow];
      // A flow without a window has no line among windows, unless no flow has one.
      const all = this.told.flows.map((_, i) => i);
      const own = part.key === "windows" ? all.filter((i) => this.told.flows[i].transport === "tcp") : all;
      return (own.length ? own : all).slice(0, MOST);
    }
    const chosen = /^link (\d+)$/.exec(state.chosen ?? "");
    const peak = this.told.links.map((_, i) => film.stills.reduce((m, s) => Math.max(m, film.ofLink(s, i, "packets")), 0));
    const order = peak.map((_, i) => i).sort((a, b) => peak[b] - peak[a]).filter((i) => peak[i] > 0).slice(0, 3);
    if (chosen && !order.includes(Number(chosen[1]))) order.unshift(Number(chosen[1]));
    return order.length ? order : [0];
  }

  build(films, state) {
    this.films = films;
    this.sign = this.key(films, state);
    for (const part of this.parts) {
      part.plot?.destroy();
      part.lines = this.chosen(films[0], part, state);
      const names = part.lines.map((i) => (part.flows ? this.told.flows[i].name : this.told.links[i].name));
      const more = part.flows && state.flow < 0 && part.lines.length === MOST && this.told.flows.length > MOST ? ` of the first ${MOST} flows` : "";
      const series = [{}];
      films.forEach((_, k) =>
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
      if (films.length > 1) key.append(make("span", { class: "muted" }, "dashed: the other future"));
      part.at.append(key);
      part.plot = new uPlot(
        {
          width: Math.max(220, part.at.clientWidth), height: this.height(), cursor: { show: false }, legend: { show: false }, series, padding: [8, 10, 0, 0],
          scales: { x: { time: false, range: () => this.range() }, y: { range: (u, low, high) => [0, Math.max(1e-3, (high || 1) * 1.08)] } },
          axes: [{ ...axis, size: 28 }, { ...axis, size: 46 }],
        },
        this.columns(films, part),
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

  key(films, state) {
    return [films.length, state.flow, state.chosen, innerWidth].join("|");
  }

  columns(films, part) {
    const times = new Set();
    const rows = films.map((film) => {
      const end = film.index(this.time ?? film.edge) + 1;
      // About as many points as pixels.
      const stills = film.stills.slice(0, end);
      const step = Math.max(1, Math.ceil(stills.length / 700));
      const some = stills.filter((_, i) => i % step === 0 || i === stills.length - 1);
      some.forEach((s) => times.add(s.time));
      return new Map(
        some.map((s, n) => {
          // The mean over a stretch: over single packets a rate jumps between nothing and that of the link.
          const before = some[Math.max(0, n - Math.max(4, Math.round(some.length / 60)))];
          return [s.time, part.lines.map((i) => (part.of ? part.of(film, s, i) : n > 0 ? Math.max(0, ((film.ofFlow(s, i, "delivered") - film.ofFlow(before, i, "delivered")) * 8e3) / (s.time - before.time)) : null))];
        }),
      );
    });
    const xs = [...times].sort((a, b) => a - b);
    const out = [xs.map((t) => t / 1e9)];
    rows.forEach((row) => part.lines.forEach((_, n) => out.push(xs.map((t) => row.get(t)?.[n] ?? null))));
    return out;
  }

  /** Up to a time. */
  draw(films, time, span, state) {
    [this.low, this.high] = span;
    this.time = time;
    if (this.sign !== this.key(films, state) || (this.parts[1].lines.length < 2 && (this.tried ?? 0) + 1000 < performance.now())) {
      this.tried = performance.now();
      this.build(films, state);
      return;
    }
    for (const part of this.parts) part.plot.setData(this.columns(films, part));
  }

  redraw() {
    for (const part of this.parts) part.plot?.redraw(true, true);
  }
}
