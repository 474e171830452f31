"""One student's files: a folder, a zip or one file, with ``<lesson>.py`` or ``<lesson>.ipynb``
anywhere inside.

Only files named after a lesson are looked at. What is wrong with one is a value
(``LessonFile.problem``) on that lesson alone.
"""

from __future__ import annotations

import codecs
import functools
import hashlib
import io
import json
import re
import tokenize
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path, PurePath, PurePosixPath

from grader.core.errors import SubmissionError
from grader.core.records import Record
from grader.course.files import (
    ZIP_SUFFIX,
    FileEntry,
    Unzipped,
    folder_leaves,
    open_inside,
    zip_leaves,
)
from grader.course.notebooks import MAX_NOTEBOOK_BYTES, SUFFIX, LeftOut, read_code, read_notebook
from grader.course.zips import open_zip

SUFFIXES = (".py", SUFFIX)
"""What a lesson's file may end with."""
COPY = re.compile(r"^copy of |[ _-]*(\(\d+\)|copy( \d+)?|복사본)$")
"""What a copy's name has beside the file's, in small letters."""
MAX_FILE_BYTES = 1 << 20
NOTHING: Mapping[str, str] = {}
READABLE = (
    "check its permissions, that it is no link to elsewhere, and that it is neither damaged nor"
    " encrypted"
)


ENCODINGS = frozenset(
    """
    utf-8 utf-8-sig ascii iso8859-1 iso8859-15 cp1250 cp1251 cp1252 koi8-r
    cp949 euc_kr johab euc_jp shift_jis cp932 gbk gb2312 gb18030 big5
    """.split()
)
"""What a file may declare itself to be in: text encodings that people use. Others (punycode, utf-7)
are slow, or hide what they say.
"""


@dataclass(frozen=True, slots=True)
class LessonFile(Record):
    """One lesson's file: where it lies, its text, or what is wrong with it and on which line.

    ``problem`` is ``template`` filled with ``facts``; ``others`` are further paths that it speaks
    of. Of a notebook ``text`` is its code, ``cells`` says where that stands (``Notebook.cells``),
    ``left_out`` what is no part of it.
    """

    lesson: str
    path: str
    text: str = ""
    problem: str | None = None
    line: int | None = None
    others: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
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
        """A file that can't be graded, with what is wrong with it; ``{path}`` in the template is
        its path.
        """
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


def lesson_names(lessons: Iterable[str]) -> dict[str, str]:
    """By file name, which lesson it is: the one place that says so."""
    return {f"{lesson}{suffix}": lesson for lesson in lessons for suffix in SUFFIXES}


def read_submission(
    place: Path, lessons: Iterable[str], *, below: str = ""
) -> dict[str, LessonFile]:
    """The files of those lessons that are there, by lesson; raises SubmissionError where ``place``
    is no folder, zip or lesson.

    Of several with one name the one least deep counts, and only that one is read; two at the same
    depth are a problem that names both. Their paths begin at ``place``, or with ``below`` where
    that is given.
    """
    names = lesson_names(lessons)
    if place.is_dir():
        return _chosen((leaf.within(below) for leaf in folder_leaves(place)), names)
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
        return _chosen((leaf.within(below) for leaf in zip_leaves(archive)), names)


def misnamed(path: str, names: dict[str, str]) -> SubmissionError:
    """Why a file that is there is no lesson's: what it would have to be called."""
    if meant := _meant(PurePath(path).name, names):
        return SubmissionError(
            "{path} is not called {name}, so it doesn't count. Call it that", path=path, name=meant
        )
    lessons = ", ".join(dict.fromkeys(names.values()))
    message = (
        "{path} is no folder, no zip, and no lesson: those are called {file} or .ipynb. Lessons:"
        " {names}"
    )
    return SubmissionError(
        message, path=path, file=f"{next(iter(names.values()))}.py", names=lessons
    )


