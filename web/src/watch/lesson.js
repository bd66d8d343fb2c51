// A lesson: one sentence at a time, at which the animation stops, and questions with hidden answers.

import { make } from "../text.js";

export class Lesson {
  /** `player`: has `seek`, `toggle` and `pause`. */
  constructor(lesson, player) {
    Object.assign(this, { steps: lesson.steps, player, at: 0 });
    this.count = make("span", { class: "muted" });
    this.text = make("p", { class: "sentence", "aria-live": "polite" });
    this.back = make("button", { type: "button", class: "step-back", "aria-label": "Previous sentence" }, "\u2190 back");
    this.more = make("button", { type: "button", class: "step-next" }, "next \u2192");
    this.back.addEventListener("click", () => this.go(this.at - 1));
    this.more.addEventListener("click", () => this.forward());
    this.place = make("section", { class: "card lesson", "aria-label": "Lesson" }, make("div", { class: "steps" }, this.back, this.count, this.more), this.text);
    const asked = lesson.questions.map((q) => make("details", {}, make("summary", {}, q.ask), make("p", {}, q.answer)));
    this.questions = asked.length ? make("section", { class: "card questions", "aria-label": "Questions" }, make("h2", { class: "plain" }, "Questions"), make("p", { class: "small muted" }, "Answer them first; a press shows the answer."), ...asked) : null;
    this.show();
  }

  /** Continues to the next sentence: the animation runs until its time. */
  forward() {
    if (this.at + 1 >= this.steps.length) {
      this.questions?.scrollIntoView({ block: "start" });
      return;
    }
    if (this.player.playing) this.go(this.at + 1);
    else this.player.toggle();
  }

  /** Shows a sentence at its time. */
  go(number) {
    this.at = Math.max(0, Math.min(this.steps.length - 1, number));
    this.player.pause("");
    this.player.seek(this.steps[this.at].at);
    this.show();
  }

  /** Stops at the time of the next sentence; returns the time up to which the animation may run. */
  limit(before, time) {
    const next = this.steps[this.at + 1];
    if (!next || before >= next.at || time < next.at) return time;
    this.at += 1;
    this.player.pause("");
    this.show();
    return next.at;
  }

  /** Shows the sentence that belongs to a time after a jump. */
  sought(time) {
    const found = this.steps.findLastIndex((s) => s.at <= time);
    if (found !== this.at) {
      this.at = Math.max(0, found);
        this.show();
    }
  }

  show() {
    this.text.textContent = this.steps[this.at]?.say ?? "";
    this.count.textContent = `${this.at + 1} of ${this.steps.length}`;
    this.back.disabled = this.at === 0;
    const last = this.at + 1 >= this.steps.length;
    this.more.textContent = last ? "questions \u2193" : this.player.playing ? "skip to the next \u2192" : "next \u2192";
    this.more.hidden = last && !this.questions;
  }
}
