"""When somebody handed in, and until when they could, is what the roster of the run says, whatever
else the run does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.classroom.gradebook.store import Gradebook
from grader.course.course import Course

from .test_term import DAY, MONDAY, NoHost, Term, points, recorded

DUE = {"due": "2026-03-02T00:00Z", "late": "50%/day"}
ON_TIME, LATE = "2026-03-01T10:00Z", "2026-03-02T10:00Z"
LAYOUTS = {
    "moodle": "{name}_{number}_assignsubmission_file/{file}",
    "github": "w1-submissions/w1-{login}/{file}",
    "plain": "{name}/{file}",
}


@pytest.fixture
def term(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Term:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    monkeypatch.setattr("grader.cli.batch.course", lambda root: small_course)
    monkeypatch.setattr("grader.cli.batch.own_host", NoHost)
    return Term(tmp_path, small_course)


def files(layout: str, handed: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the files of a download: texts by name, and by file."""
    return {
        LAYOUTS[layout].format(name=name, number=100 + at, login=name.lower(), file=file): text
        for at, (name, texts) in enumerate(handed.items())
        for file, text in texts.items()
    }


def listed(term: Term, **times: str) -> Path:
    lines = [f"{name},{name.lower()},{at}" for name, at in times.items()]
    return term.roster("\n".join(["name,username,submitted_at,due", *lines]) + "\n")


def mark_of(term: Term, called: str) -> float | None:
    with Gradebook.open(term.out) as book:
        name = book.entry_of(called).name
    return term.marks()[name]


# ------------------------------------------------------------------------------------------- gifts


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["notes.txt", "my solution.py"])
def test_who_is_given_a_file_stays_as_late_as_they_were(term: Term, layout: str, name: str) -> None:
    """The file was in their own folder or in another one; later runs leave the time, and a roster
    with other times changes it.
    """
    handed = {"Ada": {name: points(8)}, "Ben": {"tiny.py": points(10)}, "Cy": {"x.txt": ""}}
    paths = files(layout, handed)
    place = term.download("a", paths)
    roster = listed(term, Ada=f"{LATE},", Ben=f"{ON_TIME},", Cy=f"{LATE},")
    term.grade(place, roster=roster, **DUE)
    assert mark_of(term, "Ada") is None
    for _ in range(2):
        term.run("give", term.out, next(iter(paths)), "Ada", "--lesson", "tiny", "--sandbox", "off")
        for regrade in (False, True):
            assert mark_of(term, "Ada") == 4.0
            term.grade(place, regrade=regrade)
        assert mark_of(term, "Ada") == 4.0
        term.run("give", term.out, "Ada", "--undo")
    term.run("give", term.out, next(iter(paths)), "Cy", "--lesson", "tiny", "--sandbox", "off")
    assert mark_of(term, "Cy") == 4.0
    term.grade(place, roster=listed(term, Ada=f"{LATE},", Ben=f"{LATE},", Cy=f"{ON_TIME},"))
    assert mark_of(term, "Cy") == 8.0


def test_what_is_handed_in_after_a_gift_has_no_time_of_an_old_roster(term: Term) -> None:
    """Its time is that of a newer roster, whether the file still lies in the download or not."""
    first = {"Ada/notes.txt": points(8), "Ben/tiny.py": points(10)}
    place = term.download("a", first)
    term.grade(place, roster=listed(term, Ada=f"{LATE},", Ben=f"{ON_TIME},"), **DUE)
    term.run("give", term.out, "Ada/notes.txt", "Ada", "--sandbox", "off")
    later = term.download("b", first | {"Ada/notes.txt": points(9)}, MONDAY + DAY)
    term.grade(later)
    with Gradebook.open(term.out) as book:
        assert book.entry("Ada").handed_in is None
    term.grade(later, roster=listed(term, Ada="2026-03-03T10:00Z,", Ben=f"{ON_TIME},"))
    assert term.marks() == {"Ada": 0.0, "Ben": 10.0}


