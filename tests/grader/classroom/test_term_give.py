"""A file is given by the path that a message or the guide has, if its owner has none now."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from grader.classroom.gradebook.store import Gradebook
from grader.core.errors import UsageError
from grader.course.course import Course

from .test_term import DAY, MONDAY, NoHost, Term, points, recorded
from .test_term_times import LAYOUTS, files, listed


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    monkeypatch.setattr("grader.cli.batch.course", lambda root: small_course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    return Term(tmp_path, small_course)


@pytest.mark.parametrize("unpacked", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_is_given_by_any_path_that_is_shown(term: Term, layout: str, unpacked: bool) -> None:
    """As the run prints it, with the download's name before it, or as it is in the download."""
    texts = {"Ada": {"ada_tiny.py": points(8)}, "Ben": {"ada_tiny.py": points(6)}, "Cy": {"a": ""}}
    paths = files(layout, texts)
    place = term.download("a", paths)
    if unpacked:
        with zipfile.ZipFile(place) as archive:
            archive.extractall(term.folder / "a.b")
        place = term.folder / "a.b"
    term.grade(place, roster=listed(term, Ada=",", Ben=",", Cy=","))
    with Gradebook.open(term.out) as book:
        printed = f"{book.entry_of('ada').name}/ada_tiny.py"
    inside = next(iter(paths))
    for path in (printed, inside, f"{place.name}/{inside}", f"{place.stem}/{inside}"):
        term.run("give", term.out, path, "Ada", "--sandbox", "off")
        assert 8.0 in term.marks().values()
        term.run("give", term.out, "Ada", "--undo")
    with pytest.raises(UsageError, match=r"may be .*ada_tiny\.py, .*ada_tiny\.py"):
        term.run("give", term.out, "ada_tiny.py", "Ada", "--sandbox", "off")


