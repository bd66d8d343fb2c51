// One run of a network: packets of every link, moments such as drops, and periodic snapshots (stills).

import { BIT, FLOW, KIND, LINK, Reader, ending, gauge } from "./chunk.js";
import { Events } from "./events.js";
import { FATE, Lane } from "./lane.js";

const PLACES = 2 ** 27;
const STILLS = 4000;
const MOMENTS = 20000;

export class Recording {
  constructor(links, flows) {
    this.links = links;
    this.flows = flows;
    this.lanes = Array.from({ length: links }, () => new Lane());
    this.wires = Array.from({ length: links }, () => ({ rate: 0, delay: 0, free: 0 }));
    this.last = new Map(); // by link, flow and direction: number and size of the previous packet
    this.under = new Map(); // by flow, direction and number: its position
    this.moments = [];
    this.stills = [];
    this.named = new Events();
    this.latest = null;
    this.clock = 0;
    this.endless = false; // true for a live run, which discards old data
    this.events = 0;
  }

  clone() {
    const made = Object.assign(Object.create(Recording.prototype), this);
    made.lanes = this.lanes.map((lane) => lane.clone());
    made.wires = this.wires.map((wire) => ({ ...wire }));
    made.last = new Map([...this.last].map(([key, value]) => [key, { ...value }]));
    made.under = new Map(this.under);
    made.moments = this.moments.slice();
    made.stills = this.stills.slice();
    made.named = this.named.clone();
    return made;
  }

  get from() {
    return this.stills.length ? this.stills[0].time : 0;
  }
  get edge() {
    return this.latest ? this.latest.time : 0;
  }

  /** Appends a chunk. */
  append(bytes) {
    const read = new Reader(bytes);
    const end = ending(read, this.links, this.flows, this.latest);
    if (end.first) this.begin();
    this.happen(read, end.oneOf);
    for (let i = 0; i < this.links; i += 1) {
      this.wires[i].rate = end.row[i * LINK.length];
      this.wires[i].delay = end.row[i * LINK.length + 1];
    }
    end.arrived = this.total(end, this.flows, (still, i) => this.ofFlow(still, i, "arrived"), "arrived");
    end.crossed = this.total(end, this.links, (still, i) => this.ofLink(still, i, "sent"), "crossed");
    const known = this.stills[this.stills.length - 1];
    // A change at the end of an interval adds a chunk of zero length.
    if (known && known.time === end.time) this.stills[this.stills.length - 1] = end;
    else if (!known || !this.endless || end.time - known.time >= this.spacing()) this.stills.push(end);
    this.named.still(this, this.latest, end);
    this.latest = end;
    if (this.endless) this.forget();
  }

  /** Adds up a counter that restarts at the end of the warm-up. */
  total(end, count, of, name) {
    return Float64Array.from({ length: count }, (_, i) => {
      const [now, before] = [of(end, i), this.latest ? of(this.latest, i) : 0];
      return (this.latest?.[name][i] ?? 0) + (now >= before ? now - before : now);
    });
  }

  spacing() {
    return this.stills.length > STILLS / 2 ? (this.edge - this.from) / STILLS : 0;
  }

  begin() {
    this.under.clear();
    this.last.clear();
    this.clock = 0;
    this.wires.forEach((wire) => (wire.free = 0));
    if (!this.endless) {
      // A recording keeps what it has: from here on it follows fewer packets, and those that wait are seen no more.
      for (const lane of this.lanes) for (let i = lane.open; i < lane.n; i += 1) if (lane.begun[i] === Infinity) lane.ends(i, this.edge, this.edge);
      return;
    }
    this.lanes.forEach((lane, i) => {
      // The fate of packets queued while packets were not recorded is unknown.
      const made = new Lane();
      made.base = lane.base + lane.n;
      this.lanes[i] = made;
    });
  }

