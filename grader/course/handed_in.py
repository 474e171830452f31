"""Decide which of the files that a student handed in are which lesson, for a class or a container.

The name decides; only files of one lesson are compared. What is not graded is said in the lesson's
``LessonFile``, so that reports, tables and the class page name it: a right answer under another
name must not be a zero that nobody notices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from grader.core.errors import SubmissionError
from grader.course.beginnings import Untouched
from grader.course.course import BUNDLED, RELEASE
from grader.course.files import FileEntry, Unzipped
from grader.course.near_names import OTHER_ARCHIVES, SUFFIXES, may_hold_an_answer, meant_by
from grader.course.notebook import MAX_NOTEBOOK_BYTES
from grader.course.submission import (
    MOST_OTHERS,
    UNREADABLE,
    Decode,
    LessonFile,
    decode,
    lesson_names,
    read_entry,
    writable,
)

NOT_CALLED = "{path} is not called {name}, so it was not graded. Hand it in under that name"
NOT_PYTHON = "{path} can't be read as Python, so it was not graded. Hand in {name}"
NOT_OPENED = (
    "{path} is an archive that is not a zip, so it was not opened. Hand in a zip, or the files"
    " alone"
)
TWO_FILES = (
    "{path} and {others} may both be this lesson, and they differ, so neither was graded. Hand in"
    " only one"
)
NO_LESSON = (
    "{path} does not have the name of a lesson, so it was not graded. If it is {file}, hand it in"
    " under that name"
)
NO_FILE = "there is no {file}. Not graded: {others}"
NO_LESSONS = "no lesson file found; expected {names}. Not graded: {others}"
MOST_LISTED = 12
"""How many files that were not graded a submission lists."""


def read_files(
    entries: Iterable[FileEntry],
    lessons: Iterable[str],
    *,
    course: Iterable[str] = (),
    untouched: Untouched = lambda lesson, data: False,
    accept_near_names: bool = False,
    decode: Decode = decode,
) -> dict[str, LessonFile]:
    """Return the lessons' files among files from any source; files in zips count one folder deeper.

    ``course`` are all lessons of the course, whose names are known, too; files of those that are
    ``untouched`` are left out. ``decode`` turns the bytes into text. Several files of a lesson are
    one if they are equal, else none is graded. A missing lesson gets the file with almost its name,
    which is read only if such names are accepted and it is the only one. Or it gets an archive that
    can't be read; the first one also gets programs without a lesson's name, and has documents and
    pictures beside it. Raise SubmissionError if there are files, but none of a lesson.
    """
    names = lesson_names(lessons)
    with Unzipped() as opened:
        opened.add(entries)
        files = _FilesByLesson(opened.files, names, names | lesson_names(course), untouched)
        found = {
            lesson: _only(lesson, exact, files.near.get(lesson, ()), decode)
            for lesson, exact in files.exact.items()
        }
        for lesson, near in files.near.items():
            if lesson not in found:
                found[lesson] = _nearly(lesson, near, decode if accept_near_names else None)
    unread = [(path, error.template, error.facts) for path, error in opened.unread]
    unread += [(path, NOT_OPENED, {"path": path}) for path in files.archives]
    missing = [lesson for lesson in dict.fromkeys(names.values()) if lesson not in found]
    if unread and not found:
        raise SubmissionError(unread[0][1], **_writable(unread[0][2]))
    if not found and (files.unknown or files.beside):
        expected = [f"{lesson}.py" for lesson in missing]
        more = f" and {len(expected) - MOST_OTHERS} more" if len(expected) > MOST_OTHERS else ""
        listed = ", ".join(expected[:MOST_OTHERS]) + more
        others = ", ".join(_listed(files.unknown + files.beside))
        raise SubmissionError(NO_LESSONS, names=listed, others=others)
    for lesson in missing if unread else ():
        path, template, facts = unread[0]
        file = LessonFile.wrong(lesson, writable(path), template, _writable(facts))
        found[lesson] = replace(file, ignored=True)
    beside = [path for path, *_ in (unread[1:] if missing else unread)]
    if missing and not unread and files.unknown:
        path = ", ".join(_listed(files.unknown))
        facts = {"file": f"{missing[0]}.py"}
        file = LessonFile.wrong(missing[0], path, NO_LESSON, facts)
        found[missing[0]] = replace(file, ignored=True)
    else:
        beside += files.unknown
    in_order = {lesson: found[lesson] for lesson in names.values() if lesson in found}
    return _with_beside(in_order, missing, _listed(beside + files.beside))


def _writable(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: writable(fact) for name, fact in facts.items()}


def _with_beside(
    found: dict[str, LessonFile], missing: Sequence[str], beside: tuple[str, ...]
) -> dict[str, LessonFile]:
    """Add files that may be answers to any lesson to the first missing lesson, if there is one."""
    if not beside or not found:
        return found
    first = missing[0] if missing else next(iter(found))
    if first not in found:
        facts = {"file": f"{first}.py", "others": ", ".join(beside)}
        found[first] = replace(LessonFile.wrong(first, "", NO_FILE, facts), ignored=True)
    found[first] = replace(found[first], beside=beside)
    return found


class _FilesByLesson:
    """A submission's files: those with a lesson's name, with almost one, and all others that may be
    answers: archives, programs, and what is beside them. A handout's own files are left out.
    """

    def __init__(
        self,
        entries: Sequence[FileEntry],
        names: dict[str, str],
        known: dict[str, str],
        untouched: Untouched,
    ) -> None:
        self._untouched = untouched
        self.exact: dict[str, list[FileEntry]] = {}
        self.near: dict[str, list[tuple[FileEntry, str, bool]]] = {}
        self.archives: list[str] = []
        self.unknown: list[str] = []
        self.beside: list[str] = []
        handouts = _handouts(entries)
        for entry in sorted(entries, key=lambda entry: (entry.depth, entry.path)):
            if not entry.path.startswith(handouts):
                self._add(entry, names, known)

    def _add(self, entry: FileEntry, names: dict[str, str], known: dict[str, str]) -> None:
        name = entry.name
        meant = meant_by(name, known)
        if name in names:
            self.exact.setdefault(names[name], []).append(entry)
        elif meant and meant.name in names:
            one = (entry, meant.name, meant.readable)
            self.near.setdefault(names[meant.name], []).append(one)
        elif OTHER_ARCHIVES.search(name) and not name.startswith("."):
            self.archives.append(entry.path)
        elif name in known and self._is_untouched(known[name], entry):
            return
        elif may_hold_an_answer(name):
            is_program = name.lower().endswith(SUFFIXES) and name not in known
            (self.unknown if is_program else self.beside).append(entry.path)

    def _is_untouched(self, lesson: str, entry: FileEntry) -> bool:
        return self._untouched(lesson, entry.read(MAX_NOTEBOOK_BYTES + 1) or b"")


def _handouts(entries: Iterable[FileEntry]) -> tuple[str, ...]:
    """Return the folders of handouts, which contain the lessons' stubs, as beginnings of paths."""
    mark = f"{BUNDLED}/exercises/{RELEASE}"
    roots = [one.path.removesuffix(mark) for one in entries if f"/{one.path}".endswith(f"/{mark}")]
    return tuple(f"{root}{folder}/" for root in roots for folder in (BUNDLED, "engine"))


