"""Search for the smallest edit after which every check of a function passes.

Candidates run in the sandbox, and share a worker while only the failed checks run. A candidate that
passes them is judged again by all checks of its function and all that passed before, from two
seeds, each in a new worker, so that nothing left by another candidate can help. A candidate may
loop forever, and a student is waiting, so deadlines are short.
"""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pytest

from grader.core.errors import EngineFault, StudentCodeError, WorkerLost
from grader.core.messages import Repair, Task
from grader.core.report import Outcome, WrongExpression
from grader.course.source import Source
from grader.judge.checks import call_check, spec_of
from grader.judge.examples import SubmissionRun
from grader.judge.exception_verdicts import passed
from grader.judge.plugin import LessonPlugin
from grader.judge.random_inputs import Seeds
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import WorkerSource
from grader.judge.repair.donors import donors_of, edits_in
from grader.judge.repair.edits import Edit, TextRanges, patterns_of, without_case

SEARCH_SECONDS = 5.0
"""How long a search may take, because a student waits for it; then it reports nothing."""
CALL_SECONDS, CANDIDATE_SECONDS = 0.4, 3.0
"""A candidate's limits in seconds, for one call and in all: an edit can make a loop endless."""
OVERTIME = 0.5
"""For how many seconds after the search's time is up a passing candidate may be judged again."""
MAX_TEXT = 400
"""How many characters of a wrong expression and of a repair are kept."""


@dataclass(frozen=True, slots=True)
class Trials:
    """One submission's candidates, judged briefly by a lesson's collected checks."""

    plugin: LessonPlugin
    checks: Sequence[pytest.Item]
    task: Task
    workers: WorkerSource

    def repairs(self) -> Iterator[Repair]:
        """Search for repairs of the functions in ``unlocated``, while there is time."""
        seconds = SEARCH_SECONDS
        for function in self.task.unlocated:
            if seconds <= 0:
                return
            repair = self._repair(function, seconds)
            seconds -= repair.seconds
            yield repair

    def _repair(self, function: str, seconds: float) -> Repair:
        source = Source(self.task.source, self.task.filename, self.task.cells)
        began = time.monotonic()
        failed = set(self.task.unlocated[function])
        mine = [item for item in self.checks if spec_of(item).about == function]
        first = [item for item in mine if self.plugin.id_of(item.name) in failed]
        rest = [item for item in mine if item not in first]
        passed = [item for item in self.checks if self.plugin.id_of(item.name) in self.task.passed]
        every = [*mine, *(item for item in passed if item not in mine)]
        unsound = {spec_of(item).about for item in self.checks if item not in passed}
        edits = edits_in(
            source,
            function,
            sound={spec_of(item).about for item in passed} - unsound,
            donors=donors_of(self.plugin.lesson),
            patterns=patterns_of(self.plugin.lesson.diagnosis),
        )
        settings = self.task.settings
        seeds, others = Seeds(settings.seed, settings.seeds), Seeds(settings.seed + 1)
        times: dict[str, float] = {}
        with contextlib.closing(self._session(source.text, seconds)) as shared:

            def repairs(edit: Edit) -> bool:
                text = edit.applied(source.text)
                with contextlib.suppress(StudentCodeError, WorkerLost, EngineFault):
                    shared.reload(Source(text, source.filename))
                first.sort(key=lambda item: times.get(item.name, 0.0))
                if not self._pass(shared, first, seeds, times):
                    return False
                if not self._pass(shared, rest, seeds):  # cheap: the worker exists already
                    return False
                shared.close()  # only one of a submission's workers lives at a time
                end = began + seconds + OVERTIME
                return all(self._pass_again(text, every, way, end) for way in (seeds, others))

            result = search(edits, repairs, seconds=seconds)
            if result.edit and len(result.edit.changes) > 1:
                alone = (replace(result.edit, changes=(one,)) for one in result.edit.changes)
                in_time = (one for one in alone if time.monotonic() < began + seconds)
                result = replace(result, edit=next(filter(repairs, in_time), result.edit))
            elif result.edit:
                wider = without_case(source.tree, result.edit, TextRanges(source.text))
                in_time = (one for one in wider if time.monotonic() < began + seconds)
                edit = next((one for one in in_time if repairs(one)), result.edit)
                result = replace(result, edit=edit)
        repair = Repair(function, None, None, result.tried, round(time.monotonic() - began, 4))
        if result.edit is None:
            return repair
        place, new = wrong_expression(result.edit, source), shown_edit(result.edit, source)
        return replace(repair, wrong=place, new=new)

    def _pass_again(
        self, text: str, items: Sequence[pytest.Item], seeds: Seeds, end: float
    ) -> bool:
        seconds = min(CANDIDATE_SECONDS, end - time.monotonic())
        if seconds <= 0:
            return False
        with contextlib.closing(self._session(text, seconds)) as session:
            return self._pass(session, items, seeds)

    def _pass(
        self,
        session: StudentSession,
        items: Sequence[pytest.Item],
        seeds: Seeds,
        times: dict[str, float] | None = None,
    ) -> bool:
        """Return whether all of these checks pass. Checks that they need count as passed. Record in
        ``times`` how long each check took.
        """
        run = SubmissionRun(session, seeds, self.plugin.tr)
        run.outcomes = {item.name: Outcome.PASSED for item in self.checks}
        with self.plugin.judging(run):
            for item in items:
                began = time.monotonic()
                passes = self._passes(item, run)
                if times is not None:
                    times[item.name] = time.monotonic() - began
                if not passes:
                    return False
        return True

    def _session(self, text: str, seconds: float) -> StudentSession:
        limits = self.task.settings.limits
        return StudentSession(
            self.workers,
            source=Source(text, self.task.filename),
            scenarios=self.plugin.scenarios,
            limits=replace(
                limits,
                call_seconds=min(CALL_SECONDS, limits.call_seconds),
                lesson_seconds=min(seconds, limits.lesson_seconds),
            ),
            hurried=True,
        )

    def _passes(self, item: pytest.Item, run: SubmissionRun) -> bool:
        """Run one check without pytest's protocol: nothing is described, diagnosed or drawn."""
        try:
            self.plugin.pytest_runtest_setup(item)
            call_check(
                item.obj,  # type: ignore[attr-defined]
                student=run.student,
                reference=self.plugin.solved,
                seed=run.check.seed,
            )
        except (Exception, pytest.fail.Exception):
            return False
        return passed(wrote=run.check.traffic.wrote).outcome is Outcome.PASSED


