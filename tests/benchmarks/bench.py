"""Measure speed, as ratios to baselines that run in turn with it: ``make bench``.

    python tests/benchmarks/bench.py [--rounds N] [--only SECTION] [--peers DIR] [--json FILE]
                                     [--svg FILE] [--readme [--before FILE]]

A row is the ratio of a subject to a baseline. Both are measured in the same run, as medians of
several rounds, so that other load on the machine affects both. ``baselines.py`` has what is run,
``peers.py`` the other graders. ``--readme`` writes the table into ``tests/README.md``, with the
ratios of an earlier commit from the FILE that its ``--json`` wrote.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

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

README = ROOT / "tests" / "README.md"
TABLE = re.compile(r"(?<=<!-- make bench -->\n).*?(?=<!-- end -->)", re.DOTALL)


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
        bound = self.told(self.bound) if self.unit == "s" else f"{self.bound:g}"
        return f"{'at least' if self.faster else 'at most'} {bound}"

    def told(self, number: float) -> str:
        """Return a number of this row's quantity, with its unit."""
        if self.quantity != "s":
            return f"{number:.3g} {self.quantity}"
        power = 0 if abs(number) >= 1 else 3 if abs(number) >= 1e-3 else 6
        return f"{number * 10**power:.3g} {({0: 's', 3: 'ms', 6: 'µs'})[power]}"


within = partial(Row, unit="s")
"""A row with a bound on the subject's seconds."""
faster = partial(Row, faster=True)
"""A row whose subject should be many times faster."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A comparison that could not be made, and why."""

    what: str
    against: str
    why: str


def grade_seconds(*words: str) -> float:
    """Return the seconds of ``grade`` from start to end."""
    return command_seconds("-m", "grader", *words)


def sigmoid_seconds(folder: Path) -> float:
    """Return the seconds in which a learner's answer to custom_sigmoid is graded, cold."""
    options = ("--in", str(folder), "--no-html", "--sandbox", "require")
    return grade_seconds("run", *SIGMOID, *options)


def cold_rows(rounds: int) -> list[Row]:
    """Compare commands that a learner types, each cold and from start to end."""
    with submission(SIGMOID) as folder:
        imports, plain, cold = in_turn(
            rounds,
            lambda: command_seconds("-c", IMPORTS),
            lambda: plain_pytest_seconds(SIGMOID, folder),
            lambda: sigmoid_seconds(folder),
        )
    click, helped = in_turn(
        rounds, lambda: command_seconds("-c", "import click"), lambda: grade_seconds("--help")
    )
    return [
        Row("grade custom_sigmoid, cold", "importing torch, pytest, sympy", cold, imports, 0.75),
        Row("grade custom_sigmoid, cold", "plain pytest, same checks", cold, plain, 1.0),
        within("grade --help", "python -c 'import click'", helped, click, 0.3),
    ]


def course_rows(rounds: int) -> list[Row]:
    """Compare what the cold command takes for all lessons with importing torch."""
    names = [lesson.id for lesson in COURSE.lessons]
    with submission(names) as folder:
        imports, cold = in_turn(
            rounds,
            lambda: command_seconds("-c", IMPORTS),
            lambda: grade_seconds("run", "--in", str(folder), "--no-html"),
        )
    return [Row("grade, cold, all lessons", "importing torch, pytest, sympy", cold, imports, 1.5)]


def lesson_rows(rounds: int) -> list[Row]:
    """Compare each lesson across the process border with the same checks in one warm process.

    The subject is the processor time of all processes, with questions asked ahead, as in a batch.
    """
    names = ",".join(lesson.id for lesson in COURSE.lessons)
    spent = measured("processor.py", names, "--planned", "--rounds", str(7 * rounds))
    rows = []
    for name, ideal in measured("ideal.py", names, "--rounds", str(5 * rounds)).items():
        ours = sum(spent[name].values()) / 1000
        rows.append(Row(f"a submission of {name}", "the ideal", ours, ideal, 2.0))
    found = measured("lessons.py", *SIGMOID, "--rounds", str(5 * rounds))
    nothing, sigmoid = found["nothing"], found["custom_sigmoid"]
    rows.append(Row("a submission that defines nothing", "a right one", nothing, sigmoid, 0.15))
    pays = found["named"] - found["nameless"]
    what, against = "what a right submission pays for names", "without rules and catalogues"
    rows.append(within(what, against, pays, found["nameless"], 0.010))
    return rows


def class_rows(rounds: int) -> list[Row]:
    """Compare a class of 120 with one worker, its start included."""
    with submission(SIGMOID) as folder:
        plain, ours = in_turn(
            rounds,
            lambda: plain_pytest_seconds(SIGMOID, folder),
            lambda: batch_seconds(SIGMOID, 120, workers=1) / 120,
        )
    what = "batch of 120, custom_sigmoid, start included"
    return [faster(what, "plain pytest, a process a file", ours, plain, 22)]


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
    apart, together = "plain pytest, a process a file", "plain pytest, a process for all five"
    return [
        faster("batch, custom_sigmoid", apart, sigmoid, plain_sigmoid, 25),
        faster("batch, five core lessons", apart, five, plain_apart, 15),
        faster("batch, five core lessons", together, five, plain_five, 15),
        faster("(the ideal, five core lessons)", together, ideal, plain_five, 15),
        Row("batch, five core lessons", "the ideal: warm, no border", five, ideal, 2.0),
        faster("batch, two workers", "batch, one worker", two, five, 1.8),
    ]


