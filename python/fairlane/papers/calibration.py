"""The joint sample of a paper as a whole: which settings match the published values, what each claim does in them, and the record of it.

`python -m fairlane.papers.calibration KEY` runs the joint sample of a study and records it in the study's folder, as `settings.csv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..base.module_command import run_as_command
from ..base.status import terminal_steps
from .attainable import Reach, csv_of_reach
from .boundary_record import record_boundaries
from .definition import Paper
from .joint_sample import Joint, boundaries_of
from .own_setup import OWN, record_own
from .records import csv_of, made_of, recorded_values, save_record


def record(joint: Joint, paper: Paper, reached: Sequence[Reach]) -> Path:
    """Writes `settings.csv` and `attainable.csv` into a study's folder."""
    path = paper.folder / "settings.csv"
    save_record(path, csv_of(joint.seen, paper))
    save_record(paper.folder / "attainable.csv", csv_of_reach(reached, made_of(paper)))
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the settings of a study and records them in its folder."""
    import argparse

    from .folders import load
    from .recorded import Which
    from .reproduction import run_reproduction

    parser = argparse.ArgumentParser(prog="python -m fairlane.papers.calibration", description=main.__doc__)
    parser.add_argument("key", help="a study that comes with fairlane, or the folder of one")
    parser.add_argument("--settings", type=int, default=None, help="how many, (default: until every share is settled)")
    parser.add_argument(
        "--refine", type=int, default=None, help="how many around those nearest to the published values (default: a quarter of the sample)"
    )
    parser.add_argument(
        "--on",
        action="store_true",
        help="continues from the recorded settings, instead of a sample: adds those around the published values alone",
    )
    parser.add_argument("--own", action="store_true", help="runs the paper's setup and records its results; the settings on record stay")
    parser.add_argument("--again", action="store_true", help="runs only the recorded settings again, whatever has changed since")
    parser.add_argument(
        "--claim",
        action="append",
        default=[],
        help="evaluates this claim, whose check has changed, in the settings on record and in the paper's setup; may be repeated",
    )
    parser.add_argument("--boundaries", action="store_true", help="finds where each claim changes in the recorded settings; nothing is run")
    parser.add_argument("--out", default=None, help="the folder of the results, with the runs (default: results/KEY)")
    given = parser.parse_args(arguments)
    paper = load(given.key)
    if given.boundaries:
        print(record_boundaries(boundaries_of(paper), paper))
        return
    if given.claim:
        from .changed_checks import recheck

        with terminal_steps(given.key) as progress:
            print(recheck(paper, given.claim, Path(given.out or f"results/{paper.key}") / "runs", progress))
    if given.own or given.claim:
        with terminal_steps(given.key) as progress:
            own = run_reproduction(paper, out=given.out, progress=progress)
        record_own(own.claims, paper)
        print(paper.folder / OWN)
        return
    these = recorded_values(paper) if given.again else ()
    which = Which(given.settings, given.refine, given.on, these, record=False)
    with terminal_steps(given.key) as progress:
        done = run_reproduction(paper, out=given.out, progress=progress, which=which)
    if done.joint is None:
        parser.error(f"{given.key} has no unstated parameters, and so no settings")
    print(record(done.joint, paper, done.reach_of_sample))
    record_own(done.claims, paper)
    record_boundaries(boundaries_of(paper), paper)


if __name__ == "__main__":
    run_as_command(main)
