"""A file of a submission, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.core.report import Record
from grader.course.notebook.reader import SUFFIX, LeftOut

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class LessonFile(Record):
    """One lesson's file: its path, and its text or the problem with it and the problem's line.

    ``problem`` is ``template`` filled with ``facts``; ``others`` are paths of the same name. A
    notebook's ``text`` is its code, ``cells`` its code cells (``Notebook.cells``). ``meant`` is the
    lesson's file name if this file has almost that name; unless it is accepted, it is ``ignored``.
    """

    lesson: str
    path: str
    text: str = ""
    problem: str | None = None
    line: int | None = None
    others: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    meant: str = ""
    ignored: bool = False
    template: str = field(default="", compare=False)
    facts: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def wrong(
        cls,
        lesson: str,
        path: str,
        template: str,
        facts: Mapping[str, str] = NOTHING,
        *,
        line: int | None = None,
        others: tuple[str, ...] = (),
    ) -> LessonFile:
        """Return a file that can't be graded and why; templates may use ``{path}``."""
        facts = {"path": path, **facts}
        return cls(
            lesson,
            path,
            problem=template.format(**facts),
            line=line,
            others=others,
            template=template,
            facts=facts,
        )

    @property
    def filename(self) -> str:
        return f"{self.lesson}{SUFFIX if self.cells else '.py'}"
