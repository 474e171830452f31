"""Which lesson is meant by a file that does not have its name: ``kim_hooks.py``, ``hooks.py.txt``.

Only names are looked at. A name means a lesson if it contains the lesson's name as whole words,
whatever is between them, or if it is almost the same. If it contains two lessons' names, it means
none.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.course.notebook import SUFFIX

SUFFIXES = (".py", SUFFIX)
"""The suffixes of a lesson's file."""
READABLE = {
    ".py.txt": ".py",
    ".ipynb.txt": SUFFIX,
    ".ipynb.json": SUFFIX,
    ".py": ".py",
    ".ipynb": SUFFIX,
    ".txt": ".py",
}
"""Endings of text that may be a lesson's, longest first, and the suffix that it should have."""
OTHER_ARCHIVES = re.compile(
    r"(\.tar)?\.(rar|7z|zipx|tar|tgz|txz|tbz2|gz|xz|bz2|alz|egg)\Z", re.IGNORECASE
)
"""The ending of an archive that is not a zip."""
DOCUMENTS = re.compile(
    r"\.(docx?|odt|rtf|pdf|hwpx?|pages|pptx?|png|jpe?g|gif|webp|heic|heif|bmp|tiff?)\Z",
    re.IGNORECASE,
)
"""The ending of a text or a picture from which no Python can be read."""
NO_ANSWER = re.compile(
    r"\..*|(test_.*|.*_test|conftest|setup|__init__|requirements.*|read_?me.*|licen[cs]e.*)\..*",
    re.IGNORECASE,
)
"""Names of files that belong to a folder of code rather than to a lesson."""
TESTS = frozenset({"test", "tests"})
COPY = frozenset({"copy", "of", "복사본"})
"""What the name of a copy has in addition to the file's."""
WORD = re.compile(r"[^\W\d_]+|\d+")
NEARLY_ALIKE = 0.9
"""From this ratio of difflib's comparison on, a name counts as a mistyped one."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The name of the lesson's file that is meant, and where in the name its lesson begins.

    ``readable`` says whether the file may be read as Python or as a notebook, ``alone`` whether the
    name contains no words but the lesson's and those of a copy.
    """

    name: str
    readable: bool
    start: int
    alone: bool


def meant_name(name: str, names: Mapping[str, str]) -> str | None:
    """Return the lesson's file name that a file almost has, if it may be read as one."""
    found = meant_by(name, names)
    return found.name if found and found.readable else None


def meant_by(name: str, names: Mapping[str, str]) -> Meant | None:
    """Return what a file means; None for a lesson's own name and for all others.

    ``names`` has the lessons by the names of their files, which ``lesson_names`` returns.
    """
    split = _split(name)
    if split is None or name in names or name.startswith("."):
        return None
    stem, suffix, readable = split
    words = [(word.start(), _plain(word[0])) for word in WORD.finditer(stem)]
    texts = [text for _, text in words]
    if TESTS & {*texts}:
        return None
    lesson, first, last = _lesson_in(texts, names.values())
    if lesson is None:
        return None
    others = {*texts[:first], *texts[last:]}
    alone = all(word.isdigit() or word in COPY for word in others)
    return Meant(f"{lesson}{suffix}", readable, words[first][0], alone)


def may_hold_an_answer(name: str) -> bool:
    """Return whether a file that means no lesson may be an answer nevertheless: a program, a text,
    a picture or an archive.
    """
    return "." in name and _split(name) is not None and NO_ANSWER.fullmatch(name) is None


def _split(name: str) -> tuple[str, str, bool] | None:
    """Return a name's stem, the suffix that it should have, and whether it may be read."""
    plain = name.rstrip()
    for ending, suffix in READABLE.items():
        if plain.lower().endswith(ending):
            return plain[: -len(ending)], suffix, True
    if "." not in plain:
        return plain, ".py", True
    if other := OTHER_ARCHIVES.search(plain) or DOCUMENTS.search(plain):
        stem = plain[: other.start()]
        return stem.removesuffix(".py"), ".py", False
    return None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _lesson_in(words: list[str], lessons: Iterable[str]) -> tuple[str | None, int, int]:
    """Return the only lesson that the words name, the longest of several at one place, the number
    of its first word, and that after its last one.
    """
    joined = {"".join(WORD.findall(_plain(lesson))): lesson for lesson in lessons}
    longest = max(map(len, joined), default=0)
    found: list[tuple[int, int, str]] = []
    for first in range(len(words)):
        text = ""
        for last, word in enumerate(words[first:], first + 1):
            text += word
            if len(text) > longest:
                break
            if text in joined:
                found.append((first, last, joined[text]))
    if not found:
        return _mistyped("_".join(words), joined.values()), 0, len(words)
    first, last, lesson = max(found, key=lambda one: (one[1] - one[0], len(one[2])))
    inside = all(first <= start and end <= last for start, end, _ in found)
    return lesson if inside else None, first, last


def _mistyped(stem: str, lessons: Iterable[str]) -> str | None:
    """Return the lesson whose name differs in a letter or two, but in no digit."""
    digits = re.findall(r"\d+", stem)
    alike = {f"{one}.py": one for one in lessons if re.findall(r"\d+", one) == digits}
    near = difflib.get_close_matches(f"{stem}.py", alike, n=2, cutoff=NEARLY_ALIKE)
    return alike[near[0]] if len(near) == 1 else None
