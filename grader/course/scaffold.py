"""Make the files of a new lesson, which works and is to be replaced piece by piece.

What only a person can write is marked ``TO WRITE: …``. ``grade verify`` lists every such place.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.core.templates import render_text
from grader.course.stubs import stub_of

MARK = "TO WRITE:"
"""The mark at every place where a person has to write something."""
UNWRITTEN = "still holds its placeholder:"

FILES = {
    "solution.py": "solutions/{lesson}.py",
    "README.md": "exercises/{lesson}/README.md",
    "hints.toml": "exercises/{lesson}/hints.toml",
    "test_visible.py": "tests/checks/{lesson}/test_visible.py",
    "test_hidden.py": "tests/checks/{lesson}/test_hidden.py",
    "scenarios.py": "tests/checks/{lesson}/scenarios.py",
    "diagnosis.toml": "tests/checks/{lesson}/diagnosis.toml",
    "diagnosis.py": "tests/checks/{lesson}/diagnosis.py",
    "contract.toml": "tests/checks/{lesson}/contract.toml",
    "mistakes.py": "tests/mistakes/{lesson}.py",
    "accepted.py": "tests/accepted/{lesson}.py",
}
"""The paths of the files of ``templates/lesson/`` below the course's root."""

LEARNERS_TEXTS = (
    "$name(x) is twice x",
    "the gradient of $name(x) is twice the incoming one",
    "$name leaves x as it was",
    "$name(x) is wrong",
    "$name wrote into x",
    "x is squared",
    "For x = {x} you returned {actual}, which is x * x = {square}.",
)
"""The texts of those files that need a translation, except titles, hints and README."""


def lesson_files(lesson: str, name: str, *, lang: str) -> dict[str, str]:
    """Return the files of a new lesson, by path below the course's root."""
    files = {
        path.format(lesson=lesson): render_text(f"lesson/{file}.j2", lesson=lesson, name=name)
        for file, path in FILES.items()
    }
    folder = f"exercises/{lesson}"
    files[f"{folder}/{lesson}.py"] = stub_of(files[f"solutions/{lesson}.py"], name=lesson)
    texts = [text.replace("$name", name) for text in LEARNERS_TEXTS]
    files[f"{folder}/{lang}.po"] = catalogue(texts, lesson, lang)
    return files


def catalogue(texts: list[str], lesson: str, lang: str) -> str:
    import polib

    file = polib.POFile(wrapwidth=140)
    file.header = (
        f"The lesson {lesson} in the language {lang}. Titles, summary and hints come here too, once"
        " they are written."
    )
    file.metadata = {
        "Language": lang,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    file.extend(polib.POEntry(msgid=text, msgstr="") for text in texts)
    return str(file) + "\n"


def placeholders_in(path: Path, root: Path) -> Iterator[str]:
    """Yield each line with a placeholder: ``README.md:5 still holds its placeholder: …``."""
    place = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        _, mark, wanted = line.partition(MARK)
        if mark:
            text = wanted.strip(' ",')
            yield f"{place}:{number} {UNWRITTEN} {MARK} {text}"
