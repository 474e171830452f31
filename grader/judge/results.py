"""Make a check's result from the verdict, the lesson's texts and the student's file.

``describe`` bounds each value. A check's result takes at most ``CHECK_BYTES`` of JSON, and a
lesson's results together ``LESSON_BYTES``, not counting the fields that every result has. Real
wrong answers take about a quarter of that. Over the budget, parts are left out (``SHORTER``), so
that no answer fills reports and gradebooks.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from torch import Tensor

from grader.core.errors import Facts
from grader.core.i18n import Catalogue
from grader.core.pictures import Figure, Prediction, PredictionFigure
from grader.core.report import CheckResult, Outcome
from grader.core.scoring import points_for
from grader.core.text import values_text
from grader.course.course import Lesson, check_names
from grader.course.lesson_texts import Promise, compared_form, read_mistakes, sentences_in
from grader.course.source import MAX_LINE, Source
from grader.judge.checks import CheckSpec
from grader.judge.common_mistakes import COMMON, FIRST
from grader.judge.describe import describe, describe_pair
from grader.judge.diagnosis import Diagnosis, Mistake, diagnose, fill_text, in_cells, show_fact
from grader.judge.examples import Behavior, KnownFailure, SubmissionRun, named
from grader.judge.exception_verdicts import WROTE, CheckVerdict
from grader.judge.figures import render_figures
from grader.judge.in_place_lines import OF_CTX, line_of_write
from grader.judge.local_student import Reference, execute
from grader.judge.open_evidence import open_message
from grader.judge.remote.proxies import LastCall, Traffic
from grader.judge.replay import snippet
from grader.judge.rule_keys import lesson_mistakes

DIAGNOSED = (Outcome.FAILED, Outcome.ERROR)
LONG_TEXT = 40
"""A text with more characters than this is not shown twice."""


class Results:
    """Makes the results of one lesson's checks."""

    def __init__(self, lesson: Lesson, reference: Reference, stub: Source) -> None:
        self.reference, self.stub = reference, stub
        self.hints = lesson.hints()
        self.hidden = frozenset(check_names(lesson.hidden_checks))
        self.promises = promises_by_check(lesson.contract)
        self.mistakes = load_mistakes(lesson.diagnosis, (*lesson.names, *lesson.bonus))

    def of(self, run: SubmissionRun, verdict: CheckVerdict, seconds: float) -> CheckResult:
        """Return the result of the check that just ran, given its time in seconds."""
        check, session, tr = run.check, run.session, run.tr
        spec, source = check.spec, session.source
        failed = verdict.outcome in DIAGNOSED
        to_paste = snippet_for(run, verdict)
        described = describe_inputs(verdict.inputs, check.traffic.last_call, tr)
        diagnosis, trouble = self.diagnose(run, verdict) if session.loadable else (None, None)
        line = line_to_show(run, verdict, diagnosis)
        cell, shown = source.in_cell(line) if line else (None, line)
        facts = {**verdict.inputs, **in_cells(verdict.facts, source)}
        message = fill_text(verdict.message, facts, tr) if verdict.message else None
        expected, actual = described_pair(verdict, message or "")
        steps = self.hints.get(spec.hint, [])
        name = check.item.name.partition("[")[0]
        hidden = name in self.hidden
        held = self.promises.get(name, []) if verdict.outcome is Outcome.FAILED else []
        asked = quoted(held, self.stub.documented(verdict.at or spec.at))
        said = open_message(verdict, source, spec.about) if failed and hidden else None
        output = session.take_output()
        problems = [problem for problem in (verdict.note or trouble,) if problem]
        figures = figures_of(run, verdict, problems)
        result = CheckResult(
            id=check.id,
            title=tr(title(check.item)),
            function=spec.about,
            outcome=verdict.outcome,
            points=points_for(verdict.outcome, spec.points),
            max_points=spec.points,
            bonus=spec.bonus,
            hidden=hidden,
            message=message,
            asked=" ".join(map(tr, asked)).replace("`", "") or None,
            hint=tr(steps[0]) if steps and verdict.outcome is not Outcome.PASSED else None,
            expected=expected,
            actual=actual,
            inputs=described,
            source_line=shown,
            cell=cell,
            source_text=source.shown(line),
            source_column=None if session.loadable else column_of(line, source),
            output=output,
            seed=check.seed,
            seconds=round(seconds, 6),
            note="\n".join(problems) or None,
            figures=figures,
            call=to_paste,
            needs=verdict.needs,
            open_message=show_fact(said, tr) if said else None,
        )
        if diagnosis:
            result = named(result, diagnosis)
        if verdict.outcome is Outcome.PASSED:
            run.passed[check.id] = check
        if failed:
            run.failures[check.id] = known_failure(run, verdict, expected, actual)
        result, size = fit(result, min(CHECK_BYTES, LESSON_BYTES - run.reported_bytes))
        run.reported_bytes += size
        return result

    def diagnose(
        self, run: SubmissionRun, verdict: CheckVerdict
    ) -> tuple[Diagnosis | None, str | None]:
        """Return the mistake behind a failure, and the traceback of a rule that raised."""
        if verdict.outcome not in DIAGNOSED:
            return None, None
        failure = run.check.failure(verdict, self.reference, self.stub)
        trouble = None
        ways = (("engine", FIRST), ("rule", self.mistakes), ("engine", COMMON))
        for way, mistakes in ways:
            if way not in run.naming_off:
                found, problem = diagnose(mistakes, failure, run.student, run.tr)
                trouble = trouble or problem
                if found:
                    return replace(found, by=way), trouble
        return None, trouble


