"""The commands `card ...`: report cards of queues and congestion controls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.extras import need
from ..errors import ArgumentError
from .log import count, current, verbose_option
from .output import Commands, emit, emit_json, need_workers, render, status_line, tell, worker_options, worker_plugins, wrote

if TYPE_CHECKING:
    from ..cards import CardProgress


class Kinds(Commands):
    """The kinds of report cards."""

    what = "kind of report card"


@click.group(cls=Kinds)
def card() -> None:
    """Answer the questions that RFCs ask of a queue or a congestion control: pass, concern, fail or not applicable.

    docs/guides/report-cards.md explains the cards, and how to write questions of your own.
    """


_COMMON = (
    click.option("--against", metavar="LIST", default="", help="Others that answer the same questions, in one table: fq_codel,cake."),
    click.option("--only", metavar="LIST", default="", help="Keys of the questions to ask; `fairlane card list` has them."),
    click.option("--question", "own", multiple=True, metavar="DIR", help="Ask the question in a folder too (`fairlane new card KEY`)."),
    click.option("--quick", is_flag=True, help="Five replications, and only the questions that take little time."),
    click.option("--page", metavar="FILE", help="Write the page to a file."),
    click.option("--force", is_flag=True, help="Replace an existing page."),
    click.option("-o", "--out", metavar="DIR", default="results/cards", show_default=True,
                 help="Folder of the runs, one folder for each subject. The same command resumes in it."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    click.option("--quiet", "-q", is_flag=True, help="No progress, no tables."),
)  # fmt: skip


def card_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of every card."""
    command = verbose_option(worker_plugins(worker_options(command)))
    for option in reversed(_COMMON):
        command = option(command)
    return command


@card.command()
@click.argument("name", metavar="QUEUE")
@card_options
def queue(name: str, **options: Any) -> int:
    """Report card of a queue: RFC 7928 sections 4 to 12.

    QUEUE is a name such as codel, with parameters codel{target=10ms}, or that of a plug-in. Without --quick replications are added until
    the verdict of each question is sure, or twenty are done.

    Exit code 0 whatever the verdicts, 1 if runs failed, 2 for an error before them.
    """
    return _run("queue", name, "", **options)


@card.command()
@click.argument("name", metavar="CC")
@card_options
def cc(name: str, **options: Any) -> int:
    """Report card of a congestion control: RFC 9743 sections 5 to 7.

    CC is a name such as bbr3, with parameters cubic{beta=0.8}, or that of a plug-in.
    """
    return _run("cc", name, "", **options)


@card.command()
@click.argument("name", metavar="CC")
@click.option("--queue", "network", metavar="QUEUE", default="dualpi2", show_default=True, help="Queue of the network that has switched.")
@card_options
def l4s(name: str, network: str, **options: Any) -> int:
    """Report card of a congestion control in L4S: who wins and who waits if hosts or network switch alone.

    The other controls and queues are those of Sarpkaya et al. (PAM 2025): CUBIC, BBR and BBRv3 over FIFO, FIFO with ECN, CoDel, FQ-CoDel
    and QUEUE.
    """
    return _run("l4s", name, network, **options)


@card.command()
@click.argument("name", metavar="STACK")
@card_options
def media(name: str, **options: Any) -> int:
    """Report card of a stack that carries media: the test cases of RFC 8867.

    STACK is a name such as str0m, with parameters str0m{most=1Mbit/s}. It needs a build with stacks: docs/models/stacks.md.
    """
    return _run("media", name, "", **options)


