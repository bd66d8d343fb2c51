"""Parser of packetdrill scripts. The grammar is the TCP part of packetdrill's parser.y."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .diagnostics import near
from .lexer import Source, Token, tokens
from .model import SECOND, WILD, Call, Code, Event, Expect, Inject, Name, Packet, Script, Shell, Struct, Syscall, When

FLAGS = "SFRPUEWAN."
"""SYN FIN RST PSH URG ECE CWR AE (two letters), and a dot for ACK."""
OPTIONS = ["mss", "sackOK", "sack", "TS", "wscale", "nop", "eol", "FO", "FOEXP", "ECN", "md5"]
ECN = ["noecn", "ect0", "ect1", "ect01", "ce"]
ICMP = [
    "unreachable",
    "frag_needed",
    "packet_too_big",
    "host_unreachable",
    "net_unreachable",
    "port_unreachable",
    "time_exceeded",
    "echo_request",
]
DEEPEST = 64
"""Deepest nesting of values."""
MOST_WORDS = 1_000_000
_SHAPE = "write a packet as `< . 1:1001(1000) ack 1 win 257 <nop,nop,TS val 1 ecr 2>`"


def parse(file: str, text: str, defines: Mapping[str, str] | None = None) -> Script:
    """Parses a script; raises `ScriptError` with line and column of the first error."""
    return _Parser(Source(file, text), defines or {}).script()


class _Parser:
    def __init__(self, source: Source, defines: Mapping[str, str]) -> None:
        self.source, self.defines = source, dict(defines)
        self.list = tokens(source)
        self.option_tokens: dict[str, Token] = {}
        self.at = self.depth = 0

    # Tokens.

    def peek(self, ahead: int = 0) -> Token:
        return self.list[min(self.at + ahead, len(self.list) - 1)]

    def next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def sees(self, *texts: str) -> bool:
        return self.peek().text in texts and self.peek().kind != "end"

    def skips(self, text: str) -> bool:
        if self.sees(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str, where: str, help: str = "") -> Token:
        if not self.sees(text):
            raise self.source.error(self.peek(), f"expected {text!r} {where}, found {self.peek()}", help)
        return self.next()

    def integer(self, what: str, help: str = "") -> int:
        token = self.peek()
        if token.kind not in ("int", "hex"):
            raise self.source.error(token, f"expected {what}, found {token}", help)
        self.at += 1
        return int(token.text, 0) if token.kind == "hex" else int(token.text)

    # A script.

    def script(self) -> Script:
        options = self.options()
        self.define()
        events: list[Event] = []
        while self.peek().kind != "end":
            events += self.event()
        if not events:
            raise self.source.error(self.peek(), "the script is empty", "begin with `0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3`")
        return Script(self.source.file, self.source.text, options, events, self.option_tokens)

    def define(self) -> None:
        """Replaces symbols by their definitions."""
        found: list[Token] = []
        known: dict[str, list[Token]] = {}
        for token in self.list[self.at :]:
            if token.kind == "word" and token.text in self.defines:
                if token.text not in known:
                    known[token.text] = tokens(Source("a symbol", self.defines[token.text]))[:-1]
                found += [Token(t.kind, t.text, token.start, token.end) for t in known[token.text]]
            else:
                found.append(token)
            if len(found) > MOST_WORDS:
                raise self.source.error(token, f"the script has more than {MOST_WORDS} words here, including those of symbols")
        self.list, self.at = found, 0

    def options(self) -> dict[str, str]:
        out: dict[str, str] = {}
        while self.peek().kind == "option":
            token = self.next()
            name = token.text[2:]
            value = "true"
            if self.skips("="):
                start = self.peek().start
                end = start
                line = self.source.line(start)
                while self.peek().kind != "end" and self.source.line(self.peek().start) == line and self.peek().start in (start, end):
                    end = self.next().end
                value = self.source.text[start:end]
                if not value:
                    raise self.source.error(token, f"{token.text} has no value", f"write {token.text}=VALUE")
            value = value.strip('"')
            if name in ("define", "D"):
                symbol, equals, meaning = value.partition("=")
                if not equals or not symbol.isidentifier():
                    raise self.source.error(token, f"{token.text} takes a symbol and its value", f"write {token.text}=NAME=VALUE")
                self.defines.setdefault(symbol, meaning)
            out[name] = value
            self.option_tokens[name] = Token(token.kind, token.text, token.start, self.peek(-1).end)
        return out

    def event(self) -> list[Event]:
        token = self.peek()
        if token.kind == "option":
            raise self.source.error(token, f"the option {token.text} comes after the first event", "options stand at the top of a script")
        if token.kind == "shell":
            self.at += 1
            return [Shell(self.source.line(token.start), When(relative=True), token, text=token.text[1:-1])]
        if token.kind == "code":
            self.at += 1
            return [self.code(token, When(relative=True))]
        if token.text == "{":
            raise self.source.refusal(token, "random changes of packets are not simulated", "leave {...} out")
        when = self.when()
        token = self.peek()
        line = self.source.line(token.start)
        if token.text in "<>" and token.text:
            if when.until is not None:
                raise self.source.error(token, "only a call can block: `...` is not valid before a packet", "write a range as 0.1~0.2")
            self.at += 1
            packet = self.packet(inbound=token.text == "<")
            return [(Inject if token.text == "<" else Expect)(line, when, token, packet)]
        if token.kind == "code":
            self.at += 1
            return [self.code(token, when)]
        if token.kind == "shell":
            self.at += 1
            return [Shell(line, when, token, text=token.text[1:-1])]
        if token.kind == "word" and self.peek(1).text == "(":
            return [self.syscall(when)]
        found = f"expected an event after the time, found {token}"
        raise self.source.error(token, found, "an event is `< packet`, `> packet`, `call(...) = value`, %{ code }% or `shell`")

    def code(self, token: Token, when: When) -> Code:
        return Code(self.source.line(token.start), when, token, text=token.text[2:-2])

    # Times.

    def when(self) -> When:
        token = self.peek()
        if self.skips("*"):
            return When(any=True)
        if token.kind not in ("int", "float", "hex") and not self.sees("+"):
            help = "write `0` or `0.1` (since the start), `+0.1` (after the event before), `*` (any), `0.1~0.2` (a range)"
            raise self.source.error(token, f"expected the time of an event, found {token}", help)
        relative = self.skips("+")
        start = self.time()
        if self.skips("~"):
            second = self.skips("+")
            if second != relative:
                raise self.source.error(token, "both ends of a range are absolute, or both relative", "write 0.1~0.2 or +0.1~+0.2")
            end_token = self.peek()
            end = self.time()
            if end < start:
                raise self.source.error(end_token, "the range ends before it begins", "write the earlier time first")
            return When(start, end, relative)
        if self.peek().kind == "ellipsis":
            self.at += 1
            self.skips("+")
            end_token = self.peek()
            until = self.time()
            if until < start:
                raise self.source.error(end_token, "the call ends before it begins", "write the earlier time first")
            return When(start, None, relative, until=until)
        return When(start, None, relative)

    def time(self) -> int:
        token = self.peek()
        if token.kind not in ("int", "float"):
            raise self.source.error(token, f"expected a time in seconds, found {token}", "write it as 0.25")
        self.at += 1
        if token.text.startswith("-"):
            raise self.source.error(token, "a time is not negative")
        whole, _, fraction = token.text.partition(".")
        return int(whole or 0) * SECOND + int((fraction + "000000")[:6])

    # Packets.

    def packet(self, inbound: bool) -> Packet:
        ecn = self.ip_info() if self.sees("[") else None
        if inbound and ecn == "ect01":
            raise self.source.error(self.peek(-2), "a packet that arrives has one codepoint", "write [ect0] or [ect1]")
        if self.peek().text in ("ipv4", "ipv6", "gre", "GREv0", "mpls", "raw"):
            help = "leave the header out: there is one path, and nothing is encapsulated"
            raise self.source.error(self.peek(), f"packets in {self.peek().text} are not simulated", help)
        if self.sees("udp"):
            raise self.source.error(self.peek(), "UDP is not simulated here", "scripts test TCP")
        if self.sees("icmp"):
            return self.icmp()
        p = Packet(ecn=ecn)
        p.flags = self.flags()
        token = self.peek()
        p.seq = self.integer("the sequence range after the flags", _SHAPE)
        self.expect(":", "in the sequence range", _SHAPE)
        end = self.integer("the end of the sequence range", _SHAPE)
        self.expect("(", "and the payload's length after the sequence range", f"write {p.seq}:{end}({(end - p.seq) & 0xFFFFFFFF})")
        p.length = self.integer("the payload's length", _SHAPE)
        close = self.expect(")", "after the payload's length", _SHAPE)
        if (end - p.seq) & 0xFFFFFFFF != p.length:
            whole = Token("int", "", token.start, close.end)
            help = f"write {p.seq}:{(p.seq + p.length) & 0xFFFFFFFF}({p.length}) or {p.seq}:{end}({(end - p.seq) & 0xFFFFFFFF})"
            raise self.source.error(whole, f"{p.seq}:{end} is not {p.length} bytes", help)
        if p.length > 0xFFFF and inbound:
            raise self.source.error(token, f"a packet of {p.length} bytes is longer than IP allows", "write at most 65535")
        if self.skips("ack"):
            p.ack = self.integer("a number after `ack`")
            if "." not in p.flags:
                raise self.source.error(self.peek(-1), "an `ack` number without the ACK flag", f"write the flags as {p.flags.rstrip('-')}.")
        elif "." in p.flags:
            p.ack = 0  # The field is zero, as in packetdrill.
        if self.skips("win"):
            p.win = self.integer("a number after `win`")
            if not 0 <= p.win <= 0xFFFF:
                raise self.source.error(self.peek(-1), f"the window field holds 16 bits: {p.win} does not fit", "write 0 to 65535")
        if self.skips("urg"):
            p.urg = self.integer("a number after `urg`")
        p.options = self.tcp_options() if self.sees("<") else ()
        return p

    def ip_info(self) -> str | None:
        self.next()
        ecn = None
        while not self.sees("]"):
            token = self.next()
            if token.text in ECN:
                ecn = token.text
            elif token.text in ("tos", "ttl", "flowlabel"):
                value = self.integer(f"a number after {token.text!r}")
                if token.text == "tos":
                    ecn = ["noecn", "ect1", "ect0", "ce"][value & 3]
            elif token.text in ("flags", "id"):
                self.next()
            elif token.text != ",":
                raise self.source.error(
                    token, f"{token} is not a field of the IP header", near(token.text, [*ECN, "tos", "ttl", "flowlabel"])
                )
        self.next()
        return ecn

    def flags(self) -> str:
        token = self.next()
        text = token.text
        more = self.peek()
        # "S." is two tokens, and so is ".5": the three bits of AccECN as a number.
        if more.start == token.end and (more.text == "." or more.kind in ("word", "float")) and token.kind in ("word", "punct"):
            text += self.next().text
        digits = "".join(c for c in text if c in "0123456789")
        letters = "".join(c for c in text if c not in "0123456789")
        bad = [c for c in letters if c not in FLAGS and letters != "-"]
        if bad or token.kind not in ("word", "float", "punct") or len(set(letters)) != len(letters) or len(digits) > 1:
            help = "flags are S F R P U E W A and a dot for ACK, such as S, S., P., F., SEW, or - for none"
            raise self.source.error(token, f"expected the flags of a segment, found {token}", help)
        if digits:
            value = int(digits)
            letters += "".join(letter for bit, letter in ((1, "E"), (2, "W"), (4, "A")) if value & bit and letter not in letters)
        return "".join(c for c in FLAGS if c in letters)

    def icmp(self) -> Packet:
        self.next()
        kind, token = "", self.peek()
        while self.peek().kind == "word" and self.peek().text not in ("mtu",):
            word = self.defines.get(self.peek().text, self.peek().text)
            if word not in ICMP:
                raise self.source.error(self.peek(), f"{self.peek()} is not a known ICMP message", near(word, ICMP))
            kind += " " + word
            self.at += 1
        mtu = None
        if self.skips("mtu"):
            mtu = self.integer("a number after `mtu`")
        seq = 0
        if self.skips("["):
            if self.peek().kind == "word":
                self.flags()
            seq = self.integer("the sequence number of the packet it is about")
            while not self.sees("]"):
                if self.next().kind == "end":
                    raise self.source.error(token, "this ICMP message has no end", "close it with ]")
            self.next()
        return Packet(icmp=(kind.strip(), "", mtu), seq=seq)

    def tcp_options(self) -> tuple[tuple[Any, ...], ...] | None:
        opening = self.next()
        if self.peek().kind == "ellipsis":
            self.at += 1
            self.expect(">", "after `...`")
            return None
        out: list[tuple[Any, ...]] = []
        while not self.sees(">"):
            token = self.next()
            if token.kind == "end":
                raise self.source.error(opening, "this list of options has no end", "close it with >")
            out.append(self.tcp_option(token))
            if not self.sees(">", ","):
                raise self.source.error(
                    self.peek(), f"expected ',' or '>' after an option, found {self.peek()}", "write <nop,nop,sack 1:1001>"
                )
            self.skips(",")
        self.next()
        return tuple(out)

    def tcp_option(self, token: Token) -> tuple[Any, ...]:
        name = token.text
        if name in ("nop", "eol", "sackOK"):
            return (name,)
        if name in ("mss", "wscale"):
            return (name, self.integer(f"a number after `{name}`"))
        if name == "TS":
            help = "write it as TS val 100 ecr 200"
            self.expect("val", "in the timestamps option", help)
            value = self.integer("a number after `val`", help)
            self.expect("ecr", "in the timestamps option", help)
            return ("TS", value, self.integer("a number after `ecr`", help))
        if name == "sack":
            blocks = []
            while self.peek().kind == "int":
                start = self.integer("a block")
                self.expect(":", "in a SACK block", "write blocks as sack 1001:2001 3001:4001")
                blocks.append((start, self.integer("the end of a SACK block")))
            if not 1 <= len(blocks) <= 4:
                raise self.source.error(token, f"{len(blocks)} SACK blocks", "one to four fit (RFC 2018 section 3)")
            return ("sack", *blocks)
        if name in ("FO", "FOEXP", "md5", "ECN"):
            words = []
            while not self.sees(">", ",") and self.peek().kind != "end":
                words.append(self.defines.get(self.peek().text, self.peek().text) if name in ("FO", "FOEXP") else self.peek().text)
                self.at += 1
            if name in ("FO", "FOEXP") and not all(c in "0123456789abcdefABCDEF" for c in "".join(words)):
                raise self.source.error(
                    token, f"a Fast Open cookie is hexadecimal, not {' '.join(words)}", "write it as FO 3021b9d889017eeb"
                )
            return (name, "".join(words).lower() if name in ("FO", "FOEXP") else " ".join(words))
        raise self.source.error(token, f"unknown TCP option {token}", near(name, OPTIONS))

    # Calls.

    def syscall(self, when: When) -> Syscall:
        name = self.next()
        self.next()
        args: list[Any] = []
        spots: list[Token] = []
        while not self.sees(")"):
            spots.append(self.peek())
            args.append(self.expression())
            if not self.sees(")", ","):
                raise self.source.error(self.peek(), f"expected ',' or ')' in the arguments of {name.text}, found {self.peek()}")
            self.skips(",")
        self.next()
        self.expect("=", f"and a result after {name.text}(...)", f"write {name.text}(...) = 0, or = -1 EAGAIN (...)")
        result = self.expression()
        errno = None
        if self.peek().kind == "word" and self.peek().text.startswith("E") and self.peek().text.isupper():
            errno = self.next().text
        if self.sees("("):
            opening, depth = self.peek(), 0
            while True:
                token = self.next()
                depth += {"(": 1, ")": -1}.get(token.text, 0)
                if token.kind == "end":
                    raise self.source.error(opening, "this note has no end", "close it with )")
                if depth == 0:
                    break
        return Syscall(self.source.line(name.start), when, name, name.text, tuple(args), tuple(spots), result, errno)

    def expression(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.source.error(self.peek(), f"values are nested more than {DEEPEST} deep")
        flags = [self.primary()]
        while self.skips("|"):
            flags.append(self.primary())
        self.depth -= 1
        if len(flags) == 1:
            return flags[0]
        first = flags[0] if isinstance(flags[0], tuple) else (flags[0],)
        return (*first, *flags[1:])

    def primary(self) -> Any:
        token = self.next()
        if token.kind == "ellipsis":
            return WILD
        if token.kind == "int":
            return int(token.text)
        if token.kind == "hex":
            return int(token.text, 16)
        if token.kind == "float":
            return float(token.text)
        if token.kind == "string":
            return token.text[1:-1]
        if token.kind == "ipv4":
            return token.text
        if token.kind == "word":
            if self.sees("("):
                self.next()
                args = self.list_until(")", token)
                return Call(token.text, tuple(args))
            return Name(token.text)
        if token.text == "[":
            return self.list_until("]", token)
        if token.text == "{":
            return Struct(self.fields(token))
        if token.text == "(":
            value = self.expression()
            self.expect(")", "after an expression")
            return value
        raise self.source.error(
            token, f"expected a value, found {token}", 'values are numbers, NAMES, "text", ..., [lists] and {name=value}'
        )

    def list_until(self, closing: str, opening: Token) -> list[Any]:
        out = []
        while not self.sees(closing):
            if self.peek().kind == "end":
                raise self.source.error(opening, f"{opening} is never closed", f"close it with {closing}")
            out.append(self.expression())
            if not self.sees(closing, ","):
                raise self.source.error(self.peek(), f"expected ',' or {closing!r}, found {self.peek()}")
            self.skips(",")
        self.next()
        return out

    def fields(self, opening: Token) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        while not self.sees("}"):
            if self.peek().kind == "end":
                raise self.source.error(opening, "'{' is never closed", "close it with }")
            value = self.expression()
            if self.skips("="):
                key = value.name if isinstance(value, Call) else str(value)
                out[key] = self.expression()
            else:
                out[len(out)] = value
            if not self.sees("}", ","):
                raise self.source.error(self.peek(), f"expected ',' or '}}', found {self.peek()}")
            self.skips(",")
        self.next()
        return out
