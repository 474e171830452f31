"""Read one student's files: a folder, a zip or a file with ``<lesson>.py`` or ``.ipynb`` inside.

Decide which file is which lesson, and decode it: encodings, notebooks, and what can't be read. A
problem with a file (``LessonFile.problem``) affects only that lesson.
"""

from __future__ import annotations

import codecs
import contextlib
import functools
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tokenize
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import Protocol

from grader.core.errors import SubmissionError
from grader.core.report import Record
from grader.course.files import (
    MAX_MEMBERS,
    ZIP_SUFFIX,
    FileEntry,
    folder_files,
    open_inside,
    open_zip,
    zip_files,
)
from grader.course.near_names import SUFFIXES, may_hold_an_answer, meant_by, meant_name
from grader.course.notebook import (
    MAX_FILE_BYTES,
    MAX_NOTEBOOK_BYTES,
    SUFFIX,
    TOO_LARGE,
    LeftOut,
    Notebook,
    read_code,
    read_notebook,
)

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class LessonFile(Record):
    """One lesson's file: its path, and its text or the problem with it and the problem's line.

    ``template`` and ``facts`` state the problem. A notebook's ``text`` is its code, ``cells`` its
    code cells (``Notebook.cells``). ``meant`` is the lesson's file name if this file has almost
    that name. An ``ignored`` file is not graded; ``path`` is empty if no file is meant to be this
    lesson. ``others`` are paths of files that may be this lesson, too, ``beside`` those of files
    that may be any lesson's; none of them is graded. ``content`` has hashes of files without the
    lesson's own name, or of several that differ, whether they are graded or not.
    """

    lesson: str
    path: str
    text: str = ""
    template: str = ""
    line: int | None = None
    others: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    meant: str = ""
    ignored: bool = False
    beside: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)

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
        return cls(lesson, path, template=template, line=line, others=others, facts=facts)

    @property
    def problem(self) -> str | None:
        return self.template.format(**self.facts) if self.template else None

    @property
    def filename(self) -> str:
        return f"{self.lesson}{SUFFIX if self.cells else '.py'}"


UNREADABLE = (
    "{path} can't be read: check its permissions, that it is not a link to elsewhere, and that it"
    " is neither damaged nor encrypted"
)
EMPTY = "{path} is empty. To start again from the stub: {command}"
ONLY_COMMENTS = "{path} has no code, only comments. To start again from the stub: {command}"
ENCODINGS = frozenset(
    """
    utf-8 utf-8-sig ascii iso8859-1 iso8859-15 cp1250 cp1251 cp1252 koi8-r
    cp949 euc_kr johab euc_jp shift_jis cp932 gbk gb2312 gb18030 big5
    """.split()
)
"""The encodings that a file may declare: text encodings in common use. Others (punycode, utf-7) are
slow or hide the text.
"""


DECLARATION = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""A line that declares the encoding, by PEP 263."""


def writable(path: str) -> str:
    """Return a path on one line, with invisible characters escaped."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in path
    )


class Decode(Protocol):
    """``decode``, or a function that calls it in another process."""

    def __call__(
        self, lesson: str, path: str, data: bytes | None, *, notebook: bool = False
    ) -> LessonFile: ...


