"""``grade verify --keep``: an interrupted run continues, and its result equals that of one run.

The small course's cases are graded a few times; what was graded is counted by the judge's
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
from grader.cli.author import completeness, verify_course
from grader.core.errors import EngineFault, ExitCode, UsageError
from grader.core.files import PACKAGE
from grader.core.limits import Limits
from grader.core.messages import JudgeResult, Settings, Task
from grader.course.course import Course, Lesson, load_course
from grader.runtime.client import ForkServerClient
from grader.verify.case_result import CaseResult
from grader.verify.verify import VerdictCache, VerifyResult, cases_of, verify

CASES = 12
LONGEST_SECONDS = 60.0
ANSWERS: dict[tuple[str, str], JudgeResult] = {}
"""The judge's answer for a text, in a language. It judges each text only once, because these tests
are about what happens to the answer.
"""


class Counting:
    """The tests' host. It counts what it judges, and at a given one it can fail or press Ctrl-C."""

    def __init__(self, host: ForkServerClient) -> None:
        self.host = host
        self.seeds: list[int] = []
        self.breaks_at = 0
        self.presses_at = 0
        self.changes_at: dict[int, Path] = {}
        self.waits_for: Path | None = None
        """A file that must contain all earlier verdicts before the next is judged."""

    def judge(self, lesson: Lesson, task: Task) -> JudgeResult:
        self.seeds.append(task.settings.seed)
        number = len(self.seeds)
        if number == self.presses_at:
            before, ends = signal.getsignal(signal.SIGINT), time.monotonic() + LONGEST_SECONDS
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is before:
                assert time.monotonic() < ends, "nobody heeded Ctrl-C"
                time.sleep(0.001)
        if number == self.breaks_at:
            raise EngineFault("out of memory")
        kept = not any(at < number for at in self.changes_at)  # what comes after a change is not
        if self.waits_for and number > 1 and kept:
            next(held for held in committed(self.waits_for) if held >= number - 1)
        asked = (task.source, task.settings.lang)
        if asked not in ANSWERS:
            ANSWERS[asked] = self.host.judge(lesson, task)
        if number in self.changes_at:
            append(self.changes_at[number], "\n# changed\n")
        return ANSWERS[asked]

    def abandon(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def counting(host: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> Counting:
    """Make ``verify`` judge by this, without asking a process what torch has."""
    one = Counting(host)
    monkeypatch.setattr("grader.verify.verify.ForkServerClient", lambda **_: one)
    monkeypatch.setattr("grader.verify.verify.missing_internals", list)
    return one


@pytest.fixture
def course(small_course: Course, tmp_path: Path) -> Course:
    """Return a copy of the small course, to change."""
    skipped = shutil.ignore_patterns("__pycache__")
    return load_course(
        Path(shutil.copytree(small_course.root, tmp_path / "course", ignore=skipped))
    )


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a copy of the engine for the hash, to change."""
    skipped = shutil.ignore_patterns("__pycache__", "_course")
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "grader", ignore=skipped))
    monkeypatch.setattr("grader.core.files.PACKAGE", copy)
    return copy


@pytest.fixture
def keep(tmp_path: Path) -> Path:
    return tmp_path / "f"


def run(
    course: Course, keep: Path | None, *, seeds: int = 1, lang: str = "en", **more: Any
) -> VerifyResult:
    settings = Settings(0, "off", course.limits, lang=lang)
    wanted = range(1, seeds + 1)
    return verify(
        course, course.lessons, seeds=wanted, settings=settings, workers=1, keep=keep, **more
    )


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def rows(path: Path) -> int:
    """Return how many verdicts a file has; it must be intact."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(db.execute("SELECT count(*) FROM verdicts").fetchone()[0])


def test_what_is_kept_is_not_graded_again(course: Course, counting: Counting, keep: Path) -> None:
    """More seeds grade only the new ones, and the outcome equals that of a run without a file."""
    run(course, keep)
    assert counting.seeds == [1] * CASES
    found = run(course, keep, seeds=2)
    assert counting.seeds[CASES:] == [2] * CASES
    again = run(course, keep, seeds=2)
    assert len(counting.seeds) == 2 * CASES
    plain = run(course, None, seeds=2)
    assert again == found == replace(plain, kept=2 * CASES, complete=(("tiny", 2),))
    assert not plain.problems


def test_all_cases_of_a_seed_come_before_the_next_seed(course: Course, counting: Counting) -> None:
    run(course, None, seeds=3)
    assert counting.seeds == [1] * CASES + [2] * CASES + [3] * CASES


def test_what_a_run_that_breaks_off_had_graded_is_in_the_file(
    course: Course, counting: Counting, keep: Path
) -> None:
    """Each verdict is on disk before the next is judged. Here a file changes during the fourth:
    after that everything is graded again, and the file has nothing of the old course.
    """
    counting.waits_for = keep
    counting.changes_at = {4: course.lesson("tiny").checks / "test_hidden.py"}
    told = r"the course .*was changed while this ran.*Run the same command again"
    with pytest.raises(UsageError, match=told):
        run(course, keep)
    assert rows(keep) == 3
    counting.changes_at, counting.seeds = {}, []
    assert run(course, keep).kept == len(counting.seeds) == CASES
    assert rows(keep) == CASES


def test_a_case_that_changed_is_graded_and_the_others_are_not(
    course: Course, counting: Counting, keep: Path
) -> None:
    run(course, keep, seeds=2)
    counting.seeds = []
    append(course.lesson("tiny").mistakes[0].path, "\n\nMORE = 1\n")
    run(course, keep)
    assert counting.seeds == [1]


def test_an_engine_that_changes_meanwhile_ends_the_run(
    course: Course, counting: Counting, engine: Path, keep: Path
) -> None:
    counting.waits_for = keep
    counting.changes_at = {4: engine / "core" / "report.py"}
    with pytest.raises(UsageError, match="or of the engine was changed while this ran"):
        run(course, keep)
    assert rows(keep) == 3


@pytest.mark.parametrize("what", ["course", "engine", "torch"])
def test_verdicts_of_another_grader_are_dropped(
    what: str,
    course: Course,
    counting: Counting,
    engine: Path,
    keep: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This holds for every language and seed; everything is graded again."""
    run(course, keep, seeds=2)
    run(course, keep, lang="ko")
    counting.seeds = []
    if what == "torch":
        monkeypatch.setattr("grader.verify.verify.torch_version", lambda: "2.0")
    else:
        hints = course.lesson("tiny").folder / "hints.toml"
        append(hints if what == "course" else engine / "locale" / "ko.po", "\n# changed\n")
    run(course, keep)
    assert counting.seeds == [1] * CASES
    assert rows(keep) == CASES


def test_fewer_seeds_and_another_language_leave_what_is_there(
    course: Course, counting: Counting, keep: Path
) -> None:
    run(course, keep, seeds=2)
    run(course, keep, lang="ko")
    assert rows(keep) == 3 * CASES
    run(course, keep, seeds=1)
    assert rows(keep) == 3 * CASES


def test_what_found_trouble_is_graded_again(course: Course, counting: Counting, keep: Path) -> None:
    """A machine that was out of memory does not stay on record; the new result replaces it."""
    counting.breaks_at = 3
    first = run(course, keep)
    assert any("out of memory" in problem for problem in first.problems)
    assert (first.kept, first.complete) == (CASES - 1, (("tiny", 0),))
    counting.seeds, counting.breaks_at = [], 0
    second = run(course, keep)
    assert (len(counting.seeds), second.problems, second.complete) == (1, (), (("tiny", 1),))
    assert rows(keep) == CASES


def test_ctrl_c_says_what_is_kept_and_the_same_command_goes_on(
    course: Course, counting: Counting, keep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Running gradings are kept; the final output equals that of one run."""
    wanted: dict[str, Any] = {"seeds": 2, "workers": 1, "table": True, "write_stubs": False}
    counting.presses_at = CASES + 1
    with pytest.raises(KeyboardInterrupt):
        verify_course(course, (), keep=keep, **wanted)
    assert capsys.readouterr().out.splitlines() == [
        "complete from seed 1: tiny",
        f"stopped: {CASES + 1} of {2 * CASES} gradings are kept. Run the same command to continue",
    ]
    assert verify_course(course, (), keep=keep, **wanted) is ExitCode.OK
    assert counting.seeds == [1] * CASES + [2] * CASES
    resumed = capsys.readouterr().out
    assert verify_course(course, (), keep=keep.with_name("g"), **wanted) is ExitCode.OK
    assert capsys.readouterr().out == resumed


def test_an_interrupted_run_reports_the_problems_found_so_far(
    course: Course, counting: Counting, keep: Path
) -> None:
    """It reports nothing that remaining gradings may still show, such as the proof of a mistake."""
    counting.breaks_at = 2
    counting.presses_at = 3
    from grader.cli.batch_screen import graceful_interrupt
    from grader.render.terminal import make_console

    console = make_console(stderr=True)
    found = run(
        course, keep, during=lambda hosts: graceful_interrupt(console, hosts, what="grading")
    )
    assert (found.left, found.kept, found.proofs) == (CASES - 3, 2, ())
    assert {problem.partition(", seed 1: ")[0] for problem in found.problems} == {"tiny: stub"}


def test_a_run_that_is_stopped_at_once_has_a_result_only_if_it_is_kept(
    course: Course, counting: Counting, keep: Path
) -> None:
    def stopped(done: int, total: int) -> None:
        raise KeyboardInterrupt

    assert run(course, keep, progress=stopped).left == CASES - rows(keep) > 0
    with pytest.raises(KeyboardInterrupt):
        run(course, None, progress=stopped)


@pytest.mark.parametrize(
    ("complete", "lines"),
    [
        ((), []),
        ((("a", 1),), ["complete from seed 1: a"]),
        ((("a", 3), ("b", 3)), ["complete from seeds 1 to 3: all lessons"]),
        (
            (("a", 3), ("b", 2), ("c", 3), ("d", 0)),
            [
                "complete from seeds 1 to 3: a, c",
                "complete from seeds 1 to 2: b",
                "complete from no seed: d",
            ],
        ),
    ],
)
def test_lessons_that_are_equally_far_are_told_together(
    complete: tuple[tuple[str, int], ...], lines: list[str]
) -> None:
    assert list(completeness(VerifyResult((), (), 0, complete=complete))) == lines


# ------------------------------------------------------------------------- a process that is killed


def proof(course: Course, keep: Path) -> subprocess.Popen[str]:
    """Start the command in a process that can be killed."""
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).parents[1])}
    places = ["--course", str(course.root), "--keep", str(keep)]
    command = [sys.executable, "-m", "grader", "verify", *places]
    command += ["--seeds", "4", "--workers", "1", "--table"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def committed(keep: Path) -> Iterator[int]:
    """Yield the number of gradings in a file that is being written, repeatedly for a minute."""
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends and not threading.Event().wait(0.02):
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(f"file:{keep}?mode=ro", uri=True)) as db,
        ):
            yield db.execute("SELECT count(*) FROM verdicts").fetchone()[0]