@dataclass(frozen=True, slots=True)
class Search:
    """A repair, if there is one and its place is clear, and how many edits were tried."""

    edit: Edit | None
    tried: int


def search(
    edits: Iterable[Edit],
    repairs: Callable[[Edit], bool],
    *,
    seconds: float = SEARCH_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Search:
    """Try edits rank by rank and return the repair of the first rank that has one.

    ``edits`` are in the order of their ranks. All edits of a rank are tried. If two repairs are at
    unrelated places, it is unclear what is wrong, and the result is None. The same holds if time
    runs out before a rank is finished. Of related repairs, return the one with the smallest range.
    """
    end, tried = clock() + seconds, 0
    for _, of_rank in groupby(edits, key=lambda edit: edit.rank):
        found: list[Edit] = []
        for edit in of_rank:
            if clock() > end:
                return Search(None, tried)
            tried += 1
            if repairs(edit):
                found.append(edit)
                if not found[0].related(edit):
                    return Search(None, tried)
        if found:
            smallest = min(found, key=lambda edit: edit.extent)
            agreed = all(one.related(smallest) for one in found)
            return Search(smallest if agreed else None, tried)
    return Search(None, tried)


def wrong_expression(edit: Edit, source: Source) -> WrongExpression:
    """Return the main place of an edit; in a notebook, lines count within the cell."""
    ranges = TextRanges(source.text)
    start, end = edit.main.shown
    (line, column), (end_line, end_column) = ranges.place(start), ranges.place(end)
    cell, shown = source.in_cell(line)
    return WrongExpression(
        line=shown,
        column=column,
        end_line=shown + end_line - line,
        end_column=end_column,
        text=source.text[start:end][:MAX_TEXT],
        source_text=source.text.split("\n")[line - 1][:MAX_TEXT],
        cell=cell,
        missing=edit.main.beside is not None,
        other_lines=tuple(
            source.in_cell(ranges.place(one.shown[0])[0])[1] for one in edit.changes[:-1]
        ),
    )


def shown_edit(edit: Edit, source: Source) -> str:
    """Return what to write instead; if there are two places, each with its line."""
    codes = [plain_text(change.new.strip()) for change in edit.changes]
    if len(codes) > 1:
        lines = [TextRanges(source.text).place(change.shown[0])[0] for change in edit.changes]
        codes = [
            f"{source.in_cell(line)[1]}: {code}" for line, code in zip(lines, codes, strict=True)
        ]
    return "\n".join(codes)[:MAX_TEXT]


def plain_text(code: str) -> str:
    """Return an edit's text without parentheses that only separate it from its surroundings."""
    try:
        return ast.unparse(ast.parse(code))
    except SyntaxError:  # two statements, the second one indented
        return code