def test_a_name_that_is_accepted_later_leaves_the_time(term: Term) -> None:
    """So does one that is not accepted any more."""
    place = term.download("a", {"Ada/ada_tiny.py": points(8), "Ben/tiny.py": points(10)})
    term.grade(place, roster=listed(term, Ada=f"{LATE},", Ben=f"{ON_TIME},"), **DUE)
    for accepted in (True, False, True):
        term.grade(place, accept_near_names=accepted)
        assert term.marks() == {"Ada": 4.0 if accepted else None, "Ben": 10.0}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_attempt_is_judged_by_the_names_that_are_accepted_now(term: Term, layout: str) -> None:
    """Each hand-in is one attempt, however often it was read, and whatever was accepted then. A
    time is that of one of them.
    """
    roster: Path | None = listed(term, Ada=f"{ON_TIME},", Ben=",")
    paths = [
        files(layout, {"Ada": {"ada_tiny.py": points(earned)}, "Ben": {"tiny.py": points(10)}})
        for earned in (8, 9)
    ]
    older = term.download("a", paths[0])
    newer = term.download("b", paths[1], MONDAY + DAY)
    for accepted, place, mark, attempts in (
        (True, newer, 9.0, [9.0]),
        (False, newer, None, [None]),
        (True, older, 9.0, [8.0, 9.0]),
        (False, older, None, [None, None]),
        (True, newer, 9.0, [8.0, 9.0]),
    ):
        term.grade(place, accept_near_names=accepted, roster=roster)
        roster = None
        assert mark_of(term, "Ada") == mark
        with Gradebook.open(term.out) as book:
            found = book.entry_of("Ada").attempts
        assert [one.score for one in found] == attempts
        assert [one.handed_in is not None for one in found].count(True) == 1


def test_a_file_that_was_not_read_is_not_another_one_of_its_name(term: Term) -> None:
    first, second = ({"Ada/ada_tiny.py": points(earned)} for earned in (8, 9))
    morning = datetime(2026, 3, 1, 11, tzinfo=UTC).timestamp()
    newer = term.download("b", second, morning + DAY)
    term.grade(newer, roster=listed(term, Ada=f"{LATE},"), accept_near_names=False, **DUE)
    term.grade(term.download("a", first, morning), accept_near_names=True)
    with Gradebook.open(term.out) as book:
        times = [one.handed_in for one in book.entry("Ada").attempts]
    assert times == [None, "2026-03-02T10:00:00+00:00"]
    term.grade(newer)
    assert term.marks() == {"Ada": 4.5}


