"""gred's virtual queues as WRED or RIO: the counterpart of `classes.gred`."""

from __future__ import annotations

from typing import Any

from . import quantities as q
from . import tc_units as u
from .disciplines import Place
from .words import Said, heard


def gred(setup: list[str], queues: list[list[str]], who: dict[int, str], place: Place) -> dict[str, Any]:
    """Returns the queue; `who` has the packets of each virtual queue, which tc does not say."""
    values = _setup(setup)
    levels: dict[int, dict[str, Any]] = {}
    log, mean, ecn = None, None, False
    for words in queues:
        if "vq" not in words[:-1] and "DP" not in words[:-1]:
            continue
        number = u.count(_after(words, "vq") or _after(words, "DP") or "0", "")
        priority = u.count(_after(words, "prio") or "1", "")
        own = [w for i, w in enumerate(words) if w not in ("vq", "DP", "prio") and words[i - 1 : i] not in (["vq"], ["DP"], ["prio"])]
        said: Said = heard("red", own)
        v = said.values
        if "min" not in v or "max" not in v:
            raise u.TcError("vq", f"gred: virtual queue {number} has no min or no max", "write min, max and avpkt for each")
        mean = q.size(v.get("mean_packet", "1000B")) or 1000
        low, high = q.size(v["min"]), q.size(v["max"])
        found = said.extra.get("_ewma")
        log = log or (
            found if found is not None else q.log_of_burst(low / mean, said.extra.get("_burst") or (2 * low + high) // (3 * mean))
        )
        ecn = ecn or bool(v.get("ecn"))
        levels[number] = {"priority": priority, "min": f"{low}B", "max": f"{high}B", "max_p": v.get("max_p", 0.02)}
        values.setdefault("limit", v.get("limit"))
    if not levels:
        raise u.TcError("gred", "gred has no virtual queue with min and max", "add tc qdisc change ... gred vq 0 min ... max ... for each")
    unknown = [n for n in levels if n not in who and n != values["default"]]
    if unknown:
        raise u.TcError(
            "gred", f"gred: tc does not say which packets belong to virtual queue {unknown[0]}",
            f"write a comment for each, such as # note: virtual queue {unknown[0]}: dscp:af11",
        )  # fmt: skip
    place.counts_bytes()
    common = {
        "limit": values["limit"] or "1000p", "w_q": 0.5 ** (log or 9), "measure": "bytes", "mean_packet": f"{mean}B", "ecn": ecn,
        "gentle": False, "byte_mode": False,
    }  # fmt: skip
    if sorted(levels) == [0, 1] and (who.get(1) == "the others" or len({x["priority"] for x in levels.values()}) == 2):
        inside, outside = levels[0], levels[1]
        mine = _matches(who.get(0, "any"))
        return {
            "rio": {
                **common, "in_profile": mine, "in_min": inside["min"], "in_max": inside["max"], "in_max_p": inside["max_p"],
                "out_min": outside["min"], "out_max": outside["max"], "out_max_p": outside["max_p"],
                "coupling": "coupled" if values["grio"] else "decoupled",
            }
        }  # fmt: skip
    made = []
    for n, level in sorted(levels.items()):
        match = _matches(who.get(n, "any"))
        made.append({"match": match, **{k: x for k, x in level.items() if k != "priority"}})
    if len(made) > 1 and not values["grio"]:
        place.note("gred without grio: each virtual queue has an average of its own in Linux, here one holds for all")
    return {"wred": {**common, "levels": made}}


def _matches(text: str) -> str | list[str]:
    found = [x.strip() for x in text.split(",") if x.strip()]
    return found[0] if len(found) == 1 else found


def _after(words: list[str], name: str) -> str:
    return words[words.index(name) + 1] if name in words[:-1] else ""


def _setup(words: list[str]) -> dict[str, Any]:
    limit = _after(words, "limit")
    last = u.count(_after(words, "default") or "0", "")
    return {"default": last, "grio": "grio" in words, "limit": f"{u.size(limit)}B" if limit else None}
