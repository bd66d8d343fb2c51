// A recorded stretch: everything is in the page.

import { Film } from "./film.js";

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Replay {
  constructor(told, text) {
    this.told = told;
    this.text = text;
    this.films = [];
    this.live = false;
  }

  get from() {
    return this.told.from;
  }
  get edge() {
    return this.told.until;
  }

  /** Reads it, in pieces so that the page answers meanwhile. */
  async open(progress) {
    const raw = await inflated(Uint8Array.from(atob(this.text.trim()), (c) => c.charCodeAt(0)));
    const chunks = [];
    const view = new DataView(raw.buffer);
    for (let at = 0; at < raw.length; ) {
      const length = view.getUint32(at, true);
      chunks.push(raw.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    const { futures, links, flows } = this.told;
    const first = new Film(links.length, flows.length);
    const films = [first];
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
        if (k > 0 && f.after === i) films[k] = first.clone();
      });
      if (i < parts[0].length) first.append(parts[0][i]);
      await rest((done += 1) / chunks.length);
    }
    for (let k = 1; k < parts.length; k += 1) {
      for (const chunk of parts[k]) {
        films[k].append(chunk);
        await rest((done += 1) / chunks.length);
      }
    }
    this.films = films;
  }
}
