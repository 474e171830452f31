"""Workers made ahead: a spare one is confined, holds nothing, serves one submission, and ends with
its host.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest

from grader.core.errors import StudentCodeError
from grader.core.limits import Limits
from grader.core.report import LessonResult, Outcome
from grader.course.course import Course
from grader.course.source import Source
from grader.course.submission import LessonFile
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.remote.session import StudentSession
from grader.judge.remote.worker_sources import ExitStatus, ForkedWorkers, WorkerProcess, read_hello
from grader.runtime import fork_server
from grader.runtime.client import ForkServerClient, default_mode
from grader.runtime.fork_server import WorkerBroker
from grader.runtime.fork_worker import PreforkedWorker, WorkerOptions, fork_worker
from grader.runtime.grading import Settings, grade_lesson
from grader.runtime.reaper import end_worker
from grader.worker.sandbox import GUARANTEES, Prepared, landlock, prepare, remove_scratch, seccomp
from grader.worker.wire.frames import pack

pytestmark = pytest.mark.skipif(default_mode() != "fork", reason="workers are forked on Linux only")
OPTIONS = WorkerOptions(Limits(), "auto", (), ahead=True)
INSPECTS_ITS_PROCESS = """
import gc, linecache, os, sys, torch
BEFORE = sorted(name for name in sys.modules if "rehears" in name and not name.startswith("grader"))
SUBCLASSES = [one.__name__ for one in torch.autograd.Function.__subclasses__()]
LINES = [name for name in linecache.cache if "rehears" in name]
def drawn(): return torch.initial_seed(), torch.rand(4)
def found(): return BEFORE, "Rehearsed" in SUBCLASSES, LINES
def pid(): return os.getpid()
def secret(): return open("/etc/passwd").read(1)
def leaves(): open("left", "w").close()
"""


class GivenWorkers:
    """Hands out workers that a test has, one after another."""

    def __init__(self, *pids_lines: tuple[int, socket.socket, int]) -> None:
        self.waiting = list(pids_lines)

    def start(self) -> WorkerProcess:
        pid, line, output = self.waiting.pop(0)
        return read_hello(SocketChannel(line, output, output_bytes=1 << 14), pid)

    def end(self, worker: WorkerProcess, *, died: bool) -> ExitStatus | None:
        worker.channel.close()
        end_worker(worker.pid, died=died)
        return None


@pytest.fixture
def spare() -> Iterator[PreforkedWorker]:
    prepared = prepare()
    made = PreforkedWorker(prepared)
    yield made
    made.drop()
    remove_scratch(prepared)


def session(spare: PreforkedWorker, *, ahead: bool) -> StudentSession:
    """A session with the spare worker, or with one that is forked now."""
    worker = spare.take(OPTIONS) if ahead else fork_worker(OPTIONS, spare.prepared)
    assert worker is not None
    source = Source(INSPECTS_ITS_PROCESS, "lesson.py")
    return StudentSession(
        GivenWorkers((worker.pid, worker.line, worker.output)),
        source=source,
        scenarios="",
        limits=Limits(),
    )


def has_ended(pid: int) -> bool:
    """Whether a process of that number is no child of ours any more."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@pytest.mark.skipif(
    not landlock.abi() or not seccomp.available(), reason="the sandbox is Linux's, with Landlock"
)
def test_a_spare_worker_is_confined_like_any_other(spare: PreforkedWorker) -> None:
    spare.make(OPTIONS)
    ahead = session(spare, ahead=True)
    student = RemoteStudent(ahead)
    with pytest.raises(StudentCodeError, match="denied"):
        student.secret()
    assert ahead.guarantees == (tuple(GUARANTEES), ())
    ahead.close()


def test_nothing_of_a_rehearsal_stays(spare: PreforkedWorker) -> None:
    """No module, no class, no source; and the next random numbers are those of a worker that never
    rehearsed.
    """
    spare.make(OPTIONS)
    ahead, fresh = session(spare, ahead=True), session(spare, ahead=False)
    one, other = RemoteStudent(ahead), RemoteStudent(fresh)
    assert one.found() == other.found() == ([], False, [])
    (seed, numbers), (same_seed, same_numbers) = one.drawn(), other.drawn()
    assert seed == same_seed
    assert numbers.equal(same_numbers)
    ahead.close()
    fresh.close()


def test_a_spare_worker_is_handed_out_once(spare: PreforkedWorker) -> None:
    spare.make(OPTIONS)
    spare.make(OPTIONS)  # one is enough
    worker = spare.take(OPTIONS)
    assert worker is not None
    assert spare.take(OPTIONS) is None
    worker.let_go()
    end_worker(worker.pid, died=False)


