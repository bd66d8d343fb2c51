// Places of the names of nodes: where they cover no queue, no link, no node and no other name.

const STEP = 5; // pixels between the points that stand for a link or a queue
const COSTS = { queue: 100, node: 60, name: 80, link: 1, outside: 1000, far: 0.5 };

/** Returns the points along a stretch, in rows across its thickness. */
function along({ x, y, ux, uy }, length, thick, rows) {
  const out = [];
  for (let a = 0; a <= length; a += STEP) {
    for (let k = 0; k < rows; k += 1) {
      const off = rows > 1 ? thick * (k / (rows - 1) - 0.5) : 0;
      out.push([x + ux * a - uy * off, y + uy * a + ux * off]);
    }
  }
  return out;
}

const inside = ([x, y], b, pad) => x > b.left - pad && x < b.right + pad && y > b.top - pad && y < b.bottom + pad;
const touch = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Returns a box with its centre for the name of each node. `bars`: places of queues; `names`: widths in pixels; `size`: height of letters. */
export function places({ nodes, r, size, wide, high, ways, bars, names }) {
  const queues = bars.flatMap((b) => [...along(b, b.long, b.thick, 3), [b.nx, b.ny], [b.nx - b.size * 0.7, b.ny], [b.nx + b.size * 0.7, b.ny], [b.nx, b.ny - b.size / 2], [b.nx, b.ny + b.size / 2]]);
  const links = ways.flatMap((w) => along(w, w.length, 0, 1));
  const disks = nodes.flatMap(([x, y]) => [[x, y], [x - r, y - r], [x + r, y - r], [x - r, y + r], [x + r, y + r]]);
  const taken = [];
  const out = [];
  nodes.forEach(([x, y], i) => {
    const [w, h] = [names[i] / 2, size * 0.62];
    const choices = [];
    for (const far of [0, 1, 2, 3, 4, 5, 6]) {
      const d = r + 4 + far * h;
      choices.push([x, y - d - h], [x, y + d + h], [x - d - w, y], [x + d + w, y], [x - d - w, y - d - h], [x + d + w, y - d - h], [x - d - w, y + d + h], [x + d + w, y + d + h]);
    }
    let best = null;
    choices.forEach(([cx, cy], order) => {
      const box = { left: cx - w, right: cx + w, top: cy - h, bottom: cy + h };
      let cost = (order % 8) * 0.1 + Math.hypot(cx - x, cy - y) * COSTS.far;
      if (box.left < 2 || box.right > wide - 2 || box.top < 2 || box.bottom > high - 2) cost += COSTS.outside;
      if (best && cost >= best.cost) return;
      for (const p of queues) if (inside(p, box, 2)) cost += COSTS.queue;
      for (const p of links) if (inside(p, box, 1)) cost += COSTS.link;
      for (const p of disks) if (inside(p, box, 1)) cost += COSTS.node;
      for (const t of taken) if (touch(t, box)) cost += COSTS.name;
      if (!best || cost < best.cost) best = { ...box, x: cx, y: cy, cost };
    });
    taken.push(best);
    out.push(best);
  });
  return out;
}