  happen(read, oneOf) {
    const count = read.number();
    const heads = read.take(count);
    const [times, links, flows, numbers, sizes] = [read.column(), read.column(), read.column(), read.column(), read.column()];
    for (let i = 0; i < count; i += 1) {
      const head = heads[i];
      const kind = head & 15;
      let time = null;
      if (head & BIT.timed) {
        this.clock += times.step();
        time = this.clock;
      }
      if (kind === KIND.timeout) {
        this.moment({ time, kind: "timeout", flow: flows.number(), link: -1, at: 0 });
        continue;
      }
      const link = links.number();
      const flow = flows.number();
      if (link >= this.links || flow >= this.flows) throw new RangeError("a chunk has an unknown link or flow");
      const way = 2 * flow + (head & BIT.back ? 1 : 0);
      const last = this.before(link, way);
      last.number += numbers.step() + oneOf;
      last.size += sizes.step();
      this.packet({ head, kind, time, link, flow, number: last.number, size: last.size, key: way * 2 ** 32 + last.number });
    }
    this.events += count;
  }

  before(link, way) {
    const key = way * this.links + link;
    let found = this.last.get(key);
    if (!found) this.last.set(key, (found = { number: 0, size: 0 }));
    return found;
  }

  packet(e) {
    const lane = this.lanes[e.link];
    const wire = this.wires[e.link];
    const place = this.under.get(e.key);
    const where = place === undefined ? -1 : Math.floor(place / PLACES);
    let i = where === e.link ? lane.at(place % PLACES) : -1;
    const bits = e.head & (BIT.marked | BIT.again | BIT.back);
    if (e.kind === KIND.pass || e.kind === KIND.wait) {
      const reached = where < 0 ? undefined : this.lanes[where].there[this.lanes[where].at(place % PLACES)];
      const time = this.set(e.time ?? reached ?? this.clock);
      const added = lane.add(time, e.flow, e.number, e.size, bits);
      this.under.set(e.key, e.link * PLACES + added);
      if (e.kind === KIND.pass) this.sends(lane, wire, lane.at(added), time);
      if (bits & BIT.marked) this.moment({ time, kind: "mark", flow: e.flow, link: e.link, at: 0 });
    } else if (e.kind === KIND.go) {
      const time = this.set(e.time ?? wire.free);
      if (i < 0) {
        const added = lane.add(time, e.flow, e.number, e.size, bits);
        this.under.set(e.key, e.link * PLACES + added);
        i = lane.at(added);
      }
      lane.bits[i] |= bits;
      this.sends(lane, wire, i, time);
      if (bits & BIT.marked) this.moment({ time, kind: "mark", flow: e.flow, link: e.link, at: 0 });
    } else if (e.kind === KIND.here) {
      if (i >= 0) lane.ends(i, Math.min(lane.begun[i], e.time), e.time);
    } else if (e.kind === KIND.mark) {
      this.moment({ time: e.time, kind: "mark", flow: e.flow, link: e.link, at: 0 });
    } else if (e.kind === KIND.lost) {
      this.loses(lane, i, e);
    } else {
      if (i >= 0 && e.kind === KIND.out) {
        lane.bits[i] |= FATE.dropped;
        lane.ends(i, e.time, e.time);
      }
      this.under.delete(e.key);
      this.moment({ time: e.time, kind: "drop", flow: e.flow, link: e.link, at: 0 });
    }
  }

  set(time) {
    this.clock = time;
    return time;
  }

  sends(lane, wire, i, time) {
    wire.free = time + (wire.rate > 0 ? Math.floor((lane.size[i] * 8e9) / wire.rate) : 0);
    lane.ends(i, time, wire.free + wire.delay);
  }

