// Recording in the page.

import { Recording } from "./recording.js";

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Replay {
  constructor(model, text) {
    this.model = model;
    this.text = text;
    this.recordings = [];
    this.live = false;
  }

  get from() {
    return this.model.from;
  }
  get edge() {
    return this.model.until;
  }

  /** Reads the recording in steps, so that the page stays responsive. */
  async open(progress) {
    const raw = await inflated(Uint8Array.from(atob(this.text.trim()), (c) => c.charCodeAt(0)));
    const chunks = [];
    const view = new DataView(raw.buffer);
    for (let at = 0; at < raw.length; ) {
      const length = view.getUint32(at, true);
      chunks.push(raw.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    const { futures, links, flows } = this.model;
    const first = new Recording(links.length, flows.length);
    const recordings = [first];
    const parts = [];
    let begin = 0;
    for (const f of futures) {
      parts.push(chunks.slice(begin, begin + f.chunks));
      begin += f.chunks;
    }
    let since = performance.now();
    const rest = async (done) => {
      if (performance.now() - since < 30) return;
      progress(done);
      await new Promise((go) => {
        setTimeout(go);
      });
      since = performance.now();
    };
    let done = 0;
    for (let i = 0; i <= parts[0].length; i += 1) {
      futures.forEach((f, k) => {
        if (k > 0 && f.after === i) recordings[k] = first.clone();
      });
      if (i < parts[0].length) first.append(parts[0][i]);
      await rest((done += 1) / chunks.length);
    }
    for (let k = 1; k < parts.length; k += 1) {
      for (const chunk of parts[k]) {
        recordings[k].append(chunk);
        await rest((done += 1) / chunks.length);
      }
    }
    this.recordings = recordings;
  }
}
