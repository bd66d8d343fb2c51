"""Formulas that figures compare runs with."""

from __future__ import annotations

import math

from .runs import Points

SEGMENT = 8 * 1040 / 1e7
"""Seconds that a segment of 1000 bytes takes at 10 Mbit/s."""
TRIP = 0.04 + SEGMENT + 8 * 40 / 1e7
"""Round trip of a link of 20 ms."""


def one_segment(trip: float, flows: float) -> float:
    """Utilisation by flows with windows of one segment."""
    return min(flows * SEGMENT / trip, 1.0)


def mean_gap(p_b: float, *, wait: bool = False) -> float:
    """Mean number of arrivals from drop to drop at a steady p_b, from p_a of Floyd and Jacobson 1993, section 4."""
    left, mean, count, last = 1.0, 0.0, 0, 2.0 if wait else 1.0
    while left > 1e-12:
        count += 1
        expected = count * p_b
        p = 0.0 if expected < last - 1 else p_b / (last - expected) if expected < last else 1.0
        mean += count * left * min(p, 1.0)
        left *= 1 - min(p, 1.0)
    return mean


def gentle(avg: float, low: float, high: float, *, wait: bool = False) -> float:
    """Share that a gentle RED with max_p = 0.1 drops at a steady average."""
    p_b = max(0.0, 0.1 * (avg - low) / (high - low)) if avg < high else min(1.0, 0.1 + 0.9 * (avg - high) / high)
    return 1 / mean_gap(p_b, wait=wait)


def choke(rate: float) -> float:
    """Share m of a flow among very many others (Tang, Wang and Low 2003): (1 - m) ln((rate + m) / (2 m)) = (rate + m) / 2."""
    low, high = 1e-9, min(rate, 1.0) - 1e-9
    for _ in range(80):
        m = (low + high) / 2
        # The left side falls with m, the right one grows.
        if (1 - m) * math.log((rate + m) / (2 * m)) > (rate + m) / 2:
            low = m
        else:
            high = m
    return m


def codel_drops(start: float, until: float) -> Points:
    """Times of CoDel's drops from the first on, and their count (RFC 8289 section 5.3, interval 100 ms)."""
    times, t = [], start
    while t < until:
        times.append(t)
        t += 0.1 / len(times) ** 0.5
    return times, list(range(1, len(times) + 1))


def cobalt_down(start: float, count: int) -> Points:
    """Times at which COBALT's count falls by one, from its top to 0."""
    times, counts = [start], [count]
    while counts[-1] > 0:
        times.append(times[-1] + 0.1 / max(counts[-1], 1) ** 0.5)
        counts.append(counts[-1] - 1)
    return times, counts


def max_min(demands: list[float], capacity: float) -> list[float]:
    """Max-min fair shares: unsatisfied flows share the rest equally (Demers, Keshav and Shenker 1989, section 1)."""
    given, left, wanting = [0.0] * len(demands), capacity, sorted(range(len(demands)), key=demands.__getitem__)
    while wanting:
        i = wanting.pop(0)
        given[i] = min(demands[i], left / (len(wanting) + 1))
        left -= given[i]
    return given


def tfrc(p: float) -> float:
    """Packets a round trip (RFC 5348 section 3.1)."""
    return 1.0 / (math.sqrt(2 * p / 3) + 12 * math.sqrt(3 * p / 8) * p * (1 + 32 * p * p))


def window_limited(segments: float) -> float:
    """Mbit/s of a window of segments of 960 bytes over 10 Mbit/s and 44 ms, with 0.8 ms for a packet and 0.03 ms for its acknowledgment."""
    return min(segments * 960 * 8e-6 / 0.044832, 9.6)


def rfc793(limit: int) -> float:
    """Mbit/s without congestion control, a window of 60 segments of 960 bytes and a timeout of 1 s.

    Of a window that is sent at once `limit` and the one in transmission get through. The others go again one a timeout, each letting a new
    one out. Then all is acknowledged, and another window is sent.
    """
    return 1e-6 * 119 * 960 * 8 / (59 - limit)


