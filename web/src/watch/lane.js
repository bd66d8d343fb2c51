// Packets of a link direction, in the order of their arrival at its queue.

const ROOM = 256;
const COLUMNS = [["came", Float64Array], ["begun", Float64Array], ["there", Float64Array], ["flow", Uint32Array], ["number", Uint32Array], ["size", Uint32Array], ["bits", Uint8Array]];

/** Fate of a packet, in the low bits of `bits`. */
export const FATE = { dropped: 1, lost: 2 };

export class Lane {
  constructor() {
    this.n = 0;
    this.base = 0;
    for (const [name, Kind] of COLUMNS) this[name] = new Kind(ROOM);
    this.longest = 0; // longest time from arrival at the queue to the end of the link
    this.open = 0; // first packet without a transmission
  }

  clone() {
    const made = Object.assign(Object.create(Lane.prototype), this);
    for (const [name] of COLUMNS) made[name] = this[name].slice();
    return made;
  }

  /** Adds a packet; returns its index, counted from the first packet ever. */
  add(came, flow, number, size, bits) {
    if (this.n === this.came.length) {
      for (const [name, Kind] of COLUMNS) {
        const larger = new Kind(2 * this.n);
        larger.set(this[name]);
        this[name] = larger;
      }
    }
    const i = this.n;
    this.n += 1;
    [this.came[i], this.begun[i], this.there[i], this.flow[i], this.number[i], this.size[i], this.bits[i]] = [came, Infinity, Infinity, flow, number, size, bits];
    return this.base + i;
  }

  /** Returns the position of a packet in the arrays; -1 if it was removed. */
  at(place) {
    const i = place - this.base;
    return i >= 0 && i < this.n ? i : -1;
  }

  ends(i, begun, there) {
    this.begun[i] = begun;
    this.there[i] = there;
    this.longest = Math.max(this.longest, there - this.came[i]);
    while (this.open < this.n && this.begun[this.open] !== Infinity) this.open += 1;
  }

  /** Removes packets that arrived before a time. */
  forget(before) {
    let cut = 0;
    while (cut < this.n && this.there[cut] < before) cut += 1;
    if (cut < ROOM) return;
    for (const [name] of COLUMNS) this[name].copyWithin(0, cut, this.n);
    this.n -= cut;
    this.base += cut;
    this.open = Math.max(0, this.open - cut);
  }

  /** Returns the position of the first packet that came after a time. */
  after(time) {
    let low = 0;
    let high = this.n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.came[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Calls `call` for each packet that is queued or on the link at a time. */
  each(time, call) {
    const end = this.after(time);
    const first = Math.min(this.after(time - this.longest - 1), this.open);
    for (let i = first; i < end; i += 1) if (time < this.there[i]) call(i, time < this.begun[i]);
  }
}
