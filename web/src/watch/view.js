// Network on a canvas: links with packets, queues, nodes, and events.

import { colour, faint, hue } from "../look.js";
import { BIT } from "./chunk.js";
import { places } from "./labels.js";

const MOST = 1500; // most packets that are drawn singly
const FLASH = 900; // milliseconds that a drop or a mark is shown
const NAMED = 60; // most nodes with names
const LONGEST = 14; // most letters of a name
const PATTERN = 8; // colours before a pattern

export class View {
  constructor(model, calm) {
    this.model = model;
    this.calm = calm;
    this.canvas = document.createElement("canvas");
    this.ctx = this.canvas.getContext("2d");
    this.canvas.setAttribute("role", "img");
    this.seen = 0; // visible packets
    this.flashes = [];
    this.hits = [];
    this.shown = model.links.map((l) => model.links.length <= 12 && l.limit > 0);
    this.most = model.links.map((l) => (l.limit > 0 && l.limit <= 2000 ? l.limit : 20));
    this.large = model.links.length > 150;
  }

  /** Computes the positions of nodes in pixels. */
  fit() {
    const wide = Math.max(200, this.canvas.clientWidth);
    const high = Math.max(150, this.canvas.clientHeight);
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    this.canvas.width = Math.round(wide * ratio);
    this.canvas.height = Math.round(high * ratio);
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    [this.wide, this.high] = [wide, high];
    const { nodes } = this.model;
    const [xs, ys] = [nodes.map((n) => n.x), nodes.map((n) => n.y)];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [across, down] = [Math.max(...xs) - left, Math.max(...ys) - top];
    this.unit = Math.max(3.5, Math.min(12, Math.min(wide / 85, (high / Math.sqrt(nodes.length)) * 0.065)));
    const size = this.letters();
    const longest = nodes.length <= NAMED ? Math.max(...nodes.map((n) => this.ctx.measureText(short(n.name)).width)) : 0;
    const [edge, above] = [Math.max(26 + wide * 0.03, Math.min(wide * 0.16, longest + 4 * this.unit)), 20 + 2.5 * size];
    let [kx, ky] = [across > 0 ? (wide - 2 * edge) / across : 0, down > 0 ? (high - 2 * above) / down : 0];
    if (across > 0 && down > 0) {
      // Layouts by hops may be stretched, maps only a little.
      const free = this.model.map ? 1.3 : 12;
      kx = Math.min(kx, ky * free);
      ky = Math.min(ky, kx * free);
    }
    const [x0, y0] = [(wide - across * kx) / 2, (high - down * ky) / 2];
    this.at = nodes.map((n) => [x0 + (n.x - left) * kx, y0 + (n.y - top) * ky]);
    const pairs = new Map();
    this.ways = this.model.links.map((l) => {
      const [[ax, ay], [bx, by]] = [this.at[l.from], this.at[l.to]];
      const length = Math.hypot(bx - ax, by - ay) || 1;
      const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
      const key = `${l.from}-${l.to}`;
      const k = pairs.get(key) ?? 0;
      pairs.set(key, k + 1);
      const aside = this.unit * (0.85 + 3 * k);
      const gap = Math.min(this.unit * 1.6, length * 0.2);
      // Each direction is drawn at the right side of its link.
      const [nx, ny] = [-uy, ux];
      return { x: ax + ux * gap + nx * aside, y: ay + uy * gap + ny * aside, ux, uy, nx, ny, length: length - 2 * gap };
    });
    this.bars = this.ways.map((w) => this.bar(w));
    this.name();
  }

  /** Sets the font of names; returns its size. */
  letters() {
    const size = Math.max(11, Math.min(18, this.unit * 1.75));
    this.ctx.font = `${size}px system-ui, sans-serif`;
    return size;
  }

  /** Returns the place of the queue of a link: its start, length and thickness, and the size and the centre of its number. */
  bar(w) {
    const { unit } = this;
    const [long, off] = [Math.min(w.length * 0.46, Math.max(60, this.wide * 0.2)), unit * 2.1];
    const size = Math.max(11, Math.min(18, unit * 1.9));
    const [x, y] = [w.x + w.nx * off, w.y + w.ny * off];
    return { x, y, long, thick: unit * 1.5, size, ux: w.ux, uy: w.uy, nx: x + w.ux * (long + size * 1.5), ny: y + w.uy * (long + size) + w.ny * 2 };
  }

