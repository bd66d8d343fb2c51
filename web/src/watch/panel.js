// What is beside the picture: the state of what was chosen, numbers of all, and what acts on a running simulation.

import { digits, make } from "../text.js";

export const rateText = (v) => (v >= 1e9 ? `${digits(v / 1e9)} Gbit/s` : v >= 1e6 ? `${digits(v / 1e6)} Mbit/s` : v >= 1e3 ? `${digits(v / 1e3)} kbit/s` : `${digits(v)} bit/s`);
export const spanText = (ns) => (ns >= 1e9 ? `${digits(ns / 1e9)} s` : ns >= 1e6 ? `${digits(ns / 1e6)} ms` : ns >= 1e3 ? `${digits(ns / 1e3)} µs` : `${digits(ns)} ns`);
const count = (n) => String(Math.round(n));

/** Names and values of what is chosen, every gauge among them. */
export function state(told, film, still, chosen) {
  const [kind, number] = chosen.split(" ");
  const i = Number(number);
  if (kind === "link") {
    const of = (name) => film.ofLink(still, i, name);
    return {
      title: told.links[i].name,
      rows: [
        ["queue", told.links[i].queue], ["waits", `${count(of("packets"))} packets, ${count(of("bytes"))} B`], ["rate", rateText(of("rate"))], ["delay", spanText(of("delay"))],
        ["load", `${digits(100 * film.loads(still.time)[i])} %`], ["sent", `${count(of("sentPackets"))} packets`], ["dropped", count(of("drops"))], ["lost on the link", count(of("losses"))], ["marked", count(of("marks"))],
        ...film.gaugesOf(still, 2 * i).map(([n, v]) => [n, digits(v)]),
      ],
    };
  }
  const of = (name) => film.ofFlow(still, i, name);
  return {
    title: told.flows[i].name,
    rows: [
      ["transport", told.flows[i].transport], ["now", ["not begun", "goes on", "over"][of("begun")] ?? ""], ["state", told.states[of("state")] || "–"], ["cwnd", `${count(of("cwnd"))} B`],
      ["ssthresh", of("ssthresh") ? `${count(of("ssthresh"))} B` : "none yet"], ["in flight", `${count(of("inFlight"))} B`], ["round trip", of("srtt") ? spanText(of("srtt") * 1000) : "none yet"],
      ["delivered", `${count(of("delivered"))} B`], ["sent again", `${count(of("again"))} packets`], ["timeouts", count(of("timeouts"))],
      ...film.gaugesOf(still, 2 * i + 1).map(([n, v]) => [n, digits(v)]),
    ],
  };
}

/** A table that is written again and again. */
export function rows(place, list) {
  while (place.rows.length > list.length) place.deleteRow(-1);
  list.forEach(([name, value], i) => {
    const row = place.rows[i] ?? place.insertRow();
    if (!row.cells.length) row.append(make("th", { scope: "row" }), make("td", {}));
    if (row.cells[0].textContent !== name) row.cells[0].textContent = name;
    if (row.cells[1].textContent !== value) row.cells[1].textContent = value;
  });
}

/** Sliders and fields for one direction of a link, and switches of flows; `change(values)` answers with an error or nothing. */
export class Acts {
  constructor(told, source, change) {
    this.told = told;
    this.source = source;
    this.change = change;
    this.error = make("p", { class: "wrong", role: "alert" });
    this.body = make("div", { class: "acts" });
    this.link = make("select", { id: "act-link" }, ...told.links.map((l, i) => make("option", { value: i }, l.name)));
    this.link.addEventListener("change", () => this.fill());
    this.flows = make("div", { class: "switches", role: "group", "aria-label": "Flows" });
    for (const group of [...new Set(told.flows.map((f) => f.group))].slice(0, 40)) {
      const b = make("button", { type: "button", "aria-pressed": "true", "data-group": group }, group);
      b.addEventListener("click", () => this.toggle(b, group));
      this.flows.append(b);
    }
    this.place = make("section", { class: "card act", "aria-label": "Change the simulation" }, make("h2", { class: "plain" }, "Change it"), make("label", {}, "Link ", this.link), this.body, make("p", { class: "small muted" }, "Flows: press to stop those that run, and to let the others begin, or begin again"), this.flows, this.error);
  }

