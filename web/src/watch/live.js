// Live simulation: requests chunks and changes over a WebSocket.

import { Recording } from "./recording.js";

export class Live {
  constructor(model, address) {
    this.model = model;
    this.live = true;
    this.recordings = [new Recording(model.links.length, model.flows.length)];
    this.recordings[0].endless = true;
    this.waiting = new Map();
    this.number = 0;
    this.over = false;
    this.address = address;
    this.gone = () => {};
  }

  get from() {
    return 0;
  }
  get edge() {
    return Math.min(...this.recordings.map((f) => f.edge));
  }

  open() {
    this.socket = new WebSocket(this.address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (e) => {
      if (typeof e.data === "string") {
        const answer = JSON.parse(e.data);
        this.waiting.get(answer.re)?.(answer);
        this.waiting.delete(answer.re);
        return;
      }
      const bytes = new Uint8Array(e.data);
      this.recordings[bytes[0]]?.append(bytes.subarray(1));
    };
    return new Promise((done, fail) => {
      this.socket.onopen = () => done(this.ask({ op: "mode", oneOf: 1 }));
      this.socket.onerror = () => fail(new Error("no connection to fairlane"));
      this.socket.onclose = () => {
        this.over = true;
        for (const answer of this.waiting.values()) answer({ error: "connection to fairlane lost" });
        this.waiting.clear();
        this.gone();
      };
    });
  }

  ask(what) {
    if (this.over) return Promise.resolve({ error: "connection to fairlane lost" });
    this.number += 1;
    const re = this.number;
    this.socket.send(JSON.stringify({ ...what, re }));
    return new Promise((done) => {
      this.waiting.set(re, done);
    });
  }

  /** Number of pending requests. */
  get busy() {
    return this.waiting.size;
  }

  async branch() {
    const answer = await this.ask({ op: "branch" });
    if (!answer.error) this.recordings[1] = this.recordings[0].clone();
    return answer;
  }

  async drop() {
    const answer = await this.ask({ op: "drop" });
    if (!answer.error) this.recordings.length = 1;
    return answer;
  }
}
