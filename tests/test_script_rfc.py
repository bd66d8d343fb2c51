"""RFC requirements on the options of a handshake: packet scripts, where they have bytes."""

from __future__ import annotations

from fairlane.script import run_text

HEAD = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n"
WRITE = "+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 6000) = 6000\n"


def passes(text: str) -> None:
    out = run_text(text)
    assert out.passed, out.message


def test_window_scaling_needs_both() -> None:
    """RFC 7323 sections 2.2 and 2.3: windows after the SYNs are scaled if both SYNs say so; a scale elsewhere is nothing."""
    opened = "+0 < S 0:0(0) win 1000 <mss 1000,nop,wscale 2>\n+0 > S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale 7>\n"
    # 750 << 2 is 3000; ours is 65535 >> 7.
    sent = WRITE + "+0 > P. 1:3001(3000) ack 1 win 512\n+0 %{ assert (tcpi_snd_wscale, tcpi_rcv_wscale) == (2, 7) }%\n"
    passes(HEAD + opened + "+.1 < . 1:1(0) ack 1 win 750\n" + sent)
    passes(HEAD + opened + "+.1 < . 1:1(0) ack 1 win 750 <nop,wscale 5>\n" + sent)
    plain = "+0 < S 0:0(0) win 1000 <mss 1000>\n+0 > S. 0:0(0) ack 1 win 65535 <mss 1460>\n+.1 < . 1:1(0) ack 1 win 3000\n"
    sent = WRITE + "+0 > P. 1:3001(3000) ack 1 win 65535\n+0 %{ assert (tcpi_snd_wscale, tcpi_rcv_wscale) == (0, 0) }%\n"
    passes(HEAD + plain + sent)
    passes(HEAD + plain.replace("win 3000\n", "win 3000 <nop,wscale 5>\n") + sent)
    off = "`sysctl -q net.ipv4.tcp_window_scaling=0`\n"
    passes(off + HEAD + plain.replace("<mss 1000>", "<mss 1000,nop,wscale 2>") + sent)


def test_a_shift_of_more_than_14_counts_as_14() -> None:
    """RFC 7323 section 2.3; our own is never larger, however large the buffer."""
    syn = "+0 < S 0:0(0) win 1000 <mss 1000,nop,wscale 15>\n+0 > S. 0:0(0) ack 1 win 65535 <mss 1460,nop,wscale {}>\n"
    passes(HEAD + syn.format(7) + "+.1 < . 1:1(0) ack 1 win 750\n+0 accept(3, ..., ...) = 4\n+0 %{ assert tcpi_snd_wscale == 14 }%\n")
    passes("`sysctl -q net.ipv4.tcp_rmem='4096 131072 2000000000'`\n" + HEAD + syn.format(14))


def test_without_the_option_segments_are_small() -> None:
    """RFC 9293 section 3.7.1 (MUST-15): a peer that says nothing takes 536 bytes, over IPv6 1220."""
    for version, ours, most in (("ipv4", 1460, 536), ("ipv6", 1440, 1220)):
        syn = f"+0 < S 0:0(0) win 1000\n+0 > S. 0:0(0) ack 1 <mss {ours}>\n+.1 < . 1:1(0) ack 1 win 30000\n"
        out = f"+0 > . 1:{1 + most}({most}) ack 1\n+0 > P. {1 + most}:{1 + most + 300}(300) ack 1\n"
        passes(
            f"--ip_version={version}\n" + HEAD + syn + f"+0 accept(3, ..., ...) = 4\n+0 write(4, ..., {most + 300}) = {most + 300}\n" + out
        )
