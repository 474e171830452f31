"""Zips from strangers stay within bounds, and their names are decoded as their authors meant
them.
"""

from __future__ import annotations

import contextlib
import io
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from factories.downloads import Files, encrypted, zipped
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.imports.discover import find_class
from grader.core.errors import SubmissionError
from grader.course import files
from grader.course.files import MAX_MEMBERS, FileEntry, member_path, open_zip
from grader.course.handed_in import read_files
from grader.course.notebook import MAX_FILE_BYTES
from grader.course.submission import LessonFile, read_submission

LESSONS = ("tiny", "small")


def zip_class(folder: Path, **students: Files) -> Path:
    """Return a zip of a class in which each student handed in a zip."""
    zips = {f"{name}.zip": zipped(members) for name, members in students.items()}
    return written(folder, zipped(zips, zipfile.ZIP_STORED))


def written(folder: Path, data: bytes) -> Path:
    (folder / "class.zip").write_bytes(data)
    return folder / "class.zip"


def read_student(place: Path, name: str = "alice") -> dict[str, LessonFile]:
    (one,) = (one for one in find_class(place, lessons=LESSONS).handed if one.name == name)
    return one.read(LESSONS)


@contextlib.contextmanager
def memory_below(most: int) -> Iterator[None]:
    """Assert that the block takes less memory, in bytes."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------- counts


def test_zips_are_opened_two_deep(tmp_path: Path) -> None:
    files = read_student(zip_class(tmp_path, alice={"inner.zip": zipped({"tiny.py": "mine\n"})}))
    assert (files["tiny"].text, files["tiny"].path) == ("mine\n", "alice.zip/inner.zip/tiny.py")


FOUR = zipped(dict.fromkeys("abcd", ""))
TOO_MUCH = {
    "deep": (
        {"inner.zip": zipped({"inner.zip": zipped({"tiny.py": "x"})})},
        r"alice\.zip/inner\.zip/inner\.zip lies 3 zips deep, and 2 are opened\. Hand in",
    ),
    "many zips": (
        {f"{number}.zip": zipped({"x": ""}) for number in range(files.MAX_ARCHIVES)},
        "is one zip of more than 50",
    ),
    "many entries": (
        dict.fromkeys(map(str, range(MAX_MEMBERS + 1)), ""),
        r"alice\.zip holds 10,001 entries, more than 10,000\. Zip the lessons alone",
    ),
}


@pytest.mark.parametrize(("members", "words"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_zip_that_is_too_deep_or_too_large_says_so(
    members: Files, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match=words):
        read_student(zip_class(tmp_path, alice=members))


def test_what_the_zips_of_one_student_hold_is_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_MEMBERS", 10)
    place = zip_class(tmp_path, alice={f"{number}.zip": FOUR for number in range(3)})
    with pytest.raises(SubmissionError, match="hold more than 10 entries"):
        read_student(place)


# -------------------------------------------------------------------------------------------- bombs


def test_a_zip_that_grows_without_end_is_not_laid_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip within a zip hardly shrinks, so one that does is a bomb."""
    monkeypatch.setattr(files, "FREE_BYTES", 1 << 20)
    bomb = zipped({"zeros": bytes(3 << 20)}, zipfile.ZIP_STORED)
    place = written(tmp_path, zipped({"alice.zip": bomb, "bob/tiny.py": "fine\n"}))
    with pytest.raises(
        SubmissionError, match=r"alice\.zip grows beyond 1 MB when it is opened\. Hand in"
    ):
        read_student(place)
    assert read_student(place, "bob")["tiny"].text == "fine\n"


def test_a_lesson_that_grows_is_read_up_to_its_cap(tmp_path: Path) -> None:
    place = zip_class(tmp_path, alice={"tiny.py": bytes(64 << 20)})
    with memory_below(8 * MAX_FILE_BYTES):
        problem = read_student(place)["tiny"].problem
    assert problem == "alice.zip/tiny.py is larger than 256 KB. Keep what the lesson needs"


def zip_directory(entries: int) -> bytes:
    """Return a zip that is only a directory, as large as that many entries make it."""
    numbers = (20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *numbers) + b"x"
    count, size = entries % 65536, len(entry) * entries
    return entry * entries + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, size, 0, 0)


def test_a_directory_that_is_far_too_large_is_not_even_read() -> None:
    data = io.BytesIO(zip_directory(200_000))
    with (
        memory_below(2 << 20),
        pytest.raises(SubmissionError, match="holds far more than 10,000 entries"),
    ):
        open_zip(data, "work.zip")


LARGE = 50 << 20
HIDING_END = struct.pack("<4s4H2L", b"PK\x05\x06", 0, 0, 1, 1, LARGE, 0x06054B50) + b"\0\0"
END = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 46, 0, 0)
END64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, LARGE, 0)
AT_0, AT_5 = (struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1) for at in (0, 5))
LIES = {
    "a signature within the end record": HIDING_END,
    "the 64-bit form": END64 + AT_0 + END,
    "the 64-bit form, elsewhere": b"12345" + END64 + bytes(1 << 18) + AT_5 + END,
    "and not there": bytes(200) + END64 + AT_5 + END,
}


@pytest.mark.parametrize("data", LIES.values(), ids=LIES)
def test_no_lie_about_its_directory_gets_past(data: bytes) -> None:
    """The largest directory size of all end records counts, whichever one zipfile reads."""
    with pytest.raises(SubmissionError, match="holds far more"):
        open_zip(io.BytesIO(data), "work.zip")


