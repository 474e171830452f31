"""Measure speed, as ratios to baselines that run in turn with it: ``make bench``.

    python tests/benchmarks/bench.py [--rounds N] [--only SECTION] [--peers DIR] [--json FILE]
                                     [--svg FILE]

A row is the ratio of a subject to a baseline. Both are measured in the same run, as medians of
several rounds, so that other load on the machine affects both. ``baselines.py`` has what is run,
``peers.py`` the other graders.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from baselines import (
    CORE,
    COURSE,
    IMPORTS,
    ROOT,
    SIGMOID,
    batch_seconds,
    command,
    command_seconds,
    in_turn,
    measured,
    plain_pytest_seconds,
    seconds_a_submission,
    submission,
)
from peers import peer_seconds
from plot import plot
from rich.console import Console
from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: the subject and the baseline, both in ``quantity``, and the bound.

    With ``faster``, the ratio is baseline to subject, for a subject that should be many times
    faster. With ``unit`` "s", the bound is on the subject's seconds instead of the ratio.
    """

    what: str
    against: str
    subject: float
    baseline: float
    bound: float
    faster: bool = False
    unit: str = "×"
    quantity: str = "s"

    @property
    def ratio(self) -> float:
        """Return subject over baseline; with ``faster``, baseline over subject."""
        return self.baseline / self.subject if self.faster else self.subject / self.baseline

    @property
    def value(self) -> float:
        """Return the number that is compared with the bound."""
        return self.subject if self.unit == "s" else self.ratio

    @property
    def met(self) -> bool:
        """Return whether the bound holds."""
        return self.value >= self.bound if self.faster else self.value <= self.bound

    @property
    def wanted(self) -> str:
        """Return the bound in words."""
        unit = " s" if self.unit == "s" else ""
        return f"{'at least' if self.faster else 'at most'} {self.bound:g}{unit}"


@dataclass(frozen=True, slots=True)
class Absent:
    """A comparison that could not be made, and why."""

    what: str
    against: str
    why: str


def cold_rows(rounds: int) -> list[Row]:
    """Compare commands that a learner types, each cold and from start to end."""
    with submission(SIGMOID) as folder:
        imports, plain, cold = in_turn(
            rounds,
            lambda: command_seconds("-c", IMPORTS),
            lambda: plain_pytest_seconds(SIGMOID, folder),
            lambda: command_seconds(
                "-m",
                "grader",
                "run",
                *SIGMOID,
                "--in",
                str(folder),
                "--no-html",
                "--sandbox",
                "require",
            ),
        )
    click, helped = in_turn(
        rounds,
        lambda: command_seconds("-c", "import click"),
        lambda: command_seconds("-m", "grader", "--help"),
    )
    return [
        Row("grade custom_sigmoid, cold", "importing torch, pytest, sympy", cold, imports, 1.15),
        Row("grade custom_sigmoid, cold", "plain pytest, same checks", cold, plain, 1.0),
        Row("grade --help", "python -c 'import click'", helped, click, 0.3, unit="s"),
    ]


def course_rows(rounds: int) -> list[Row]:
    """Compare what the cold command takes for all lessons, beyond importing torch."""
    names = [lesson.id for lesson in COURSE.lessons]
    with submission(names) as folder:
        imports, cold = in_turn(
            rounds,
            lambda: command_seconds("-c", IMPORTS),
            lambda: command_seconds("-m", "grader", "run", "--in", str(folder), "--no-html"),
        )
    more = cold - imports
    return [
        Row("grade, cold, all lessons", "importing torch: beyond it", more, imports, 1.5, unit="s")
    ]


def lesson_rows(rounds: int) -> list[Row]:
    """Compare each lesson across the process border with the same checks in one warm process."""
    names = ",".join(lesson.id for lesson in COURSE.lessons)
    rows = []
    ours = measured("lessons.py", names, "--rounds", str(5 * rounds))
    for name, ideal in measured("ideal.py", names, "--rounds", str(5 * rounds)).items():
        rows.append(Row(f"one submission, {name}", "the ideal", ours[name], ideal, 2.0))
        if name in ("gradcheck", "tiny_autograd"):
            rows.append(
                Row(f"(the ideal, {name})", "a warm process", ideal, ideal, 0.060, unit="s")
            )
    sigmoid = ours["custom_sigmoid"]
    rows.append(
        Row(
            "a submission that defines nothing",
            "a right one",
            ours["nothing"],
            sigmoid,
            0.012,
            unit="s",
        )
    )
    pays = ours["named"] - ours["nameless"]
    what, against = "what a right submission pays for names", "without rules and catalogues"
    rows.append(Row(what, against, pays, ours["nameless"], 0.010, unit="s"))
    return rows