  /** Places the names of the nodes where they cover no queue. */
  name() {
    this.names = [];
    if (this.model.nodes.length > NAMED) return;
    const size = this.letters();
    const r = this.unit * 1.65;
    const found = places({
      nodes: this.at, r, size, wide: this.wide, high: this.high, ways: this.ways, bars: this.bars.filter((_, i) => this.shown[i]),
      names: this.model.nodes.map((n) => this.ctx.measureText(short(n.name)).width),
    });
    this.names = found.map((box, i) => ({ ...box, words: short(this.model.nodes[i].name) }));
  }

  hue(flow) {
    return hue(this.model.flows[flow].hue);
  }

  /** Returns true for a flow that is drawn faintly, because others are picked. */
  dim(state, flow) {
    return (state.flow >= 0 && state.flow !== flow) || (state.flows.size > 0 && !state.flows.has(flow));
  }

  /** Draws one run; `state`: selection, followed flow or packet, and view. */
  draw(recording, time, state) {
    const { ctx } = this;
    if (!this.at || this.canvas.clientWidth !== this.wide || this.canvas.clientHeight !== this.high) this.fit();
    ctx.clearRect(0, 0, this.wide, this.high);
    this.hits = [];
    const still = recording.still(time);
    if (!still) return;
    const loads = recording.loads(time);
    const packets = this.gather(recording, time, state, loads);
    this.lines(recording, still, loads, state);
    if (packets) this.packets(recording, packets, state);
    this.queues(recording, still, packets, state);
    this.nodes();
    this.happenings(recording, time, state);
  }

  /** Collects the visible packets by link; null if utilisation is shown instead. */
  gather(recording, time, state) {
    this.loading = state.show === "loads" || (state.show === "auto" && (this.large || state.blurred));
    if (this.loading) return null;
    const found = recording.lanes.map(() => ({ waits: [], goes: [] }));
    let n = 0;
    recording.lanes.forEach((lane, l) =>
      lane.each(time, (i, waits) => {
        n += 1;
        if (waits) found[l].waits.push(i);
        else found[l].goes.push(i);
      }),
    );
    this.seen = n;
    if (n > MOST && state.show === "auto") {
      this.loading = true;
      return null;
    }
    found.time = time;
    return found;
  }

  lines(recording, still, loads, state) {
    const { ctx, unit } = this;
    this.ways.forEach((w, i) => {
      const [x, y] = [w.x + w.ux * w.length, w.y + w.uy * w.length];
      ctx.beginPath();
      ctx.moveTo(w.x, w.y);
      ctx.lineTo(x, y);
      if (this.loading) {
        ctx.lineWidth = unit * (0.25 + 1.1 * loads[i]);
        ctx.strokeStyle = mixed(colour("line"), colour("hue1"), loads[i]);
      } else {
        ctx.lineWidth = unit * 1.15;
        ctx.strokeStyle = colour("grid");
      }
      if (state.chosen === `link ${i}`) {
        ctx.save();
        ctx.lineWidth = unit * 2;
        ctx.strokeStyle = faint(colour("hue0"), 0.35);
        ctx.stroke();
        ctx.restore();
      }
      ctx.stroke();
      this.hits.push({ link: i, ax: w.x, ay: w.y, bx: x, by: y, near: unit * 1.4 });
    });
  }

