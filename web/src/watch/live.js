// A simulation that runs beside the page: asked over a WebSocket for stretches, told what to change.

import { Film } from "./film.js";

export class Live {
  constructor(told, address) {
    this.told = told;
    this.live = true;
    this.films = [new Film(told.links.length, told.flows.length)];
    this.films[0].endless = true;
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
    return Math.min(...this.films.map((f) => f.edge));
  }

  open() {
    this.socket = new WebSocket(this.address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (e) => {
      if (typeof e.data === "string") {
        const told = JSON.parse(e.data);
        this.waiting.get(told.re)?.(told);
        this.waiting.delete(told.re);
        return;
      }
      const bytes = new Uint8Array(e.data);
      this.films[bytes[0]]?.append(bytes.subarray(1));
    };
    return new Promise((done, fail) => {
      this.socket.onopen = () => done(this.ask({ op: "mode", oneOf: 1 }));
      this.socket.onerror = () => fail(new Error("the server does not answer"));
      this.socket.onclose = () => {
        this.over = true;
        for (const answer of this.waiting.values()) answer({ error: "the server has gone" });
        this.waiting.clear();
        this.gone();
      };
    });
  }

  ask(what) {
    if (this.over) return Promise.resolve({ error: "the server has gone" });
    this.number += 1;
    const re = this.number;
    this.socket.send(JSON.stringify({ ...what, re }));
    return new Promise((done) => {
      this.waiting.set(re, done);
    });
  }

  /** So much is asked for and not yet there. */
  get busy() {
    return this.waiting.size;
  }

  async branch() {
    const told = await this.ask({ op: "branch" });
    if (!told.error) this.films[1] = this.films[0].clone();
    return told;
  }

  async drop() {
    const told = await this.ask({ op: "drop" });
    if (!told.error) this.films.length = 1;
    return told;
  }
}
