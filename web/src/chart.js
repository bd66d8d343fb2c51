// Chart: uPlot with the page's colours, a legend with the values at the cursor, and keyboard control.

import uPlot from "uplot";
import { colour, dash, faint, hue, variable } from "./look.js";
import { digits, make } from "./text.js";

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif';
const PAPER_WIDTH = 640;
const DOTS = [2, 4]; // between hollow marks
const ROOM = 7; // pixels that a mark may reach over the edge
const NEAR = 24; // distance in pixels at which a mark is selected
const STEP = 0.5; // zoom factor of a key or button

export class Chart {
  /** `peers`: the charts with shared zoom and cursor, including this one. */
  constructor(place, spec, xs, peers) {
    Object.assign(this, { place, spec, peers, marks: spec.kind === "dots", tables: spec.lines.map((line) => [xs[line.x], line]) });
    this.columns = []; // line and part (value, low or high) of each data column
    this.data = this.joined();
    this.spoken = make("p", { class: "aloud", "aria-live": "polite" });
    this.readings = spec.lines.map(() => make("span", { class: "at" }));
    this.where = make("span", { class: "where" });
    this.plot = make("div", {
      class: "plot",
      tabindex: "0",
      role: "group",
      "aria-label": `${spec.title}. Arrow keys move along the values, plus and minus zoom, zero shows all.`,
    });
    this.canvas = make("div", { role: "img", "aria-label": spec.alt });
    this.plot.append(this.canvas, this.spoken);
    place.replaceChildren(this.head(), this.plot, this.legend());
    this.u = new uPlot(this.options(), this.data, this.canvas);
    this.plot.addEventListener("keydown", (e) => this.key(e));
    this.touch();
    new ResizeObserver(() => this.fit()).observe(place);
  }

  /** Joins the columns of all lines over one axis. A line continues where only other lines have values, and stops at its missing values. */
  joined() {
    const tables = this.tables.map(([x, line]) => {
      const of = [x, line.y];
      this.columns.push({ line, part: "y" });
      if (line.low) {
        of.push(line.low, line.high);
        this.columns.push({ line, part: "low" }, { line, part: "high" });
      }
      return of;
    });
    if (this.marks) {
      // Marks may share a position on the axis: each keeps its own column entry.
      const rows = tables.flatMap((of, i) => of[0].map((x, k) => ({ x, i, k }))).sort((a, b) => a.x - b.x);
      this.rows = rows;
      return [rows.map((r) => r.x), ...tables.flatMap((of, i) => of.slice(1).map((v) => rows.map((r) => (r.i === i ? v[r.k] : null))))];
    }
    const same = tables.every((of) => of[0] === tables[0][0]);
    return same ? [tables[0][0], ...tables.flatMap((of) => of.slice(1))] : uPlot.join(tables);
  }

