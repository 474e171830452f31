"""Read whatever a student hands in: only lessons count, and a problem affects only its lesson."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shlex
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from factories.downloads import encrypted, zipped
from hypothesis import given
from hypothesis import strategies as st

from grader.core.errors import SubmissionError
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.messages import Settings
from grader.course.files import MAX_MEMBERS
from grader.course.notebook import MAX_FILE_BYTES, LeftOut
from grader.course.submission import LessonFile, decode, digest, read_submission
from grader.runtime.grading import notes_on, task_for
from grader.worker.sandbox.scratch import clear_folder

LESSONS = ("tiny", "small")
Files = Mapping[str, str | bytes]


def write_folder(root: Path, files: Files) -> Path:
    """Write a folder with those files."""
    root.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def write_zip(path: Path, files: Files, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    path.write_bytes(zipped(files, compression))
    return path


def texts(found: dict[str, LessonFile]) -> dict[str, str]:
    return {lesson: file.text for lesson, file in found.items()}


def problem(file: LessonFile) -> str:
    """Return the problem of a file, which must then give no text."""
    assert file.problem is not None
    assert file.text == ""
    return file.problem


# ------------------------------------------------------------------------------------------ folders


NOT_STUDENTS = (".git", ".venv", "__pycache__", "node_modules", "site-packages", "venv", "__MACOSX")
FOUND = {
    "however deep": (
        {"tiny.py": "a = 1\n", "work/week 2/small.py": "b = 2\n"},
        {"tiny.py": "a = 1\n", "work/week 2/small.py": "b = 2\n"},
    ),
    "of several the one least deep": (
        {"a/tiny.py": "deep\n", "old/backup/tiny.py": "deeper\n", "tiny.py": "mine\n"},
        {"tiny.py": "mine\n"},
    ),
    "and not one of almost its name": (
        {"tiny.py": "mine\n", "tiny (1).py": "old\n"},
        {"tiny.py": "mine\n"},
    ),
    "no other file": (
        {"tiny.py.bak": "", "my_tiny.py": "", "conftest.py": "", "tiny.py/readme": ""},
        {},
    ),
    "nothing": ({}, {}),
    "no folder that holds no student's work": (
        {f"{name}/tiny.py": "x" for name in NOT_STUDENTS}
        | {f"deeper/{name}/further/small.py": "x" for name in NOT_STUDENTS}
        | {"further/ours/tiny.py": "mine\n"},
        {"further/ours/tiny.py": "mine\n"},
    ),
}


@pytest.mark.parametrize("write", [write_folder, write_zip])
@pytest.mark.parametrize(("files", "found"), FOUND.values(), ids=FOUND)
def test_lessons_are_found(
    files: Files, found: Files, write: Callable[[Path, Files], Path], tmp_path: Path
) -> None:
    """A zip is read like a folder."""
    lessons = read_submission(write(tmp_path / "work.zip", files), LESSONS)
    assert {file.path: file.text for file in lessons.values() if not file.ignored} == found
    assert all(file.problem is None for file in lessons.values() if not file.ignored)


@pytest.mark.linux
@pytest.mark.parametrize("depth", [1500, 3000])
def test_folders_may_be_nested_deeper_than_python_recurses(tmp_path: Path, depth: int) -> None:
    """The path of 3,000 nested folders is longer than the system allows."""
    (tmp_path / "tiny.py").write_text("a = 1\n")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir("d", dir_fd=folder)
            inner = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open("small.py", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
        os.write(file, b"b = 2\n")
        os.close(file)
        found = texts(read_submission(tmp_path, LESSONS))
    finally:
        os.close(folder)
        clear_folder(tmp_path)  # pytest's own cleanup recurses
    assert found == {"tiny": "a = 1\n"} | ({"small": "b = 2\n"} if depth < 2000 else {})


@pytest.mark.parametrize(
    "name", ["Tiny.py", "tiny (1).py", "tiny.py.txt", "tiny.txt", "ti-ny.py", "tiny"]
)
def test_a_file_with_almost_the_name_is_ignored_and_comes_with_the_command_that_renames_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (file,) = read_submission(write_folder(Path("in"), {name: "x"}), LESSONS).values()
    assert (file.ignored, file.meant, file.text) == (True, "tiny.py", "")
    run = file.facts["command"]
    assert file.problem is not None and file.problem.endswith(f"Rename it:\n{run}")
    assert shlex.split(run) == ["mv", f"in/{name}", "in/tiny.py"]


def test_a_copy_beside_the_lesson_is_said_not_to_be_graded(tmp_path: Path) -> None:
    files = {"tiny/tiny.py": "x", "tiny/tiny (1).py": "y", "tiny/my_tiny.py": "z"}
    (file,) = read_submission(write_folder(tmp_path, files), LESSONS).values()
    assert (file.path, file.others) == ("tiny/tiny.py", ("tiny/tiny (1).py",))


@pytest.mark.parametrize("name", ["my_tiny_tricks.py", "tiny notes.txt", "tiny.pdf"])
def test_in_a_folder_a_name_among_other_words_is_nobodys(name: str, tmp_path: Path) -> None:
    assert read_submission(write_folder(tmp_path, {name: "x"}), LESSONS) == {}


def test_a_submission_may_itself_lie_in_a_hidden_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / ".cache" / "venv", {"tiny.py": "x"})
    assert texts(read_submission(folder, LESSONS)) == {"tiny": "x"}


def test_of_several_the_others_are_told(tmp_path: Path) -> None:
    files = {"a/tiny.py": "deep\n", "old/backup/tiny.py": "deeper\n", "tiny.py": "mine\n"}
    found = read_submission(write_folder(tmp_path, files), LESSONS)
    assert found["tiny"].others == ("a/tiny.py", "old/backup/tiny.py")
    (told,) = notes_on(found["tiny"], Catalogue())
    assert told == "tiny.py was graded, not a/tiny.py, old/backup/tiny.py"
    assert digest(found) != digest({"tiny": replace(found["tiny"], others=())})


@pytest.mark.parametrize("write", [write_folder, write_zip])
def test_two_equally_deep_are_a_problem_that_names_both(
    write: Callable[[Path, Files], Path], tmp_path: Path
) -> None:
    """It affects no other lesson, and a deeper file does not matter."""
    files: Files = {"b/tiny.py": "1", "a/tiny.py": "2", "a/b/tiny.py": "3", "small.py": "fine\n"}
    found = read_submission(write(tmp_path / "work.zip", files), LESSONS)
    assert problem(found["tiny"]) == (
        "two files claim to be this lesson: a/tiny.py and b/tiny.py. Keep one of them"
    )
    more: Files = {**files, "c/tiny.py": "4"}
    found = read_submission(write(tmp_path / "class.zip", more), LESSONS)
    assert problem(found["tiny"]).endswith("To grade a whole class, use grade batch")
    assert found["small"].text == "fine\n"


def test_a_missing_folder_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        SubmissionError, match=r"nowhere does not exist\. Name a folder .* grade init my-work$"
    ):
        read_submission(tmp_path / "nowhere", LESSONS)


# -------------------------------------------------------------------- links and what is not a file


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.posix
def test_a_link_to_elsewhere_is_not_followed(absolute: bool, tmp_path: Path) -> None:
    """So a file of the machine can't get into a report."""
    secret = write_folder(tmp_path, {"secret.py": "token = 'hidden'\n"}) / "secret.py"
    work = write_folder(tmp_path / "work", {"small.py": "fine\n"})
    (work / "tiny.py").symlink_to(secret if absolute else "../secret.py")
    found = read_submission(work, LESSONS)
    assert "not a link to elsewhere" in problem(found["tiny"])
    assert found["small"].problem is None


