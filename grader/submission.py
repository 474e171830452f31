"""One student's files: a folder or a zip with ``<lesson>.py`` anywhere inside.

Only files named after a lesson are looked at. What is wrong with one is a value (``LessonFile.problem``) on that lesson alone.
Imports ``errors``; no torch.
"""

from __future__ import annotations

import codecs
import functools
import io
import os
import tokenize
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.errors import SubmissionError

MAX_FILE_BYTES = 1 << 20
MAX_MEMBERS = 10_000
READABLE = "check its permissions, that it is no link to elsewhere, and that it is neither damaged nor encrypted"
SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "__MACOSX", "venv"})


ENCODINGS = frozenset(
    """utf-8 utf-8-sig ascii iso8859-1 iso8859-15 cp1250 cp1251 cp1252 cp949 euc_kr johab euc_jp shift_jis cp932 gbk gb2312 gb18030
    big5 koi8-r""".split()
)
"""What a file may declare itself to be in: text encodings that people use. Others (punycode, utf-7) are slow, or hide what they say."""


@dataclass(frozen=True, slots=True)
class LessonFile:
    """One lesson's file: where it lies, its text, or what is wrong with it and on which line."""

    lesson: str
    path: str
    text: str = ""
    problem: str | None = None
    line: int | None = None


def read_submission(place: Path, lessons: Iterable[str]) -> dict[str, LessonFile]:
    """The files of those lessons that are there, by lesson; raises SubmissionError where ``place`` is no folder and no zip.

    Of several with one name the one least deep counts, and only that one is read; two at the same depth are a problem that names
    both.
    """
    names = {f"{lesson}.py": lesson for lesson in lessons}
    if place.is_dir():
        return _chosen(_in_folder(place, names), names)
    if not place.is_file():
        raise SubmissionError(f"{place} does not exist. Name a folder that holds your lessons, or make one: grade init my-work")
    try:
        with zipfile.ZipFile(place) as archive:
            return _chosen(_in_zip(place, archive, names), names)
    except SubmissionError:
        raise
    except Exception as error:  # zipfile raises whatever a damaged directory leads to
        raise SubmissionError(f"{place} is no folder and no readable zip: {error}") from None


Candidate = tuple[str, Callable[[], bytes | None]]
"""A path within the submission, and what reads it: None where that can't be done."""


def _in_folder(root: Path, names: dict[str, str]) -> Iterator[Candidate]:
    for folder, subfolders, files in os.walk(root):
        subfolders[:] = sorted(s for s in subfolders if s not in SKIPPED_FOLDERS and not s.startswith("."))
        for name in sorted(files):
            if name in names:
                path = Path(folder) / name
                yield path.relative_to(root).as_posix(), functools.partial(_read, path, root)


def _read(path: Path, root: Path) -> bytes | None:
    """A file's bytes, one over the cap at most; None where it can't be read or is a link to elsewhere."""
    try:
        if not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
            return None
        with path.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except (OSError, RuntimeError):  # before Python 3.13 a link to itself is a RuntimeError
        return None


def _in_zip(place: Path, archive: zipfile.ZipFile, names: dict[str, str]) -> Iterator[Candidate]:
    entries = archive.infolist()
    if len(entries) > MAX_MEMBERS:
        raise SubmissionError(f"{place} holds {len(entries):,} entries, more than {MAX_MEMBERS:,}")
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        hidden = any(part in SKIPPED_FOLDERS or part.startswith(".") for part in path.parts[:-1])
        if path.name in names and not entry.is_dir() and not hidden:
            yield str(path), functools.partial(_unpack, archive, entry)


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes | None:
    """A member's bytes, one over the cap at most; None where it is damaged or encrypted."""
    try:
        with archive.open(entry) as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except Exception:  # zlib.error, LZMAError, BadZipFile, RuntimeError for a password, and more
        return None


def _chosen(candidates: Iterator[Candidate], names: dict[str, str]) -> dict[str, LessonFile]:
    found: dict[str, list[Candidate]] = {}
    for path, read in candidates:
        found.setdefault(names[PurePosixPath(path).name], []).append((path, read))
    return {lesson: _choose(lesson, sorted(files, key=lambda file: (file[0].count("/"), file[0]))) for lesson, files in found.items()}


def _choose(lesson: str, files: list[Candidate]) -> LessonFile:
    path, read = files[0]
    if len(files) > 1 and files[1][0].count("/") == path.count("/"):
        problem = f"two files claim to be this lesson: {writable(path)} and {writable(files[1][0])}. Keep one"
        return LessonFile(lesson, writable(path), problem=problem)
    return decode(lesson, path, read())


def writable(path: str) -> str:
    """A path that can be written down: what is no text in it is escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def decode(lesson: str, path: str, data: bytes | None) -> LessonFile:
    """A lesson's file from its bytes, whatever they are."""
    path = writable(path)
    if data is None:
        return LessonFile(lesson, path, problem=f"{path} can't be read: {READABLE}")
    if len(data) > MAX_FILE_BYTES:
        return LessonFile(lesson, path, problem=f"{path} is larger than {MAX_FILE_BYTES >> 20} MB")
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        return LessonFile(lesson, path, problem=f"{path} is empty. `grade init` elsewhere gives a fresh stub to start from")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        return LessonFile(lesson, path, problem=f"{path}:{line} holds a NUL byte, so it is no Python text. Save it as UTF-8", line=line)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if codecs.lookup(encoding).name not in ENCODINGS:
            problem = f"{path}:1 declares the encoding {encoding[:40]}, in which no lesson is read. Save it as UTF-8"
            return LessonFile(lesson, path, problem=problem, line=1)
        text = io.TextIOWrapper(io.BytesIO(data), encoding, newline=None).read()
        text.encode("utf-8")  # some codecs make surrogates, which no file can be written with
    except (SyntaxError, UnicodeError, LookupError) as error:
        line = _bad_line(data)
        return LessonFile(lesson, path, problem=f"{path}:{line} is not UTF-8 text ({error}). Save it as UTF-8", line=line)
    return LessonFile(lesson, path, text)


def _bad_line(data: bytes) -> int:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return 1