def _listed(paths: Sequence[str]) -> tuple[str, ...]:
    """Return paths as they are listed; if there are too many, the last item counts the rest."""
    shown = tuple(map(writable, paths[:MOST_LISTED]))
    more = len(paths) - len(shown)
    return (*shown, f"… {more} more") if more else shown


def _only(
    lesson: str,
    exact: Sequence[FileEntry],
    near: Sequence[tuple[FileEntry, str, bool]],
    decode: Decode,
) -> LessonFile:
    """Return the file with the lesson's name. If several differ, none is graded. Others with almost
    that name are not graded.
    """
    first, different = exact[0], _different(exact) if exact[1:] else {}
    others = _listed([entry.path for entry in different.values()][1:])
    if others:
        facts = {"others": ", ".join(others)}
        file = LessonFile.wrong(lesson, writable(first.path), TWO_FILES, facts)
        return replace(file, ignored=True, others=others, content=tuple(different))
    rest = _different([first, *(entry for entry, _, _ in near)]) if near else {}
    file = _read(lesson, first, first.name, decode)
    return replace(file, others=_listed([entry.path for entry in rest.values()][1:]))


def _read(lesson: str, entry: FileEntry, name: str, decode: Decode) -> LessonFile:
    """Return a file as a lesson; what can't be read, such as an encrypted file, is not graded."""
    file = read_entry(lesson, entry, name, decode)
    return replace(file, ignored=True) if file.template == UNREADABLE else file


def _nearly(
    lesson: str, near: Sequence[tuple[FileEntry, str, bool]], decode: Decode | None
) -> LessonFile:
    """Return the file with almost the name of a lesson that is missing; without ``decode``, such
    names are not accepted.
    """
    different = _different([entry for entry, _, _ in near])
    file = _one_of(lesson, near, [*different.values()], decode)
    return replace(file, content=tuple(different))


def _one_of(
    lesson: str,
    near: Sequence[tuple[FileEntry, str, bool]],
    different: Sequence[FileEntry],
    decode: Decode | None,
) -> LessonFile:
    readable = {entry.path: name for entry, name, can_be_read in near if can_be_read}
    to_read = [entry for entry in different if entry.path in readable]
    if decode and len(to_read) == 1:
        (entry,) = to_read
        others = _listed([one.path for one in different if one is not entry])
        name = readable[entry.path]
        return replace(_read(lesson, entry, name, decode), meant=name, others=others)
    if decode and to_read:
        paths = _listed([entry.path for entry in different])
        facts = {"others": ", ".join(paths[1:])}
        file = LessonFile.wrong(lesson, paths[0], TWO_FILES, facts, others=paths[1:])
        return replace(file, meant=readable[to_read[0].path], ignored=True)
    name = near[0][1]
    listed = ", ".join(_listed([entry.path for entry, _, _ in near]))
    unread = NOT_OPENED if OTHER_ARCHIVES.search(near[0][0].name) else NOT_PYTHON
    template = NOT_CALLED if readable else unread
    return replace(
        LessonFile.wrong(lesson, listed, template, {"name": name}), meant=name, ignored=True
    )


def _different(entries: Sequence[FileEntry]) -> dict[str, FileEntry]:
    """Return the entries by a hash of their bytes, without those that differ from an earlier one in
    line ends at most.

    At most MOST_LISTED are read.
    """
    found: dict[str, FileEntry] = {}
    for number, entry in enumerate(entries):
        data = entry.read(MAX_NOTEBOOK_BYTES + 1) if number < MOST_LISTED else None
        same = str(number)
        if data is not None:
            same = hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
        found.setdefault(same, entry)
    return found