@pytest.mark.parametrize(
    "other",
    [
        replace(OPTIONS, sandbox="off"),
        replace(OPTIONS, without=("seccomp",)),
        replace(OPTIONS, limits=Limits(cpu_seconds=1)),
    ],
)
def test_a_spare_worker_of_other_terms_is_ended_and_not_handed_out(
    spare: PreforkedWorker, other: WorkerOptions
) -> None:
    spare.make(other)
    assert spare._worker is not None
    pid = spare._worker.pid
    assert spare.take(OPTIONS) is None
    assert has_ended(pid)


def test_a_spare_worker_that_died_is_not_handed_out(spare: PreforkedWorker) -> None:
    spare.make(OPTIONS)
    assert spare._worker is not None
    pid = spare._worker.pid
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert spare.take(OPTIONS) is None


def test_a_spare_worker_that_is_dropped_is_gone(spare: PreforkedWorker) -> None:
    spare.make(OPTIONS)
    assert spare._worker is not None
    pid = spare._worker.pid
    spare.drop()
    assert has_ended(pid)
    assert spare.take(OPTIONS) is None


def test_a_judge_that_needs_to_know_nothing_of_a_worker_waits_for_nothing() -> None:
    """The host ends it all the same, also where the judge's last words arrive together."""
    judge, host = socket.socketpair()
    worker = fork_worker(WorkerOptions(Limits(), "off", ()), Prepared())
    channel = SocketChannel(worker.line, worker.output, output_bytes=1 << 10)
    with judge, host:
        workers = ForkedWorkers(judge, output_bytes=1 << 10)
        assert workers.end(read_hello(channel, worker.pid), died=False) is None
        judge.sendall(pack({"do": "done"}))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fork_server, "GRACE_SECONDS", 2.0)
            terms = WorkerOptions(Limits(lesson_seconds=1), "off", ())
            assert WorkerBroker(host, terms, PreforkedWorker(Prepared())).serve()
    assert has_ended(worker.pid)


BODY = (
    "import os, torch\n"
    "print(os.getpid(), torch.autograd.function.AUTOGRAD_FUNCTION_COUNTER)\n"
    "def double(x): return 2 * x\n"
)


def graded(host: ForkServerClient, course: Course, source: str, *, ahead: bool) -> LessonResult:
    """A result, times and seeds alike."""
    file = LessonFile("tiny", "tiny.py", source + "def triple(x): return 3 * x\nLIMIT = 20.0\n")
    return grade_lesson(
        host, course.lesson("tiny"), file, Settings(7, limits=course.limits, ahead=ahead)
    ).result


def without_times(result: LessonResult) -> dict[str, object]:
    """A result as data, without what differs from run to run."""
    data = asdict(result)
    for part in (data, *data["checks"]):
        part["seconds"] = 0
    return data


def printed(result: LessonResult) -> tuple[int, int]:
    """The worker's pid, and torch's count of Functions in it."""
    words = next(check.output for check in result.checks if check.output).split()
    return int(words[0]), int(words[1].removeprefix("count(").removesuffix(")"))


def test_a_host_that_is_asked_to_has_a_worker_ready_for_the_next_submission(
    host: ForkServerClient, small_course: Course
) -> None:
    """That one has rehearsed, unlike the first ones; each submission has a worker of its own."""
    asked = (False, False, True, True, True)
    pids, counts = zip(
        *(printed(graded(host, small_course, BODY, ahead=ahead)) for ahead in asked), strict=True
    )
    assert counts[0] == counts[1] == counts[2] < counts[3] == counts[4]
    assert len(set(pids)) == len(asked)


@pytest.mark.parametrize(
    "source",
    [
        "def double(x): return x * x\n",
        "def double(x: return\n",
        "import os\ndef double(x): os._exit(3)\n",
        "def double(x):\n    while True: pass\n",
    ],
)
def test_a_submission_is_judged_alike_by_a_worker_made_ahead(
    source: str, host: ForkServerClient, small_course: Course
) -> None:
    """Also where the worker is never used, dies, or has to be killed."""
    limits = replace(small_course.limits, call_seconds=0.5)
    course = replace(small_course, limits=limits)
    plain = graded(host, course, source, ahead=False)
    graded(host, course, BODY, ahead=True)
    ahead = graded(host, course, source, ahead=True)
    assert without_times(ahead) == without_times(plain)
    assert any(check.outcome is not Outcome.PASSED for check in ahead.checks)


def test_a_host_that_ended_in_between_is_replaced(small_course: Course) -> None:
    """Nobody's result is lost: the one before was there, and the next one is a new host's."""
    with ForkServerClient() as host:
        before = graded(host, small_course, "def double(x): return 2 * x\n", ahead=True)
        host.settle()
        assert host._process is not None
        host._process.kill()
        host._process.wait()
        after = graded(host, small_course, "def double(x): return 2 * x\n", ahead=True)
    assert without_times(after) == without_times(before)
    assert not any(check.outcome is Outcome.GRADER_ERROR for check in after.checks)