def class_rows(rounds: int) -> list[Row]:
    """Compare a class of two hundred with one worker, its start included."""
    with submission(SIGMOID) as folder:
        plain, ours = in_turn(
            rounds,
            lambda: plain_pytest_seconds(SIGMOID, folder),
            lambda: batch_seconds(SIGMOID, 200, workers=1) / 200,
        )
    what = "batch of 200, custom_sigmoid, start included"
    return [Row(what, "plain pytest, a process a file", ours, plain, 40, faster=True)]


def batch_rows(rounds: int) -> list[Row]:
    """Compare what each further submission adds to a class."""
    with submission(CORE) as folder:
        plain_five, plain_apart, plain_sigmoid, ideal, five, two, sigmoid = in_turn(
            rounds,
            lambda: plain_pytest_seconds(CORE, folder),
            lambda: sum(plain_pytest_seconds([lesson], folder) for lesson in CORE),
            lambda: plain_pytest_seconds(SIGMOID, folder),
            lambda: sum(measured("ideal.py", lesson)[lesson] for lesson in CORE),
            lambda: seconds_a_submission(CORE, few=3, many=15, workers=1),
            lambda: seconds_a_submission(CORE, few=4, many=28, workers=2),
            lambda: seconds_a_submission(SIGMOID, few=5, many=45, workers=1),
        )
    return [
        Row(
            "batch, custom_sigmoid",
            "plain pytest, a process a file",
            sigmoid,
            plain_sigmoid,
            25,
            faster=True,
        ),
        Row(
            "batch, five core lessons",
            "plain pytest, a process a file",
            five,
            plain_apart,
            15,
            faster=True,
        ),
        Row(
            "batch, five core lessons",
            "plain pytest, a process for all five",
            five,
            plain_five,
            15,
            faster=True,
        ),
        Row(
            "(the ideal, five core lessons)",
            "plain pytest, a process for all five",
            ideal,
            plain_five,
            15,
            faster=True,
        ),
        Row("batch, five core lessons", "the ideal: warm, no border", five, ideal, 2.0),
        Row("batch, two workers", "batch, one worker", two, five, 1.8, faster=True),
    ]


def watch_rows(rounds: int) -> list[Row]:
    """Compare the time from a save to the verdict."""
    names = ",".join(CORE)
    with submission(SIGMOID) as folder:
        (plain,) = in_turn(rounds, lambda: plain_pytest_seconds(SIGMOID, folder))
    seconds = measured("watch.py", names, "--rounds", str(3 * rounds))
    return [
        Row(
            "watch, custom_sigmoid: save to verdict",
            "plain pytest, cold",
            seconds["custom_sigmoid"],
            plain,
            0.05,
        ),
        Row(
            "watch, median of five core lessons",
            "plain pytest, cold",
            statistics.median(seconds.values()),
            plain,
            0.05,
        ),
    ]


def border_rows(rounds: int) -> list[Row]:
    """Compare the costs of the process border: starting a worker, and one call."""
    border = measured("border.py", "--rounds", str(8 * rounds))
    start = {
        kind: value / 1000
        for kind, value in measured("workers.py", "--rounds", str(8 * rounds)).items()
    }
    return [
        Row(
            "a worker: fork, sandbox, load, first call",
            "a call after that",
            border["worker"],
            border["call"],
            0.020,
            unit="s",
        ),
        Row(
            "a worker, confined, to its first word",
            "one that is not",
            start["all"],
            start["off"],
            start["off"] + 0.010,
            unit="s",
        ),
        Row(
            "a remote call of three numbers",
            "the same and its product",
            border["call"],
            border["call and product"],
            150e-6,
            unit="s",
        ),
    ]