@pytest.mark.posix
def test_a_link_to_a_folder_elsewhere_is_not_entered(tmp_path: Path) -> None:
    write_folder(tmp_path / "other", {"tiny.py": "theirs\n"})
    work = write_folder(tmp_path / "work", {"small.py": "fine\n"})
    (work / "link").symlink_to(tmp_path / "other", target_is_directory=True)
    assert set(read_submission(work, LESSONS)) == {"small"}


@pytest.mark.posix
def test_a_link_within_the_submission_is_fine(tmp_path: Path) -> None:
    work = write_folder(tmp_path, {"final/answer.py": "mine\n"})
    (work / "tiny.py").symlink_to("final/answer.py")
    assert texts(read_submission(work, LESSONS)) == {"tiny": "mine\n"}


@pytest.mark.posix
def test_a_submission_may_be_a_link_itself(tmp_path: Path) -> None:
    write_folder(tmp_path / "real", {"tiny.py": "mine\n"})
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    assert texts(read_submission(tmp_path / "link", LESSONS)) == {"tiny": "mine\n"}


@pytest.mark.posix
@pytest.mark.parametrize("target", ["gone.py", "tiny.py"], ids=["nothing", "itself"])
def test_a_link_to_no_file_can_not_be_read(target: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.py").symlink_to(target)
    assert "can't be read" in problem(read_submission(tmp_path, LESSONS)["tiny"])


@pytest.mark.posix
def test_a_link_to_a_folder_is_not_a_lesson(tmp_path: Path) -> None:
    """Otherwise it would be a file that can't be read."""
    write_folder(tmp_path, {"work/small.py": "fine\n"})
    (tmp_path / "tiny.py").symlink_to("work", target_is_directory=True)
    assert texts(read_submission(tmp_path, LESSONS)) == {"small": "fine\n"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    """Opening a pipe would wait for ever."""
    os.mkfifo(tmp_path / "tiny.py")
    assert "can't be read" in problem(read_submission(tmp_path, LESSONS)["tiny"])


def test_a_file_without_permission_can_not_be_read_and_says_so(tmp_path: Path) -> None:
    path = write_folder(tmp_path, {"tiny.py": "x", "small.py": "fine\n"}) / "tiny.py"
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    found = read_submission(tmp_path, LESSONS)
    assert "check its permissions" in problem(found["tiny"])
    assert found["small"].text == "fine\n"


# --------------------------------------------------------------------------------------------- zips


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {
                "__MACOSX/tiny.py": "\0\5\x16\7",
                "a/__MACOSX/tiny.py": "",
                ".git/tiny.py": "",
                "__pycache__/tiny.py": "",
                "a/b/tiny.py": "mine\n",
            },
            {"a/b/tiny.py": "mine\n"},
        ),
        ({"work\\tiny.py": "mine\n", "small.py/": ""}, {"work/tiny.py": "mine\n"}),
        ({"../tiny.py": "x", "/etc/small.py": "y"}, {"/etc/small.py": "y"}),
    ],
    ids=["what systems add is skipped", "backslashes separate folders", "nothing leads out"],
)
def test_names_in_a_zip(files: dict[str, str], found: dict[str, str], tmp_path: Path) -> None:
    """Some Windows programs write backslashes. Nothing is unpacked, so a name is only a name."""
    lessons = read_submission(write_zip(tmp_path / "work.zip", files), LESSONS)
    assert {file.path: file.text for file in lessons.values()} == found
    assert [path.name for path in tmp_path.iterdir()] == ["work.zip"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"tiny",
        b"PK\x03\x04" + bytes(60),
        b"def double(x): return 2 * x\n",
        zipped({"tiny.py": "x = 1\n" * 100})[:-30],
    ],
    ids=["empty", "text", "a lie", "py", "cut off"],
)
def test_a_file_that_is_no_zip_is_an_error_that_names_it(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    path.write_bytes(data)
    with pytest.raises(SubmissionError, match=r"work\.zip is not a readable zip"):
        read_submission(path, LESSONS)


def test_a_zip_with_too_many_entries_is_an_error(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "work.zip", {f"{k}": "" for k in range(MAX_MEMBERS + 1)})
    with pytest.raises(SubmissionError, match="holds 10,001 entries, more than 10,000"):
        read_submission(path, LESSONS)


def encrypt(path: Path, name: str) -> Path:
    path.write_bytes(encrypted(path.read_bytes(), name))
    return path


def damage(path: Path, name: str) -> Path:
    """Return the zip with the contents of one member overwritten."""
    with zipfile.ZipFile(path) as members:
        entry = members.getinfo(name)
    data = bytearray(path.read_bytes())
    start = entry.header_offset + 30 + len(name)
    data[start : start + entry.compress_size] = b"\xff" * entry.compress_size
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("spoil", "word"), [(encrypt, "encrypted|password"), (damage, "damaged")])
def test_a_bad_member_costs_only_its_lesson(
    spoil: Callable[[Path, str], Path], word: str, tmp_path: Path
) -> None:
    """A zip's members have no permissions to check."""
    files = {"tiny.py": "x = 1\n", "small.py": "fine\n"}
    path = write_zip(tmp_path / "work.zip", files, zipfile.ZIP_STORED)
    found = read_submission(spoil(path, "tiny.py"), LESSONS)
    assert re.search(word, problem(found["tiny"]))
    assert found["small"].text == "fine\n"