# ----------------------------------------------------------------------------------- times in zips


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """Let the machine be in another zone than the class."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("first_zone", ["Asia/Seoul", None])
def test_the_times_in_a_zip_are_those_of_the_class(term: Term, first_zone: str | None) -> None:
    """A zip does not say in which zone they are. Ada handed in again an hour after the first one,
    of which nobody knows the times of attempts. The zone may be given only later.
    """
    ago = time.time() - 9 * DAY
    handed = {"Ada/tiny.py": points(2), "Ben/tiny.py": points(3)}
    plain = term.roster("name,username\nAda,ada\nBen,ben\n")
    term.grade(term.download("first", handed, ago), roster=plain, zone=first_zone)
    told = time.strftime("%Y-%m-%dT%H:%M", time.localtime(ago + 3_600))
    roster = listed(term, Ada=f"{told},", Ben=",")
    second = term.download("second", handed | {"Ada/tiny.py": points(9)}, ago + 2 * DAY)
    term.grade(second, roster=roster, zone="Asia/Seoul")
    assert term.marks() == {"Ada": 9.0, "Ben": 3.0}
    wall = time.strftime("%Y-%m-%d %H:%M", time.localtime(ago))
    assert f"download of {wall}" in " ".join(term.run("show", term.out, "Ada").split())


# ------------------------------------------------------------------------- rosters of another age


def walk(term: Term, steps: str, said: dict[str, str], *, days_later: int = 0) -> None:
    """Grade downloads: A, B of a day later in which Ada's file is another one, or C of another day
    later, in which it is that of A, with what a roster says of her. They may have been packed
    ``days_later``.
    """
    morning = datetime(2026, 3, 1, 11, tzinfo=UTC).timestamp() + days_later * DAY
    places = {
        "A": term.download("a", {"Ada/tiny.py": points(9)}, morning),
        "B": term.download("b", {"Ada/tiny.py": points(8)}, morning + DAY),
        "C": term.download("c", {"Ada/tiny.py": points(9)}, morning + 2 * DAY),
    }
    for step in steps.split():
        place, _, roster = step.partition("+")
        term.grade(places[place], roster=listed(term, Ada=said[roster]) if roster else None, **DUE)


@pytest.mark.parametrize(
    "steps",
    [
        "B A B+new",
        "A+new B+new",
        "A B A+new",
        "A+old B B+new",
        "B+new A+old B",
        "A+old B+new A+old",
    ],
)
def test_a_time_is_that_of_the_attempt_whose_it_is(term: Term, steps: str) -> None:
    """Whatever the order of downloads, and with whichever of them a roster came."""
    walk(term, steps, {"old": f"{ON_TIME},", "new": f"{LATE},"})
    assert term.marks() == {"Ada": 4.0}
    with Gradebook.open(term.out) as book:
        first, second = book.entry("Ada").attempts
    assert first.handed_in in (None, "2026-03-01T10:00:00+00:00")
    assert second.handed_in == "2026-03-02T10:00:00+00:00"


@pytest.mark.parametrize("days_later", [30, -1000])
@pytest.mark.parametrize("steps", ["A+old B+new A", "A+old B+new A B+new", "A+old B+new A+new B"])
def test_an_older_download_takes_no_time_from_a_newer_one(
    term: Term, steps: str, days_later: int
) -> None:
    """Also if the times of files don't say which attempt a time is of, because all were packed
    later.
    """
    walk(term, steps, {"old": f"{ON_TIME},", "new": f"{LATE},"}, days_later=days_later)
    assert term.marks() == {"Ada": 4.0}
    with Gradebook.open(term.out) as book:
        first, second = book.entry("Ada").attempts
    assert first.handed_in == "2026-03-01T10:00:00+00:00"
    assert second.handed_in == "2026-03-02T10:00:00+00:00"


@pytest.mark.parametrize(
    ("steps", "mark"),
    [
        ("C+new", 4.5),
        ("A+old C+new", 9.0),
        ("C+new A+old", 9.0),
        ("C+new A+old C+new", 9.0),
        ("A+old C+new C+new A+old C+new", 9.0),
        ("B+older A+old C+new A+old C+new", 9.0),
        ("A+old B+new C+newest", 0.0),
        ("A+old B C+newest A+old C+newest", 0.0),
    ],
)
def test_the_same_file_again_keeps_its_first_time(term: Term, steps: str, mark: float) -> None:
    """Whatever the order of downloads; but not if another one came between."""
    said = {"old": f"{ON_TIME},", "new": f"{LATE},", "newest": "2026-03-03T10:00Z,"}
    said |= {"older": "2026-03-01T09:00Z,"}
    walk(term, steps, said)
    assert term.marks() == {"Ada": mark}
    again = "handed in again, the same files: 2026-03-02 10:00 UTC. The first time counts"
    assert (again in term.run("show", term.out, "Ada")) is (mark == 9.0)


@pytest.mark.parametrize(("policy", "mark"), [("last", 0.0), ("best", 9.0), ("first", 9.0)])
def test_the_same_file_after_another_one_is_the_first_one_where_that_may_count(
    term: Term, policy: str, mark: float
) -> None:
    """It was in time when it came first, whenever the policy is chosen."""
    said = {"old": f"{ON_TIME},", "new": f"{LATE},", "newest": "2026-03-03T10:00Z,"}
    walk(term, "A+old B+new C+newest", said)
    assert term.marks() == {"Ada": 0.0}
    term.grade(term.folder / "c.zip", attempts=policy)
    assert term.marks() == {"Ada": mark}
    term.grade(term.folder / "c.zip", attempts="last")
    assert term.marks() == {"Ada": 0.0}


def test_a_time_later_than_every_download_is_that_of_another_submission(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ada handed in again after A was downloaded. If no other time is known, it is hers."""
    said = {"old": f"{ON_TIME},", "new": f"{LATE},"}
    walk(term, "A+old", said)
    assert "handed in again after this download" not in capsys.readouterr().out
    walk(term, "A+new", said)
    assert term.marks() == {"Ada": 9.0}
    assert "handed in again after this download, by the roster" in capsys.readouterr().out
    walk(term, "B+new", said)
    assert term.marks() == {"Ada": 4.0}