  packets(recording, found, state) {
    const { ctx, unit } = this;
    const batches = new Map();
    found.forEach(({ goes }, l) => {
      const [lane, w] = [recording.lanes[l], this.ways[l]];
      for (const i of goes) {
        const [begun, there] = [lane.begun[i], lane.there[i]];
        const share = (found.time - begun) / (there - begun || 1);
        const delay = recording.wires[l].delay;
        const sending = Math.max(0, there - begun - delay);
        // A packet extends from tail to head; a long packet covers a short link.
        const head = delay > 0 ? Math.min(1, (found.time - begun) / delay) : Math.min(1, 2 * share);
        const tail = delay > 0 ? Math.max(0, Math.min(1, (found.time - begun - sending) / delay)) : Math.max(0, 2 * share - 1);
        const [flow, bits, small] = [lane.flow[i], lane.bits[i], lane.size[i] < 200];
        const picked = state.packet && state.packet.flow === flow && state.packet.number === lane.number[i] && state.packet.back === ((bits & BIT.back) !== 0);
        const dim = this.dim(state, flow) || (state.packet && !picked);
        const key = `${dim ? 0 : 1}${small ? 0 : 1}${flow}`;
        if (!batches.has(key)) batches.set(key, { dim, small, flow, path: [], again: [], marked: [] });
        const b = batches.get(key);
        const least = (small ? 0.5 : 0.95) * unit;
        let [from, to] = [tail * w.length, head * w.length];
        if (to - from < least) {
          const middle = (from + to) / 2;
          [from, to] = [Math.max(0, middle - least / 2), Math.min(w.length, middle + least / 2)];
        }
        // A gap separates back-to-back packets.
        if (to - from > 2 * unit) from += Math.min(1.5, 0.15 * unit);
        const part = [w.x + w.ux * from, w.y + w.uy * from, w.x + w.ux * to, w.y + w.uy * to];
        b.path.push(part);
        if (bits & BIT.again && !small) b.again.push(part);
        if (bits & BIT.marked) b.marked.push(part);
        if (picked) this.picked = [(part[0] + part[2]) / 2, (part[1] + part[3]) / 2];
      }
    });
    const stroke = (parts, width, style) => {
      ctx.beginPath();
      for (const [a, b, c, d] of parts) {
        ctx.moveTo(a, b);
        ctx.lineTo(c, d);
      }
      ctx.lineWidth = width;
      ctx.strokeStyle = style;
      ctx.stroke();
    };
    for (const [, b] of [...batches].sort(([p], [q]) => (p < q ? -1 : 1))) {
      const base = this.hue(b.flow);
      const wide = unit * (b.small ? 0.5 : 1.15);
      stroke(b.path, wide, b.dim ? faint(base, 0.16) : base);
      if (b.dim) continue;
      // From the ninth flow on, colours repeat with a light core.
      if (Math.floor(this.model.flows[b.flow].hue / PATTERN) % 2) stroke(b.path, wide * 0.35, colour("face"));
      if (b.again.length) stroke(b.again, wide * 0.4, colour("ink"));
      if (b.marked.length) stroke(b.marked, wide * 1.5, faint(colour("inconclusive"), 0.8));
    }
    if (this.picked && state.packet) this.ring(...this.picked);
    this.picked = null;
  }

  ring(x, y) {
    const { ctx, unit } = this;
    ctx.beginPath();
    ctx.arc(x, y, unit * 1.9, 0, 2 * Math.PI);
    ctx.lineWidth = 2;
    ctx.strokeStyle = colour("ink");
    ctx.stroke();
  }

  /** Draws queues at the start of their links. */
  queues(recording, still, found, state) {
    const { ctx } = this;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    this.ways.forEach((w, l) => {
      const packets = recording.ofLink(still, l, "packets");
      if (packets > 2 && !this.shown[l]) {
        this.shown[l] = true;
        this.name();
        ctx.textAlign = "center";
      }
      if (packets > this.most[l]) this.most[l] = Math.min(packets * 1.25, this.model.links[l].limit || Infinity);
      const chosen = state.chosen === `link ${l}`;
      if (!(this.shown[l] && (packets > 0 || recording.ofLink(still, l, "drops") > 0 || state.links.includes(l) || this.model.links.length <= 4)) && !chosen) return;
      const { x, y, long, thick, size, nx, ny } = this.bars[l];
      const box = (from, to, style, inset = 0) => {
        ctx.beginPath();
        const [a, b] = [from * long, to * long];
        ctx.moveTo(x + w.ux * a, y + w.uy * a);
        ctx.lineTo(x + w.ux * b, y + w.uy * b);
        ctx.lineWidth = thick - inset;
        ctx.strokeStyle = style;
        ctx.stroke();
      };
      box(0, 1, chosen ? colour("ink") : state.links.includes(l) ? hue(this.model.links[l].hue) : colour("line"));
      box(1.5 / long, 1 - 1.5 / long, colour("face"), 3);
      const slot = 1 / this.most[l];
      const lane = recording.lanes[l];
      const waits = found?.[l].waits ?? [];
      if (waits.length) {
        // With sampled packets, each one represents its share of the queue.
        const each = (packets > 0 ? Math.max(1, packets / waits.length) : 1) * slot;
        const gap = each * long > 4 ? 1 / long : 0;
        waits.forEach((i, k) => {
          if (k * each > 1) return;
          const dim = this.dim(state, lane.flow[i]);
          box(k * each + gap, Math.min(1, (k + 1) * each), dim ? faint(this.hue(lane.flow[i]), 0.2) : this.hue(lane.flow[i]), 3);
          if (state.packet && state.packet.flow === lane.flow[i] && state.packet.number === lane.number[i]) {
            this.picked = null;
            this.ring(x + w.ux * (k + 0.5) * each * long, y + w.uy * (k + 0.5) * each * long);
          }
        });
      } else if (packets > 0) box(0, Math.min(1, packets * slot), faint(colour("ink"), 0.45), 3);
      this.hits.push({ link: l, ax: x, ay: y, bx: x + w.ux * long, by: y + w.uy * long, near: thick });
      ctx.font = `600 ${size}px system-ui, sans-serif`;
      const words = String(packets);
      this.label(words, nx, ny, packets >= this.most[l] * 0.98 ? colour("hue1") : colour("ink"));
    });
  }