def decode(lesson: str, path: str, data: bytes | None, *, notebook: bool = False) -> LessonFile:
    """Return a file's bytes as a lesson, or with the problem that they have; never raise for them.

    ``data`` is None if the file could not be read.
    """
    path = writable(path)
    wrong = functools.partial(LessonFile.wrong, lesson, path)
    if data is None:
        return wrong(UNREADABLE)
    if notebook and len(data) > MAX_NOTEBOOK_BYTES:
        message = "{path} is larger than {megabytes} MB. Clear its outputs, and save it"
        return wrong(message, {"megabytes": str(MAX_NOTEBOOK_BYTES >> 20)})
    if not notebook and len(data) > MAX_FILE_BYTES:
        return wrong(TOO_LARGE, {"kilobytes": str(MAX_FILE_BYTES >> 10)})
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        return wrong(EMPTY, {"command": f"grade reset {lesson}"})
    if notebook:
        return _from_notebook(lesson, path, lambda: read_notebook(lesson, path, data))
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        message = (
            "{path} is UTF-16 text, which Python doesn't read. Save it as UTF-8: editors ask for"
            " the encoding under Save as"
        )
        return wrong(message, line=1)
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        message = "{place} holds a NUL byte, so it is not Python text. Save it as UTF-8"
        return wrong(message, {"place": f"{path}:{line}"}, line=line)
    declared, line = _declared_encoding(data)
    try:
        if codecs.lookup(declared).name not in ENCODINGS:
            message = (
                "{place} declares the encoding {encoding}, in which no lesson is read. Save it as"
                " UTF-8"
            )
            facts = {"place": f"{path}:{line}", "encoding": declared[:40]}
            return wrong(message, facts, line=line)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
        text.encode("utf-8")  # some codecs make surrogates, which can't be written to a file
    except (SyntaxError, UnicodeError, LookupError) as error:
        line = _first_line_not_utf8(data)
        if _is_cp949(data):
            remedy = "Save it as UTF-8, or write # coding: cp949 on its first line"
            message = "{place} is not UTF-8 text; it looks like Korean in CP949 (EUC-KR). " + remedy
            return wrong(message, {"place": f"{path}:{line}"}, line=line)
        message = "{place} is not UTF-8 text ({reason}). Save it as UTF-8"
        facts = {"place": f"{path}:{line}", "reason": str(error)}
        return wrong(message, facts, line=line)
    return _with_code(LessonFile(lesson, path, text))


def _with_code(file: LessonFile) -> LessonFile:
    """Return a file, or the problem of one in which every line is a comment or blank."""
    if any(line.strip() and not line.lstrip().startswith("#") for line in file.text.split("\n")):
        return file
    facts = {"command": f"grade reset {file.lesson}"}
    return LessonFile.wrong(file.lesson, file.path, ONLY_COMMENTS, facts)


def _declared_encoding(data: bytes) -> tuple[str, int]:
    """Return the encoding that one of the first two lines declares, and that line's number.

    It has to be known before ``tokenize.detect_encoding``, which already decodes with it.
    """
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).splitlines()[:2], start=1):
        found = DECLARATION.match(line)
        if found:
            return found[1].decode("ascii"), number
        if line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "utf-8", 1


def read_cell(lesson: str, code: str) -> LessonFile:
    """Read the cell below ``%%grade`` as a lesson; its first line is the magic."""
    path = f"%%grade {lesson}"
    return _from_notebook(lesson, path, lambda: read_code(path, code))


def _from_notebook(lesson: str, path: str, read: Callable[[], Notebook]) -> LessonFile:
    try:
        notebook = read()
    except SubmissionError as error:
        return LessonFile.wrong(lesson, path, error.template, error.facts)
    file = LessonFile(lesson, path, notebook.text, cells=notebook.cells, left_out=notebook.left_out)
    return _with_code(file)


def _is_cp949(data: bytes) -> bool:
    """Return whether bytes are plausible CP949: Hangul without ideographs."""
    try:
        letters = data.decode("cp949")
    except UnicodeDecodeError:
        return False
    return any("가" <= letter <= "힣" for letter in letters) and not any(
        "一" <= letter <= "鿿" for letter in letters
    )