def test_a_path_is_that_of_the_present_download(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a file that is not graded is another one, or only its name in the download."""
    roster = term.roster("Student,ID,SIS Login ID,Section\nAda,1,ada,\nBen,2,ben,\n")
    names = ("ada_1_5_tiny_2.py", "ada_1_9_tiny_2-1.py", "ada_1_12_tiny_2-2.py")
    for at, (name, earned) in enumerate(zip(names, (8, 6, 6), strict=True)):
        paths = {name: points(earned), f"ben_2_{at}_tiny.py": points(10)}
        capsys.readouterr()
        term.grade(term.download(f"d{at}", paths, MONDAY + at * DAY), roster=roster)
        assert f"ignored: ada/{name} was not graded" in capsys.readouterr().out
        assert name in term.run("show", term.out, "Ada")
        assert f"{name} was not graded" in (term.out / "results.json").read_text("utf-8")
    with Gradebook.open(term.out) as book:
        assert [one.came_as for one in book.entry("ada").attempts] == [names[0], names[2]]
    term.run("give", term.out, f"ada/{names[2]}", "Ada", "--sandbox", "off")
    assert set(term.marks().values()) == {6.0, 10.0}


def test_whether_somebody_has_a_file_is_seen_in_the_download(term: Term) -> None:
    """Who has one is given none; once it is removed there, no run has to come before."""
    paths = {"Ada/tiny.py": points(3), "Ben/tiny.py": points(5), "Ben/notes.txt": points(9)}
    roster = listed(term, Ada="2026-03-02T10:00Z,", Ben="2026-03-01T10:00Z,")
    term.grade(term.download("a", paths), roster=roster, due="2026-03-02T00:00Z", late="50%/day")
    words = ("give", term.out, "Ben/notes.txt", "Ada", "--sandbox", "off")
    with pytest.raises(UsageError, match=r"Ada has handed in.*Remove or rename tiny\.py"):
        term.run(*words)
    del paths["Ada/tiny.py"]
    term.download("a", {**paths, "Ada/old.txt": ""}, MONDAY + DAY)
    term.run(*words)
    assert term.marks() == {"Ada": 4.5, "Ben": 5.0}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("tiny.rar", "Rar!\0", "is an archive, so it was not given. Unpack it"),
        ("work.zip", "PK", "is an archive, so it was not given. Unpack it"),
        ("tiny.doc", "a\0", "holds a NUL byte, so it is not Python text"),
        ("tiny.ipynb.txt", "{", "is not JSON"),
        ("tiny.txt", "", "tiny.txt is empty"),
    ],
)
def test_a_file_without_text_is_not_given(term: Term, name: str, text: str, why: str) -> None:
    paths = {"Ada/tiny.py": points(3), "Ben/notes.txt": points(9), f"Ben/{name}": text}
    term.grade(term.download("a", paths))
    before = term.marks()
    words = ("give", term.out, f"Ben/{name}", "Ben", "--lesson", "tiny", "--sandbox", "off")
    with pytest.raises(UsageError, match=re.escape(why)):
        term.run(*words)
    assert term.marks() == before == {"Ada": 3.0, "Ben": None}


def test_a_given_file_without_text_in_a_later_download_is_no_mark(term: Term) -> None:
    paths = {"Ada/tiny.py": points(3), "Ben/notes.txt": points(9)}
    term.grade(term.download("a", paths))
    term.run("give", term.out, "Ben/notes.txt", "Ben", "--sandbox", "off")
    term.grade(term.download("b", {**paths, "Ben/notes.txt": "a\0"}, MONDAY + DAY))
    assert term.marks() == {"Ada": 3.0, "Ben": None}


@pytest.mark.parametrize(
    "words",
    [
        [("give", "Ben/notes.txt", "Cy"), ("give", "Cy", "--undo")],
        [("give", "Ben/notes.txt", "Cy"), ("give", "Ben/notes.txt", "Dee")],
        [("rename", "Cy", "Ben", "--merge")],
    ],
)
def test_who_has_nothing_any_more_handed_in_nothing(
    term: Term, words: list[tuple[str, ...]]
) -> None:
    """Now and after later runs."""
    paths = {"Ben/tiny.py": points(5), "Ben/notes.txt": points(9)}
    if words[0][0] == "rename":
        paths["Cy/tiny.py"] = points(3)
    roster = term.roster("name,id\nBen,1\nCy,2\nDee,3\n")
    place = term.download("a", paths)
    term.grade(place, roster=roster)
    for command, *rest in words:
        sandbox = ["--sandbox", "off"] if command == "give" else []
        said = term.run(command, term.out, *rest, *sandbox)
        if rest[0] == "Ben/notes.txt":
            assert f"Ben/notes.txt given to {rest[1]}, whose mark is 9." in said
    for _ in range(3):
        with Gradebook.open(term.out) as book:
            assert book.entry("Cy").missing
        assert "handed in nothing" in term.run("show", term.out, "Cy")
        term.grade(place, roster=roster)


@pytest.mark.parametrize(
    ("later", "to_undo"),
    [
        (("swap", "Ada", "Ben"), ("swap", "Ben", "--undo")),
        (("rename", "Ada", "Ben", "--merge"), ("rename", "Ben", "--undo")),
        (("give", "Ben/notes.txt", "Cy"), ("give", "Cy", "--undo")),
    ],
)
def test_what_was_given_is_taken_back_only_from_its_owner(
    term: Term, later: tuple[str, ...], to_undo: tuple[str, ...]
) -> None:
    paths = {"Ada/x.txt": "", "Ben/tiny.py": points(5), "Ben/notes.txt": points(9)}
    term.grade(term.download("a", paths), roster=term.roster("name,id\nAda,1\nBen,2\nCy,3\n"))
    before = term.marks()

    def run(command: str, *rest: str) -> None:
        sandbox = ["--sandbox", "off"] if command == "give" else []
        term.run(command, term.out, *rest, *sandbox)

    run("give", "Ben/notes.txt", "Ada")
    given = term.marks()
    run(*later)
    with pytest.raises(UsageError, match=r"was changed again.*Undo that first"):
        run("give", "Ada", "--undo")
    run(*to_undo)
    assert term.marks() == given
    run("give", "Ada", "--undo")
    assert term.marks() == before
