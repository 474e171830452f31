"""A proof that was cut goes on: what is kept is what was graded of the same thing, and the end is
that of one run.

The small course's five cases are graded a few times; what was graded is counted by the judge's
tasks, or by the file's own rows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.cli.commands.verify import completeness, verify_course
from grader.core.errors import EngineFault, ExitCode, UsageError
from grader.course.course import Course, load_course
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings
from grader.verify.cache import Kept
from grader.verify.case_result import CaseResult
from grader.verify.ingredients import Ingredients
from grader.verify.ledger import Ledger
from grader.verify.proved import Proved, read_proved, write_proved
from grader.verify.verify import VerifyResult, cases_of, verify

CASES = 6
LONGEST_SECONDS = 60.0
ANSWERS: dict[tuple[str, str], dict[str, Any]] = {}
"""What the judge said of a text, in a language. It is asked once: these tests are about what
becomes of its answer.
"""


class Counting:
    """The tests' host, lent: it counts what it judges, and can break, or have somebody press
    Ctrl-C, at a certain one.
    """

    def __init__(self, host: ForkServerClient) -> None:
        self.host = host
        self.seeds: list[int] = []
        self.breaks_at = 0
        self.presses_at = 0
        self.changes_at: dict[int, Path] = {}
        self.waits_for: Path | None = None
        """A file that holds all earlier findings before the next is judged."""

    def judge(
        self, terms: dict[str, Any], spec: dict[str, Any], task: dict[str, Any]
    ) -> dict[str, Any]:
        self.seeds.append(task["seed"])
        number = len(self.seeds)
        if number == self.presses_at:
            before = signal.getsignal(signal.SIGINT)
            main = threading.main_thread().ident
            assert main is not None
            signal.pthread_kill(main, signal.SIGINT)
            looks, pause = range(int(LONGEST_SECONDS * 1000)), threading.Event()
            assert any(
                signal.getsignal(signal.SIGINT) is not before or pause.wait(0.001) for _ in looks
            ), "nobody heeded Ctrl-C"
        if number == self.breaks_at:
            raise EngineFault("out of memory")
        if (
            self.waits_for and number > 1 and not any(at < number for at in self.changes_at)
        ):  # what comes after a change is never kept
            next(held for held in committed(self.waits_for) if held >= number - 1)
        asked = (task["source"], spec["lang"])
        if asked not in ANSWERS:
            ANSWERS[asked] = self.host.judge(terms, spec, task)
        if number in self.changes_at:
            with self.changes_at[number].open("a", encoding="utf-8") as stream:
                stream.write("\n# changed\n")
        return ANSWERS[asked]

    def abandon(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def counting(host: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> Counting:
    """All that ``verify`` has judged goes through this."""
    one = Counting(host)
    monkeypatch.setattr("grader.verify.verify.ForkServerClient", lambda **_: one)
    return one


@pytest.fixture
def course(small_course: Course, tmp_path: Path) -> Course:
    """A small course of one's own, to change."""
    return load_course(
        Path(
            shutil.copytree(
                small_course.root, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__")
            )
        )
    )


def run(
    course: Course,
    keep: Path | None,
    *,
    seeds: int = 1,
    lang: str = "en",
    proof: Path | None = None,
) -> VerifyResult:
    settings = Settings(0, "off", course.limits, lang=lang)
    return verify(
        course,
        course.lessons,
        seeds=range(1, seeds + 1),
        settings=settings,
        workers=1,
        keep=keep,
        proof=proof,
    )