def _first_line_not_utf8(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1


RENAME = "{path} is not called {name}, so it was not graded. Rename it:\n{command}"
ANOTHER_NAME = "{folder} has no {name}. If your answer is in {other}, rename this file:\n{command}"
OTHER_NAMES = (
    "{folder} has no {name}. It has {others}: if your answer is in one of them, rename it to {name}"
)
MOST_OTHERS = 4
"""How many files of one name a note mentions."""


def lesson_names(lessons: Iterable[str]) -> dict[str, str]:
    """Return the lessons by file name. Only this function decides which name is which lesson."""
    return {f"{lesson}{suffix}": lesson for lesson in lessons for suffix in SUFFIXES}


def read_submission(
    place: Path, lessons: Iterable[str], *, below: str = ""
) -> dict[str, LessonFile]:
    """Return the lessons' files; raise SubmissionError if ``place`` is not a folder, zip or
    lesson.

    Of several files with one name, the least deep counts; two at the same depth are a problem that
    names both. In a folder, at most ``MAX_MEMBERS`` entries are looked at, the least deep first,
    and a file with almost the name of a missing lesson, or in its folder, is reported as that
    lesson, ignored, with the command that renames it. Paths begin at ``place``, or with ``below``.
    """
    names = lesson_names(lessons)
    if place.is_dir():
        entries = _without_solutions(list(folder_files(place, most=MAX_MEMBERS)))
        found = _chosen((entry.within(below) for entry in entries), names)
        meant = _to_rename(place, entries, names, found, below)
        own = {
            lesson: _beside_copies(file, entries, names, below) for lesson, file in found.items()
        }
        return _in_folders_of(place, entries, names, below) | meant | own
    if not place.is_file():
        message = (
            "{path} does not exist. Name a folder that holds your lessons, or make one: {command}"
        )
        raise SubmissionError(message, path=str(place), command="grade init my-work")
    if place.name in names:
        folder = PurePosixPath(below).parent.as_posix() if below else ""
        return _chosen(
            [FileEntry(place.name, functools.partial(open_inside, place, place)).within(folder)],
            names,
        )
    if not place.name.lower().endswith(ZIP_SUFFIX) and not zipfile.is_zipfile(place):
        raise misnamed(str(place), names)
    with open_zip(place, str(place)) as archive:
        entries = _without_solutions(list(zip_files(archive)))
        return _chosen((entry.within(below) for entry in entries), names)


def _without_solutions(entries: list[FileEntry]) -> list[FileEntry]:
    """Leave out the solutions of courses: they are nobody's work."""
    mark = "exercises/course.toml"
    courses = [
        one.path.removesuffix(mark) for one in entries if f"/{one.path}".endswith(f"/{mark}")
    ]
    solutions = tuple(f"{course}solutions/" for course in courses)
    return [one for one in entries if not one.path.startswith(solutions)]


def misnamed(path: str, names: dict[str, str]) -> SubmissionError:
    """Return why an existing file is not a lesson's, and what it has to be called."""
    own = PurePath(path).name
    in_folder = f"{Path(path).resolve().parent.name}{PurePath(path).suffix}"
    if meant := meant_name(own, names) or (in_folder if in_folder in names else None):
        return SubmissionError(RENAME, path=path, name=meant, command=renaming(path, meant))
    lessons = ", ".join(dict.fromkeys(names.values()))
    message = (
        "{path} is not a folder, a zip or a lesson file. A lesson file has the name of its lesson,"
        " such as {file} or {notebook}. Lessons: {names}"
    )
    file, notebook, *_ = names
    return SubmissionError(message, path=path, file=file, notebook=notebook, names=lessons)


def _to_rename(
    place: Path,
    entries: Iterable[FileEntry],
    names: dict[str, str],
    found: Collection[str],
    below: str,
) -> dict[str, LessonFile]:
    """Return a folder's files with the name of a copy, or a mistyped one, of a lesson that was not
    found there. Other files in a folder may have a lesson's name among other words.
    """
    files: dict[str, LessonFile] = {}
    for entry in sorted(entries, key=lambda entry: (entry.depth, entry.path)):
        meant = meant_by(entry.name, names)
        if meant is None or not (meant.readable and meant.alone):
            continue
        name = meant.name
        if names[name] in found or names[name] in files:
            continue
        path = writable(entry.within(below).path)
        facts = {"name": name, "command": renaming(writable(str(place / entry.path)), name)}
        file = LessonFile.wrong(names[name], path, RENAME, facts)
        files[names[name]] = replace(file, meant=name, ignored=True)
    return files


def _beside_copies(
    file: LessonFile, entries: Iterable[FileEntry], names: dict[str, str], below: str
) -> LessonFile:
    """Return a lesson's file with those that have the name of a copy of it, which are not graded:
    a browser saves ``hooks (1).py`` beside the stub.
    """
    others = list(file.others)
    for entry in entries:
        meant = meant_by(entry.name, names)
        if meant and meant.readable and meant.alone and names[meant.name] == file.lesson:
            others.append(writable(entry.within(below).path))
    return replace(file, others=tuple(others[: MOST_OTHERS - 1]))


def _in_folders_of(
    place: Path, entries: Iterable[FileEntry], names: dict[str, str], below: str
) -> dict[str, LessonFile]:
    """Return, for each lesson with a folder at ``place``, its files of other names, ignored."""
    lessons, here = set(names.values()), place.resolve().name
    inside: dict[str, list[FileEntry]] = {}
    for entry in entries:
        folder = PurePosixPath(entry.path).parent.as_posix()
        lesson = here if folder == "." else folder
        if lesson in lessons and entry.name.endswith(SUFFIXES) and may_hold_an_answer(entry.name):
            inside.setdefault(lesson, []).append(entry)
    files = {}
    for lesson, others in inside.items():
        first = others[0]
        path, name = writable(first.within(below).path), f"{lesson}{PurePath(first.name).suffix}"
        facts = {"folder": lesson, "name": name, "other": path}
        if len(others) == 1:
            command = renaming(writable(str(place / first.path)), name)
            file = LessonFile.wrong(lesson, path, ANOTHER_NAME, {**facts, "command": command})
        else:
            shown = ", ".join(sorted(writable(one.name) for one in others)[:MOST_OTHERS])
            file = LessonFile.wrong(lesson, path, OTHER_NAMES, {**facts, "others": shown})
        files[lesson] = replace(file, ignored=True)
    return files


def renaming(path: str, name: str) -> str:
    """Return the command that renames a file in its folder, as typed from the current folder."""
    with contextlib.suppress(ValueError):  # Windows: it is on another drive
        path = os.path.relpath(path)
    if sys.platform == "win32":
        return subprocess.list2cmdline(["ren", path, name])
    return shlex.join(["mv", path, str(PurePath(path).with_name(name))])


def digest(files: dict[str, LessonFile]) -> str:
    """Return the SHA-256 (hex) of lessons, texts, cells and problems, independent of their
    location; files that were not graded, and that a report mentions, count with their paths.
    """
    return _hash(
        _as_read(lesson, file) + ([file.path, *file.others, *file.beside] if file.ignored else [])
        for lesson, file in sorted(files.items())
    )


def handed_in_digest(files: dict[str, LessonFile]) -> str:
    """Return the SHA-256 (hex) of what was handed in, whichever names of files are accepted."""
    return _hash(
        [lesson, *file.content] if file.content else _as_read(lesson, file)
        for lesson, file in sorted(files.items())
    )


def _hash(lessons: Iterable[list[object]]) -> str:
    return hashlib.sha256(json.dumps(list(lessons)).encode()).hexdigest()


def _as_read(lesson: str, file: LessonFile) -> list[object]:
    # a notebook's report also depends on these
    cells = [file.cells, [astuple(one) for one in file.left_out]] if file.cells else []
    not_graded = () if file.problem else file.others
    beside = [len(file.beside)] if file.beside else []
    return [lesson, file.text, _pathless(file), file.line, *cells, *not_graded, *beside]


def _pathless(file: LessonFile) -> str | None:
    problem = file.problem
    paths = filter(None, (file.path, *file.others, *file.beside))
    for path in sorted(paths, key=len, reverse=True):
        problem = problem and problem.replace(path, f"<{file.lesson}>")
    return problem


def _chosen(entries: Iterable[FileEntry], names: dict[str, str]) -> dict[str, LessonFile]:
    found: dict[str, list[FileEntry]] = {}
    for entry in entries:
        if entry.name in names:
            found.setdefault(names[entry.name], []).append(entry)
    return {
        lesson: _choose(lesson, sorted(files, key=lambda entry: (entry.depth, entry.path)))
        for lesson, files in found.items()
    }


def _choose(lesson: str, entries: list[FileEntry]) -> LessonFile:
    first = entries[0]
    if len(entries) > 1 and entries[1].depth == first.depth:
        path, other = writable(first.path), writable(entries[1].path)
        message = (
            "two files claim to be this lesson: {path} and {other}. Keep one of them. To grade a"
            " whole class, use grade batch"
            if len(entries) > 2 and entries[2].depth == first.depth
            else "two files claim to be this lesson: {path} and {other}. Keep one of them"
        )
        return LessonFile.wrong(lesson, path, message, {"other": other}, others=(other,))
    others = tuple(writable(entry.path) for entry in entries[1:MOST_OTHERS])
    return replace(read_entry(lesson, first, first.name, decode), others=others)


def read_entry(lesson: str, entry: FileEntry, name: str, decode: Decode) -> LessonFile:
    """Return a file as a lesson; ``name`` says whether it is a notebook."""
    notebook = name.endswith(SUFFIX)
    data = entry.read((MAX_NOTEBOOK_BYTES if notebook else MAX_FILE_BYTES) + 1)
    return decode(lesson, entry.path, data, notebook=notebook)
