"""A busy, small or broken host is never a student's fault, and one sentence says what is wrong."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import Run

import grader.cli
import grader.cli.grade
from grader.core.errors import EngineFault, HostBusy, HostOutOfMemory, WorkerLost
from grader.core.i18n import Catalogue
from grader.core.limits import MAX_STARVED, Limits
from grader.core.messages import JudgeResult, Settings, WorkerOptions
from grader.core.report import Outcome, Report
from grader.course.course import Course
from grader.course.source import Source
from grader.course.submission import LessonFile
from grader.judge.exception_verdicts import verdict_of
from grader.judge.remote import channel, session
from grader.judge.remote.channel import Deadline, SocketChannel, Starvation
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import ForkedWorkers, read_hello
from grader.render.terminal import plain_text
from grader.runtime import client as client_module
from grader.runtime.client import ForkServerClient
from grader.runtime.forked_workers import end_worker, fork_worker
from grader.runtime.grading import grade_submission
from grader.worker import sandbox
from grader.worker.sandbox import Prepared, hide, landlock
from grader.worker.sandbox.scratch import prefix_of

pytestmark = pytest.mark.linux
RIGHT = "def double(x):\n    return 2 * x\n"
GRADE = [str(Path(sys.executable).with_name("grade")), "tiny", "--lang", "en", "--sandbox", "auto"]
SUICIDE = "import os, signal\ndef die(): os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def work(tmp_path: Path, small_course: Course) -> Path:
    """Make a folder with a right answer to one lesson of the small course."""
    shutil.copy(small_course.lesson("tiny").solution, tmp_path)
    return tmp_path


def graded(
    work: Path, course: Course, *options: str, limits: dict[int, int] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``grade`` under hard limits of the host."""

    def lower() -> None:
        for which, value in (limits or {}).items():
            resource.setrlimit(which, (value, value))

    return subprocess.run(
        [*GRADE, "--course", str(course.root), *options],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lower,
        env={**os.environ, "COLUMNS": "200"},
    )


@pytest.mark.fork
def test_lower_hard_limits_are_used_and_said(work: Path, small_course: Course) -> None:
    limits = {resource.RLIMIT_CPU: 30, resource.RLIMIT_NOFILE: 40, resource.RLIMIT_FSIZE: 1 << 20}
    done = graded(work, small_course, limits=limits)
    assert (
        "This system allows your code less than the course does:"
        " 30 s of processor time, 1 MB for one file, 40 open files." in done.stdout
    )
    assert done.stderr == ""


