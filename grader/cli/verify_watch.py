"""``grade verify --watch``: verify lessons again at every save, with one fork server.

A verdict is used again as long as what decides it is the same: the lesson's checks, rules and
scenarios, and the answer. So a change of a wrong answer, a hint or a contract is answered at once.
A save ends the run that it makes obsolete.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from grader.cli.options import chosen_lessons
from grader.cli.watch import ended_by_signals, save_batches
from grader.core.errors import GraderError
from grader.core.files import hash_files
from grader.core.messages import Settings
from grader.core.text import counted
from grader.course.course import Course, Lesson, load_course
from grader.runtime.client import ForkServerClient
from grader.runtime.pool import HostPool
from grader.verify.case_result import Case, CaseResult
from grader.verify.verify import VerifyResult, verify

SEED = 1
SUFFIXES = (".py", ".toml", ".md", ".po")


@dataclass
class KnownVerdicts:
    """Verdicts in memory, by what decides them."""

    _found: dict[tuple[str, str, str, str], CaseResult] = field(default_factory=dict)

    def results(self, case: Case) -> dict[int, CaseResult]:
        found = self._found.get(self._key(case))
        return {SEED: found} if found else {}

    def add(self, case: Case, seed: int, result: CaseResult) -> None:
        if not result.broken:
            self._found[self._key(case)] = result

    def _key(self, case: Case) -> tuple[str, str, str, str]:
        return deciding_hash(case.lesson), case.kind, case.name, case.source


def deciding_hash(lesson: Lesson) -> str:
    """Return the hash of the files that decide the verdict on an answer."""
    files = [*lesson.checks.glob("*.py"), lesson.stub_source]
    files += [lesson.diagnosis] if lesson.diagnosis else []
    return hash_files(lesson.root, (path for path in files if path.exists()))


class VerifyWatch:
    """The loop: verify, print, wait for a save."""

    def __init__(self, root: Path, names: tuple[str, ...], console: Console) -> None:
        self.root, self.names, self.console = root, names, console
        self.known = KnownVerdicts()
        self.hosts = HostPool(1, lambda: ForkServerClient(own_session=True))
        self._saved, self._ended = threading.Event(), threading.Event()

    def run(self) -> int:
        """Watch until a signal; return the exit status."""
        status: list[int] = []

        def stop(code: int) -> None:
            status.append(code)
            self._ended.set()
            self._interrupt()

        reader = threading.Thread(target=self._read_saves, daemon=True)
        with closing(self.hosts), ended_by_signals(stop):
            reader.start()
            while not self._ended.is_set():
                self._saved.clear()
                self.hosts.finishing.clear()
                for line in self._lines():
                    self.console.print(line, markup=False, highlight=False, soft_wrap=True)
                while not (self._saved.is_set() or self._ended.is_set()):
                    self._saved.wait(0.2)
        return status[0] if status else 0

    def _interrupt(self) -> None:
        self._saved.set()
        self.hosts.finishing.set()

    def _read_saves(self) -> None:
        folders = [self.root / name for name in ("exercises", "solutions", "tests")]
        found = [folder for folder in folders if folder.is_dir()]
        for _ in save_batches(found, lambda path: path.suffix in SUFFIXES, self._ended):
            self._interrupt()

    def _lines(self) -> Iterator[str]:
        """Verify and yield what to print; nothing if a save made the run obsolete."""
        try:
            course = load_course(self.root)
            found = self._verify(course, chosen_lessons(course, self.names))
        except GraderError as error:
            yield str(error)
            return
        if found.left:
            return
        yield from found.problems
        summary = counted(len(found.problems), "problem") if found.problems else "no problems"
        yield f"{counted(found.gradings, 'grading')}: {summary}. Waiting for a save; Ctrl-C ends"

    def _verify(self, course: Course, lessons: list[Lesson]) -> VerifyResult:
        settings = Settings(seed=0, limits=course.limits, planned=True)
        with self.console.status("verifying") as shown:

            def progress(done: int, total: int) -> None:
                shown.update(f"verifying: {done} of {total}")

            return verify(
                course,
                lessons,
                seeds=[SEED],
                settings=settings,
                workers=1,
                progress=progress,
                known=self.known,
                hosts=self.hosts,
            )