  /** Marks a packet as lost by the link: at its time of loss, or half-way if that was decided at the start. */
  loses(lane, i, e) {
    let time = e.time;
    let at = 0.5;
    if (i >= 0 && lane.begun[i] !== Infinity) {
      const [begun, there] = [lane.begun[i], lane.there[i]];
      if (time <= begun + 1) time = (begun + there) / 2;
      at = there > begun ? Math.min(1, (time - begun) / (there - begun)) : 1;
      lane.bits[i] |= FATE.lost;
      lane.there[i] = time;
    }
    this.under.delete(e.key);
    this.moment({ time, kind: "loss", flow: e.flow, link: e.link, at });
  }

  /** Inserts a moment in the order of time. */
  moment(made) {
    let i = this.moments.length;
    while (i > 0 && this.moments[i - 1].time > made.time) i -= 1;
    this.moments.splice(i, 0, made);
    this.named.moment(made);
  }

  forget() {
    if (this.stills.length > STILLS) this.stills = this.stills.filter((_, i) => i % 2 === 0);
    if (this.moments.length > 2 * MOMENTS) this.moments = this.moments.slice(-MOMENTS);
    if (this.events < (this.swept ?? 0) + 50000) return;
    this.swept = this.events;
    const before = this.edge - 2e9;
    this.lanes.forEach((lane) => lane.forget(before));
    for (const [key, place] of this.under) {
      const lane = this.lanes[Math.floor(place / PLACES)];
      const i = lane.at(place % PLACES);
      if (i < 0 || lane.there[i] < before) this.under.delete(key);
    }
  }

  /** Returns the index of the last still at or before a time. */
  index(time) {
    let low = 0;
    let high = this.stills.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.stills[middle].time <= time) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  still(time) {
    if (this.latest && time >= this.latest.time) return this.latest;
    return this.stills[this.index(time)] ?? null;
  }

  ofLink(still, link, name) {
    return still.row[link * LINK.length + LINK.indexOf(name)];
  }
  ofFlow(still, flow, name) {
    return still.row[this.links * LINK.length + flow * FLOW.length + FLOW.indexOf(name)];
  }

  /** Returns the gauges of a queue or a flow. */
  gaugesOf(still, owner) {
    const start = this.links * LINK.length + this.flows * FLOW.length;
    return still.gauges.flatMap((g, i) => (g.owner === owner ? [[g.name, gauge(still.row[start + i])]] : []));
  }

  /** Returns the utilisation of each link around a time. */
  loads(time, span = 5e7) {
    const b = Math.max(1, this.index(time));
    let a = b - 1;
    while (a > 0 && this.stills[b] && this.stills[b].time - this.stills[a].time < span) a -= 1;
    const [old, now] = [this.stills[a], this.stills[b]];
    if (!old || !now || now.time <= old.time) return new Float64Array(this.links);
    const out = new Float64Array(this.links);
    for (let i = 0; i < this.links; i += 1) {
      const sent = now.crossed[i] - old.crossed[i];
      const rate = this.ofLink(now, i, "rate");
      if (sent > 0 && rate > 0) out[i] = Math.min(1, (sent * 8e9) / rate / (now.time - old.time));
    }
    return out;
  }

  /** Returns the next moment of some kinds after a time. */
  next(time, kinds) {
    return this.moments.find((m) => m.time > time && kinds.includes(m.kind)) ?? null;
  }

  /** Returns the time of the nearest packet event after a time, or (with `back`) before it. */
  nearest(time, back) {
    let best = back ? -Infinity : Infinity;
    const take = (t) => {
      if (t === Infinity || t === -Infinity) return;
      if (back ? t < time && t > best : t > time && t < best) best = t;
    };
    for (const lane of this.lanes) {
      const middle = lane.after(time);
      const first = Math.max(0, Math.min(lane.after(time - lane.longest - 1), lane.open) - 2);
      const last = Math.min(lane.n, middle + 2);
      for (let i = first; i < last; i += 1) [lane.came[i], lane.begun[i], lane.there[i]].forEach(take);
    }
    for (const m of this.moments) take(m.time);
    return Number.isFinite(best) ? best : null;
  }
}
