// Page of `fairlane watch`, live or recorded.

import { Live } from "./live.js";
import { Player } from "./player.js";
import { Replay } from "./replay.js";

async function begin() {
  const model = JSON.parse(document.getElementById("watch-model").textContent);
  const place = document.getElementById("watch");
  const now = document.getElementById("now");
  const recording = document.getElementById("watch-recording");
  const source = recording ? new Replay(model, recording.textContent) : new Live(model, `${location.origin.replace(/^http/, "ws")}/socket${location.search}`);
  await source.open((share) => (now.textContent = `${Math.round(100 * share)} %`));
  const player = new Player(model, source, place);
  if (source.live) {
    source.gone = () => {
      player.pause("Connection to fairlane lost (the command has ended)");
      document.body.classList.add("gone");
      now.textContent = "Connection to fairlane lost (the command has ended)";
    };
    player.acts.fill();
  }
  now.textContent = `seed ${model.seed}`;
  document.body.dataset.ready = "yes";
  player.start();
  globalThis.fairlaneWatch = player;
}

begin().catch((e) => {
  document.getElementById("now").textContent = `cannot show this page: ${e.message}`;
  document.body.dataset.ready = "no";
});
