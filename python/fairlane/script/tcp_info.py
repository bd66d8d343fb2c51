"""The values of `struct tcp_info`, as in getsockopt(TCP_INFO) of Linux."""

from __future__ import annotations

from typing import Any

from .connection import NO_LIMIT, PS, TIMESTAMPS, Connection

INFINITE = 0x7FFFFFFF
"""ssthresh of Linux before the first loss."""


STATES = {
    "ESTABLISHED": 1,
    "SYN-SENT": 2,
    "SYN-RECEIVED": 3,
    "FIN-WAIT-1": 4,
    "FIN-WAIT-2": 5,
    "TIME-WAIT": 7,
    "CLOSED": 7,
    "CLOSE-WAIT": 8,
    "LAST-ACK": 9,
    "LISTEN": 10,
    "CLOSING": 11,
}
"""Names of states in the endpoint."""


def tcp_info(c: Connection, now: int) -> dict[str, Any]:
    """Returns the values of getsockopt(TCP_INFO) by the names in scripts."""
    v = c.view()
    mss = v["mss"]
    micro = {k: round(v[k] * 1e6) for k in ("srtt", "rttvar", "rto")}
    ago = {f"tcpi_last_{k}": max(0, now - t) // (1000 * PS) for k, t in c.last.items()}
    cc_packets = max(1, v["window"] // mss)
    infinite = v["ssthresh"] == float("inf")
    out = {
        "tcpi_state": _state(c, v),
        "tcpi_ca_state": v["ca_state"],
        "tcpi_retransmits": v["in_a_row"],
        "tcpi_probes": v["probes"] or c.tries or c.keep_probes,
        "tcpi_backoff": v["backoff"],
        "tcpi_options": (1 if c.timestamps else 0) | (2 if c.sack else 0) | (4 if c.scaling else 0) | (32 if v["syn_data_acked"] else 0),
        "tcpi_snd_wscale": c.peer_scale,
        "tcpi_rcv_wscale": c.our_scale,
        "tcpi_rto": micro["rto"],
        "tcpi_ato": 40_000,
        "tcpi_snd_mss": mss,
        "tcpi_rcv_mss": c.rcv_mss,
        "tcpi_unacked": v["unacked"],
        "tcpi_sacked": v["sacked"],
        "tcpi_lost": v["lost"],
        "tcpi_retrans": v["retrans"],
        "tcpi_fackets": 0,
        "tcpi_pmtu": c.options["mtu"],
        "tcpi_rcv_ssthresh": min(c.buffer(), 65535),
        "tcpi_rtt": micro["srtt"],
        "tcpi_rttvar": micro["rttvar"],
        "tcpi_snd_ssthresh": INFINITE if infinite else int(v["ssthresh"]) // mss,
        "tcpi_snd_cwnd": cc_packets,
        "tcpi_advmss": c.offered_mss() - (TIMESTAMPS if c.timestamps else 0),
        "tcpi_reordering": v["reordering"],
        "tcpi_rcv_rtt": 0,
        "tcpi_rcv_space": c.buffer(),
        "tcpi_total_retrans": v["retransmits"] + c.syns_again,
        "tcpi_pacing_rate": v.get("pacing_rate", 0),
        "tcpi_max_pacing_rate": 0xFFFFFFFFFFFFFFFF,
        "tcpi_bytes_acked": v["acked"],
        "tcpi_bytes_received": c.core.delivered,
        "tcpi_notsent_bytes": max(0, c.written + 1 - min(v["nxt"], c.written + 1)),
        "tcpi_min_rtt": round(v["min_rtt"] * 1e6) if "min_rtt" in v else NO_LIMIT,
        "tcpi_data_segs_out": v["data_segments"],
        "tcpi_delivery_rate": v.get("delivery_rate", 0),
        "tcpi_delivered": c.delivered(v),
        "tcpi_delivered_ce": max(c.delivered_ce, -(-v["ce_delivered"] // mss)),
        "tcpi_bytes_sent": v["data_bytes"],
        "tcpi_bytes_retrans": v["retransmit_bytes"],
        "tcpi_dsack_dups": v["dsacks"],
        "tcpi_reord_seen": v["reord_seen"],
        "tcpi_rcv_ooopack": 0,
        "tcpi_snd_wnd": c.peer_win,
    }
    return out | c.chrono.times(now) | ago | {f"tcpi_{k}": n for k, n in c.count.items() if k != "bytes_received"}


def _state(c: Connection, v: dict[str, Any]) -> int:
    """Returns the number of the state in Linux (enum in tcp_states.h); a connection in TIME-WAIT is closed."""
    return 7 if c.dead else STATES[v["state"]]
