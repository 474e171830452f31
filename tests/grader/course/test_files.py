"""Zips from strangers stay within bounds, and their names
are decoded as their authors meant them.
"""

from __future__ import annotations

import io
import stat
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.classroom.imports.discover import find_class
from grader.core.errors import SubmissionError
from grader.course import files
from grader.course.files import MAX_MEMBERS, FileEntry, member_path, open_zip
from grader.course.notebook import MAX_FILE_BYTES
from grader.course.submission import LessonFile, read_files, read_submission

LESSONS = ("tiny", "small")
Members = dict[str, str | bytes]


def make_zip(members: Members, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return stream.getvalue()


def zip_class(folder: Path, **students: Members) -> Path:
    """Return a zip of a class in which each student handed in a zip."""
    place = folder / "class.zip"
    place.write_bytes(
        make_zip(
            {f"{name}.zip": make_zip(members) for name, members in students.items()},
            zipfile.ZIP_STORED,
        )
    )
    return place


def read_student(place: Path, name: str = "alice") -> dict[str, LessonFile]:
    (one,) = (one for one in find_class(place, lessons=LESSONS).handed if one.name == name)
    return one.read(LESSONS)


def nest_zips(depth: int, members: Members) -> bytes:
    """Nest zips in zips, that many deep."""
    data = make_zip(members)
    for _ in range(depth - 1):
        data = make_zip({"inner.zip": data})
    return data


# -------------------------------------------------------------------------------------------- depth


def test_zips_are_opened_two_deep(tmp_path: Path) -> None:
    files = read_student(zip_class(tmp_path, alice={"inner.zip": make_zip({"tiny.py": "mine\n"})}))
    assert (files["tiny"].text, files["tiny"].path) == ("mine\n", "alice.zip/inner.zip/tiny.py")


def test_zips_any_deeper_are_a_row_that_says_so(tmp_path: Path) -> None:
    place = zip_class(tmp_path, alice={"inner.zip": nest_zips(2, {"tiny.py": "x"})})
    with pytest.raises(
        SubmissionError,
        match=r"alice\.zip/inner\.zip/inner\.zip lies 3 zips deep, and 2 are opened\. Hand in",
    ):
        read_student(place)


def test_a_zip_of_many_zips_is_opened_up_to_a_number(tmp_path: Path) -> None:
    place = zip_class(
        tmp_path,
        alice={f"{number}.zip": make_zip({"x": ""}) for number in range(files.MAX_ARCHIVES)},
    )
    with pytest.raises(SubmissionError, match="is one zip of more than 50"):
        read_student(place)


def test_what_the_zips_of_one_student_hold_is_counted_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_MEMBERS", 10)
    place = zip_class(
        tmp_path,
        alice={f"{number}.zip": make_zip(dict.fromkeys("abcd", "")) for number in range(3)},
    )
    with pytest.raises(SubmissionError, match="hold more than 10 entries"):
        read_student(place)


# -------------------------------------------------------------------------------------------- bombs


def test_a_zip_that_grows_without_end_is_not_laid_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip within a zip hardly shrinks, so one that does is a bomb."""
    monkeypatch.setattr(files, "FREE_BYTES", 1 << 20)
    bomb = make_zip({"zeros": bytes(3 << 20)}, zipfile.ZIP_STORED)
    place = tmp_path / "class.zip"
    place.write_bytes(make_zip({"alice.zip": bomb, "bob/tiny.py": "fine\n"}))
    with pytest.raises(
        SubmissionError, match=r"alice\.zip grows beyond 1 MB when it is opened\. Hand in"
    ):
        read_student(place)
    assert read_student(place, "bob")["tiny"].text == "fine\n"


def test_a_lesson_that_grows_is_read_up_to_its_cap(tmp_path: Path) -> None:
    place = zip_class(tmp_path, alice={"tiny.py": bytes(64 << 20)})
    tracemalloc.start()
    try:
        problem = read_student(place)["tiny"].problem
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert problem == "alice.zip/tiny.py is larger than 256 KB. Keep what the lesson needs"
    assert peak < 8 * MAX_FILE_BYTES


def zip_directory(entries: int) -> bytes:
    """Return a zip that is only a directory, as large as that many entries make it."""
    entry = (
        struct.pack(
            "<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0
        )
        + b"x"
    )
    size = len(entry) * entries
    return entry * entries + struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, entries % 65536, entries % 65536, size, 0, 0
    )


def test_a_zip_with_too_many_entries_is_a_row(tmp_path: Path) -> None:
    place = zip_class(tmp_path, alice=dict.fromkeys(map(str, range(MAX_MEMBERS + 1)), ""))
    with pytest.raises(
        SubmissionError,
        match=r"alice\.zip holds 10,001 entries, more than 10,000\. Zip the lessons alone",
    ):
        read_student(place)


def test_a_directory_that_is_far_too_large_is_not_even_read() -> None:
    data = io.BytesIO(zip_directory(200_000))
    tracemalloc.start()
    try:
        with pytest.raises(SubmissionError, match="holds far more than 10,000 entries"):
            open_zip(data, "work.zip")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20


@pytest.mark.parametrize(
    "hiding",
    [
        "a signature within the end record",
        "the 64-bit form",
        "the 64-bit form, elsewhere",
        "and not there",
    ],
)
def test_no_lie_about_its_directory_gets_past(hiding: str) -> None:
    """The largest directory size of all end records counts, whichever one zipfile reads."""
    large = 50 << 20
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 46, 0, 0)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, large, 0)
    if hiding == "the 64-bit form":
        data = end64 + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1) + end
    elif hiding == "and not there":
        data = bytes(200) + end64 + struct.pack("<4sLQL", b"PK\x06\x07", 0, 5, 1) + end
    elif hiding == "the 64-bit form, elsewhere":
        data = (
            b"12345" + end64 + bytes(1 << 18) + struct.pack("<4sLQL", b"PK\x06\x07", 0, 5, 1) + end
        )
    else:
        data = struct.pack("<4s4H2L", b"PK\x05\x06", 0, 0, 1, 1, large, 0x06054B50) + b"\0\0"
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


def link(name: str, target: str) -> bytes:
    """Return a zip with a symbolic link."""
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(entry, target)
        archive.writestr("bob/small.py", "fine\n")
    return stream.getvalue()


def test_a_link_in_a_zip_is_no_text(tmp_path: Path) -> None:
    """Its contents are a path, which would otherwise be graded as Python."""
    (tmp_path / "class.zip").write_bytes(link("bob/tiny.py", "../../etc/passwd"))
    files = read_student(tmp_path / "class.zip", "bob")
    assert "not a link to elsewhere" in str(files["tiny"].problem)
    assert files["small"].text == "fine\n"
    assert "not a link" in str(read_submission(tmp_path / "class.zip", LESSONS)["tiny"].problem)


def test_a_link_among_the_students_of_a_zip_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_bytes(link("alice", "bob"))
    found = find_class(tmp_path / "class.zip", lessons=LESSONS)
    assert [one.name for one in found.handed] == ["bob"]
    assert "links are not followed" in dict(found.passed_over)["alice"]


def encrypt(data: bytes) -> bytes:
    """Return the zip with every member marked as encrypted."""
    out = bytearray(data)
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = out.find(signature)
        while at >= 0:
            out[at + flags] |= 1
            at = out.find(signature, at + 4)
    return bytes(out)


def test_a_zip_under_a_password_is_a_problem_of_each_lesson(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_bytes(
        make_zip(
            {"alice.zip": encrypt(make_zip({"tiny.py": "x"})), "bob/tiny.py": "x"},
            zipfile.ZIP_STORED,
        )
    )
    assert "nor encrypted" in str(read_student(tmp_path / "class.zip")["tiny"].problem)


def test_a_class_under_a_password_names_each_student(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_bytes(
        encrypt(make_zip({"alice.zip": make_zip({"tiny.py": "x"}), "bob/tiny.py": "x"}))
    )
    assert "nor encrypted" in str(read_student(tmp_path / "class.zip", "bob")["tiny"].problem)
    with pytest.raises(
        SubmissionError, match=r"alice\.zip can't be read: .*encrypted.*without a password"
    ):
        read_student(tmp_path / "class.zip")


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
    whole = bytearray(
        make_zip({"a/tiny.py": "x = 1\n" * 20, "in.zip": make_zip({"small.py": "y"})})
    )
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
    data = bytearray(make_zip({"x" * len(raw): ""}))
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