def test_a_limit_on_address_space_leaves_what_is_left_of_it() -> None:
    script = (
        "import resource\n"
        "from grader.core.limits import Limits\n"
        "from grader.worker.sandbox import address_space_bytes, set_limits\n"
        "most = address_space_bytes() + (1 << 28)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "print(set_limits(Limits()).lower_than(Limits()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    left = re.fullmatch(r"\{'memory_bytes': (\d+)\}\n", done.stdout)
    assert left is not None
    assert 1 << 27 < int(left[1]) <= 1 << 28


@pytest.mark.fork
def test_too_little_memory_for_torch_is_said(work: Path, small_course: Course) -> None:
    done = graded(work, small_course, limits={resource.RLIMIT_AS: 400 << 20})
    assert done.returncode == 3
    assert "There is too little memory for torch: see ulimit -v" in done.stderr


@pytest.mark.fork
@pytest.mark.skipif(not landlock.abi(), reason="needs Landlock")
def test_what_landlock_refuses_is_a_missing_guarantee(tmp_path: Path) -> None:
    hide()  # as the fork server is
    ruleset = os.open(os.devnull, os.O_RDONLY)
    try:
        assert missing_in(Prepared(tmp_path, ruleset)) == ("files", "network")
    finally:
        os.close(ruleset)


def test_without_proc_two_guarantees_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "address_space_bytes", lambda: 0)
    missing = missing_in(Prepared(tmp_path))
    assert {"memory", "processes"} <= set(missing)
    assert "time" not in missing


def missing_in(prepared: Prepared) -> tuple[str, ...]:
    """Return the guarantees that a worker says are missing."""
    worker = fork_worker(WorkerOptions(Limits(), "auto", ()), prepared)
    try:
        channel = SocketChannel(worker.line, worker.output, output_bytes=100)
        return read_hello(channel, worker.pid).missing
    finally:
        end_worker(worker.pid, died=False)
        worker.close()


def test_a_missing_guarantee_is_one_line_on_the_terminal(
    host: ForkServerClient, small_course: Course
) -> None:
    settings = Settings(1, "auto", small_course.limits, without=("landlock",))
    text = plain_text(report_of(host, small_course, settings), Catalogue(), columns=100)
    sentence = "This system does not limit your code's use of: files, network."
    assert text.count(sentence) == 1
    assert sentence in text.splitlines()


# ----------------------------------------------------------------------------- memory, broken pipes


def test_a_fork_server_that_is_gone_is_the_graders_fault() -> None:
    ours, theirs = socket.socketpair()
    workers = ForkedWorkers(ours, output_bytes=100)
    theirs.close()
    with ours, workers._replies, pytest.raises(EngineFault, match="the host ran out of memory"):
        workers.start()


def test_a_worker_that_the_kernel_kills_for_memory_is_the_graders_fault(
    remote: Callable[..., RemoteStudent], monkeypatch: pytest.MonkeyPatch
) -> None:
    student = remote(SUICIDE)
    assert isinstance(student._session, StudentSession)
    student._session.load()
    monkeypatch.setattr(session, "oom_kills", lambda: 1 << 40)
    with pytest.raises(HostOutOfMemory, match="The host ran out of memory"):
        student.die()


def test_a_worker_that_kills_itself_crashed(remote: Callable[..., RemoteStudent]) -> None:
    with pytest.raises(WorkerLost, match="killed by SIGKILL"):
        remote(SUICIDE).die()


@pytest.mark.fork
def test_a_fork_server_that_the_kernel_kills_for_memory_is_replaced_once(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new one holds no other lesson, so it needs less memory."""
    with ForkServerClient() as client:
        assert client._process is not None
        client._process.kill()
        monkeypatch.setattr(client_module, "oom_kills", kills_from(1 << 40))
        unnoticed = iter([lambda: None])
        settle = client.settle
        monkeypatch.setattr(client, "settle", lambda: next(unnoticed, settle)())
        assert not report_of(client, small_course).grader_faults


@pytest.mark.fork
def test_a_host_without_memory_costs_no_points_and_one_sentence(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lesson has a traceback, and the terminal tells all of them together."""
    monkeypatch.setattr(client_module, "oom_kills", kills_from(1 << 40))
    with ForkServerClient() as client:

        def judge(*_: object) -> JudgeResult:
            raise client._out_of_memory()

        monkeypatch.setattr(client, "judge", judge)
        report = report_of(client, small_course)
    faults = report.grader_faults
    assert faults
    assert {(fault.outcome, fault.note) for fault in faults} == {(Outcome.GRADER_ERROR, None)}
    assert plain_text(report, Catalogue(), columns=300).count("The host ran out of memory") == 1


@pytest.mark.linux
def test_the_scratch_folder_of_a_killed_fork_server_is_removed(small_course: Course) -> None:
    def left() -> list[Path]:
        return list(Path(tempfile.gettempdir()).glob(prefix_of(pid) + "*"))

    with ForkServerClient() as client:
        assert client._process is not None
        pid = client._process.greet()
        report_of(client, small_course)
        assert left()
        client._process.kill()
    assert not left()


def kills_from(first: int) -> Callable[[], int]:
    """Return a count of killed processes that is larger each time it is asked for."""
    return itertools.count(first).__next__


def report_of(client: ForkServerClient, course: Course, settings: Settings | None = None) -> Report:
    files = {
        lesson.id: LessonFile(lesson.id, f"{lesson.id}.py", RIGHT) for lesson in course.lessons
    }
    settings = settings or Settings(1, limits=course.limits)
    return grade_submission(client, course, course.lessons * 2, files, settings, name="a")


# -------------------------------------------------------------------------------- a busy processor


class Clock:
    """A clock and /proc's data about a worker, all set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.waited = self.used = self.used_by_judge = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "process_time", lambda: self.used_by_judge)
        monkeypatch.setattr(channel, "run_delay", lambda pid: self.waited if pid != "self" else 0.0)
        monkeypatch.setattr(channel, "cpu_seconds", lambda pid: self.used)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def starved(clock: Clock) -> Starvation:
    starvation = Starvation()
    starvation.watch(7)
    return starvation


@pytest.mark.parametrize(
    ("waited", "used", "used_by_judge", "left"),
    [(6.0, 4.0, 0.0, 6.0), (0.0, 0.0, 0.0, 0.0), (30.0, 20.0, 0.0, 0.0), (8.0, 4.0, 6.0, 0.0)],
    ids=["waits", "sleeps", "its threads wait for each other", "it and its judge do"],
)
def test_a_deadline_is_put_off_by_the_time_a_worker_waited_for_a_processor(
    waited: float, used: float, used_by_judge: float, left: float, clock: Clock
) -> None:
    """Not if the worker sleeps or computes, nor if it prints without end and the judge reads: the
    host has processors for both.
    """
    deadline = Deadline(10.0, starved(clock).seconds_since)
    clock.now, clock.waited, clock.used, clock.used_by_judge = 10.0, waited, used, used_by_judge
    assert max(0.0, deadline.left()) == pytest.approx(left)
    clock.now, clock.used = 10.0 + left, used + left
    assert deadline.left() <= 0


def test_deadlines_are_put_off_so_long_and_no_longer(clock: Clock) -> None:
    starvation = starved(clock)
    clock.now = clock.waited = 1000.0
    assert starvation.seconds_since() == MAX_STARVED
    assert starvation.extreme
    clock.now = clock.waited = 2000.0
    assert starvation.seconds_since() == 0.0


def test_a_host_that_is_too_busy_is_the_graders_fault(remote: Callable[..., RemoteStudent]) -> None:
    student = remote("import time\ndef f(): time.sleep(60)", call_seconds=0.2)
    assert isinstance(student._session, StudentSession)
    student._session.load()
    student._session.starvation.total = MAX_STARVED
    with pytest.raises(HostBusy, match=r"the computer was too busy.* on this line again") as raised:
        student.f()
    assert raised.value.line == 2
    verdict = verdict_of(raised.value, Source("", "f.py"), Limits())
    assert verdict is not None
    assert (verdict.outcome, verdict.line, verdict.note) == (Outcome.GRADER_ERROR, 2, None)


# -------------------------------------------------------------------------------------- the command


def test_a_page_that_was_not_written_is_not_listed(
    grade: Callable[..., Run], work: Path, small_course: Course
) -> None:
    done = grade(work, "tiny", "--html", "/dev/full", course=small_course.root)
    assert done.code == 2
    assert "/dev/full" not in done.out
    assert "/dev/full can't be written: No space left on device" in done.err


def test_a_page_that_can_not_be_written_leaves_the_old_one(
    work: Path, small_course: Course
) -> None:
    (work / "report.html").write_text("old", "utf-8")
    done = graded(work, small_course, limits={resource.RLIMIT_FSIZE: 4096})
    assert "report.html can't be written: File too large" in done.stderr
    assert (work / "report.html").read_text("utf-8") == "old"
    assert not list(work.glob(".part*"))


def test_a_deleted_working_folder_is_one_sentence(work: Path, small_course: Course) -> None:
    script = f'rm -r "{work}"; "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *GRADE, "--course", str(small_course.root)],
        cwd=work,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == "grade: the working folder no longer exists. Change to another folder\n"


@pytest.mark.parametrize("option", ["--in", "--html", "--json", "--course"])
def test_a_path_that_is_too_long_is_one_sentence(
    option: str,
    work: Path,
    small_course: Course,
    host: ForkServerClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(work)
    monkeypatch.setattr(
        grader.cli.grade, "ForkServerClient", lambda **_: contextlib.nullcontext(host)
    )
    with pytest.raises(SystemExit) as ended:
        grader.cli.main(["tiny", "--course", str(small_course.root), option, "a" * 5000])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert "File name too long" in said


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            "No usable temporary directory found in ['/tmp']",
            2,
            "grade: no temporary folder can be written. Name one in the variable TMPDIR\n",
        ),
        ("No such file or directory", 3, "the grader's own fault"),
    ],
)
def test_without_a_temporary_folder_one_sentence_names_the_variable(
    text: str,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Other errors of the system are still the grader's own."""

    def no_folder(*_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, text)

    monkeypatch.setattr(grader.cli.cli, "main", no_folder)
    with pytest.raises(SystemExit) as ended:
        grader.cli.main(["tiny"])
    assert ended.value.code == code
    found = capsys.readouterr().err
    assert said in found
    assert code == 3 or found == said
