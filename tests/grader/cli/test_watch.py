"""The loop of ``grade watch``, driven by events that the tests create: saves, keys and results; and
the line that says what a save changed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from grader.cli.watch import Watcher, folder_saves, half_written, remote_kind
from grader.cli.watch_screen import change_text
from grader.core.i18n import Catalogue
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
)
from grader.course.submission import LessonFile

WAIT = 10.0


def report(lesson: str, text: str) -> Report:
    """Return a report whose only check passes if the text says so; the message is the text."""
    right = "right" in text
    outcome, score = (Outcome.PASSED, 10.0) if right else (Outcome.FAILED, 0.0)
    status = LessonStatus.PASSED if right else LessonStatus.FAILED
    checks = (CheckResult(f"{lesson}.a", "a", "f", outcome, score, 10.0, message=text),)
    result = LessonResult(lesson, lesson, status, score, 10.0, checks=checks)
    return Report(
        "me",
        score,
        10.0,
        0.0,
        1,
        CourseIdentity("c", "1", "h"),
        "0",
        SandboxReport("off"),
        lessons=(result,),
    )


@dataclass
class WatchDriver:
    """A watcher and its surroundings: files as texts, with saves and gradings under the test's
    control.
    """

    files: dict[str, str] = field(default_factory=dict)
    saves: queue.Queue[tuple[str, ...]] = field(default_factory=queue.Queue)
    shown: queue.Queue[tuple[LessonResult, LessonResult | None]] = field(
        default_factory=queue.Queue
    )
    graded: queue.Queue[str] = field(default_factory=queue.Queue)
    looked_at: queue.Queue[str | None] = field(default_factory=queue.Queue)
    ended: threading.Event = field(default_factory=threading.Event)
    keys: list[str] = field(default_factory=list)
    hold: str | None = None
    status: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watcher = Watcher(
            saves=self.tell,
            read=self.read,
            grade=self.grade,
            end=self.ended.set,
            shown=lambda report, before: self.shown.put((report.lessons[0], before)),
            pressed=self.pressed,
        )
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        try:
            self.status.append(self.watcher.run())
        except Exception as error:
            self.status.append(error)

    def tell(self, stopped: threading.Event) -> Iterator[tuple[str, ...]]:
        while not stopped.is_set():
            try:
                batch = self.saves.get(timeout=0.02)
            except queue.Empty:
                continue
            if "boom" in batch:
                raise OSError("the folder is gone")
            yield batch

    def read(self, lesson: str) -> LessonFile | None:
        text = self.files.get(lesson)
        self.looked_at.put(text)
        return None if text is None else LessonFile(lesson, f"{lesson}.py", text)

    def grade(self, lesson: str, file: LessonFile | None) -> Report:
        text = file.text if file else "gone"
        self.graded.put(text)
        if self.hold and self.hold in text:
            assert self.ended.wait(WAIT)
        return report(lesson, text)

    def pressed(self, key: str) -> None:
        self.keys.append(key)
        if key == "r":
            self.watcher.again("tiny")

    def save(self, text: str, lesson: str = "tiny") -> None:
        self.files[lesson] = text
        self.saves.put((lesson,))

    def verdict(self) -> str:
        """Return the text of the next verdict."""
        result, _ = self.shown.get(timeout=WAIT)
        return result.checks[0].message or ""

    def end(self) -> object:
        self.watcher.stop(5)
        self.thread.join(WAIT)
        return self.status[0]


@pytest.fixture
def driver() -> Iterator[WatchDriver]:
    made = WatchDriver()
    yield made
    if made.thread.is_alive():
        made.end()


def test_a_save_is_graded_and_shown_with_the_run_before(driver: WatchDriver) -> None:
    driver.save("x = 'wrong'")
    first, before_first = driver.shown.get(timeout=WAIT)
    driver.save("x = 'right'")
    second, before_second = driver.shown.get(timeout=WAIT)
    assert (before_first, before_second) == (None, first)
    assert (second.id, second.score) == ("tiny", 10.0)
    assert first.score == 0.0


def test_the_newest_save_wins_and_an_obsolete_run_is_ended_and_not_shown(
    driver: WatchDriver,
) -> None:
    driver.hold = "slow"
    driver.save("x = 'slow'")
    assert driver.graded.get(timeout=WAIT) == "x = 'slow'"
    driver.save("x = 'newer'")
    driver.save("x = 'newest'")
    assert driver.verdict() == "x = 'newest'"
    assert driver.ended.is_set()


def test_several_lessons_saved_at_once_are_all_graded(driver: WatchDriver) -> None:
    driver.files |= {"tiny": "x = 1", "other": "x = 2"}
    driver.saves.put(("other", "tiny"))
    assert {driver.verdict(), driver.verdict()} == {"x = 1", "x = 2"}
    assert not driver.ended.is_set()


def test_one_save_that_is_told_of_twice_is_graded_once(driver: WatchDriver) -> None:
    driver.save("x = 1")
    driver.save("x = 1")
    assert driver.verdict() == "x = 1"
    driver.save("x = 2")
    assert driver.verdict() == "x = 2"
    assert [driver.graded.get_nowait() for _ in range(2)] == ["x = 1", "x = 2"]


def test_a_half_written_file_waits_for_its_other_half(driver: WatchDriver) -> None:
    driver.save("def f(")
    assert driver.looked_at.get(timeout=WAIT) == "def f("
    driver.save("def f(): pass")
    assert driver.verdict() == "def f(): pass"
    assert driver.graded.get_nowait() == "def f(): pass"


@pytest.mark.parametrize("text", ["def f(", None], ids=["no Python", "gone"])
def test_a_file_that_stays_broken_is_graded_all_the_same(
    text: str | None, driver: WatchDriver
) -> None:
    if text is not None:
        driver.files["tiny"] = text
    driver.saves.put(("tiny",))
    assert driver.verdict() == (text or "gone")


def test_what_may_be_half_written() -> None:
    assert half_written(None)
    assert half_written(LessonFile("tiny", "tiny.py", template="tiny.py is empty"))
    assert half_written(LessonFile("tiny", "tiny.py", "x = ("))
    assert not half_written(LessonFile("tiny", "tiny.py", "x = 1"))


def test_keys_arrive_and_can_ask_for_a_run(driver: WatchDriver) -> None:
    driver.files["tiny"] = "x = 1"
    driver.watcher.press("r")
    assert driver.verdict() == "x = 1"
    assert driver.keys == ["r"]


def test_stop_ends_the_loop_with_a_status(driver: WatchDriver) -> None:
    assert driver.end() == 5


def test_stop_ends_a_run_that_goes_on(driver: WatchDriver) -> None:
    driver.hold = "slow"
    driver.save("x = 'slow'")
    driver.graded.get(timeout=WAIT)
    assert driver.end() == 5
    assert driver.ended.is_set()


def test_what_a_thread_raises_is_raised_by_the_loop(driver: WatchDriver) -> None:
    driver.saves.put(("boom",))
    driver.thread.join(WAIT)
    assert isinstance(driver.status[0], OSError)


# ------------------------------------------------------------------------------------------ folders


def rename(path: Path, text: str) -> None:
    """Save as editors do: a new file replaces the old one."""
    other = path.with_name(".tiny.py.swp")
    other.write_text(text)
    other.replace(path)


@pytest.mark.parametrize(
    "write", [lambda path, text: path.write_text(text), rename], ids=["in place", "by renaming"]
)
@pytest.mark.parametrize("poll", [False, True], ids=["told", "polling"])
def test_a_save_is_reported_and_an_editors_temporary_file_is_not(
    write: Callable[[Path, str], object], poll: bool, tmp_path: Path
) -> None:
    """The file is written until a save is reported, because a watch begins at an unknown time."""
    stopped = threading.Event()
    told: queue.Queue[list[str]] = queue.Queue()
    path = tmp_path / "tiny.py"
    path.write_text("x = 0")
    saves = folder_saves([tmp_path], {"tiny.py": "tiny"}, poll=poll)

    def listen() -> None:
        for batch in saves(stopped):
            told.put(list(batch))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    for number in range(50):
        (tmp_path / "tiny.py~").write_text(str(number))
        write(path, f"x = {number + 1}" + " " * number)
        try:
            batch = told.get(timeout=0.5)
            break
        except queue.Empty:
            continue
    stopped.set()
    thread.join(WAIT)
    assert batch == ["tiny"]


MOUNTS = (
    "/dev/sda1 / ext4 rw 0 0\n"
    "server:/home {0}/net nfs4 rw 0 0\n"
    "tmpfs {0}/net/local tmpfs rw 0 0\n"
    "C:\\134 {0}/my\\040disk 9p rw 0 0\n"
)


@pytest.mark.parametrize(
    ("place", "kind"),
    [("here", None), ("net/work", "nfs4"), ("net/local/work", None), ("my disk/work", "9p")],
)
def test_a_file_system_that_tells_of_nothing_is_known_by_its_nearest_mount(
    place: str, kind: str | None, tmp_path: Path
) -> None:
    (tmp_path / "mounts").write_text(MOUNTS.format(tmp_path))
    assert remote_kind(tmp_path / place, tmp_path / "mounts") == kind
    assert remote_kind(tmp_path / place, tmp_path / "no such file") is None


def check(name: str, outcome: Outcome, diagnosis: str | None = None) -> CheckResult:
    points = 5.0 if outcome is Outcome.PASSED else 0.0
    return CheckResult(f"tiny.{name}", name, "double", outcome, points, 5.0, diagnosis=diagnosis)


def lesson(*outcomes: Outcome, status: LessonStatus = LessonStatus.FAILED) -> LessonResult:
    checks = tuple(check(str(number), outcome) for number, outcome in enumerate(outcomes))
    score = sum(one.points for one in checks)
    return LessonResult("tiny", "Tiny", status, score, 10.0, checks=checks)


RIGHT, WRONG, BLANK, RAISED = (Outcome.PASSED, Outcome.FAILED, Outcome.NOT_STARTED, Outcome.ERROR)
WAITS = Outcome.SKIPPED
GONE = lesson(status=LessonStatus.MISSING)
BROKEN = replace(lesson(RAISED, RAISED, status=LessonStatus.INVALID), message="one")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (lesson(WRONG, RIGHT), lesson(RIGHT, RIGHT), "1 more right · +5 points"),
        (lesson(RIGHT, RIGHT), lesson(RIGHT, WRONG), "1 no longer right · -5 points"),
        (lesson(BLANK, BLANK), lesson(WRONG, BLANK), "1 begun, not right yet"),
        (lesson(BLANK, WRONG), lesson(RAISED, RIGHT), "1 more right · 1 begun, not right yet · +5"),
        (lesson(WRONG, WAITS), lesson(RIGHT, WRONG), "1 more right · 1 more checked, not right"),
        (lesson(BLANK, BLANK), BROKEN, "the file can no longer be loaded"),
        (lesson(WRONG, RIGHT), lesson(RAISED, RIGHT), "1 wrong in another way"),
        (lesson(BLANK, BLANK), lesson(WRONG, WAITS), "1 begun, not right yet"),
        (lesson(RIGHT, RIGHT), GONE, "the file is gone · 2 no longer right · -10 points"),
        (GONE, lesson(RIGHT, WRONG), "the file is back · 1 more right · +5 points"),
        (lesson(WRONG, WRONG), BROKEN, "the file can no longer be loaded"),
        (BROKEN, lesson(WRONG, WRONG), "the file can be loaded again"),
        (BROKEN, replace(BROKEN, message="two"), "another problem keeps the file from being"),
        (lesson(WRONG, RIGHT), lesson(WRONG, RIGHT), "nothing changed since the last run"),
        (BROKEN, BROKEN, "nothing changed since the last run"),
    ],
)
def test_what_changed_is_said_truthfully(
    before: LessonResult, after: LessonResult, said: str
) -> None:
    told = change_text(before, after, Catalogue()).plain
    assert told.startswith(said)
    assert ("begun" in told) == ("begun" in said)
    assert ("another way" in told) == ("another way" in said)


@pytest.mark.parametrize(
    ("score", "said"), [(6.0, "+1 point"), (4.0, "-1 point"), (7.0, "+2 points")]
)
def test_one_point_is_counted_as_one(score: float, said: str) -> None:
    before = replace(lesson(WRONG, RIGHT), score=5.0)
    after = replace(lesson(RIGHT, RIGHT), score=score)
    assert change_text(before, after, Catalogue()).plain == f"1 more right · {said}"


def test_the_same_outcome_for_another_reason_is_a_change() -> None:
    old, new = (replace(lesson(), checks=(check("0", WRONG, name),)) for name in ("one", "two"))
    assert change_text(old, new, Catalogue()).plain == "1 wrong in another way"
    assert "nothing" in change_text(old, old, Catalogue()).plain
