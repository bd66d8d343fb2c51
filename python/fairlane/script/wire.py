"""Packets as text, and comparison of packets."""

from __future__ import annotations

from typing import Any

from .model import Packet


def show_options(options: tuple[tuple[Any, ...], ...] | None) -> str:
    """Returns options in the notation of a script."""
    if options is None:
        return " <...>"
    words = []
    for o in options:
        if o[0] == "TS":
            words.append(f"TS val {o[1]} ecr {o[2]}")
        elif o[0] == "sack":
            words.append("sack " + " ".join(f"{a}:{b}" for a, b in o[1:]))
        else:
            words.append(" ".join(str(x) for x in o))
    return f" <{','.join(words)}>" if words else ""


def show(p: Packet) -> str:
    """Returns a packet in the notation of a script."""
    if p.icmp is not None:
        return f"icmp {p.icmp[0]}" + (f" mtu {p.icmp[2]}" if p.icmp[2] is not None else "")
    end = (p.seq + p.length) & 0xFFFFFFFF
    text = f"[{p.ecn}] " if p.ecn not in (None, "noecn") else ""
    text += f"{p.flags or '-'} {p.seq}:{end}({p.length})"
    text += f" ack {p.ack}" if p.ack is not None else ""
    text += f" win {p.win}" if p.win is not None else ""
    return text + show_options(p.options)


def joined(pieces: list[Packet]) -> Packet:
    """Joins consecutive segments into one packet, as segmentation offload does."""
    first, last = pieces[0], pieces[-1]
    whole = Packet(last.flags, first.seq, sum(p.length for p in pieces), last.ack, last.win, last.options, first.ecn, time=first.time)
    for letter in ("W", "E"):
        if letter in first.flags and letter not in whole.flags:
            whole.flags = letter + whole.flags
    return whole


def follows(pieces: list[Packet], more: Packet) -> bool:
    """Returns true if a packet continues the last of `pieces`."""
    last = pieces[-1]
    return bool(
        more.length
        and last.length
        and more.seq == (last.seq + last.length) & 0xFFFFFFFF
        and not set("SFR") & set(last.flags)
        and not set("SR") & set(more.flags)
    )


def differences(expected: Packet, actual: Packet, known_stamps: bool = False) -> list[str]:
    """Returns the differences from the expected packet, the most important first."""
    out = []
    want, have = set(expected.flags), set(actual.flags)
    if want != have:
        out.append(f"flags: expected {expected.flags}, actual {actual.flags}")
    if expected.seq != actual.seq:
        out.append(f"sequence number: expected {expected.seq}, actual {actual.seq}")
    if expected.length != actual.length:
        out.append(f"payload: expected {expected.length}, actual {actual.length} bytes")
    if expected.ack is not None and expected.ack != actual.ack:
        out.append(f"acknowledgment: expected {expected.ack}, actual {actual.ack}")
    if expected.win is not None and expected.win != actual.win:
        out.append(f"window: expected {expected.win}, actual {actual.win}")
    if expected.ecn == "ect01":
        if actual.ecn not in ("ect0", "ect1"):
            out.append(f"ECN field: expected ect0 or ect1, actual {actual.ecn}")
    elif expected.ecn is not None and expected.ecn != actual.ecn:
        out.append(f"ECN field: expected {expected.ecn}, actual {actual.ecn}")
    if expected.options is not None:
        plain = tuple(("TS",) if o[0] == "TS" else o for o in expected.options)
        found = tuple(("TS",) if o[0] == "TS" else o for o in actual.options or ())
        echoes = [o[2] for o in expected.options if o[0] == "TS"], [o[2] for o in actual.options or () if o[0] == "TS"]
        if plain != found or echoes[0] != echoes[1]:
            out.append(f"options: expected{show_options(expected.options) or ' none'}, actual{show_options(actual.options) or ' none'}")
    return out
