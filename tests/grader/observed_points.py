"""Count the points that rest on observation alone: ``python tests/grader/observed_points.py``.

A submission's code runs beside the scenarios, so it could fake what a scenario measures. A point
rests on observation alone if a student earns it without defining anything that can be called, by
answering each ``observe`` like the reference. ``-v`` names the checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from grader.course.course import Lesson, find_course, load_course
from grader.course.source import Source
from grader.course.stubs import without_markers
from grader.judge.checks import CheckSpec, call_check, name_checks
from grader.judge.local_student import LocalStudent, execute

Check = Callable[..., None]


class Observed:
    """A student that answers observations like the reference and computes nothing."""

    def __init__(self, reference: LocalStudent) -> None:
        self._reference = reference

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        def real(value: Any) -> Any:
            return value.real if isinstance(value, Uncallable) else value

        named = {name: real(value) for name, value in kwargs.items()}
        return self._reference.observe(scenario, *map(real, args), **named)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._reference, name)
        if name in ("writing_allowed", "put", "source"):
            return found
        if not callable(found):
            raise ZeroDivisionError("no constant is known")
        return Uncallable(found)


class Uncallable:
    """A definition that can be handed to a scenario and not called."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def __getattr__(self, name: str) -> Uncallable:
        return Uncallable(getattr(self.real, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError("nothing is computed")


def checks_of(lesson: Lesson) -> dict[str, Check]:
    """Return a lesson's checks by name."""
    found: dict[str, Check] = {}
    for path in lesson.check_files:
        module = execute(path.read_text("utf-8"), path.stem, str(path))
        found |= {
            name: one
            for name, one in vars(module).items()
            if isinstance(getattr(one, "check", None), CheckSpec) and name.startswith("test_")
        }
    name_checks(found.items())
    return found


def spec_of(check: Check) -> CheckSpec:
    spec = check.check  # type: ignore[attr-defined]
    assert isinstance(spec, CheckSpec)
    return spec


def reference_of(lesson: Lesson) -> LocalStudent:
    """Return a lesson's solution as a student in this process."""
    source = Source(without_markers(lesson.solution.read_text("utf-8")), lesson.filename)
    return LocalStudent(source, lesson.scenarios_text)


def observed_points(lesson: Lesson) -> dict[str, float]:
    """Return the required checks that pass without a computed value, and their points."""
    reference = reference_of(lesson)
    found = {}
    for name, check in checks_of(lesson).items():
        try:
            call_check(check, student=Observed(reference), reference=reference, seed=3)
        except Exception:
            continue
        if not spec_of(check).bonus:
            found[name] = spec_of(check).points
    return found


def main(argv: list[str]) -> None:
    lessons = load_course(find_course()).lessons
    points = {lesson.id: observed_points(lesson) for lesson in lessons}
    for name, found in points.items():
        print(f"{name:20} {sum(found.values()):6.2f}")
        for check in found if "-v" in argv else ():
            print(f"    {check}")
    print(f"{'together':20} {sum(sum(found.values()) for found in points.values()):6.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
