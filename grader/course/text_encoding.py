"""Decode a lesson file: encodings, notebooks, and what can't be read."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Callable
from typing import Protocol

from grader.core.errors import SubmissionError
from grader.course.lesson_file import LessonFile
from grader.course.notebook.reader import (
    MAX_NOTEBOOK_BYTES,
    TOO_LARGE,
    Notebook,
    read_code,
    read_notebook,
)

MAX_FILE_BYTES = 256 << 10
"""The limit for a lesson's Python: forty times the longest solution of the course."""
READABLE = (
    "check its permissions, that it is not a link to elsewhere, and that it is neither damaged nor"
    " encrypted"
)
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
    if data is None:
        return LessonFile.wrong(lesson, path, "{path} can't be read: " + READABLE)
    limit = MAX_NOTEBOOK_BYTES if notebook else MAX_FILE_BYTES
    if len(data) > limit:
        message = "{path} is larger than {megabytes} MB. Clear its outputs, and save it"
        facts = {"megabytes": str(limit >> 20)}
        if not notebook:
            message, facts = TOO_LARGE, {"kilobytes": str(limit >> 10)}
        return LessonFile.wrong(lesson, path, message, facts)
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        message = "{path} is empty. To start again from the stub: {command}"
        return LessonFile.wrong(lesson, path, message, {"command": f"grade reset {lesson}"})
    if notebook:
        return _from_notebook(
            lesson, path, lambda: read_notebook(lesson, path, data, code_bytes=MAX_FILE_BYTES)
        )
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        message = (
            "{path} is UTF-16 text, which Python doesn't read. Save it as UTF-8: editors ask for"
            " the encoding under Save as"
        )
        return LessonFile.wrong(lesson, path, message, line=1)
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        message = "{place} holds a NUL byte, so it is not Python text. Save it as UTF-8"
        return LessonFile.wrong(lesson, path, message, {"place": f"{path}:{line}"}, line=line)
    declared, line = _declared_encoding(data)
    try:
        if codecs.lookup(declared).name not in ENCODINGS:
            message = (
                "{place} declares the encoding {encoding}, in which no lesson is read. Save it as"
                " UTF-8"
            )
            facts = {"place": f"{path}:{line}", "encoding": declared[:40]}
            return LessonFile.wrong(lesson, path, message, facts, line=line)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
        text.encode("utf-8")  # some codecs make surrogates, which can't be written to a file
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
    return _from_notebook(lesson, path, lambda: read_code(path, code, code_bytes=MAX_FILE_BYTES))


def _from_notebook(lesson: str, path: str, read: Callable[[], Notebook]) -> LessonFile:
    try:
        notebook = read()
    except SubmissionError as error:
        return LessonFile.wrong(lesson, path, error.template, error.facts)
    return LessonFile(lesson, path, notebook.text, cells=notebook.cells, left_out=notebook.left_out)


def _is_cp949(data: bytes) -> bool:
    """Return whether bytes are plausible CP949: Hangul without ideographs."""
    try:
        letters = data.decode("cp949")
    except UnicodeDecodeError:
        return False
    return any("가" <= letter <= "힣" for letter in letters) and not any(
        "一" <= letter <= "鿿" for letter in letters
    )


def _bad_line(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.count(b"\n", 0, error.start) + 1
    return 1