def bic(window: float, top: float) -> float:
    """Segments that a round trip adds under BIC: search by 4, smooth part 20, at most 16."""
    far = abs(window - top)
    if window < top:
        return min(far / 4, 16) if far > 4 else 0.2
    return min(far / 3, 16) if far >= 4 else 0.2


def htcp(delta: float) -> float:
    """Alpha of H-TCP (draft-leith-tcp-htcp-06, Delta_L = 1 s)."""
    d = max(0.0, delta - 1.0)
    return 1 + 10 * d + 0.25 * d * d


ILLINOIS_BIT = 1040 * 8 / 100e6
"""Seconds that a packet takes."""


def illinois(window: float, start: float, until: float) -> Points:
    """Window of Illinois from `start` on, one point a round trip of 100 ms and the queue (equation 3); a buffer of 300 packets."""
    path, most = 0.1 / ILLINOIS_BIT, 300 * ILLINOIS_BIT
    low = 0.01 * most
    k = (most - low) * 0.3 / (10.0 - 0.3)
    times, windows, time, delay = [], [], start, 0.0
    while time < until:
        times.append(time)
        windows.append(window)
        # After five round trips with an empty queue the growth is the largest again.
        seen = delay if len(times) > 5 else most
        window += 10.0 if seen <= low else k * 10.0 / (k - low + seen)
        delay = max(0.0, window - path) * ILLINOIS_BIT
        time += 0.1 + delay
    return times, windows


def page_load(size: int, window: int) -> float:
    """Seconds for handshake, request, rounds of slow start that leave 10 Mbit/s and 20 ms idle, and the transmission of what is left."""

    def wire(octets: float) -> float:
        return 8 * octets / 10e6

    full, rest = divmod(size, 1460)
    time = 0.06 + 2 * wire(52) + 2 * wire(40) + wire(390)
    round_trip = 0.04 + wire(1500) + wire(40)
    while full + (rest > 0) > window and window * wire(1500) < round_trip:
        time, full, window = time + round_trip, full - window, 2 * window
    return time + 0.02 + full * wire(1500) + (wire(rest + 40) if rest else 0)


def loop_bound(requests: float) -> float:
    """Answers a second of a closed loop: 20 kB each over 10 Mbit/s and 20 ms, 200 ms of thought."""
    octets = 20_000 + 28 * 14
    return min(requests / (0.04 + 8 * (378 + octets) / 10e6 + 0.2), 10e6 / 8 / octets)


def dispersion(t: float) -> float:
    """Variance over mean of the counts in windows of `t` seconds (Heffes and Lucantoni 1986): 100 and 900 a second, 150 and 50 ms."""
    s1, s2 = 1 / 0.15, 1 / 0.05
    total = s1 + s2
    limit = 2 * s1 * s2 * 800.0**2 / (total**2 * (100.0 * s2 + 900.0 * s1))
    return 1 + limit * (1 - (1 - math.exp(-total * t)) / (total * t))


def frame_correlation(lag: int, gop: str = "IBBPBBPBBPBB") -> float:
    """Autocorrelation of independent frame sizes around the means of their types, with a variation of 0.3."""
    means = [{"I": 15000, "P": 8000, "B": 3000}[c] for c in gop]
    n, middle = len(gop), sum(means) / len(gop)
    between = sum((means[i] - middle) * (means[(i + lag) % n] - middle) for i in range(n)) / n
    variance = sum((m - middle) ** 2 for m in means) / n
    return between / (variance + 0.09 * sum(m * m for m in means) / n)


def back_off(rto: float, cap: float, until: float) -> Points:
    """Numbers and times of retransmissions whose distance doubles up to a cap (RFC 6298 section 5.5)."""
    times, at, span = [], 0.0, rto
    while at + span < until:
        at += span
        times.append(at)
        span = min(2 * span, cap)
    return list(range(1, len(times) + 1)), times
