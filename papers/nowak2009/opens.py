"""Nowak et al. 2009: parameters that the paper does not state, and its cases in a setting with one value for each."""

from __future__ import annotations

from collections.abc import Mapping

from fairlane.papers import Change, Combination, Levels, Open, Span, Tree, Value, quantity

CLASSIC, WIDE = "1 to 1/p", "1/p to 2/p"
"""Packets between two drops of RED: the classic law, and ns-2's."""
THRESHOLD = "upper threshold"
"""A buffer of RED that ends where its average must be."""
VIDEO_HEADER = 35

OPENS = (
    Open(
        "rate",
        "1.5Mbit/s",
        Span("1Mbit/s", "2Mbit/s", "log"),
        "four rates are named (0.1, 1, 10 and 100 Mbit/s), none as that of Table 1; by Little's law its queues and round trips need 1 to 2",
    ),
    Open(
        "delay",
        "20ms",
        Span("10ms", "40ms", "log"),
        "not named; 20 ms in the simulator's example, and the published round trips leave no more",
    ),
    Open("segment", "1024B", Levels(("536B", "1024B", "1460B")), "not named: the simulator's default, that of RFC 1122, and Ethernet's"),
    Open("window", "64p", Span("14p", "128p", "log"), "not named: 14 segments are the simulator's default, 64 those of its example"),
    Open("first threshold", "64p", Span("16p", "128p", "log"), "not stated: 65535 bytes in the simulator, whatever the segments are"),
    Open(
        "first window",
        "1p",
        Levels(("1p", "2p", "4p")),
        "not named: one segment in the simulator, two or four in the standards of the time",
    ),
    Open("least timeout", "1s", Span("200ms", "1s", "log"), "not named: 1 s in the simulator and in RFC 2988, 0.2 s in Linux"),
    Open("first timeout", "3s", Levels(("1s", "3s")), "not named: 3 s in the simulator and in RFC 2988, 1 s in its successor"),
    Open("delayed ACKs", False, Levels((False, True)), "not named: off in the simulator, on in most receivers"),
    Open("timed", "one", Levels(("one", "every")), "not named which segments are timed: one a window in the simulator, or every one"),
    Open("data", "880kB", Span("400kB", "10000kB", "log"), "not stated, but finite: the video waits until TCP is done"),
    Open("apart", "3s", Span("0s", "5s"), "not named when connections start: in the example the second source opens at 3 s"),
    Open("spread", "1s", Levels(("0s", "1s", "10s")), "not named either: chance in the starts"),
    Open("video share", 0.746, Span(0.7, 0.8), "about three quarters of the link are named; 1000 bytes every 7.4 ms are 74.6 %"),
    Open("frame", "1000B", Span("600B", "1400B"), "not named; turns of one packet each give half of the link, so about as long as TCP's"),
    Open("jitter", 0.0, Span(0.0, 1.0), "a simple video is named, not how even its frames come"),
    Open(
        "drop tail", "50p", Span("25p", "100p", "log"), "25 packets are named and the published mean is 36.7; 50 in the simulator's example"
    ),
    Open("single RED from", "5p", Span("5p", "15p"), "15 is named, and contradicts the published means; 5 in the simulator's example"),
    Open(
        "single RED width",
        "45p",
        Span("10p", "45p"),
        "between the thresholds: 10 packets are named, 45 in the simulator's example for one queue",
    ),
    Open(
        "TCP RED from",
        "5p",
        Span("3p", "15p"),
        "15 is named, and contradicts the published means of 6.9 to 11; 5 in the simulator's example",
    ),
    Open("TCP RED width", "10p", Span("5p", "20p"), "between the thresholds: 10 packets are named, and in the simulator's example"),
    Open("RED weight", 0.002, Levels((0.002, 0.02)), "0.02 is stated with thresholds that contradict the table; 0.002 in the example"),
    Open("RED max_p", 0.02, Levels((0.02, 0.03)), "0.03 is stated with thresholds that contradict the table; 0.02 in the example"),
    Open("RED gaps", CLASSIC, Levels((CLASSIC, WIDE)), "not named: how many packets lie between drops, in the classic law and in ns-2"),
    Open("RED limit", THRESHOLD, Levels((THRESHOLD, "1000p")), "not named: the simulator's RED has no room above its upper threshold"),
    Open(
        "idle packet",
        "1250B",
        Levels(("125B", "1250B")),
        "not named how the average ages while nothing comes: 150 packets a second in the simulator",
    ),
)
"""Unstated parameters. The published table fixes others, so they are not among them: three connections, and FIFO queues without bound (the
video's holds 960 packets in the mean)."""

DECLARED: Mapping[str, Value] = {
    "data": "890kB",
    "video share": 0.74,
    "drop tail": "49p",
    "single RED width": "40p",
    "RED weight": 0.02,
    "RED max_p": 0.03,
    "RED gaps": WIDE,
}
"""The setting in which Table 1 is made: the base, which is the simulator's example, but for what the joint fit changed."""


def change_to(values: Mapping[str, Value]) -> Change:
    """Changes the scenario of a case to what it is in a setting."""

    def packets(name: str) -> int:
        return int(str(values[name]).removesuffix("p"))

    payload = int(str(values["frame"]).removesuffix("B"))
    video_rate = float(values["video share"]) * quantity(str(values["rate"])) * payload / (payload + VIDEO_HEADER)

    def change(t: Tree, _: Combination) -> None:
        link, tcp, video = t["links"]["bottleneck"], t["flows"]["tcp"], t["flows"]["video"]
        link.update(rate=values["rate"], delay=values["delay"])
        tcp.update(stagger=values["apart"], spread=values["spread"])
        video["spread"] = values["spread"]
        video["source"]["cbr"].update(size=values["frame"], rate=f"{round(video_rate)}bit/s", jitter=values["jitter"])
        tcp["source"]["file"]["size"] = values["data"]
        tcp["tcp"].update(
            mss=values["segment"], window=values["window"], initial_ssthresh=values["first threshold"],
            initial_window=values["first window"], rto_min=values["least timeout"], rto_initial=values["first timeout"],
            rtt_sampling=values["timed"], ack_every=2 if values["delayed ACKs"] else 1,
        )  # fmt: skip
        (inner,) = link["queue"].values()
        own = [c["queue"] for c in inner["classes"]] if "classes" in inner else [link["queue"]]
        for queue in own:
            ((kind, q),) = queue.items()
            if kind == "red":
                which = "single" if len(own) == 1 else "TCP"
                low = packets(f"{which} RED from")
                high = f"{low + packets(f'{which} RED width')}p"
                q.update(min=f"{low}p", max=high, limit=high if values["RED limit"] == THRESHOLD else values["RED limit"])
                q.update(w_q=values["RED weight"], max_p=values["RED max_p"], wait=values["RED gaps"] == WIDE)
                q.update(idle_packet=values["idle packet"])
            elif len(own) == 1:
                q["limit"] = values["drop tail"]

    return change


def window_change(values: Mapping[str, Value]) -> Change:
    """Changes the scenario of one connection alone to what it is in a setting; its window stays wide."""

    def change(t: Tree, _: Combination) -> None:
        link, tcp = t["links"]["bottleneck"], t["flows"]["tcp"]["tcp"]
        link.update(rate=values["rate"], delay=values["delay"], queue={"droptail": {"limit": values["drop tail"]}})
        tcp.update(
            mss=values["segment"], initial_window=values["first window"], rto_min=values["least timeout"],
            rto_initial=values["first timeout"], ack_every=2 if values["delayed ACKs"] else 1,
        )  # fmt: skip

    return change