@card.command(name="list")
@click.argument("kind", required=False, default="")
@click.option("--requirements", is_flag=True, help="List what the RFCs ask, with the question that answers it or the reason why none does.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(kind: str, requirements: bool, as_json: bool) -> None:
    """List the questions of the cards (KIND: queue, cc, l4s or media), or what the RFCs require."""
    from ..cards import KINDS, questions
    from ..cards.requirements import sheet, table
    from ..cards.terminal import listing

    if requirements:
        emit_json(table()) if as_json else emit(render(sheet()))
        return
    kinds = [kind] if kind else list(KINDS)
    asked = {k: questions(k) for k in kinds}
    if as_json:
        emit_json(
            {
                k: [{"key": q.key, "section": q.section, "question": q.question, "left_out": q.left_out or None} for q in of]
                for k, of in asked.items()
            }
        )
        return
    from ..look.sheet import Words

    emit(render(*(part for k, of in asked.items() for part in (Words(f"{k}: {KINDS[k]}, {count(len(of), 'question')}"), listing(of)))))


@card.command(name="all")
@click.argument("kind", type=click.Choice(["queue", "cc"]))
@click.option("--of", "names", metavar="LIST", default="", help="Names to make cards of (default: the whole registry).")
@click.option("--quick", is_flag=True, help="Quick cards.")
@click.option("-o", "--out", metavar="DIR", default="results/cards", show_default=True, help="Folder of runs and pages; resumes in it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document of all cards.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no tables.")
@worker_options
@verbose_option
def all_(kind: str, names: str, quick: bool, out: str, as_json: bool, quiet: bool, **workers: Any) -> int:
    """Make the cards of every queue or congestion control: pages in HTML and Markdown, and one table KIND.md.

    A new entry of the registry is in it by itself. The same command resumes. Exit code 0 whatever the verdicts, 1 if runs failed.
    """
    need("study")
    need_workers(workers)
    from ..cards.document import card_document
    from ..cards.overview import answer_all, every
    from ..study.executors import choose
    from . import FAILED

    of, began = every(kind, [n for n in names.split(",") if n]), time.monotonic()
    with status_line(quiet=quiet) as line:

        def begins(i: int, n: int, name: str) -> CardProgress | None:
            if line is None:
                return None
            return lambda done, all_of, key, runs: line(
                f"{name} ({i + 1}/{n}), {key} ({done + 1}/{all_of}), {time.monotonic() - began:.0f} s"
            )

        try:
            overview = answer_all(kind, of, out, quick=quick, pool=choose(**workers), progress=begins)
        except KeyboardInterrupt:
            tell(f"finished runs are kept in {out}; the same command resumes")
            raise
    if as_json:
        emit_json(card_document(overview.cards))
    elif not quiet:
        emit(overview.markdown() + f"\n{Path(out) / f'{kind}.md'}")
    return FAILED if overview.errors else 0


def _run(
    kind: str,
    name: str,
    network: str,
    *,
    against: str,
    only: str,
    own: tuple[str, ...],
    quick: bool,
    page: str | None,
    force: bool,
    out: str,
    as_json: bool,
    quiet: bool,
    plugins: tuple[str, ...],
    **workers: Any,
) -> int:
    need("study")
    need_workers(workers)
    from ..base.files import save_bytes
    from ..base.outputs import new_file
    from ..cards import answer_questions, questions, subjects
    from ..cards.document import card_document
    from ..cards.page import page as page_of
    from ..own.plugin import load
    from ..study.executors import choose
    from . import FAILED

    for plugin in plugins:
        load(plugin)
    found = subjects(kind, f"{name},{against}" if against else name, network)
    if len(subjects(kind, name, network)) > 1:
        raise ArgumentError(f"a card is about one {kind}: name the others with --against")
    if len({s.label for s in found}) < len(found):
        raise ArgumentError("--against names a subject twice")
    asked = questions(kind, only=[k for k in only.split(",") if k], own=own, quick=quick)
    if page is not None:
        new_file(page, force=force)
    files, pool = [str(Path(p).resolve()) for p in plugins], choose(**workers)
    log, cards = current(), []
    log.say(f"checked: {count(len(asked), 'question')} for {count(len(found), 'subject')}; runs are kept in {out}")
    try:
        with _bar([s.label for s in found], quiet=quiet) as begins:
            for i, subject in enumerate(found):
                folder = Path(out) / subject.folder
                cards.append(answer_questions(subject, asked, folder, quick=quick, plugins=files, pool=pool, progress=begins(i)))
    except KeyboardInterrupt:
        tell(f"finished runs are kept in {out}; the same command resumes")
        raise
    log.done()
    if page is not None:
        repeat = _command(kind, name, network, {"against": against, "only": only, "question": own, "quick": quick, "plugin": plugins})
        save_bytes(page, page_of(cards, repeat).encode(), new=not force)
    if as_json:
        emit_json(card_document(cards))
    elif not quiet:
        from ..cards.terminal import report

        emit(render(*report(cards)))
    if page is not None:
        wrote([Path(page)], as_json=as_json, quiet=quiet)
    return FAILED if any(c.errors for c in cards) else 0


def _command(kind: str, name: str, network: str, options: dict[str, Any]) -> str:
    """Returns the command line that makes the page."""
    import shlex

    words = ["fairlane", "card", kind, name, *(["--queue", network] if network else [])]
    for option, value in options.items():
        for x in value if isinstance(value, tuple) else [value]:
            words += [] if x in ("", False) else [f"--{option}"] if x is True else [f"--{option}", x]
    return shlex.join(words)


@contextmanager
def _bar(names: list[str], *, quiet: bool) -> Iterator[Callable[[int], CardProgress | None]]:
    """Yields what makes the progress of each subject; none unless stderr is a terminal."""
    began = time.monotonic()
    with status_line(quiet=quiet) as line:

        def begins(i: int) -> CardProgress | None:
            if line is None:
                return None
            return lambda done, of, key, runs: line(
                f"{names[i]}: question {done + 1} of {of}, {key}; {runs} runs, {time.monotonic() - began:.0f} s"
            )

        yield begins