def test_a_zip_of_the_64_bit_form_is_read(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "work.zip", "w") as target,
        target.open("tiny.py", "w", force_zip64=True) as member,
    ):
        member.write(b"mine\n")
    assert read_submission(tmp_path / "work.zip", LESSONS)["tiny"].text == "mine\n"


# ---------------------------------------------------------------------------------- links and locks


def link(folder: Path, name: str, target: str) -> Path:
    """Return a zip with a symbolic link beside a lesson."""
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(folder / "class.zip", "w") as archive:
        archive.writestr(entry, target)
        archive.writestr("bob/small.py", "fine\n")
    return folder / "class.zip"


def test_a_link_in_a_zip_is_no_text(tmp_path: Path) -> None:
    """Its contents are a path, which would otherwise be graded as Python."""
    place = link(tmp_path, "bob/tiny.py", "../../etc/passwd")
    files = read_student(place, "bob")
    assert "not a link to elsewhere" in str(files["tiny"].problem)
    assert files["small"].text == "fine\n"
    assert "not a link" in str(read_submission(place, LESSONS)["tiny"].problem)


def test_a_link_among_the_students_of_a_zip_is_passed_over(tmp_path: Path) -> None:
    found = find_class(link(tmp_path, "alice", "bob"), lessons=LESSONS)
    assert [one.name for one in found.handed] == ["bob"]
    assert "links are not followed" in dict(found.passed_over)["alice"]


def test_a_zip_under_a_password_is_a_problem_of_each_lesson(tmp_path: Path) -> None:
    inner = encrypted(zipped({"tiny.py": "x"}))
    place = written(tmp_path, zipped({"alice.zip": inner, "bob/tiny.py": "x"}, zipfile.ZIP_STORED))
    assert "nor encrypted" in str(read_student(place)["tiny"].problem)


def test_a_class_under_a_password_names_each_student(tmp_path: Path) -> None:
    whole = zipped({"alice.zip": zipped({"tiny.py": "x"}), "bob/tiny.py": "x"})
    place = written(tmp_path, encrypted(whole))
    assert "nor encrypted" in str(read_student(place, "bob")["tiny"].problem)
    with pytest.raises(
        SubmissionError, match=r"alice\.zip can't be read: .*encrypted.*without a password"
    ):
        read_student(place)


def test_a_lesson_that_is_not_there_while_a_zip_is_shut_has_that_zip_s_problem(
    tmp_path: Path,
) -> None:
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "tiny.py").write_text("mine\n")
    (tmp_path / "alice" / "rest.zip").write_bytes(b"PK")
    files = read_student(tmp_path)
    assert files["tiny"].text == "mine\n"
    assert str(files["small"].problem).startswith("rest.zip is not a readable zip")


def test_a_zip_that_may_not_be_read_is_told_so() -> None:
    def refused() -> IO[bytes]:
        raise PermissionError(13, "Permission denied", "alice.zip")

    with pytest.raises(
        SubmissionError,
        match=r"^alice\.zip can't be read: Permission denied\. Check its permissions$",
    ):
        read_files([FileEntry("alice.zip", refused)], LESSONS)


@given(st.integers(0, 2**32), st.data())
@settings(max_examples=60)
def test_no_bytes_make_a_student_s_zip_raise_anything_else(seed: int, data: st.DataObject) -> None:
    inner = zipped({"small.py": "y"})
    whole = bytearray(zipped({"a/tiny.py": "x = 1\n" * 20, "in.zip": inner}))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(
            st.sampled_from([0, 1, 8, 12, 14, 0x2E, 0x80, 0xFF])
        )
    leaf = FileEntry("alice.zip", lambda: io.BytesIO(bytes(whole)))
    try:
        files = read_files([leaf], LESSONS)
    except SubmissionError as error:
        assert "alice.zip" in str(error)
    else:
        assert set(files) <= set(LESSONS)


# -------------------------------------------------------------------------------------------- names


def entry_written_as(path: str, encoding: str, *, utf8_flag: bool = False) -> zipfile.ZipInfo:
    """Return zipfile's entry for a name that a program wrote in this way."""
    raw = path.encode(encoding)
    data = bytearray(zipped({"x" * len(raw): ""}))
    data = data.replace(b"x" * len(raw), raw)
    if utf8_flag:
        data[data.find(b"PK\x01\x02") + 9] |= 0x08
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.infolist()[0]


@pytest.mark.parametrize(
    ("path", "encoding"),
    [
        ("김민준/tiny.py", "cp949"),
        ("똠방각하/tiny.py", "cp949"),
        ("홍길동\\과제 1\\tiny.py", "cp949"),
        ("김민준/tiny.py", "utf-8"),
        ("Zoë/tiny.py", "utf-8"),
        ("Müller/tiny.py", "cp437"),
        ("Zoë Çelik/tiny.py", "cp437"),
        ("Jürgen Möller/tiny.py", "cp850"),
        ("André/señor.py", "cp437"),
    ],
)
def test_names_are_read_as_they_were_meant(path: str, encoding: str) -> None:
    assert member_path(entry_written_as(path, encoding)) == path.replace("\\", "/")


def test_a_name_that_says_it_is_utf_8_is_taken_at_its_word() -> None:
    assert member_path(entry_written_as("÷╠/tiny.py", "utf-8", utf8_flag=True)) == "÷╠/tiny.py"


@given(st.binary(min_size=1, max_size=20).filter(lambda raw: b"\0" not in raw and b"PK" not in raw))
def test_any_bytes_are_a_name(raw: bytes) -> None:
    entry = zipfile.ZipInfo("x")
    entry.filename = raw.decode("cp437")
    member_path(entry).encode("utf-8")
