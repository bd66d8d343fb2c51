// Side panel: state of the selected queue or flow, and controls of a live simulation.

import { digits, make } from "../text.js";
import { rateText, spanText } from "./units.js";

const count = (n) => String(Math.round(n));

/** Returns names and values of the selected queue or flow, with its gauges. */
export function state(model, recording, still, chosen) {
  const [kind, number] = chosen.split(" ");
  const i = Number(number);
  if (kind === "link") {
    const of = (name) => recording.ofLink(still, i, name);
    return {
      title: model.links[i].name,
      rows: [
        ["queue", model.links[i].queue], ["queue length", `${count(of("packets"))} packets, ${count(of("bytes"))} B`], ["rate", rateText(of("rate"))], ["delay", spanText(of("delay"))],
        ["utilisation", `${digits(100 * recording.loads(still.time)[i])} %`], ["sent", `${count(of("sentPackets"))} packets`], ["dropped", count(of("drops"))], ["lost on the link", count(of("losses"))], ["marked", count(of("marks"))],
        ...recording.gaugesOf(still, 2 * i).map(([n, v]) => [n, digits(v)]),
      ],
    };
  }
  const of = (name) => recording.ofFlow(still, i, name);
  return {
    title: model.flows[i].name,
    rows: [
      ["transport", model.flows[i].transport], ["status", ["not started", "running", "finished"][of("begun")] ?? ""], ["state", model.states[of("state")] || "–"], ["cwnd", `${count(of("cwnd"))} B`],
      ["ssthresh", of("ssthresh") ? `${count(of("ssthresh"))} B` : "none yet"], ["in flight", `${count(of("inFlight"))} B`], ["smoothed RTT", of("srtt") ? spanText(of("srtt") * 1000) : "none yet"],
      ["delivered", `${count(of("delivered"))} B`], ["retransmitted", `${count(of("again"))} packets`], ["timeouts", count(of("timeouts"))],
      ...recording.gaugesOf(still, 2 * i + 1).map(([n, v]) => [n, digits(v)]),
    ],
  };
}

/** Updates a table of names and values. */
export function rows(place, list) {
  while (place.rows.length > list.length) place.deleteRow(-1);
  list.forEach(([name, value], i) => {
    const row = place.rows[i] ?? place.insertRow();
    if (!row.cells.length) row.append(make("th", { scope: "row" }), make("td", {}));
    if (row.cells[0].textContent !== name) row.cells[0].textContent = name;
    if (row.cells[1].textContent !== value) row.cells[1].textContent = value;
  });
}

/** Controls for a link direction and for flows; `change(values)` resolves to an error or nothing. */
export class Acts {
  constructor(model, source, change) {
    this.model = model;
    this.source = source;
    this.change = change;
    this.error = make("p", { class: "wrong", role: "alert" });
    this.body = make("div", { class: "acts" });
    this.link = make("select", { id: "act-link" }, ...model.links.map((l, i) => make("option", { value: i }, l.name)));
    this.link.addEventListener("change", () => this.fill());
    this.flows = make("div", { class: "switches", role: "group", "aria-label": "Flows" });
    for (const group of [...new Set(model.flows.map((f) => f.group))].slice(0, 40)) {
      const b = make("button", { type: "button", "aria-pressed": "true", "data-group": group }, group);
      b.addEventListener("click", () => this.toggle(b, group));
      this.flows.append(b);
    }
    this.place = make("section", { class: "card act", "aria-label": "Change the simulation" }, make("h2", { class: "plain" }, "Change parameters"), make("label", {}, "Link ", this.link), this.body, make("p", { class: "small muted" }, "Flows: press to stop, start or restart"), this.flows, this.error);
  }

  async toggle(button, group) {
    const on = button.getAttribute("aria-pressed") === "true";
    const answer = await this.say({ op: "flow", group, on: !on });
    if (!answer.error) button.setAttribute("aria-pressed", String(!on));
    else this.pressed(await this.knobs());
  }

  /** Requests the current parameters of the selected run or branch. */
  knobs() {
    return this.source.ask({ op: "knobs", link: this.model.links[Number(this.link.value)].name, future: this.future ?? 0 });
  }

  /** Shows which flows run. */
  pressed({ flows = {} }) {
    for (const b of this.flows.children) b.setAttribute("aria-pressed", String(flows[b.dataset.group] ?? false));
  }

  async say(what) {
    const answer = await this.change(what);
    this.error.textContent = answer.error ?? "";
    return answer;
  }

  async fill() {
    const link = this.model.links[Number(this.link.value)];
    const answer = await this.knobs();
    if (answer.error) {
      this.error.textContent = answer.error;
      return;
    }
    this.pressed(answer);
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
    slider("rate", "Rate", answer.rate, Math.max(1e3, answer.rate / 100), answer.rate * 10, (v) => `${Math.round(places(v))}bit/s`, rateText);
    slider("delay", "Delay", Math.max(1e3, answer.delay), 1e3, 1e9, (v) => `${Math.round(places(v))}ns`, spanText);
    slider("loss", "Loss", Math.max(1e-5, answer.loss), 1e-5, 0.5, (v) => (v < 2e-5 ? 0 : places(v)), (v) => (v < 2e-5 ? "none" : `${digits(100 * v)} %`));
    const queue = make("select", { "data-key": "queue", "aria-label": `Queue of ${link.name}` }, ...answer.queues.map((q) => make("option", { value: q, selected: q === answer.queue }, q)));
    queue.addEventListener("change", async () => {
      const done = await set("queue", queue.value);
      link.queue = done.error ? link.queue : queue.value;
      if (!done.error) this.fill();
    });
    this.body.append(make("label", {}, "Queue", queue));
    for (const [name, value, kind] of answer.parameters) {
      if (kind === "switch") {
        const box = make("input", { type: "checkbox", "aria-label": `${name} of the queue of ${link.name}`, "data-key": `queue.${answer.queue}.${name}` });
        box.checked = value === "true";
        box.addEventListener("change", async () => {
          const done = await set(`queue.${answer.queue}.${name}`, String(box.checked));
          if (done.error) box.checked = !box.checked;
        });
        this.body.append(make("label", { class: "field" }, name, box));
        continue;
      }
      const field = make("input", { type: "text", value, maxlength: 60, spellcheck: "false", "aria-label": `${name} of the queue of ${link.name}`, "data-key": `queue.${answer.queue}.${name}` });
      field.addEventListener("change", () => set(`queue.${answer.queue}.${name}`, field.value));
      this.body.append(make("label", { class: "field" }, name, field));
    }
  }
}
