// Run by `npm test`: what a chunk tells, packets on a link, and a recording, without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { inflateRawSync } from "node:zlib";
import { Reader } from "../src/watch/chunk.js";
import { Recording } from "../src/watch/recording.js";
import { Lane } from "../src/watch/lane.js";
import { Automatic, speedWords, toPosition, toSpeed } from "../src/watch/speed.js";

test("numbers of seven bits a byte", () => {
  // The examples of DWARF 5, section 7.6.
  assert.equal(new Reader([0xb9, 0x64]).number(), 12857);
  assert.equal(new Reader([3]).step(), -2);
  assert.throws(() => new Reader([0x80]).number(), /too soon/);
  assert.throws(() => new Reader(new Array(20).fill(0x80)).number(), /no end/);
  const read = new Reader([5 * 2, 0, 2, 7 * 2]);
  assert.deepEqual([1, 2, 3, 4, 5].map(() => read.sparse()), [5, 0, 0, 0, 7]);
});

test("a lane lists queued packets and packets on the link", () => {
  const lane = new Lane();
  for (let k = 0; k < 600; k += 1) lane.ends(lane.at(lane.add(10 * k, 0, k, 1500, 0)), 10 * k + 5, 10 * k + 25);
  const seen = [];
  lane.each(1003, (i, waits) => seen.push([lane.number[i], waits]));
  assert.deepEqual(seen, [[98, false], [99, false], [100, true]]);
  lane.forget(5000);
  assert.equal(lane.at(3), -1);
  assert.equal(lane.number[lane.at(599)], 599);
});

test("the speed is slow at first, then the run takes about a minute", () => {
  const speed = new Automatic(0.03, 120);
  const frame = 1 / 60;
  let [wall, network] = [0, 0];
  const at = [];
  while (network < 120) {
    const now = speed.next(frame, 0);
    at.push(now);
    wall += frame;
    network += now * frame;
  }
  // A packet takes 1.5 s over its link for the first six seconds.
  assert.ok(at.slice(0, 350).every((v) => v === 0.02));
  assert.ok(at.every((v, i) => i === 0 || v >= at[i - 1]));
  assert.equal(at.at(-1), 2);
  assert.ok(wall > 60 && wall < 90, wall);
  // Ten silent seconds are crossed in less than one.
  assert.ok(new Automatic(0.03, 120).next(frame, 10) > 10);
  // A network that is slower than the clock stays at its own pace.
  assert.equal(new Automatic(3, 10).next(frame, 0), 2);
});

test("a speed in words", () => {
  assert.deepEqual([1, 0.0143, 0.5, 2.04, 1.2e-5, 100].map(speedWords), ["1 s", "14 ms", "500 ms", "2 s", "12 µs", "100 s"].map((w) => `${w} of network a second`));
  assert.ok([1e-6, 1e-3, 1, 100].every((v) => Math.abs(toSpeed(toPosition(v)) / v - 1) < 0.06));
});

test("a recording of a real run keeps the laws of its queues", { skip: !process.env.FAIRLANE_RECORDING }, () => {
  const { head, data } = JSON.parse(readFileSync(process.env.FAIRLANE_RECORDING, "utf8"));
  const raw = inflateRawSync(Buffer.from(data, "base64"));
  const recording = new Recording(head.links.length, head.flows.length);
  for (let at = 0; at < raw.length; ) {
    const n = raw.readUInt32LE(at);
    recording.append(new Uint8Array(raw.subarray(at + 4, at + 4 + n)));
    at += 4 + n;
  }
  const out = { packets: [], drops: recording.moments.filter((m) => m.kind === "drop").length, lost: recording.moments.filter((m) => m.kind === "loss").length, timeouts: recording.moments.filter((m) => m.kind === "timeout").length };
  recording.lanes.forEach((lane, l) => {
    let gone = -1;
    for (let i = 0; i < lane.n; i += 1) {
      assert.ok(lane.came[i] <= lane.begun[i] && lane.begun[i] <= lane.there[i]);
      // One after the other: no transmission begins before that of the packet before.
      if (lane.begun[i] !== Infinity && !(lane.bits[i] & 1)) {
        assert.ok(lane.begun[i] >= gone - 200, `${l} ${i}`);
        gone = lane.begun[i];
      }
    }
    out.packets.push(lane.n);
  });
  // How many wait, by packets and as the queue says, at every instant that is model.
  for (const still of recording.stills) {
    recording.lanes.forEach((lane, l) => {
      let waits = 0;
      lane.each(still.time, (_, is) => (waits += is ? 1 : 0));
      assert.ok(Math.abs(waits - recording.ofLink(still, l, "packets")) <= 1, `${still.time} ${l}: ${waits}`);
    });
  }
  console.log(`recording: ${JSON.stringify(out)}`);
});
