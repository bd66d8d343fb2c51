"""The constants of scripts by family: with effect, without effect, and refused with the reason."""

from __future__ import annotations

POLL = {
    "POLLIN": 1,
    "POLLPRI": 2,
    "POLLOUT": 4,
    "POLLERR": 8,
    "POLLHUP": 16,
    "POLLNVAL": 32,
    "POLLRDNORM": 64,
    "POLLWRNORM": 256,
    "POLLRDHUP": 0x2000,
}
"""<poll.h>."""
EPOLL = {name.replace("POLL", "EPOLL"): bit for name, bit in POLL.items() if name != "POLLNVAL"}
EPOLL |= {"EPOLLEXCLUSIVE": 1 << 28, "EPOLLONESHOT": 1 << 30, "EPOLLET": 1 << 31}
"""<sys/epoll.h>."""

URGENT = "urgent data is not sent"
SEND = {"MSG_MORE", "MSG_EOR", "MSG_DONTWAIT", "MSG_NOSIGNAL", "MSG_FASTOPEN", "MSG_ZEROCOPY", "MSG_CONFIRM", "MSG_DONTROUTE"}
RECEIVE = {"MSG_PEEK", "MSG_WAITALL", "MSG_DONTWAIT", "MSG_TRUNC", "MSG_NOSIGNAL", "MSG_CMSG_CLOEXEC", "MSG_ERRQUEUE"}
REFUSED = {"MSG_OOB": URGENT}
"""Flags of calls that are refused."""

OPEN = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL", "O_NONBLOCK", "O_CLOEXEC"}
FLAGS: dict[str, tuple[int, set[str]]] = {
    "send": (3, SEND),
    "sendto": (3, SEND),
    "sendmsg": (2, SEND),
    "recv": (3, RECEIVE),
    "recvfrom": (3, RECEIVE),
    "recvmsg": (2, RECEIVE),
    "socket": (1, {"SOCK_STREAM", "SOCK_NONBLOCK", "SOCK_CLOEXEC"}),
    "accept4": (3, {"SOCK_NONBLOCK", "SOCK_CLOEXEC"}),
    "shutdown": (1, {"SHUT_RD", "SHUT_WR", "SHUT_RDWR"}),
    "open": (1, OPEN),
    "fcntl": (1, {"F_GETFL", "F_SETFL", "F_GETFD", "F_SETFD"}),
    "ioctl": (1, {"SIOCINQ", "FIONREAD", "SIOCOUTQ", "SIOCOUTQNSD"}),
    "epoll_ctl": (1, {"EPOLL_CTL_ADD", "EPOLL_CTL_MOD", "EPOLL_CTL_DEL"}),
    "splice": (5, {"SPLICE_F_MOVE", "SPLICE_F_NONBLOCK", "SPLICE_F_MORE", "SPLICE_F_GIFT"}),
}
"""The flag argument of each call, and its known flags."""

LEVELS = {"SOL_SOCKET", "SOL_TCP", "IPPROTO_TCP", "SOL_IP", "IPPROTO_IP", "SOL_IPV6", "IPPROTO_IPV6"}
VALUES = {"IP_PMTUDISC_DONT": 0, "IP_PMTUDISC_WANT": 1, "IP_PMTUDISC_DO": 2, "IP_PMTUDISC_PROBE": 3}
"""Values of socket options."""
STAMPS = {f"SOF_TIMESTAMPING_{what}" for what in ("TX_SCHED", "TX_SOFTWARE", "TX_ACK", "SOFTWARE", "OPT_ID", "OPT_TSONLY", "OPT_CMSG")}
CONTROL = {"SO_EE_ORIGIN_ZEROCOPY", "SO_EE_CODE_ZEROCOPY_COPIED", "SO_EE_ORIGIN_TIMESTAMPING", "SCM_TIMESTAMPING", "ENOMSG"}
CONTROL |= {
    "SCM_TSTAMP_SND",
    "SCM_TSTAMP_SCHED",
    "SCM_TSTAMP_ACK",
    "IP_RECVERR",
    "IPV6_RECVERR",
    "CMSG_LEVEL_IP",
    "CMSG_TYPE_RECVERR",
    "TCP_CM_INQ",
    "TCP_INQ",
}
"""Constants in control messages."""
DONE = {
    "TCP_CONGESTION",
    "TCP_MAXSEG",
    "TCP_NODELAY",
    "TCP_CORK",
    "TCP_INFO",
    "TCP_QUICKACK",
    "TCP_NOTSENT_LOWAT",
    "TCP_USER_TIMEOUT",
    "TCP_INQ",
    "TCP_FASTOPEN",
    "TCP_FASTOPEN_CONNECT",
    "TCP_FASTOPEN_KEY",
    "TCP_FASTOPEN_NO_COOKIE",
    "TCP_SYNCNT",
    "SO_RCVBUF",
    "SO_RCVBUFFORCE",
    "SO_SNDBUF",
    "SO_SNDBUFFORCE",
    "SO_LINGER",
    "SO_ERROR",
    "SO_RCVLOWAT",
    "SO_ACCEPTCONN",
    "SO_TYPE",
    "SO_OOBINLINE",
    "SO_KEEPALIVE",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_KEEPCNT",
    "IP_LOCAL_PORT_RANGE",
    "SO_ZEROCOPY",
    "SO_TIMESTAMPING",
}
"""Socket options with an effect."""
QUIET = {
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_PRIORITY",
    "SO_MARK",
    "IP_RECVERR",
    "IPV6_RECVERR",
    "IP_FREEBIND",
    "IP_TRANSPARENT",
    "IP_TTL",
    "IPV6_HOPLIMIT",
    "IP_BIND_ADDRESS_NO_PORT",
    "SO_BINDTODEVICE",
}
"""Socket options without a visible effect."""
IGNORED = {
    "IP_TOS",
    "IPV6_TCLASS",
    "IP_MTU_DISCOVER",
    "IPV6_MTU_DISCOVER",
    "SO_MAX_PACING_RATE",
    "TCP_DEFER_ACCEPT",
    "TCP_WINDOW_CLAMP",
    "TCP_LINGER2",
    "TCP_THIN_LINEAR_TIMEOUTS",
    "TCP_THIN_DUPACK",
    "TCP_SAVE_SYN",
    "SO_SNDTIMEO",
    "SO_RCVTIMEO",
    "SO_BUSY_POLL",
}
"""Socket options without effect here, reported in a warning."""
NOT_DONE = {
    "SO_TIMESTAMP": "packets that arrive are not stamped",
    "TCP_MD5SIG": "segments are not signed (RFC 2385)",
    "TCP_AO_ADD_KEY": "segments are not signed (RFC 5925)",
    "TCP_REPAIR": "a connection cannot be put together by hand",
    "TCP_ULP": "there is no TLS",
    "SO_ATTACH_FILTER": "there are no filters",
}
"""Refused socket options with the reason."""
SOCKET_OPTIONS = DONE | QUIET | IGNORED | set(NOT_DONE)