def test_an_earlier_time_for_the_same_download_changes_nothing(
    term: Term, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in this run nor in the next one; the run says what to do."""
    said = {"old": f"{ON_TIME},", "new": f"{LATE},", "earlier": "2026-03-01T23:00Z,"}
    walk(term, "A+old B+new", said)
    for steps in ("B+earlier", "B", "B+earlier", "A", "B"):
        walk(term, steps, said)
        assert term.marks() == {"Ada": 4.0}, steps
        told = "known times stay" in capsys.readouterr().err
        assert told is ("earlier" in steps)


@pytest.mark.parametrize("before", [f"{ON_TIME},", ","])
@pytest.mark.parametrize("steps", ["A+old", "B+old", "A+old B+old", "B+old A B"])
def test_an_older_roster_takes_nothing_back(
    term: Term, capsys: pytest.CaptureFixture[str], steps: str, before: str
) -> None:
    """Neither an extension nor a time; and the run says that it is older."""
    said = {"old": before, "new": f"{LATE},+1d"}
    walk(term, "B+new", said)
    assert term.marks() == {"Ada": 8.0}
    walk(term, steps, said)
    assert term.marks() == {"Ada": 8.0}
    printed = capsys.readouterr()
    assert "extension" not in printed.out
    assert steps.count("old") == printed.err.count("older than the last one")
    walk(term, "B+new", said | {"new": f"{LATE},"})
    assert term.marks() == {"Ada": 4.0}


# -------------------------------------------------------------------------------------- new rosters


@pytest.mark.parametrize("check", [None, "tiny.double"])
def test_a_new_roster_counts_in_a_run_that_grades_again(
    term: Term, capsys: pytest.CaptureFixture[str], check: str | None
) -> None:
    """Its extensions and its times; the next run changes nothing."""
    place = term.download("a", {"Ada/tiny.py": points(8), "Ben/tiny.py": points(10)})
    term.grade(place, roster=listed(term, Ada=f"{LATE},", Ben=f"{ON_TIME},"), **DUE)
    newer = listed(term, Ada=f"{LATE},+2d", Ben=f"{LATE},")
    for _ in range(2):
        term.grade(place, roster=newer, regrade=True, check=check)
        assert term.marks() == {"Ada": 8.0, "Ben": 5.0}
    said = capsys.readouterr().out
    assert said.count("extension changed") == 1


SHEETS = {
    "plain": "name,id,submitted_at\nAda,1,{Ada}\nBen,2,{Ben}\nCy,3,{Cy}\n",
    "de": "ID,Vollständiger Name,Status,Bewertung,Bestwertung,Bewertung kann geändert werden,"
    "Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar\n"
    "Teilnehmer/in101,Ada,Zur Bewertung abgegeben,,10,Ja,{Ada},-,\n"
    "Teilnehmer/in102,Ben,Zur Bewertung abgegeben,,10,Ja,{Ben},-,\n"
    "Teilnehmer/in103,Cy,Keine Abgabe,,10,Ja,{Cy},-,\n",
}


@pytest.mark.parametrize("sheet", SHEETS)
def test_who_handed_in_by_the_roster_is_not_said_to_have_handed_in_nothing(
    term: Term, capsys: pytest.CaptureFixture[str], sheet: str
) -> None:
    """The download is of a part of the class. Only who has no time handed in nothing."""
    times = {"Ada": "2026-03-01T10:00Z", "Ben": "2026-03-01T11:00Z", "Cy": "-"}
    roster = term.roster(SHEETS[sheet].format(**times))
    folders = {
        f"{name}_{number}_assignsubmission_file/tiny.py": points(8)
        for name, number in (("Ada", 101), ("Ben", 102))
    }
    (ada, text), *_ = folders.items()
    term.grade(term.download("part", {ada: text}), roster=roster)
    said = capsys.readouterr().out
    assert "handed in nothing: Cy\n" in said
    assert "Ben: handed in by the roster, but not in this download" in said
    if sheet == "de":
        words = ("export", term.out, "--to", "moodle", "--template", roster, "--missing-as-zero")
        term.run(*words, "--output", term.folder / "filled.csv")
        filled = (term.folder / "filled.csv").read_text("utf-8").splitlines()
        assert "abgegeben,8,10" in filled[1]
        assert filled[2] == roster.read_text("utf-8").splitlines()[2]
        assert "Keine Abgabe,0,10" in filled[3] and "nothing was handed in" in filled[3]
    term.grade(term.download("all", folders), roster=roster)
    assert term.marks() == {"Ada": 8.0, "Ben": 8.0, "Cy": None}
