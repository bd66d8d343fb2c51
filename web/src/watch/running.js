// The part of the player that talks to a live simulation.

import { make } from "../text.js";

export const BLUR = 25; // above this multiple of the slowest link time per second, packets are visible for a frame or two only

const STEPS = 300; // of a jump to a time, so that charts keep their shape

/** Methods of the player. */
export const running = {
  /** Advances a live run to a time as fast as possible. */
  async reach(time) {
    this.stepping = true;
    const to = Math.min(time, this.model.duration);
    const step = (to - this.source.edge) / STEPS;
    while (this.source.edge < to && !this.source.over) {
      const answer = await this.source.ask({ op: "go", to: Math.ceil(Math.min(to, this.source.edge + step)), spend: 30000 });
      if (answer.error || answer.over) break;
    }
    this.time = Math.min(Math.max(this.time, to), this.source.edge);
    this.stepping = false;
  },

  /** Requests single packets, except at high speeds and in large networks. */
  mode() {
    if (!this.source.live || !this.source.socket) return;
    const large = this.model.links.length > 150 && this.state.show === "auto";
    const loads = this.full || large || this.state.show === "loads" || this.steady > this.model.pace * BLUR;
    if (loads === this.loads) return;
    this.loads = loads;
    this.source.ask({ op: "mode", oneOf: loads ? 0 : 1 });
  },

  async pull() {
    const { source } = this;
    if (source.busy > 1 || source.over) return;
    const ahead = this.full ? this.model.duration : Math.min(this.model.duration, Math.max(this.time + 0.12 * this.speed * 1e9, source.edge));
    if (!this.full && ahead <= source.edge && source.edge < this.model.duration) return;
    const answer = await source.ask({ op: "go", to: Math.ceil(ahead), spend: this.full ? 14000 : 30000 });
    if (answer.error) this.pause(answer.error);
    else if (answer.over && this.playing && this.time >= source.edge - 1) this.pause("End of the run");
  },

  async look(what) {
    this.stepping = true;
    if (this.loads) {
      this.loads = false;
      await this.source.ask({ op: "mode", oneOf: 1 });
    }
    let answer = await this.source.ask({ op: "seek", what, fresh: true });
    while (answer.found === null) answer = await this.source.ask({ op: "seek", what, fresh: false });
    this.stepping = false;
    const before = this.time;
    this.time = this.source.edge;
    this.pass(Math.max(before, this.time - 2));
    if (answer.error) this.say(answer.error);
    return answer.found === true;
  },

  async change(what) {
    return this.source.ask({ ...what, future: this.side ? Number(this.side.value) : 0 });
  },

  async branch() {
    if (!this.source.live || this.source.recordings.length > 1) return;
    this.pause();
    const answer = await this.source.branch();
    if (answer.error) {
      this.say(answer.error);
      return;
    }
    this.side.replaceChildren(make("option", { value: 0 }, "original"), make("option", { value: 1, selected: true }, "branch"));
    this.side.parentElement.hidden = false;
    this.scenes();
    this.pick();
    this.say("branch created: changes apply to the branch");
  },

  async unbranch() {
    if (!this.source.live || this.source.recordings.length < 2) return;
    this.pause();
    await this.source.drop();
    this.side.value = 0;
    this.side.parentElement.hidden = true;
    this.scenes();
    this.pick();
    this.say("branch closed");
  },

  pick() {
    this.acts.future = Number(this.side.value);
    this.acts.fill();
  },
};