  options() {
    const { spec } = this;
    const drawn = this.columns.map(({ line, part }) => ({
      label: line.name,
      scale: "y",
      show: true,
      stroke: () => (part === "y" && !this.marks && line.hue !== null ? hue(line.hue) : "transparent"),
      dash: line.hollow ? DOTS : dash(line.hue),
      width: 1.5,
      spanGaps: false,
      points: { show: false },
      ...(this.marks ? { paths: () => null } : {}),
    }));
    const bands = this.columns.flatMap(({ line, part }, i) =>
      part === "high" && !this.marks && !line.bars ? [{ series: [i + 1, i], fill: () => faint(hue(line.hue), 0.2) }] : [],
    );
    const axis = (which, label) => ({
      scale: which,
      label,
      labelSize: 20,
      labelGap: which === "x" ? 2 : 4,
      labelFont: FONT,
      font: FONT,
      stroke: () => colour("muted"),
      grid: { stroke: () => colour("grid"), width: 1 },
      ticks: { stroke: () => colour("grid"), width: 1, size: 4 },
      values: (u, splits) => this.names(which, splits) ?? splits.map((v) => (v === null ? "" : digits(v))),
      ...(which === "x"
        ? { size: 30, space: 64, ...(spec.x.ticks ? { splits: (u, i, low, high) => ticks(spec.x.ticks, low, high), filter: (u, splits) => splits } : {}) }
        : { size: (u, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((t) => (t ?? "").length)), space: 32 }),
    });
    const padded = (low, high, wide) => (high > low ? [low - wide * (high - low), high + wide * (high - low)] : [low - 1, high + 1]);
    return {
      width: this.width(),
      height: this.height(),
      legend: { show: false },
      padding: [10, 12, 0, 0],
      scales: {
        x: {
          time: false,
          distr: spec.x.log ? 3 : 1,
          range: (u, low, high) => {
            if (low === null) return [spec.x.log ? 1 : 0, spec.x.log ? 10 : 1];
            if (this.zoomed) return [low, high];
            const wide = this.marks || spec.x.names || spec.x.log ? 0.06 : 0.01;
            return spec.x.log ? padded(Math.log(low), Math.log(high), wide).map(Math.exp) : padded(low, high, wide);
          },
        },
        y: {
          distr: spec.y.log ? 3 : 1,
          range: (u, low, high) => {
            if (low === null) return [0, 1];
            for (const [level] of spec.levels) [low, high] = [Math.min(low, level), Math.max(high, level)];
            if (spec.y.log) return uPlot.rangeLog(low, high, 10, false);
            if (spec.y.from === 0 && low >= 0) return [0, high > 0 ? 1.06 * high : 1];
            return padded(low, high, 0.08);
          },
        },
      },
      series: [{}, ...drawn],
      bands,
      axes: [axis("x", spec.x.label), axis("y", spec.y.label)],
      cursor: {
        x: true,
        y: false,
        points: { show: (u, i) => this.point(u, i) },
        drag: { x: true, y: false, setScale: true, dist: 6 },
        focus: { prox: -1 },
        bind: { dblclick: () => () => this.all() },
        ...(this.marks ? { dataIdx: (u, series, i) => this.nearest(u, series, i) } : {}),
      },
      hooks: {
        ready: [(u) => (this.whole = [u.scales.x.min, u.scales.x.max])],
        drawClear: [(u) => this.under(u)],
        draw: [(u) => this.over(u)],
        setSelect: [(u) => (this.zoomed ||= u.select.width > 0)], // a zoomed range has no margins
        setCursor: [(u) => this.moved(u)],
        setScale: [(u, key) => key === "x" && this.scaled(u)],
      },
    };
  }

  /** Returns names instead of numbers on a categorical axis. */
  names(which, splits) {
    const names = which === "x" ? this.spec.x.names : null;
    return names ? splits.map((v) => names[v] ?? "") : null;
  }

  point(u, i) {
    const { line, part } = this.columns[i - 1];
    if (part !== "y") return null;
    const mark = make("div");
    mark.style.background = hue(line.hue);
    return mark;
  }

  /** Finds the mark nearest to the cursor. */
  nearest(u, series, i) {
    if (series === 0 || !this.found) {
      this.found = null;
      let least = NEAR;
      const { left, top } = u.cursor;
      this.rows.forEach((r, k) => {
        const column = 1 + this.columns.findIndex((c) => c.line === this.spec.lines[r.i] && c.part === "y");
        const y = this.data[column][k];
        if (y === null || !u.series[column].show) return;
        const away = Math.hypot(u.valToPos(r.x, "x") - left, u.valToPos(y, "y") - top);
        if (away < least) [least, this.found] = [away, { column, k }];
      });
      if (series === 0) return this.found ? this.found.k : i;
    }
    return this.found && this.found.column === series ? this.found.k : null;
  }