def rows(path: Path) -> int:
    """How many gradings a file holds; it is held to be whole."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(db.execute("SELECT count(*) FROM gradings").fetchone()[0])


def test_what_is_kept_is_not_graded_again(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """More seeds grade the new ones only, and the outcome is that of a run without a file."""
    run(course, tmp_path / "f")
    assert counting.seeds == [1] * CASES
    found = run(course, tmp_path / "f", seeds=2)
    assert counting.seeds[CASES:] == [2] * CASES
    again = run(course, tmp_path / "f", seeds=2)
    assert len(counting.seeds) == 2 * CASES
    plain = run(course, None, seeds=2)
    assert again == found == replace(plain, kept=2 * CASES, complete=(("tiny", 2),))
    assert not plain.problems


def test_all_cases_of_a_seed_come_before_the_next_seed(course: Course, counting: Counting) -> None:
    run(course, None, seeds=3)
    assert counting.seeds == [1] * CASES + [2] * CASES + [3] * CASES


def test_what_a_run_that_breaks_off_had_graded_is_in_the_file(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """Each finding is on the disk while the next is judged. Here a file changes beneath the
    fourth.
    """
    counting.waits_for = tmp_path / "f"
    counting.changes_at = {4: course.lesson("tiny").checks / "test_hidden.py"}
    with pytest.raises(
        UsageError, match=r"test_hidden\.py was changed while this ran.*run the same command again"
    ):
        run(course, tmp_path / "f")
    assert rows(tmp_path / "f") == 3


def test_what_was_graded_beside_a_change_is_never_used(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """After the change all of it is graded again; nothing of the old key is left in the file."""
    counting.changes_at = {4: course.lesson("tiny").checks / "test_hidden.py"}
    with pytest.raises(UsageError):
        run(course, tmp_path / "f")
    counting.changes_at, counting.seeds = {}, []
    assert run(course, tmp_path / "f").kept == len(counting.seeds) == CASES
    assert rows(tmp_path / "f") == CASES


def test_a_case_that_changed_is_graded_and_the_others_are_not(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    run(course, tmp_path / "f", seeds=2)
    counting.seeds = []
    with course.lesson("tiny").mistakes[0].open("a", encoding="utf-8") as stream:
        stream.write("\n\nMORE = 1\n")
    run(course, tmp_path / "f")
    assert counting.seeds == [1]
    assert rows(tmp_path / "f") == 2 * CASES - 1, (
        "what was kept of the old text is dropped, from every seed"
    )


def test_fewer_seeds_and_another_language_leave_what_is_there(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    run(course, tmp_path / "f", seeds=2)
    run(course, tmp_path / "f", lang="ko")
    assert rows(tmp_path / "f") == 3 * CASES
    run(course, tmp_path / "f", seeds=1)
    assert rows(tmp_path / "f") == 3 * CASES


def test_what_found_trouble_is_graded_again(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """A machine that was out of memory doesn't stay on record; what is graded again replaces it."""
    counting.breaks_at = 3
    first = run(course, tmp_path / "f")
    assert any("out of memory" in problem for problem in first.problems)
    assert (first.kept, first.complete) == (CASES - 1, (("tiny", 0),))
    counting.seeds, counting.breaks_at = [], 0
    second = run(course, tmp_path / "f")
    assert (len(counting.seeds), second.problems, second.complete) == (1, (), (("tiny", 1),))
    assert rows(tmp_path / "f") == CASES


