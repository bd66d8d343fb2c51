// The page of `fairlane watch`, and of what it saved.

import { Live } from "./live.js";
import { Player } from "./player.js";
import { Replay } from "./replay.js";

async function begin() {
  const told = JSON.parse(document.getElementById("watch-told").textContent);
  const place = document.getElementById("watch");
  const now = document.getElementById("now");
  const film = document.getElementById("watch-film");
  const source = film ? new Replay(told, film.textContent) : new Live(told, `${location.origin.replace(/^http/, "ws")}/socket${location.search}`);
  await source.open((share) => (now.textContent = `${Math.round(100 * share)} %`));
  const player = new Player(told, source, place);
  if (source.live) {
    source.gone = () => {
      player.pause("The server has gone");
      document.body.classList.add("gone");
      now.textContent = "the server has gone";
    };
    player.acts.fill();
  }
  document.body.dataset.ready = "yes";
  player.start();
  globalThis.fairlaneWatch = player;
}

begin().catch((e) => {
  document.getElementById("now").textContent = `this page cannot be shown: ${e.message}`;
  document.body.dataset.ready = "no";
});