def test_a_member_that_can_not_be_unpacked_is_no_crash(tmp_path: Path) -> None:
    path = damage(write_zip(tmp_path / "work.zip", {"tiny.py": "x = 1\n" * 50}), "tiny.py")
    with contextlib.suppress(SubmissionError):
        assert problem(read_submission(path, LESSONS)["tiny"])


def test_a_zip_is_not_held_in_memory_but_for_the_files_that_count(tmp_path: Path) -> None:
    """A zip of a few kilobytes can't fill the supervisor's memory with deeper copies."""
    bomb = {f"{k}/tiny.py": bytes(MAX_FILE_BYTES) for k in range(24)}
    path = write_zip(tmp_path / "work.zip", {**bomb, "tiny.py": "mine\n"})
    assert path.stat().st_size < MAX_FILE_BYTES
    tracemalloc.start()
    try:
        assert texts(read_submission(path, LESSONS)) == {"tiny": "mine\n"}
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * MAX_FILE_BYTES


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA], ids=["deflate", "lzma"]
)
def test_no_bytes_make_the_reader_raise_anything_else(compression: int, tmp_path: Path) -> None:
    """A zip with changed bytes is read, or raises SubmissionError."""
    files = {"a/tiny.py": "x = 1\n" * 20, "small.py": "y = 2\n" * 20}
    path = write_zip(tmp_path / "work.zip", files, compression)
    whole = path.read_bytes()
    for seed in range(300):
        chance = random.Random(seed)
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            value = chance.choice([0, 1, 8, 12, 14, 0x80, 0xFF, chance.randrange(256)])
            data[chance.randrange(len(data))] = value
        path.write_bytes(data)
        with contextlib.suppress(SubmissionError):
            assert set(read_submission(path, LESSONS)) <= set(LESSONS)