def test_ctrl_c_says_what_is_kept_and_the_same_command_goes_on(
    course: Course, counting: Counting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was under way is kept; the end is what one run says."""
    wanted: dict[str, Any] = {"seeds": 2, "workers": 1, "table": True, "write_stubs": False}
    counting.presses_at = 7
    with pytest.raises(KeyboardInterrupt):
        verify_course(course, (), keep=tmp_path / "f", **wanted)
    assert capsys.readouterr().out.splitlines() == [
        "complete from seed 1: tiny",
        f"stopped: 7 of {2 * CASES} gradings are kept. The same command goes on from there",
    ]
    assert verify_course(course, (), keep=tmp_path / "f", **wanted) is ExitCode.OK
    assert counting.seeds == [1] * CASES + [2] * CASES
    resumed = capsys.readouterr().out
    assert verify_course(course, (), keep=tmp_path / "g", **wanted) is ExitCode.OK
    assert capsys.readouterr().out == resumed


def test_a_cut_run_tells_the_trouble_that_it_had(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """And nothing that a grading which is left may yet show, such as the proof of a mistake."""
    counting.breaks_at = 1
    counting.presses_at = 2
    from grader.cli.commands.interrupts import graceful_interrupt
    from grader.render.terminal import make_console

    settings = Settings(0, "off", course.limits)
    found = verify(
        course, course.lessons, seeds=[1], settings=settings, workers=1, keep=tmp_path / "f",
        during=lambda hosts: graceful_interrupt(make_console(stderr=True), hosts, what="grading"),
    )  # fmt: skip
    assert (found.left, found.kept, found.proofs) == (CASES - 2, 1, ())
    assert found.problems and all(
        problem.startswith("tiny: solution, seed 1: ") for problem in found.problems
    )


@pytest.mark.parametrize(
    ("complete", "lines"),
    [
        ((), []),
        ((("a", 1),), ["complete from seed 1: a"]),
        ((("a", 3), ("b", 3)), ["complete from seeds 1 to 3: all lessons"]),
        ((("a", 3), ("b", 2), ("c", 3), ("d", 0)),
         ["complete from seeds 1 to 3: a, c", "complete from seeds 1 to 2: b", "complete from no seed: d"]),
    ],
)  # fmt: skip
def test_lessons_that_are_equally_far_are_told_together(
    complete: tuple[tuple[str, int], ...], lines: list[str]
) -> None:
    assert list(completeness(VerifyResult((), (), 0, complete=complete))) == lines


# ------------------------------------------------------------------------------ the text of a proof


def test_a_proof_goes_on_where_there_is_only_its_text(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """On another machine the seeds that are proved are not graded again, but for the solution, and
    the outcome is that of a whole run.
    """
    run(course, tmp_path / "here", seeds=2, proof=tmp_path / "p")
    assert read_proved(tmp_path / "p", "en")["tiny"].seeds == 2
    counting.seeds = []
    found = run(course, tmp_path / "there", seeds=3, proof=tmp_path / "p")
    assert counting.seeds == [1] + [3] * CASES
    assert found == replace(run(course, None, seeds=3), kept=3 * CASES, complete=(("tiny", 3),))
    assert not found.problems
    assert read_proved(tmp_path / "p", "en")["tiny"].seeds == 3
    counting.seeds = []
    assert run(course, tmp_path / "elsewhere", seeds=3, proof=tmp_path / "p") == found
    assert counting.seeds == [1]


def test_what_was_proved_of_another_text_is_graded_again(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """Any case of the lesson; the line is then about what lies there now."""
    run(course, tmp_path / "here", seeds=2, proof=tmp_path / "p")
    before = read_proved(tmp_path / "p", "en")["tiny"]
    with course.lesson("tiny").accepted[0].open("a", encoding="utf-8") as stream:
        stream.write("\n\nMORE = 1\n")
    counting.seeds = []
    run(course, tmp_path / "there", proof=tmp_path / "p")
    assert counting.seeds == [1] * CASES
    after = read_proved(tmp_path / "p", "en")["tiny"]
    assert after.seeds == 1 and after.key != before.key


def test_what_is_proved_stays_so_until_the_solution_has_shown_otherwise(course: Course) -> None:
    """Also in a run that is cut before it came to a lesson's solution."""
    lesson = course.lesson("tiny")
    cases = cases_of(lesson)
    kept = Kept(
        cases,
        None,
        Ingredients(course, [lesson], Settings(0, "off", course.limits)),
        proved={"tiny": 2},
    )
    assert kept.complete(lesson) == 2
    assert [list(kept.of(case, range(1, 4))) for case in cases] == [
        [2],
        *([1, 2] for _ in cases[1:]),
    ]


def test_a_solution_that_no_longer_passes_is_no_proof(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    run(course, tmp_path / "here", seeds=2, proof=tmp_path / "p")
    counting.seeds, counting.breaks_at = [], 1
    found = run(course, tmp_path / "there", seeds=2, proof=tmp_path / "p")
    assert found.problems and found.complete == (("tiny", 0),)
    assert read_proved(tmp_path / "p", "en") == {}


def test_another_language_has_its_own_lines(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    run(course, tmp_path / "f", seeds=2, proof=tmp_path / "p")
    english = read_proved(tmp_path / "p", "en")
    run(course, tmp_path / "f", lang="ko", proof=tmp_path / "p")
    assert read_proved(tmp_path / "p", "en") == english
    assert read_proved(tmp_path / "p", "ko")["tiny"].seeds == 1


def test_the_text_is_a_line_a_lesson(tmp_path: Path) -> None:
    lessons = {"one": Proved(200, "k1"), "two": Proved(3, "k2")}
    write_proved(tmp_path / "p", "en", lessons)
    write_proved(tmp_path / "p", "ko", {})
    assert read_proved(tmp_path / "p", "en") == lessons
    lines = [
        line
        for line in (tmp_path / "p").read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert lines == [
        "",
        "[en]",
        'one = {seeds = 200, key = "k1"}',
        'two = {seeds = 3, key = "k2"}',
        "",
        "[ko]",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[en\nx", "can't be read: .*line 1.*name another file with --proof"),
        ("en = 3", "en should be a table of lessons"),
        ('[en]\ntiny = {seeds = 0, key = "k"}', "en.tiny should be {seeds = 1"),
        ('[en]\ntiny = {seeds = true, key = "k"}', "en.tiny should be {seeds = 1"),
        ('[en]\ntiny = {seeds = 1, key = "k", more = 2}', "en.tiny should be {seeds = 1"),
    ],
)
def test_a_text_that_is_no_proof_is_told_and_left(
    text: str, said: str, course: Course, counting: Counting, tmp_path: Path
) -> None:
    (tmp_path / "p").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=said):
        run(course, tmp_path / "f", proof=tmp_path / "p")
    assert not counting.seeds
    assert (tmp_path / "p").read_text("utf-8") == text


# ------------------------------------------------------------------------- a process that is killed


def proof(course: Course, keep: Path, **given: Any) -> subprocess.Popen[str]:
    """The command, in a process that can be killed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1])}
    words = [
        "verify",
        "--course",
        str(course.root),
        "--seeds",
        "4",
        "--workers",
        "1",
        "--table",
        "--keep",
        str(keep),
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "grader", *words],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        **given,
    )


def committed(keep: Path) -> Iterator[int]:
    """The number of gradings in a file that somebody writes, again and again for a minute."""
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends and not threading.Event().wait(0.02):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"file:{keep}?mode=ro", uri=True)) as db,
        ):
            yield db.execute("SELECT count(*) FROM gradings").fetchone()[0]


@pytest.mark.posix
def test_killed_in_the_middle_a_proof_ends_with_the_same_words(
    course: Course, counting: Counting, tmp_path: Path
) -> None:
    """SIGKILL after some gradings; what was committed is not graded again, and the rest is."""
    process = proof(course, tmp_path / "f", start_new_session=True)
    next(
        number for number in committed(tmp_path / "f") if number >= 3 or process.poll() is not None
    )
    process.kill()
    process.communicate()
    before = rows(tmp_path / "f")
    assert 3 <= before < 4 * CASES
    settings = Settings(0, "auto", course.limits)
    given: dict[str, Any] = {"seeds": range(1, 5), "settings": settings, "workers": 1}
    found = verify(course, course.lessons, keep=tmp_path / "f", **given)
    assert len(counting.seeds) == 4 * CASES - before
    assert found == verify(course, course.lessons, keep=tmp_path / "g", **given)


# ----------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"no database at all, whatever its name says" * 40,
            "is damaged or no file of findings: .*Move it away, or name another",
        ),
        (
            "CREATE TABLE x (y)",
            "is a database, but none of findings. Name another file with --keep",
        ),
        ("PRAGMA user_version = 9", "has format 9"),
        (
            "UPDATE findings SET body = '{\"about\": 3}' WHERE id = 1",
            "is damaged or no file of findings: malformed finding",
        ),
    ],
    ids=["no database", "another database", "a newer one", "a finding that is none"],
)
def test_a_file_that_is_not_one_is_told_with_the_remedy(
    content: bytes | str, said: str, course: Course, counting: Counting, tmp_path: Path
) -> None:
    """And stays as it was."""
    path = tmp_path / "f"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        if not content.startswith("CREATE"):
            run(course, path)
            counting.seeds = []
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute(content)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=said):
        run(course, path)
    assert not counting.seeds
    if isinstance(content, bytes) or "x (y)" in content:
        assert path.read_bytes() == before


def test_a_damaged_page_is_told(course: Course, counting: Counting, tmp_path: Path) -> None:
    run(course, tmp_path / "f")
    data = bytearray((tmp_path / "f").read_bytes())
    data[4096:8192] = b"\xff" * 4096
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(
        UsageError, match=r"is damaged or no file of findings.*name another file with --keep"
    ):
        run(course, tmp_path / "f")


def test_a_folder_that_can_not_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="can't be used"):
        Ledger.open(tmp_path / "file" / "f")


def test_a_finding_comes_back_as_it_was(tmp_path: Path) -> None:
    """Also texts that UTF-8 can't hold; equal ones are one object, so that memory hardly grows with
    the seeds.
    """
    finding = CaseResult(
        ("a", "\udc80 \x00 글"),
        ("t",),
        True,
        True,
        6,
        (("squares", ("double", "triple")), ("none", ())),
    )
    with Ledger.open(tmp_path / "f") as ledger:
        ledger.drop_others("s", {"tiny": {"k"}})
        ledger.keep("k", 1, CaseResult())
        ledger.keep("k", 1, finding)
        ledger.keep("k", 2, finding)
    with Ledger.open(tmp_path / "f") as ledger:
        held = ledger.held()
    assert held == {"k": {1: finding, 2: finding}}
    assert held["k"][1] is held["k"][2]


def test_a_key_that_another_run_dropped_is_told(tmp_path: Path) -> None:
    """Nothing is said to be kept that isn't."""
    with Ledger.open(tmp_path / "f") as ledger:
        ledger.drop_others("s", {"tiny": {"k"}})
        ledger.drop_others("s", {"tiny": {"other"}})
        with pytest.raises(UsageError, match="used by a run of other files"):
            ledger.keep("k", 1, CaseResult())
