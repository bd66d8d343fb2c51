// Legend of flows and links: a press picks those that stand out in the network and in all charts.

import { dash, variable } from "../look.js";
import { make } from "../text.js";

/** Legend; `change()` is called after a press. */
export class Legend {
  constructor(model, picked, change) {
    Object.assign(this, { model, picked, change });
    this.flows = this.group("Flows", "flow", model.flows);
    this.links = this.group("Links", "link", model.links);
    this.signs = make("p", { class: "key signs" });
    this.place = make("div", { class: "legend" }, this.flows.at, this.links.at, this.signs);
    const part = (sign, words) => make("span", {}, make("b", { "aria-hidden": "true" }, sign), words);
    this.signs.append(
      part("\u2715", "dropped or lost"), part("\u25b2", "marked"), part("\u25d4", "timeout"), make("span", { class: "muted" }, "thin: acknowledgments; dark core: retransmissions"),
      ...(model.oneOf > 1 ? [make("span", { class: "muted" }, `${model.opening > model.from ? `after ${Number((model.opening / 1e9).toPrecision(3))} s, ` : ""}1 of ${model.oneOf} packets is shown; queues, drops and charts include all`)] : []),
    );
  }

  /** Says what dashed lines are while there are two runs. */
  branched(is) {
    this.dashed ??= make("span", { class: "muted" }, "dashed lines: the branch");
    if (is) this.signs.append(this.dashed);
    else this.dashed.remove();
  }

  group(title, kind, members) {
    const buttons = members.map((m, i) => {
      const swatch = make("i", { "aria-hidden": "true", class: dash(m.hue).length ? "dashed" : "" });
      swatch.style.color = variable(m.hue);
      const made = make("button", { type: "button", class: "chip", "aria-pressed": "false", "data-pick": `${kind} ${i}`, title: `Pick ${kind} ${m.name}`, hidden: kind === "link" }, swatch, m.name);
      made.addEventListener("click", () => this.toggle(`${kind} ${i}`));
      return made;
    });
    const all = make("button", { type: "button", class: "chip all", hidden: true }, `all ${title.toLowerCase()}`);
    all.addEventListener("click", () => this.clear(kind));
    return { at: make("div", { class: "chips", role: "group", "aria-label": title }, make("b", {}, title), ...buttons, all), buttons, all };
  }

  toggle(what) {
    if (!this.picked.delete(what)) this.picked.add(what);
    this.update();
    this.change();
  }

  clear(kind = "") {
    for (const what of [...this.picked]) if (what.startsWith(kind)) this.picked.delete(what);
    this.update();
    this.change();
  }

  update() {
    for (const { buttons, all } of [this.flows, this.links]) {
      for (const b of buttons) b.setAttribute("aria-pressed", String(this.picked.has(b.dataset.pick)));
      all.hidden = !buttons.some((b) => this.picked.has(b.dataset.pick));
    }
  }

  /** Shows the links that the charts have. */
  linked(links) {
    const sign = links.join();
    if (sign === this.sign) return;
    this.sign = sign;
    this.links.buttons.forEach((b, i) => (b.hidden = !links.includes(i)));
  }
}