def peer_rows(rounds: int, folder: Path) -> list[Row | Absent]:
    """Compare other graders, with three checks, with this one, with all checks of the lesson."""
    with submission(SIGMOID) as place:
        cold_words = (
            "-m",
            "grader",
            "run",
            *SIGMOID,
            "--in",
            str(place),
            "--no-html",
            "--sandbox",
            "require",
        )
        (cold, batch), peers = peer_seconds(
            rounds,
            folder,
            lambda: command_seconds(*cold_words),
            lambda: seconds_a_submission(SIGMOID, few=5, many=45, workers=1),
        )
    rows: list[Row | Absent] = []
    for peer, seconds in peers.items():
        if isinstance(seconds, str):
            rows.append(Absent("batch, all our checks", peer, seconds))
        else:
            rows.append(Row("batch, all our checks", peer, batch, seconds, 10, faster=True))
            rows.append(Row("one cold command, all our checks", peer, cold, seconds, 1.0))
    return rows


def scale_rows(_: int) -> list[Row]:
    """Compare a class of 2,000 with one of 200. Each runs once, because they take minutes."""
    found = json.loads(command(str(Path(__file__).with_name("scale.py"))).splitlines()[-1])
    small, large = found["200"], found["2000"]
    what, against = "a submission in a class of 2,000", "in a class of 200"
    return [
        Row(what, against, large["seconds_each"], small["seconds_each"], 1.1),
        Row(
            "the supervisor's most memory, 2,000",
            "of 200, in MB",
            large["peak_megabytes"],
            small["peak_megabytes"],
            1.1,
            quantity="MB",
        ),
    ]


SECTIONS = {
    "cold": cold_rows,
    "course": course_rows,
    "lessons": lesson_rows,
    "class": class_rows,
    "batch": batch_rows,
    "watch": watch_rows,
    "border": border_rows,
    "scale": scale_rows,
}


def main() -> None:
    """Measure, print the table, and write JSON and a picture if requested."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument(
        "--only", choices=[*SECTIONS, "peers"], action="append", help="only these sections"
    )
    options.add_argument(
        "--peers",
        type=Path,
        metavar="DIR",
        help="measure other graders too, and install them there; .peers/ if it exists",
    )
    options.add_argument("--json", type=Path)
    options.add_argument("--svg", type=Path)
    arguments = options.parse_args()
    peers = arguments.peers or ROOT / ".peers"
    sections: dict[str, Callable[[int], Sequence[Row | Absent]]] = {
        **SECTIONS,
        "peers": partial(peer_rows, folder=peers),
    }
    usual = [*SECTIONS, "peers"] if arguments.peers or peers.is_dir() else SECTIONS
    rows: list[Row | Absent] = [
        row for name in arguments.only or usual for row in sections[name](arguments.rounds)
    ]
    made = [row for row in rows if isinstance(row, Row)]
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch"
        f" {version('torch')}"
    )
    charges = {what: round(1e6 * seconds, 1) for what, seconds in measured("machine.py").items()}
    charged = ", ".join(f"{what} {micros} µs" for what, micros in charges.items())
    title = f"medians of {arguments.rounds}; {machine}; load {os.getloadavg()[0]:.1f}; {charged}"
    Console(width=max(132, Console().width)).print(table_of(rows, title))
    if arguments.json:
        data = [
            (
                {**asdict(row), "value": row.value, "met": row.met}
                if isinstance(row, Row)
                else asdict(row)
            )
            for row in rows
        ]
        arguments.json.write_text(
            json.dumps(
                {
                    "machine": machine,
                    "microseconds": charges,
                    "rounds": arguments.rounds,
                    "rows": data,
                },
                indent=1,
            )
            + "\n",
            "utf-8",
        )
    if arguments.svg:
        arguments.svg.write_text(
            plot(
                [
                    (row.what, row.against, row.subject, row.baseline)
                    for row in made
                    if row.quantity == "s"
                ],
                title,
            ),
            "utf-8",
        )


def table_of(rows: list[Row | Absent], title: str) -> Table:
    """Return the rows as a table for a terminal."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("what", "against", "subject", "baseline", "ratio", "should be", ""):
        table.add_column(
            heading, justify="right" if heading in ("subject", "baseline", "ratio") else "left"
        )
    for row in rows:
        if isinstance(row, Absent):
            table.add_row(row.what, row.against, "", "", "", escape(row.why), "")
            continue
        verdict = "[green]met[/]" if row.met else "[red]missed[/]"
        table.add_row(
            row.what,
            row.against,
            f"{row.subject:.4g}",
            f"{row.baseline:.4g}",
            f"{row.ratio:.3g}",
            row.wanted,
            verdict,
        )
    return table


if __name__ == "__main__":
    main()
