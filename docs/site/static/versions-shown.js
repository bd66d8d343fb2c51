// The list of versions in the sidebar, from versions.js above all of them; without it, or with one version alone, nothing is shown.
addEventListener("DOMContentLoaded", () => {
  const box = document.querySelector(".versions"), all = window.fairlaneVersions || [];
  if (!box || all.length < 2) return;
  const here = box.dataset.version, up = box.dataset.root + "../", list = box.querySelector("select");
  for (const name of all) list.append(new Option(name === all[0] ? `${name} (newest)` : name, name, false, name === here));
  list.addEventListener("change", () => { location.href = `${up}${encodeURIComponent(list.value)}/index.html`; });
  box.hidden = false;
  if (here !== all[0]) {
    const note = document.createElement("p"), link = document.createElement("a");
    link.href = `${up}${encodeURIComponent(all[0])}/index.html`;
    link.textContent = all[0];
    note.className = "old-version";
    note.append(`This is about ${here}; the newest version is `, link, ".");
    document.querySelector("article")?.prepend(note);
  }
});
