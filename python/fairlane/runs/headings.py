"""Names of metrics for people: headings of tables, and words in sentences."""

from __future__ import annotations

_HEADINGS = {
    "avg": "average queue length",
    "completed": "finished flows",
    "completion_time": "completion time",
    "completion_time_p95": "completion time (p95)",
    "cwnd": "congestion window",
    "delay_mean": "delay (mean)",
    "delay_p95": "delay (p95)",
    "delay_p99": "delay (p99)",
    "discard_rate": "late packets",
    "drops": "drops",
    "goodput_tcp": "goodput, TCP",
    "goodput_udp": "goodput, UDP",
    "jain": "Jain's fairness index",
    "jain_tcp": "Jain's fairness index, TCP",
    "loss": "packet loss",
    "lost": "packets lost on links",
    "marks": "ECN marks",
    "mos": "MOS",
    "mouth_to_ear_delay": "mouth-to-ear delay",
    "queue": "queue length",
    "queue_bytes": "queue length in bytes",
    "queue_max": "queue length (max)",
    "queue_mean": "queue length (mean)",
    "r_factor": "R factor",
    "rebuffering_ratio": "time in stalls",
    "rebuffering_time": "total length of stalls",
    "rebufferings": "stalls",
    "retransmits": "retransmissions",
    "rpm": "RPM",
    "rpm_foreign": "RPM (foreign probes)",
    "rpm_self": "RPM (self probes)",
    "rtt_mean": "RTT (mean)",
    "share": "share of fair share",
    "sojourn_mean": "queueing delay (mean)",
    "sojourn_p95": "queueing delay (p95)",
    "srtt": "smoothed RTT",
    "startup_delay": "start-up delay",
    "ssthresh": "slow-start threshold",
    "transaction_time_mean": "page/response time (mean)",
    "transaction_time_p95": "page/response time (p95)",
    "utilisation": "utilisation",
    "worst_share": "worst flow / fair share",
}


def heading(metric: str) -> str:
    """Returns the words for a metric or a time series.

    >>> heading("sojourn_mean"), heading("packets_sent")
    ('queueing delay (mean)', 'packets sent')
    """
    return _HEADINGS.get(metric) or metric.replace("_", " ")