def promises_by_check(contract: Iterable[Promise]) -> defaultdict[str, list[Promise]]:
    """Return the promises that each check holds, by its name."""
    found: defaultdict[str, list[Promise]] = defaultdict(list)
    for promise in contract:
        for name in promise.terms.checks:
            found[f"test_{name}"].append(promise)
    return found


def quoted(promises: Iterable[Promise], documented: str) -> list[str]:
    """Return what a failed check quotes: of each promise the sentence that stands in the docstring
    of the definition it points to, else the first.
    """
    here = {compared_form(one) for one in sentences_in(documented)}
    quotable = [promise.terms.says for promise in promises if promise.terms.quoted]
    return [next((one for one in says if compared_form(one) in here), says[0]) for says in quotable]


def title(item: pytest.Item) -> str:
    """Return the first line of a check's docstring."""
    docstring = getattr(getattr(item, "function", None), "__doc__", None) or item.name
    return str(docstring).strip().splitlines()[0]


def load_mistakes(path: Path | None, names: Sequence[str]) -> list[Mistake]:
    """Return the mistakes of a ``diagnosis.toml``, with the rules beside it."""
    if path is None:
        return []
    rules = path.with_name("diagnosis.py")
    code = rules.read_text("utf-8") if rules.exists() else ""
    namespace = vars(execute(code, "diagnosis", str(rules)))
    return lesson_mistakes(read_mistakes(path), namespace, names)


def snippet_for(run: SubmissionRun, verdict: CheckVerdict) -> str | None:
    """Return the failed call, ready to paste; None if its result would not show what is wrong."""
    if verdict.outcome.group != "wrong" or verdict.message == WROTE:
        return None
    return snippet(
        run.check.traffic.last_call,
        module=run.session.source.module,
        inputs={run.tr.known(name): value for name, value in verdict.inputs.items()},
        gradcheck=verdict.checker is not None,
        in_notebook=bool(run.session.source.cells),
    )


def describe_inputs(inputs: Facts, call: LastCall | None, tr: Catalogue) -> Facts:
    """Describe a check's inputs. If only some of the call's arguments require grad, those that do
    not say so, because the answer may depend on it.
    """
    arguments = (*call.args, *call.kwargs.values()) if call else ()
    given = [one for one in arguments if isinstance(one, Tensor)]
    mixed = len({one.requires_grad for one in given}) > 1
    described = {}
    for name, value in inputs.items():
        shown = describe(value)
        if mixed and any(value is one for one in given) and not value.requires_grad:
            shown["requires_grad"] = False
        described[tr.known(name)] = shown
    return described


def line_to_show(
    run: SubmissionRun, verdict: CheckVerdict, diagnosis: Diagnosis | None
) -> int | None:
    """Return the line to show; if it may be another return's, remember that in the run."""
    check, source = run.check, run.session.source
    if sure := line_of_culprit(verdict, diagnosis, check.spec, source):
        return sure
    at = verdict.at or check.spec.at
    line = line_of(verdict, at, source)
    if verdict.outcome in DIAGNOSED and is_unsure(line, at, source, check.traffic):
        run.unsure_of_line[check.id] = at
    return line


def line_of_culprit(
    verdict: CheckVerdict, diagnosis: Diagnosis | None, spec: CheckSpec, source: Source
) -> int | None:
    """Return the line that the diagnosis names, that raised, or that writes what the message, the
    mistake's name or its evidence says.
    """
    if diagnosis and diagnosis.line:
        return diagnosis.line
    if isinstance(verdict.line, int) or verdict.outcome is not Outcome.FAILED:
        return verdict.line
    said = fill_text(verdict.message, {**verdict.inputs, **verdict.facts}, Catalogue())
    if diagnosis:
        shown = OF_CTX.findall(diagnosis.evidence)
        facts = (f"ctx.{one}" for one in shown if f"ctx.{one}" not in diagnosis.template)
        said = " ".join([said, diagnosis.id, *facts])
    return line_of_write(said, source, spec.about)