  label(words, x, y, style) {
    const { ctx } = this;
    ctx.lineWidth = 3;
    ctx.strokeStyle = colour("face");
    ctx.lineJoin = "round";
    ctx.strokeText(words, x, y);
    ctx.fillStyle = style;
    ctx.fillText(words, x, y);
  }

  nodes() {
    const { ctx, unit } = this;
    const r = unit * (this.model.nodes.length > 200 ? 0.7 : 1.5);
    this.model.nodes.forEach((n, i) => {
      const [x, y] = this.at[i];
      ctx.beginPath();
      if (n.end) ctx.roundRect(x - r, y - r, 2 * r, 2 * r, 2);
      else ctx.arc(x, y, r * 1.1, 0, 2 * Math.PI);
      ctx.fillStyle = n.end ? colour("tint0") : colour("face");
      ctx.fill();
      ctx.lineWidth = 1.6;
      ctx.strokeStyle = colour("ink");
      ctx.stroke();
    });
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    this.letters();
    for (const { words, x, y } of this.names) this.label(words, x, y, colour("ink"));
  }

  /** Shows a drop, mark, loss or timeout for a moment. */
  flash(moment) {
    this.flashes.push({ ...moment, since: performance.now() });
    if (this.flashes.length > 60) this.flashes.shift();
  }

  happenings(recording, time, state) {
    const { ctx, unit } = this;
    const now = performance.now();
    this.flashes = this.flashes.filter((f) => now - f.since < FLASH);
    for (const f of this.flashes) {
      if (this.dim(state, f.flow)) continue;
      const age = this.calm() ? 0.2 : (now - f.since) / FLASH;
      let x, y;
      if (f.link >= 0) {
        const w = this.ways[f.link];
        const along = f.kind === "loss" ? f.at * w.length : this.bars[f.link].long * Math.min(1, recording.ofLink(recording.still(time), f.link, "packets") / this.most[f.link]);
        [x, y] = [w.x + w.ux * along + w.nx * unit * (2 + 7 * age), w.y + w.uy * along + w.ny * unit * (2 + 7 * age)];
      } else {
        const [nx, ny] = this.at[this.model.flows[f.flow].from];
        [x, y] = [nx, ny - unit * (2.4 + 3 * age)];
      }
      ctx.globalAlpha = 1 - age * age;
      const s = unit * 1.25;
      ctx.lineWidth = Math.max(2, unit * 0.5);
      ctx.strokeStyle = this.hue(f.flow);
      ctx.fillStyle = this.hue(f.flow);
      ctx.beginPath();
      if (f.kind === "drop" || f.kind === "loss") {
        ctx.moveTo(x - s, y - s);
        ctx.lineTo(x + s, y + s);
        ctx.moveTo(x + s, y - s);
        ctx.lineTo(x - s, y + s);
        ctx.stroke();
      } else if (f.kind === "mark") {
        ctx.moveTo(x, y - s);
        ctx.lineTo(x + s, y + s * 0.7);
        ctx.lineTo(x - s, y + s * 0.7);
        ctx.closePath();
        ctx.fill();
      } else {
        ctx.arc(x, y, s, 0, 2 * Math.PI);
        ctx.moveTo(x, y);
        ctx.lineTo(x, y - s * 0.7);
        ctx.moveTo(x, y);
        ctx.lineTo(x + s * 0.6, y);
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    }
  }

  /** Returns the link at a point. */
  hit(x, y) {
    let best = null;
    for (const h of this.hits) {
      const [dx, dy] = [h.bx - h.ax, h.by - h.ay];
      const t = Math.max(0, Math.min(1, ((x - h.ax) * dx + (y - h.ay) * dy) / (dx * dx + dy * dy || 1)));
      const far = Math.hypot(x - h.ax - t * dx, y - h.ay - t * dy);
      if (far <= h.near && (!best || far < best.far)) best = { link: h.link, far };
    }
    return best?.link ?? -1;
  }
}

const short = (name) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}\u2026` : name);
const rgb = (hex) => /^#(..)(..)(..)$/.exec(hex)?.slice(1).map((x) => parseInt(x, 16)) ?? [128, 128, 128];

/** Mixes two colours. */
export function mixed(a, b, share) {
  const [p, q] = [rgb(a), rgb(b)];
  return `rgb(${p.map((x, i) => Math.round(x + (q[i] - x) * share)).join(",")})`;
}