@pytest.mark.posix
def test_killed_in_the_middle_a_proof_ends_with_the_same_words(
    course: Course, counting: Counting, keep: Path
) -> None:
    """SIGKILL comes after some gradings; committed ones are not graded again, the rest is."""
    process = proof(course, keep)
    next(held for held in committed(keep) if held >= 3 or process.poll() is not None)
    process.kill()
    process.communicate()
    before = rows(keep)
    assert 3 <= before < 4 * CASES
    settings = Settings(0, "auto", course.limits)
    given: dict[str, Any] = {"seeds": range(1, 5), "settings": settings, "workers": 1}
    found = verify(course, course.lessons, keep=keep, **given)
    assert len(counting.seeds) == 4 * CASES - before
    assert found == verify(course, course.lessons, keep=keep.with_name("g"), **given)


# ----------------------------------------------------------------------------------------- the file


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"no database at all, whatever its name says" * 40,
            "is damaged or not a file of verdicts: .*Move it away, or name another",
        ),
        (
            "CREATE TABLE x (y)",
            "is a database, but not one of verdicts. Name another file with --keep",
        ),
        (
            "UPDATE verdicts SET result = '{\"about\": 3}'",
            "is damaged or not a file of verdicts: malformed verdict",
        ),
    ],
    ids=["no database", "another database", "a verdict that is none"],
)
def test_a_file_that_is_not_one_is_told_with_the_remedy(
    content: bytes | str, said: str, course: Course, counting: Counting, keep: Path
) -> None:
    """The file stays as it was."""
    path = keep
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


