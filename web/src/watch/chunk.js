// Chunks of an animation, as crates/trace/src/scene writes them: the events of an interval, and the state of all links and flows at its end.
// Times are integer nanoseconds, exact in doubles for a hundred days.

export const LINK = ["rate", "delay", "packets", "bytes", "sent", "sentPackets", "drops", "losses", "marks"];
export const FLOW = ["cwnd", "ssthresh", "inFlight", "srtt", "delivered", "arrived", "again", "timeouts", "state", "begun"];
export const KIND = { pass: 0, wait: 1, go: 2, drop: 3, out: 4, lost: 5, here: 6, timeout: 7, mark: 8 };
export const BIT = { marked: 16, again: 32, back: 64, timed: 128 };

/** Reads numbers with seven bits per byte (LEB128); reading beyond the end is an error. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.zeros = 0;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new RangeError("a chunk ends too soon");
    return this.bytes[this.at++];
  }

  number() {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
      if (factor > 2 ** 70) throw new RangeError("a number in a chunk has no end");
    }
  }

  /** Reads a signed difference. */
  step() {
    return apart(this.number());
  }

  /** Reads a signed difference from a row with run-length coded zeros. */
  sparse() {
    if (this.zeros > 0) {
      this.zeros -= 1;
      return 0;
    }
    const value = this.number();
    if (value === 0) {
      this.zeros = this.number();
      return 0;
    }
    return apart(value);
  }

  /** Returns a reader of a column. */
  column() {
    return new Reader(this.take(this.number()));
  }

  take(length) {
    if (this.at + length > this.bytes.length) throw new RangeError("a chunk ends too soon");
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

function apart(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

const utf8 = new TextDecoder();
const bits = new DataView(new ArrayBuffer(4));

/** Returns the value of a gauge from its bits. */
export function gauge(word) {
  bits.setUint32(0, word);
  return bits.getFloat32(0);
}

/** Reads the state at the end of an interval, coded as differences from `before`: `row` has links, then flows, then gauges as bits. */
export function ending(read, links, flows, before) {
  const flags = read.byte();
  const first = (flags & 1) !== 0;
  const oneOf = first ? read.number() : before.oneOf;
  const fixed = links * LINK.length + flows * FLOW.length;
  const old = first ? new Float64Array(fixed) : before.row;
  const time = (first ? 0 : before.time) + read.number();
  const values = new Float64Array(fixed);
  read.zeros = 0;
  for (let k = 0; k < LINK.length; k += 1) for (let i = 0; i < links; i += 1) values[i * LINK.length + k] = old[i * LINK.length + k] + read.sparse();
  const start = links * LINK.length;
  for (let k = 0; k < FLOW.length; k += 1) {
    for (let i = 0; i < flows; i += 1) values[start + i * FLOW.length + k] = old[start + i * FLOW.length + k] + read.sparse();
  }
  let gauges = before?.gauges ?? [];
  const renamed = (flags & 2) !== 0;
  if (renamed) {
    gauges = [];
    for (let n = read.number(); n > 0; n -= 1) {
      const owner = read.number();
      gauges.push({ owner, name: utf8.decode(read.take(read.number())) });
    }
  }
  const row = new Float64Array(fixed + gauges.length);
  row.set(values);
  read.zeros = 0;
  gauges.forEach((_, i) => (row[fixed + i] = (renamed ? 0 : old[fixed + i]) + read.sparse()));
  return { first, oneOf, time, row, gauges };
}