  async toggle(button, group) {
    const on = button.getAttribute("aria-pressed") === "true";
    const told = await this.say({ op: "flow", group, on: !on });
    if (!told.error) button.setAttribute("aria-pressed", String(!on));
    else this.pressed(await this.knobs());
  }

  /** How things are in the future that is acted on. */
  knobs() {
    return this.source.ask({ op: "knobs", link: this.told.links[Number(this.link.value)].name, future: this.future ?? 0 });
  }

  /** Which flows run. */
  pressed({ flows = {} }) {
    for (const b of this.flows.children) b.setAttribute("aria-pressed", String(flows[b.dataset.group] ?? false));
  }

  async say(what) {
    const told = await this.change(what);
    this.error.textContent = told.error ?? "";
    return told;
  }

  async fill() {
    const link = this.told.links[Number(this.link.value)];
    const told = await this.knobs();
    if (told.error) {
      this.error.textContent = told.error;
      return;
    }
    this.pressed(told);
    this.body.replaceChildren();
    const set = (key, value) => this.say({ op: "set", values: { [`links.${link.name}.${key}`]: value } });
    const slider = (key, words, value, low, high, write, read) => {
      const at = Math.round((1000 * Math.log(Math.max(low, value) / low)) / Math.log(high / low));
      const out = make("output", {}, read(value));
      const made = make("input", { type: "range", min: 0, max: 1000, value: at, "aria-label": `${words} of ${link.name}`, "data-key": key });
      const of = () => low * (high / low) ** (made.value / 1000);
      made.addEventListener("input", () => (out.textContent = read(of())));
      made.addEventListener("change", () => set(key, write(of())));
      this.body.append(make("label", {}, words, made, out));
    };
    const places = (v) => Number(v.toPrecision(3));
    slider("rate", "Rate", told.rate, Math.max(1e3, told.rate / 100), told.rate * 10, (v) => `${Math.round(places(v))}bit/s`, rateText);
    slider("delay", "Delay", Math.max(1e3, told.delay), 1e3, 1e9, (v) => `${Math.round(places(v))}ns`, spanText);
    slider("loss", "Loss", Math.max(1e-5, told.loss), 1e-5, 0.5, (v) => (v < 2e-5 ? 0 : places(v)), (v) => (v < 2e-5 ? "none" : `${digits(100 * v)} %`));
    const queue = make("select", { "data-key": "queue", "aria-label": `Queue of ${link.name}` }, ...told.queues.map((q) => make("option", { value: q, selected: q === told.queue }, q)));
    queue.addEventListener("change", async () => {
      const done = await set("queue", queue.value);
      link.queue = done.error ? link.queue : queue.value;
      if (!done.error) this.fill();
    });
    this.body.append(make("label", {}, "Queue", queue));
    for (const [name, value, kind] of told.parameters) {
      if (kind === "switch") {
        const box = make("input", { type: "checkbox", "aria-label": `${name} of the queue of ${link.name}`, "data-key": `queue.${told.queue}.${name}` });
        box.checked = value === "true";
        box.addEventListener("change", async () => {
          const done = await set(`queue.${told.queue}.${name}`, String(box.checked));
          if (done.error) box.checked = !box.checked;
        });
        this.body.append(make("label", { class: "field" }, name, box));
        continue;
      }
      const field = make("input", { type: "text", value, maxlength: 60, spellcheck: "false", "aria-label": `${name} of the queue of ${link.name}`, "data-key": `queue.${told.queue}.${name}` });
      field.addEventListener("change", () => set(`queue.${told.queue}.${name}`, field.value));
      this.body.append(make("label", { class: "field" }, name, field));
    }
  }
}