# --------------------------------------------------------------------------------------- from bytes


def test_a_file_over_the_cap_is_a_problem_and_one_at_the_cap_is_none(tmp_path: Path) -> None:
    files = {"tiny.py": b"#" * (MAX_FILE_BYTES + 1), "small.py": b"1" * MAX_FILE_BYTES}
    for place in (write_folder(tmp_path / "work", files), write_zip(tmp_path / "work.zip", files)):
        found = read_submission(place, LESSONS)
        assert problem(found["tiny"]) == "tiny.py is larger than 256 KB. Keep what the lesson needs"
        assert found["small"].problem is None


READABLE = {
    "plain": (b"x = '\xc3\xa9'\n", "x = 'é'\n"),
    "a byte order mark": (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
    "a mark and a cookie": (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n"),
    "Latin-1 that says so": (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
    "a cookie on the second line": (
        b"#!python\n# vim: set fileencoding=cp1252 :\n'\x80'\n",
        "#!python\n# vim: set fileencoding=cp1252 :\n'€'\n",
    ),
    "Korean that says so": (
        "# -*- coding: euc-kr -*-\nx = '기울기'\n".encode("euc-kr"),
        "# -*- coding: euc-kr -*-\nx = '기울기'\n",
    ),
    "Windows line ends": (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
    "old Macintosh line ends": (b"x = 1\ry = 2\r", "x = 1\ny = 2\n"),
    "no newline at the end": (b"x = 1", "x = 1"),
}


@pytest.mark.parametrize(("data", "text"), READABLE.values(), ids=READABLE)
def test_python_in_any_encoding_that_python_takes_is_accepted(data: bytes, text: str) -> None:
    assert decode("tiny", "tiny.py", data) == LessonFile("tiny", "tiny.py", text)


UNREADABLE = {
    "nothing": (None, "tiny.py can't be read: check its permissions", None),
    "empty": (b"", "tiny.py is empty. To start again from the stub: grade reset tiny", None),
    "only comments": (
        b"# import torch\r\n\n\f  # def f(x):\n",
        "tiny.py has no code, only comments. To start again from the stub: grade reset tiny",
        None,
    ),
    "blank": (b" \n\t\r\n", "tiny.py is empty", None),
    "a byte order mark": (b"\xef\xbb\xbf\n", "tiny.py is empty", None),
    "Latin-1 that doesn't say so": (b"x = 1\n# caf\xe9\n", "tiny.py:2 is not UTF-8 text", 2),
    "UTF-16": ("x = 1\n".encode("utf-16"), "tiny.py is UTF-16 text", 1),
    "UTF-16 without a mark": ("x = 1\n".encode("utf-16-le"), "tiny.py:1 holds a NUL byte", 1),
    "Korean of an old editor": (
        "x = 1\r\n# 기울기 y\r\n".encode("cp949"),
        "tiny.py:2 is not UTF-8 text; it looks like Korean in CP949",
        2,
    ),
    "French of an old editor": (
        "x = 1\n# dérivée\n".encode("cp1252"),
        "tiny.py:2 is not UTF-8 text ('utf-8'",
        2,
    ),
    "Chinese of an old editor": (
        "# 梯度是错的\n".encode("gbk"),
        "tiny.py:1 is not UTF-8 text (",
        1,
    ),
    "a NUL": (b"x = 1\ny = 2\n\0", "tiny.py:3 holds a NUL byte", 3),
    "an encoding that is none": (
        b"# coding: klingon\n",
        "tiny.py:1 is not UTF-8 text (unknown encoding: klingon)",
        1,
    ),
    "an encoding of something else": (
        b"# coding: rot13\n",
        "tiny.py:1 declares the encoding rot13, in which no lesson is read",
        1,
    ),
    "an encoding that the rest isn't": (b"# coding: ascii\n\xff\n", "tiny.py:2 is not UTF-8", 2),
    "UTF-8 of a surrogate": (b"x = '\xed\xa0\x80'\n", "tiny.py:1 is not UTF-8 text", 1),
    "two minds": (b"\xef\xbb\xbf# coding: latin-1\n", "tiny.py:1 is not UTF-8 text", 1),
}


@pytest.mark.parametrize(("data", "words", "line"), UNREADABLE.values(), ids=UNREADABLE)
def test_bytes_that_are_no_text_are_a_problem_with_its_line(
    data: bytes | None, words: str, line: int | None
) -> None:
    file = decode("tiny", "tiny.py", data)
    assert problem(file).startswith(words)
    assert file.line == line


COOKIES = st.sampled_from(["latin-1", "utf-7", "big5", "ascii", "hex", "klingon"]).map(
    lambda name: f"# coding: {name}\n".encode()
)


@given(st.just(b"") | COOKIES, st.binary(max_size=60))
def test_no_bytes_make_decoding_raise(cookie: bytes, data: bytes) -> None:
    file = decode("tiny", "tiny.py", cookie + data)
    assert file.problem is None or file.text == ""


@pytest.mark.parametrize(
    "codec", ["undefined", "punycode", "utf-7", "idna", "raw_unicode_escape", "unicode_escape"]
)
def test_an_encoding_that_nobody_writes_in_is_a_problem(codec: str) -> None:
    """Some are slow, some hide their text, some decode to text that can't be written."""
    file = decode("tiny", "tiny.py", f"# coding: {codec}\nx = 1\n".encode())
    assert f"declares the encoding {codec}" in problem(file)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere names of files are text")
def test_a_folder_whose_name_is_no_text_has_a_path_that_can_be_written_down(tmp_path: Path) -> None:
    write_folder(tmp_path / os.fsdecode(b"\xff"), {"tiny.py": "mine\n"})
    file = read_submission(tmp_path, LESSONS)["tiny"]
    assert file.text == "mine\n"
    file.path.encode("utf-8")


def test_a_file_crosses_as_plain_data_and_is_the_same_there() -> None:
    """This includes a notebook's cells, omissions, and problems that name other paths."""
    notebook = LessonFile(
        "tiny",
        "tiny.ipynb",
        "x = 1\n",
        others=("b.ipynb",),
        cells=((1, 3), (4, 1)),
        left_out=(LeftOut("%timeit", 2, 1),),
    )
    two = LessonFile.wrong("tiny", "tiny.py", "{path} and b.py", line=3, others=("b.py",))
    for file in (notebook, two):
        assert LessonFile.from_json(json.loads(json.dumps(file.as_json()))) == file


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("tiny.py", b""),
        ("tiny.py", "x = 1".encode("utf-16")),
        ("tiny.py", b"x = 1\0"),
        ("tiny.py", b"# coding: utf-7\n"),
        ("tiny.py", "# 한글로 쓴 파일입니다\n".encode("cp949")),
        ("tiny.py", b"# \xff\xff\n"),
        ("tiny.py", b"#" * (MAX_FILE_BYTES + 1)),
        ("tiny.ipynb", b"{"),
        ("tiny.ipynb", b"{}"),
        ("tiny.ipynb", b'{"nbformat": 3}'),
        ("tiny.ipynb", b'{"nbformat": 9}'),
        ("tiny.ipynb", b'{"nbformat": 4}'),
        ("tiny.ipynb", b'{"nbformat": 4, "cells": []}'),
        ("tiny.ipynb", b'{"nbformat": 4, "cells": [{}]}'),
        ("tiny.ipynb", b'{"nbformat": 4, "metadata": {"kernelspec": {"language": "R"}}}'),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_korean_too(name: str, data: bytes) -> None:
    """Facts stay as they are. The English text, which identifies a submission, is the same in every
    language.
    """
    file = decode("tiny", f"work/{name}", data, notebook=name.endswith(".ipynb"))
    told = engine_catalogue("ko")(file.template, **file.facts)
    assert f"work/{name}" in told
    assert any("가" <= letter <= "힣" for letter in told)
    problems = (task_for(file, Settings(1, lang=lang)).problem for lang in ("ko", "en"))
    assert [problem and problem.message for problem in problems] == [told, file.problem]


# ------------------------------------------------------------------------------------------- digest


def test_a_digest_is_of_what_was_handed_in_and_not_of_where_it_lies() -> None:
    def one(
        path: str, text: str = "x", problem: str = "", others: tuple[str, ...] = ()
    ) -> dict[str, LessonFile]:
        return {"tiny": LessonFile("tiny", path, text, problem, others=others)}

    assert digest(one("tiny.py")) == digest(one("doe_1_2_tiny-1.py"))
    assert digest(one("tiny.py")) != digest(one("tiny.py", "y"))
    assert digest(one("a.py", "", "a.py is empty")) == digest(one("b/a.py", "", "b/a.py is empty"))
    assert digest(one("a.py", "", "a.py is empty")) != digest(
        one("a.py", "", "a.py is larger than 256 KB. Keep what the lesson needs")
    )
    assert digest(one("a.py", "", "two: a.py and b.py", ("b.py",))) == digest(
        one("c.py", "", "two: c.py and d.py", ("d.py",))
    )
    assert digest({}) != digest(one("tiny.py", ""))
    beside, other, none = (
        {"tiny": replace(one("tiny.py")["tiny"], beside=paths)}
        for paths in (("a.txt",), ("doe_1_2_a.txt",), ())
    )
    assert digest(beside) == digest(other) != digest(none)


def test_a_digest_is_independent_of_the_order_of_lessons() -> None:
    tiny, small = LessonFile("tiny", "tiny.py", "1"), LessonFile("small", "small.py", "2")
    assert digest({"tiny": tiny, "small": small}) == digest({"small": small, "tiny": tiny})
    assert digest({"tiny": tiny}) != digest({"tiny": tiny, "small": small})


def test_a_single_file_is_a_submission(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text("mine\n")
    assert texts(read_submission(tmp_path / "tiny.py", LESSONS)) == {"tiny": "mine\n"}