def line_of(verdict: CheckVerdict, at: str, source: Source) -> int | None:
    """Return the line to show: where the code raised; the header of a definition that could not be
    called; the entry of a dictionary that the facts name; the only return at the end; else the
    header of the definition (but see ``find_returned_lines``).
    """
    if isinstance(verdict.line, int) or verdict.outcome not in DIAGNOSED:
        return verdict.line
    named = [value for value in verdict.facts.values() if isinstance(value, str)]
    return source.entry(at, named) or source.anchor(at, header=verdict.error is not None)


def is_unsure(line: int | None, at: str, source: Source, traffic: Traffic) -> bool:
    """Return whether the function may have ended elsewhere than at this line: it has several
    returns, or it may have raised where the check expects that, which a scenario does not tell.
    """
    if line == source.anchor(at, header=True):
        return bool(source.return_lines(at))
    may_have_raised = traffic.raised or traffic.last_call is None
    return may_have_raised and line == source.anchor(at)


def column_of(line: int | None, source: Source) -> int | None:
    """Return the column of the file's syntax error in its line's text."""
    found = source.error_column
    return found[1] if found and found[0] == line and found[1] <= MAX_LINE else None


def described_pair(verdict: CheckVerdict, message: str) -> tuple[Any, Any]:
    """Describe what was expected and what came back; neither if a long text came back where none
    was expected, and the message has it already.
    """
    want, got = verdict.expected, verdict.actual
    is_told = isinstance(got, str) and len(got) > LONG_TEXT and got in message
    return (None, None) if is_told and not isinstance(want, str) else describe_pair(want, got)


def known_failure(
    run: SubmissionRun, verdict: CheckVerdict, expected: Any, actual: Any
) -> KnownFailure:
    """Return the failure of the check that just ran, with its values as text. Two tensors are
    shown as described (``expected``, ``actual``), with as many digits as tell them apart.
    """
    values = {"expected": verdict.expected, "actual": verdict.actual, **verdict.inputs}
    values |= in_cells(verdict.facts, run.session.source)
    texts = {name: show_fact(value, run.tr) for name, value in values.items()}
    if isinstance(verdict.expected, Tensor) and isinstance(verdict.actual, Tensor):
        texts["expected"], texts["actual"] = values_text(expected, actual)
    return KnownFailure(run.check, Behavior.of(verdict), texts)


def figures_of(run: SubmissionRun, verdict: CheckVerdict, problems: list[str]) -> list[Any]:
    """Return a failure's figures as JSON data; add to ``problems`` why one can't be drawn."""
    with run.session.off_the_clock():
        made = render_figures(verdict.figures, problems)
    run.session.take_output()  # output that a figure caused is not the check's
    return [figure_json(figure, run.tr) for figure in made]


def figure_json(figure: Figure, tr: Catalogue) -> Any:
    """Return a figure as JSON data, its phrases and predictions in the report's language."""
    if isinstance(figure, PredictionFigure):
        rows = (msgspec.structs.astuple(row) for row in figure.rows)
        figure = PredictionFigure(
            tuple(Prediction(*(show_fact(cell, tr) for cell in row)) for row in rows)
        )
    return msgspec.to_builtins(figure, enc_hook=partial(show_fact, tr=tr))


CHECK_BYTES = 64 << 10
LESSON_BYTES = 256 << 10
SHORT = 1000
"""How many characters of a text remain in a result that is over its budget."""
LEFT_OUT = {"other": "…"}


def fit(result: CheckResult, room: int) -> tuple[CheckResult, int]:
    """Return the result and its size, after leaving out as little as makes it fit into ``room``
    bytes.

    Outcome, points, titles and the beginning of each text always stay.
    """
    for shorten in SHORTER:
        if size_of(result) <= room:
            break
        result = shorten(result)
    return result, size_of(result)


SHORTER: tuple[Callable[[CheckResult], CheckResult], ...] = (
    lambda result: replace(result, figures=[]),
    lambda result: replace(result, output=_cut(result.output) or "", note=_cut(result.note)),
    lambda result: replace(result, inputs={}, call=None),
    lambda result: replace(
        result,
        expected=None if result.expected is None else LEFT_OUT,
        actual=None if result.actual is None else LEFT_OUT,
    ),
    lambda result: replace(result, message=_cut(result.message), evidence=_cut(result.evidence)),
)
"""The parts to leave out, in this order."""


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= SHORT else text[:SHORT] + "…"


def size_of(result: CheckResult) -> int:
    """Return how many bytes of JSON a result takes."""
    try:
        return len(msgspec.json.encode(result))
    except UnicodeEncodeError:  # a text may have a lone surrogate, which is not valid UTF-8
        return len(json.dumps(result.as_json()))