def test_a_damaged_page_is_told(course: Course, counting: Counting, keep: Path) -> None:
    run(course, keep)
    data = bytearray((keep).read_bytes())
    data[4096:8192] = b"\xff" * 4096
    (keep).write_bytes(data)
    told = r"is damaged or not a file of verdicts.*name another file with --keep"
    with pytest.raises(UsageError, match=told):
        run(course, keep)


def test_a_folder_that_can_not_be_made_is_told(course: Course, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="can't be used"):
        VerdictCache(tmp_path / "file" / "f", course, Settings(0))


def test_a_result_comes_back_as_it_was(course: Course, keep: Path) -> None:
    """Also texts that UTF-8 can't encode; equal results are one object, which saves memory."""
    result = CaseResult(
        untranslated=("a", "\udc80 \x00 글"),
        lost=True,
        named=True,
        checks=6,
        about=(("squares", ("double", "triple")), ("none", ())),
    )
    case, *_ = cases_of(course.lesson("tiny"))
    settings = Settings(0, "off", course.limits)
    with VerdictCache(keep, course, settings) as cache:
        cache.add(case, 1, CaseResult())
        cache.add(case, 1, result)
        cache.add(case, 2, result)
    with VerdictCache(keep, course, settings) as cache:
        held = cache.results(case)
    assert held == {1: result, 2: result}
    assert held[1] is held[2]


@pytest.mark.parametrize(
    "other", [{"sandbox": "auto"}, {"lang": "ko"}, {"limits": Limits(call_seconds=1.0)}]
)
def test_a_verdict_is_that_of_its_settings(
    other: dict[str, Any], course: Course, keep: Path
) -> None:
    case, *_ = cases_of(course.lesson("tiny"))
    settings = Settings(0, "off", course.limits)
    with VerdictCache(keep, course, settings) as cache:
        cache.add(case, 1, CaseResult())
    with VerdictCache(keep, course, replace(settings, **other)) as cache:
        assert cache.results(case) == {}
    with VerdictCache(keep, course, replace(settings, seed=7)) as cache:
        assert cache.results(case) == {1: CaseResult()}