def nearly_named(folder: Path, lessons: Iterable[str]) -> SubmissionError | None:
    """Of a folder without a lesson, what is wrong with the first file that almost has a lesson's
    name.
    """
    names = lesson_names(lessons)
    near = (
        (leaf.path for leaf in folder_leaves(folder) if _meant(leaf.name, names))
        if folder.is_dir()
        else ()
    )
    return next((misnamed(writable(str(folder / path)), names) for path in near), None)


def read_leaves(leaves: Iterable[FileEntry], lessons: Iterable[str]) -> dict[str, LessonFile]:
    """As read_submission, of files that lie anywhere, those in zips among them too, which count as
    one folder deeper.

    A lesson that isn't found while a zip can't be opened has that zip's problem; where nothing at
    all is found, SubmissionError is raised with it. So has one that isn't found the file that
    almost has its name.
    """
    names = lesson_names(lessons)
    with Unzipped(leaves) as opened:
        found = _chosen(opened.leaves, names)
        meant = [(leaf.path, name) for leaf in opened.leaves if (name := _meant(leaf.name, names))]
    if opened.unread:
        path, error = writable(opened.unread[0][0]), opened.unread[0][1]
        facts = {name: writable(fact) for name, fact in error.facts.items()}
        if not found:
            raise SubmissionError(error.template, **facts)
        found |= {
            lesson: LessonFile.wrong(lesson, path, error.template, facts)
            for lesson in names.values()
            if lesson not in found
        }
    for path, name in meant:
        problem = "{path} is not called {name}, so it doesn't count. Hand it in under that name"
        found.setdefault(
            names[name], LessonFile.wrong(names[name], writable(path), problem, {"name": name})
        )
    return found


def _meant(name: str, names: dict[str, str]) -> str | None:
    """The lesson's file name that is meant by one in other letters, or as browsers and systems call
    a copy: ``Tiny (1).py``.
    """
    stem, dot, suffix = name.casefold().rpartition(".")
    return next((one for one in names if one == COPY.sub("", stem) + dot + suffix), None)


def digest(files: dict[str, LessonFile]) -> str:
    """The SHA-256, in hexadecimal, of what was handed in: lessons, texts, their cells and problems,
    wherever the files lie.
    """
    lessons = [
        [lesson, file.text, _pathless(file), file.line, *_of_a_notebook(file)]
        for lesson, file in sorted(files.items())
    ]
    return hashlib.sha256(json.dumps(lessons).encode()).hexdigest()


def _of_a_notebook(file: LessonFile) -> list[object]:
    """What a report on a notebook shows beside the text's lines; nothing for a file of Python,
    whose digest is that of its text.
    """
    return [file.cells, [astuple(one) for one in file.left_out]] if file.cells else []


def _pathless(file: LessonFile) -> str | None:
    problem = file.problem
    for path in sorted((file.path, *file.others), key=len, reverse=True):
        problem = problem and problem.replace(path, f"<{file.lesson}>")
    return problem


def _chosen(leaves: Iterable[FileEntry], names: dict[str, str]) -> dict[str, LessonFile]:
    found: dict[str, list[FileEntry]] = {}
    for leaf in leaves:
        if leaf.name in names:
            found.setdefault(names[leaf.name], []).append(leaf)
    return {
        lesson: _choose(lesson, sorted(files, key=lambda leaf: (leaf.depth, leaf.path)))
        for lesson, files in found.items()
    }


def _choose(lesson: str, leaves: list[FileEntry]) -> LessonFile:
    first = leaves[0]
    if len(leaves) > 1 and leaves[1].depth == first.depth:
        path, other = writable(first.path), writable(leaves[1].path)
        message = (
            "two files claim to be this lesson: {path} and {other}. Keep one; a whole class is for"
            " grade batch"
        )
        return LessonFile.wrong(lesson, path, message, {"other": other}, others=(other,))
    limit = MAX_NOTEBOOK_BYTES if first.name.endswith(SUFFIX) else MAX_FILE_BYTES
    return decode(lesson, first.path, first.read(limit + 1), notebook=first.name.endswith(SUFFIX))


