"""Answers that were made before the questions earn no points: the reference's answers, replayed to
other questions.

A worker could fake what is observed in it, but not what has to be computed from inputs that the
judge draws. So a check that accepts replayed answers must need a check of the same function that
does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from observed_points import Check, checks_of, observed_points, reference_of, spec_of

from grader.course.course import Lesson, find_course, load_course
from grader.course.source import Source
from grader.judge.checks import call_check
from grader.judge.local_student import LocalStudent
from grader.judge.random_inputs import RandomInputs

COURSE = load_course(find_course())
MOST_OBSERVED = 43.75
"""The points of the course that rest on observation alone; the aim is fewer."""
RECORDED, ASKED_AGAIN = 1, (2, 3, 4)
KNOWN_BEFOREHAND = {
    "graph_inspection": {"PREDICTED_GRADIENT"},
    "retain_graph": {"SURVIVES_SECOND_BACKWARD", "second_backward_error"},
    "tensor_state": {"HAS_GRAD_AFTER_BACKWARD"},
}
"""Values that the curriculum itself asks for: predictions, and the text of an error. Students may
look them up.
"""


class Recorder:
    """A student whose answers are all recorded, in order."""

    def __init__(self, real: Any, kept: list[Any], source: Source) -> None:
        self.real, self.kept, self.source = real, kept, source

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if name == "observe" or callable(found):
            return Recorder(found, self.kept, self.source)
        self.kept.append(found)
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        options = {name: unwrapped(value) for name, value in kwargs.items()}
        answer = self.real(*map(unwrapped, args), **options)
        self.kept.append(answer)
        return answer


class Replayer:
    """A student that repeats recorded answers, whatever it is asked."""

    def __init__(self, answers: Iterator[Any], real: Any, source: Source) -> None:
        self.answers, self.real, self.source = answers, real, source

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if name == "observe" or callable(found):
            return Replayer(self.answers, found, self.source)
        return next(self.answers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return next(self.answers)


def unwrapped(value: Any) -> Any:
    """Return a student's function that a check passes back to it."""
    return value.real if isinstance(value, Recorder | Replayer) else value


def accepts_replayed_answers(check: Check, reference: LocalStudent) -> bool:
    """Return whether a check passes from other seeds with the answers that were right for the
    recorded one.
    """
    for seed in ASKED_AGAIN:
        kept: list[Any] = []
        recorder = Recorder(reference, kept, reference.source)
        call_check(check, student=recorder, reference=reference, seed=RECORDED)
        replayer = Replayer(iter(kept), reference, reference.source)
        try:
            call_check(check, student=replayer, reference=reference, seed=seed)
        except Exception:
            return False
    return True


def needed(name: str, checks: dict[str, Check]) -> set[str]:
    """Return the checks that must have passed before this one runs."""
    direct = set(spec_of(checks[name]).needs)
    return direct.union(*(needed(other, checks) for other in direct))


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
def test_replayed_answers_earn_nothing(lesson: Lesson) -> None:
    """Each check that accepts them needs one of the same function that does not; allowed exceptions
    are listed.
    """
    reference = reference_of(lesson)
    checks = checks_of(lesson)
    assert len(checks) >= 2 * len(lesson.names)
    fooled = {name for name, check in checks.items() if accepts_replayed_answers(check, reference)}
    about = {name: spec_of(check).about for name, check in checks.items()}
    unguarded = {
        about[name]
        for name in fooled
        if about[name] not in {about[other] for other in needed(name, checks) - fooled}
    }
    assert unguarded <= KNOWN_BEFOREHAND.get(lesson.id, set())


def test_a_replayed_answer_is_told_from_a_computed_one() -> None:
    """The test above relies on this."""
    text = "def twice(x):\n    return 2 * x\n\ndef kind():\n    return 'dog'\n"
    reference = LocalStudent(Source(text, "lesson.py"), "")

    def computed(student: Any, draw: RandomInputs) -> None:
        x = draw.number()
        assert student.twice(x) == 2 * x

    def observed(student: Any) -> None:
        assert student.kind() == "dog"

    assert not accepts_replayed_answers(computed, reference)
    assert accepts_replayed_answers(observed, reference)


def test_few_points_rest_on_observation_alone() -> None:
    """A student that computes nothing and only fakes scenarios gets no more points than before."""
    points = [sum(observed_points(lesson).values()) for lesson in COURSE.lessons]
    assert 0 < sum(points) <= MOST_OBSERVED