  /** Draws named spans and levels below the lines. */
  under(u) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`;
    this.spec.spans.forEach(([from, to, name], k) => {
      const [a, b] = [from, to].map((v) => u.valToPos(v, "x", true));
      ctx.fillStyle = faint(colour("muted"), k % 2 ? 0.04 : 0.1); // so that neighbours are distinct
      ctx.fillRect(a, bbox.top, b - a, bbox.height);
      ctx.fillStyle = colour("muted");
      const start = Math.max(a, bbox.left);
      const room = Math.min(b, bbox.left + bbox.width) - start;
      if (room > ctx.measureText(name).width + 8 * uPlot.pxRatio) ctx.fillText(name, start + 4 * uPlot.pxRatio, bbox.top + 12 * uPlot.pxRatio);
    });
    ctx.restore();
  }

  over(u) {
    const { ctx, bbox } = u;
    const px = uPlot.pxRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = px;
    ctx.setLineDash([5 * px, 4 * px]);
    ctx.font = `${11 * px}px system-ui, sans-serif`;
    ctx.strokeStyle = ctx.fillStyle = colour("muted");
    for (const [level, name] of this.spec.levels) {
      const y = u.valToPos(level, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.fillText(name, bbox.left + bbox.width - ctx.measureText(name).width - 4 * px, y - 4 * px);
    }
    ctx.restore();
    ctx.save();
    const beyond = this.zoomed ? 0 : ROOM * px; // a mark at the edge is whole
    ctx.beginPath();
    ctx.rect(bbox.left - beyond, bbox.top - beyond, bbox.width + 2 * beyond, bbox.height + 2 * beyond);
    ctx.clip();
    ctx.lineWidth = px;
    ctx.setLineDash([]);
    this.columns.forEach(({ line, part }, i) => {
      if (part === "y" && u.series[i + 1].show && (this.marks || line.bars)) this.bars(u, line, i + 1);
    });
    ctx.restore();
  }

  /** Draws marks with their intervals. */
  bars(u, line, column) {
    const { ctx } = u;
    const px = uPlot.pxRatio;
    const size = (line.size ?? 4) * px;
    ctx.strokeStyle = ctx.fillStyle = line.hue === null ? faint(colour("muted"), 0.6) : hue(line.hue);
    this.data[0].forEach((at, k) => {
      const y = this.data[column][k];
      if (y === null || y === undefined) return;
      const [left, top] = [u.valToPos(at, "x", true), u.valToPos(y, "y", true)];
      if (line.low) {
        const [low, high] = [this.data[column + 1][k], this.data[column + 2][k]];
        if (low !== null && low !== undefined) {
          const [a, b] = [low, high].map((v) => u.valToPos(v, "y", true));
          ctx.beginPath();
          ctx.moveTo(left, a);
          ctx.lineTo(left, b);
          for (const end of [a, b]) {
            ctx.moveTo(left - 3 * px, end);
            ctx.lineTo(left + 3 * px, end);
          }
          ctx.stroke();
        }
      }
      ctx.beginPath();
      if (line.mark === "square") ctx.rect(left - size, top - size, 2 * size, 2 * size);
      else if (line.mark === "star") star(ctx, left, top, 2 * size);
      else if (line.mark === "cross") {
        ctx.moveTo(left - size, top - size);
        ctx.lineTo(left + size, top + size);
        ctx.moveTo(left - size, top + size);
        ctx.lineTo(left + size, top - size);
        ctx.stroke();
        return;
      } else ctx.arc(left, top, size, 0, 2 * Math.PI);
      if (line.hollow) {
        ctx.save();
        ctx.fillStyle = colour("face");
        ctx.fill();
        ctx.restore();
        ctx.stroke();
      } else ctx.fill();
    });
  }

  head() {
    const button = (text, label, act) => {
      const made = make("button", { type: "button", "aria-label": `${label}: ${this.spec.title}`, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    return make(
      "div",
      { class: "bar-of" },
      make("h4", {}, this.spec.title),
      make(
        "div",
        { class: "tools" },
        this.where,
        button("+", "Zoom in", () => this.zoom(STEP)),
        button("−", "Zoom out", () => this.zoom(1 / STEP)),
        button("all", "Show all", () => this.all()),
      ),
    );
  }

  legend() {
    const list = make("ul", { class: "legend-of" });
    this.spec.lines.forEach((line, i) => {
      const look = line.hollow || dash(line.hue ?? 0).length ? "dashed" : "solid";
      const mark = line.mark === "cross" ? "mark cross" : line.hollow ? "mark hollow" : "mark";
      const swatch = make("i", { class: `${this.marks || line.bars ? mark : look}`, "aria-hidden": "true" });
      swatch.style.color = line.hue === null ? "var(--muted)" : variable(line.hue);
      const made = make("button", { type: "button", "aria-pressed": "true", title: "Show or hide" }, swatch, line.name, " ", this.readings[i]);
      made.addEventListener("click", () => {
        const shown = made.getAttribute("aria-pressed") !== "true";
        made.setAttribute("aria-pressed", String(shown));
        this.columns.forEach((c, k) => c.line === line && this.u.setSeries(k + 1, { show: shown }));
      });
      list.append(make("li", {}, made));
    });
    return list;
  }

  width() {
    return this.onPaper ? PAPER_WIDTH : Math.max(240, Math.floor(this.place.clientWidth));
  }

  height() {
    return this.onPaper ? 230 : this.place.clientWidth < 480 ? 220 : this.marks ? 340 : 250;
  }

  fit() {
    if (this.u.width !== this.width() || this.u.height !== this.height()) this.u.setSize({ width: this.width(), height: this.height() });
  }

  paper(is) {
    this.onPaper = is;
    this.fit();
    this.redraw();
  }

  redraw() {
    this.u.redraw(true, true);
  }

  limits() {
    const { min, max } = this.u.scales.x;
    return [min, max];
  }

  /** Handles zoom by mouse, keys or buttons, and updates the peers. */
  scaled(u) {
    const { min, max } = u.scales.x;
    if (!this.whole || this.follows) return;
    for (const other of this.peers) if (other !== this) other.follow(min, max, this.zoomed);
    this.tell();
  }

  follow(min, max) {
    this.follows = true;
    this.zoomed = true;
    this.u.batch(() => this.u.setScale("x", { min, max }));
    this.follows = false;
    this.tell();
  }

  go(min, max) {
    const [low, high] = this.whole;
    const wide = Math.min(max - min, high - low);
    min = Math.min(Math.max(min, low), high - wide);
    if (wide >= (high - low) * 0.999) {
      this.all();
      return;
    }
    this.zoomed = true;
    this.u.batch(() => this.u.setScale("x", { min, max: min + wide }));
  }

  all() {
    for (const one of this.peers) {
      one.follows = true;
      one.zoomed = true;
      one.u.batch(() => one.u.setScale("x", { min: one.whole[0], max: one.whole[1] }));
      one.zoomed = false;
      one.follows = false;
      one.tell();
    }
  }

  zoom(factor) {
    const [min, max] = this.limits();
    const at = this.u.cursor.idx;
    const middle = at !== null && at !== undefined && this.u.cursor.left >= 0 ? this.data[0][at] : (min + max) / 2;
    if (this.spec.x.log) {
      const half = (factor * Math.log(max / min)) / 2;
      const centre = Math.sqrt(min * max);
      this.go(centre * Math.exp(-half), centre * Math.exp(half));
    } else this.go(middle - (middle - min) * factor, middle + (max - middle) * factor);
  }

  tell() {
    const [min, max] = this.limits();
    const all = min <= this.whole[0] && max >= this.whole[1];
    this.where.textContent = all ? "" : `${digits(min)} to ${digits(max)}`;
    this.plot.dataset.min = min;
    this.plot.dataset.max = max;
  }

  /** Shows the values at the cursor, here and in the peers. */
  moved(u) {
    if (!this.whole) return;
    const off = u.cursor.left < 0;
    const idxs = u.cursor.idxs;
    let at = null;
    this.spec.lines.forEach((line, i) => {
      const column = 1 + this.columns.findIndex((c) => c.line === line);
      const k = off ? null : idxs[column];
      const v = k === null || k === undefined ? null : this.data[column][k];
      const known = v !== null && v !== undefined;
      if (known) at = k;
      this.readings[i].textContent = known ? this.reading(line, column, k) : "";
    });
    this.at = at ?? (off ? null : idxs[0]);
    const x = this.at === null || this.at === undefined ? null : this.data[0][this.at];
    this.plot.dataset.at = off || x === null ? "" : x;
    this.where.textContent = off || x === null ? "" : `${this.spec.x.label}: ${this.spec.x.names?.[x] ?? digits(x)}`;
    if (off) this.tell();
    if (this.follows || this.marks) return;
    for (const other of this.peers) if (other !== this) other.point_at(off ? null : u.posToVal(u.cursor.left, "x"));
  }

  reading(line, column, k) {
    const label = this.marks ? line.labels?.[this.rows[k].k] : null;
    const value = digits(this.data[column][k]);
    const span = line.low ? [this.data[column + 1][k], this.data[column + 2][k]] : [null];
    const ends = span[0] === null || span[0] === undefined ? "" : ` (${span.map(digits).join(" to ")})`;
    return (label ? `${label}: ` : "") + value + ends;
  }

  point_at(x) {
    this.follows = true;
    this.u.setCursor(x === null ? { left: -10, top: -10 } : { left: this.u.valToPos(x, "x"), top: 10 });
    this.follows = false;
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== this.plot) return;
    const [min, max] = this.limits();
    const acts = {
      "+": () => this.zoom(STEP), "=": () => this.zoom(STEP), "-": () => this.zoom(1 / STEP), 0: () => this.all(), Escape: () => this.all(),
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.step(-Infinity), End: () => this.step(Infinity),
      PageUp: () => this.go(min - (max - min) / 2, max - (max - min) / 2), PageDown: () => this.go(min + (max - min) / 2, max + (max - min) / 2),
    };
    if (!acts[e.key]) return;
    e.preventDefault();
    acts[e.key]();
  }

  /** Moves the cursor to the next visible value. */
  step(by) {
    const x = this.data[0];
    const [min, max] = this.limits();
    let first = x.findIndex((v) => v >= min);
    let last = x.length - 1;
    while (last > first && x[last] > max) last -= 1;
    if (first < 0) first = 0;
    const from = this.at ?? (by > 0 ? first - 1 : last + 1);
    const to = Math.max(first, Math.min(last, from + by));
    let top = this.u.over.clientHeight / 2;
    if (this.marks) {
      const column = 1 + this.columns.findIndex((c) => c.line === this.spec.lines[this.rows[to].i] && c.part === "y");
      top = this.u.valToPos(this.data[column][to], "y");
    }
    this.found = null;
    this.u.setCursor({ left: this.u.valToPos(x[to], "x"), top });
    this.spoken.textContent = [this.where.textContent, ...this.spec.lines.map((l, i) => [l.name, this.readings[i].textContent]).filter(([, v]) => v).map(([n, v]) => `${n} ${v}`)].join("; ");
  }

  /** Horizontal touch moves the cursor; vertical touch scrolls the page. */
  touch() {
    const { over } = this.u;
    over.style.touchAction = "pan-y";
    const follow = (e) => {
      if (e.pointerType !== "touch") return;
      const box = over.getBoundingClientRect();
      this.u.setCursor({ left: e.clientX - box.left, top: e.clientY - box.top });
    };
    over.addEventListener("pointerdown", follow);
    over.addEventListener("pointermove", follow);
  }
}

function ticks(all, low, high) {
  return all.filter((v) => v >= low && v <= high);
}

function star(ctx, x, y, r) {
  for (let i = 0; i < 10; i += 1) {
    const [a, s] = [(Math.PI * i) / 5 - Math.PI / 2, i % 2 ? 0.42 * r : r];
    ctx[i ? "lineTo" : "moveTo"](x + s * Math.cos(a), y + s * Math.sin(a));
  }
  ctx.closePath();
}