def writable(path: str) -> str:
    """A path that can be written down, on one line: what is no visible character in it is
    escaped.
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in path
    )


def decode(lesson: str, path: str, data: bytes | None, *, notebook: bool = False) -> LessonFile:
    """A lesson's file from its bytes, whatever they are."""
    path = writable(path)
    if data is None:
        return LessonFile.wrong(lesson, path, "{path} can't be read: " + READABLE)
    limit = MAX_NOTEBOOK_BYTES if notebook else MAX_FILE_BYTES
    if len(data) > limit:
        message = "{path} is larger than {megabytes} MB" + (
            ". Clear its outputs, and save it" if notebook else ""
        )
        return LessonFile.wrong(lesson, path, message, {"megabytes": str(limit >> 20)})
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        return LessonFile.wrong(
            lesson, path, "{path} is empty. `grade init` elsewhere gives a fresh stub to start from"
        )
    if notebook:
        return _decode_notebook(lesson, path, data)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        message = (
            "{path} is UTF-16 text, which Python doesn't read. Save it as UTF-8: editors ask for"
            " the encoding under Save as"
        )
        return LessonFile.wrong(lesson, path, message, line=1)
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        message = "{place} holds a NUL byte, so it is no Python text. Save it as UTF-8"
        return LessonFile.wrong(lesson, path, message, {"place": f"{path}:{line}"}, line=line)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if codecs.lookup(encoding).name not in ENCODINGS:
            message = (
                "{place} declares the encoding {encoding}, in which no lesson is read. Save it as"
                " UTF-8"
            )
            return LessonFile.wrong(
                lesson, path, message, {"place": f"{path}:1", "encoding": encoding[:40]}, line=1
            )
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
        text.encode("utf-8")  # some codecs make surrogates, which no file can be written with
    except (SyntaxError, UnicodeError, LookupError) as error:
        line = _bad_line(data)
        if _is_cp949(data):
            remedy = "Save it as UTF-8, or write # coding: cp949 on its first line"
            message = "{place} is not UTF-8 text; it looks like Korean in CP949 (EUC-KR). " + remedy
            return LessonFile.wrong(lesson, path, message, {"place": f"{path}:{line}"}, line=line)
        message = "{place} is not UTF-8 text ({reason}). Save it as UTF-8"
        return LessonFile.wrong(
            lesson, path, message, {"place": f"{path}:{line}", "reason": str(error)}, line=line
        )
    return LessonFile(lesson, path, text)


def _decode_notebook(lesson: str, path: str, data: bytes) -> LessonFile:
    try:
        read = read_notebook(lesson, path, data, code_bytes=MAX_FILE_BYTES)
    except SubmissionError as error:
        return LessonFile.wrong(lesson, path, error.template, error.facts)
    return LessonFile(lesson, path, read.text, cells=read.cells, left_out=read.left_out)


def read_cell(lesson: str, code: str) -> LessonFile:
    """A lesson that is the cell under ``%%grade``; lines are counted in the cell, whose first is
    the magic's.
    """
    path = f"%%grade {lesson}"
    try:
        read = read_code(path, code, code_bytes=MAX_FILE_BYTES)
    except SubmissionError as error:
        return LessonFile.wrong(lesson, path, error.template, error.facts)
    return LessonFile(lesson, path, read.text, left_out=read.left_out)


def _is_cp949(data: bytes) -> bool:
    """Whether bytes make sense as Korean of before Unicode: Hangul, and none of the ideographs that
    Chinese would come out with.
    """
    try:
        letters = data.decode("cp949")
    except UnicodeDecodeError:
        return False
    return any("가" <= letter <= "힣" for letter in letters) and not any(
        "一" <= letter <= "鿿" for letter in letters
    )


def _bad_line(data: bytes) -> int:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return 1
