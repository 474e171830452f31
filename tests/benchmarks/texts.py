"""Measure how the time to read a student's text grows with its size.

    python tests/benchmarks/texts.py [--largest KILOBYTES] [--only WORD]

Each pass over a text gets texts that repeat one token of Python's grammar, in twice the size each
time. Prints, for each pass, the slowest tokens: processor time in milliseconds by size, and how
much it grew at the last doubling. Up to 2 is linear.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "grader"))

from factories.long_texts import below, in_lines, kinds, notebook, repeated

from grader.classroom.statistics.similarity import masked
from grader.core.i18n import Catalogue
from grader.course.course import find_course, load_course
from grader.course.source import Source
from grader.course.stubs import excerpt, without_markers
from grader.course.submission import decode
from grader.course.syntax_errors import explain
from grader.judge.runner import flags_in
from grader.render.code import beside, coloured

LESSON = load_course(find_course()).lesson("custom_sigmoid")
SOLUTION = without_markers(LESSON.solution.read_text("utf-8"))
SLOWEST = 5
"""How many tokens are listed for each pass."""
SMALLEST_MILLISECONDS = 2.0
"""The growth of a shorter time says nothing."""


def analyzed(text: str) -> None:
    source = Source(text, "custom_sigmoid.py")
    for name in ("func", "Sigmoid", "sigmoid"):
        source.names_used(name)
        source.anchor(name)
        source.may_be_changed(name)
    source.names_used(*source.definitions)
    flags_in(source, Catalogue())


def explained(text: str) -> None:
    source = Source(text, "custom_sigmoid.py")
    place = source.error_column
    explain("invalid syntax", source.line(place[0] if place else 1))


def colored_anew(text: str) -> None:
    coloured.cache_clear()
    coloured(text)


PASSES: dict[str, Callable[[str], object]] = {
    "decode": lambda text: decode("custom_sigmoid", "a.py", text.encode()),
    "decode a notebook": lambda text: decode(
        "custom_sigmoid", "a.ipynb", notebook(SOLUTION, text).encode(), notebook=True
    ),
    "decode a scratch cell": lambda text: decode(
        "custom_sigmoid",
        "a.ipynb",
        notebook(SOLUTION, f"# scratch\n{text}").encode(),
        notebook=True,
    ),
    "analyze": analyzed,
    "explain a syntax error": explained,
    "cut out": lambda text: excerpt(text, "func"),
    "color": colored_anew,
    "compare": lambda text: beside(text, SOLUTION),
    "mask names": masked,
}


def milliseconds(work: Callable[[str], object], text: str) -> float:
    """Return the processor time of a pass over a text."""
    began = time.process_time()
    work(text)
    return 1000 * (time.process_time() - began)


def measure(largest: int, only: str) -> None:
    sizes = [largest // 4, largest // 2, largest]
    makers: dict[str, Callable[[str, int], str]] = {
        "repeated": repeated,
        "in lines": in_lines,
        "below a solution": partial(below, SOLUTION),
    }
    for name, work in PASSES.items():
        rows: list[tuple[str, list[float]]] = []
        for kind, piece in kinds().items():
            for how, make in makers.items():
                label = f"{kind}, {how}"
                if only in f"{name}: {label}":
                    texts = [make(piece, size) for size in sizes]
                    rows.append((label, [milliseconds(work, text) for text in texts]))
        rows.sort(key=lambda row: row[1][-1], reverse=True)
        for label, times in rows[:SLOWEST]:
            growth = times[-1] / times[-2] if times[-2] >= SMALLEST_MILLISECONDS else math.nan
            shown = " ".join(f"{one:8.1f}" for one in times)
            print(f"{name:24} {label:46} {shown}   x{growth:.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=240, metavar="KILOBYTES")
    parser.add_argument("--only", default="", metavar="WORD", help="only passes and tokens with it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of Python, on what it reads
    gc.disable()
    measure(options.largest << 10, options.only)


if __name__ == "__main__":
    main()
