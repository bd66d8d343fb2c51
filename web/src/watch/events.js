// Events that have a name: the first drop, the end of slow start, and so on, in the order of time.

import { rateText } from "./units.js";

export const KINDS = {
  start: "starts", end: "is complete", exit: "leaves slow start", drop: "first drop", loss: "first loss", mark: "first mark", timeout: "first timeout", rate: "rate changes",
};
const MOST = 2000;

export class Events {
  constructor() {
    this.list = [];
    this.seen = new Set();
    this.flows = []; // of each flow: status, and whether it began without a threshold
    this.version = 0;
  }

  clone() {
    const made = Object.assign(Object.create(Events.prototype), this);
    made.list = this.list.slice();
    made.seen = new Set(this.seen);
    made.flows = this.flows.map((f) => ({ ...f }));
    return made;
  }

  add(event) {
    // Both directions of a link often change at once.
    const key = `${event.kind} ${event.flow} ${event.kind === "rate" ? `${event.rate} ${event.time}` : ""}`;
    if (this.seen.has(key) || this.list.length >= MOST) return;
    // The first of a kind in the network stands out on the time line.
    const main = event.kind === "rate" || !this.seen.has(event.kind);
    this.seen.add(key).add(event.kind);
    let i = this.list.length;
    while (i > 0 && this.list[i - 1].time > event.time) i -= 1;
    this.list.splice(i, 0, { link: -1, flow: -1, ...event, main });
    this.version += 1;
  }

  /** Notes the first drop, loss, mark or timeout of a flow. */
  moment({ time, kind, flow, link }) {
    this.add({ time, kind, flow, link });
  }

  /** Notes what changed between two stills. */
  still(recording, before, now) {
    for (let i = 0; i < recording.flows; i += 1) {
      const of = (name) => recording.ofFlow(now, i, name);
      const status = of("begun");
      const flow = (this.flows[i] ??= { status: 0, open: null });
      if (status !== flow.status) {
        if (flow.status === 0 && status > 0) this.add({ time: now.time, kind: "start", flow: i });
        if (status === 2) this.add({ time: now.time, kind: "end", flow: i });
        flow.status = status;
      }
      if (flow.open === undefined || status === 0) continue;
      const [threshold, window] = [of("ssthresh"), of("cwnd")];
      if (flow.open === null) flow.open = threshold === 0;
      // Slow start ends where the window reaches the threshold; the first threshold of a flow that had none ends it, too.
      if (threshold > 0 && (flow.open || window >= threshold)) {
        flow.open = undefined;
        this.add({ time: now.time, kind: "exit", flow: i });
      }
    }
    if (!before) return;
    for (let i = 0; i < recording.links; i += 1) {
      if (recording.ofLink(before, i, "rate") !== recording.ofLink(now, i, "rate")) this.add({ time: now.time, kind: "rate", link: i, rate: recording.ofLink(now, i, "rate") });
    }
  }
}

/** Describes an event: "first drop: tcp.0 at bottleneck". */
export function eventWords(model, event) {
  const flow = model.flows[event.flow]?.name;
  const link = model.links[event.link]?.name;
  if (event.kind === "rate") return `${link}: ${rateText(event.rate)}`;
  if (/start|end|exit/.test(event.kind)) return `${flow} ${KINDS[event.kind]}`;
  return `${event.main ? KINDS[event.kind] : `${KINDS[event.kind]} of`}${event.main ? ":" : ""} ${flow}${link ? ` at ${link}` : ""}`;
}