def watch_rows(rounds: int) -> list[Row]:
    """Compare the time from a save to the verdict."""
    names = ",".join(CORE)
    with submission(SIGMOID) as folder:
        (plain,) = in_turn(rounds, lambda: plain_pytest_seconds(SIGMOID, folder))
    seconds = measured("watch.py", names, "--rounds", str(3 * rounds))
    median, against = statistics.median(seconds.values()), "plain pytest, cold"
    return [
        within("watch, custom_sigmoid", against, seconds["custom_sigmoid"], plain, 0.080),
        within("watch, median of five core lessons", against, median, plain, 0.080),
    ]


def border_rows(rounds: int) -> list[Row]:
    """Compare the costs of the process border: starting a worker, and one call."""
    border = measured("border.py", "--rounds", str(8 * rounds))
    start = {
        kind: ms / 1000 for kind, ms in measured("workers.py", "--rounds", str(8 * rounds)).items()
    }
    trip = measured("machine.py")["a round trip"]
    first, call = "a worker: fork, sandbox, load, first call", border["call"]
    return [
        within(first, "a call after that", border["worker"], call, 0.02),
        Row(
            "a worker, confined, until it is ready",
            "a fork that ends",
            start["all"],
            start["fork"],
            3.0,
        ),
        Row("a remote call of three numbers", "a round trip of one byte", call, trip, 6.0),
    ]


def peer_rows(rounds: int, folder: Path) -> list[Row | Absent]:
    """Compare other graders, with three checks, with this one, with all checks of the lesson."""
    with submission(SIGMOID) as place:
        (cold, batch), peers = peer_seconds(
            rounds,
            folder,
            lambda: sigmoid_seconds(place),
            lambda: seconds_a_submission(SIGMOID, few=5, many=45, workers=1),
        )
    rows: list[Row | Absent] = []
    for peer, seconds in peers.items():
        if isinstance(seconds, str):
            rows.append(Absent("batch, all our checks", peer, seconds))
        else:
            rows.append(faster("batch, all our checks", peer, batch, seconds, 10))
            rows.append(Row("one cold command, all our checks", peer, cold, seconds, 1.0))
    return rows


def scale_rows(_: int) -> list[Row]:
    """Compare a class of 2,000 with one of 200. Each runs once, because they take minutes."""
    found = json.loads(command(str(Path(__file__).with_name("scale.py"))).splitlines()[-1])
    large, small = (found[size]["seconds_each"] for size in ("2000", "200"))
    most, least = (found[size]["peak_megabytes"] for size in ("2000", "200"))
    what, against = "the supervisor's most memory, 2,000", "of 200, in MB"
    return [
        Row("a submission in a class of 2,000", "in a class of 200", large, small, 1.1),
        Row(what, against, most, least, 1.1, quantity="MB"),
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
    options.add_argument("--readme", action="store_true", help="write the table into tests/README")
    options.add_argument("--before", type=Path, help="an earlier commit's JSON, for the table")
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
    if arguments.readme:
        before = json.loads(arguments.before.read_text("utf-8"))["rows"] if arguments.before else []
        text = README.read_text("utf-8")
        README.write_text(TABLE.sub(lambda _: markdown(made, before), text), "utf-8")
    if arguments.json:
        data = {"machine": machine, "microseconds": charges, "rounds": arguments.rounds}
        data["rows"] = [as_data(row) for row in rows]
        arguments.json.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    if arguments.svg:
        bars = [
            (row.what, row.against, row.subject, row.baseline)
            for row in made
            if row.quantity == "s"
        ]
        arguments.svg.write_text(plot(bars, title), "utf-8")


def markdown(rows: list[Row], before: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table, with the values of the same rows ``before``."""
    earlier = {(row["what"], row["against"]): row["value"] for row in before}
    lines = [
        "| what | against | it took | the baseline | ratio | before | should be | |",
        "|---" * 8 + "|",
    ]
    for row in rows:
        old = earlier.get((row.what, row.against))
        cells = [
            *(row.what, row.against, row.told(row.subject), row.told(row.baseline)),
            f"{row.ratio:.3g}",
            "" if old is None else row.told(old) if row.unit == "s" else f"{old:.3g}",
            *(row.wanted, "met" if row.met else "**missed**"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def as_data(row: Row | Absent) -> dict[str, object]:
    made = {"value": row.value, "met": row.met} if isinstance(row, Row) else {}
    return {**asdict(row), **made}


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
            row.told(row.subject),
            row.told(row.baseline),
            f"{row.ratio:.3g}",
            row.wanted,
            verdict,
        )
    return table


if __name__ == "__main__":
    main()
