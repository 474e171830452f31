"""Forked workers end with their submission, and a spare one is like any other. A lesson's judges
serve submission after submission, and nothing carries over.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, cast

import pytest
from factories.tiny import REST, RIGHT, graded, without_times

from grader.core.limits import Limits
from grader.core.messages import (
    BrokerRequest,
    Fault,
    LessonSpec,
    Settings,
    Task,
    WorkerOptions,
    answer_from_json,
)
from grader.core.report import Outcome
from grader.course.course import Course, find_course, load_course
from grader.course.submission import LessonFile
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.workers import ForkedWorkers, read_hello
from grader.runtime import fork_server, lesson_server
from grader.runtime.client import ForkServerClient, default_mode
from grader.runtime.fork_server import WorkerBroker
from grader.runtime.forked_workers import ForkedWorker, WorkerStarter, end_worker
from grader.runtime.grading import grade_side_by_side, grade_submission
from grader.runtime.lesson_server import LessonServer
from grader.runtime.pool import HostPool
from grader.worker.sandbox import GUARANTEES, hide, landlock, prepare, seccomp
from grader.worker.sandbox.scratch import remove_scratch
from grader.worker.wire.compat import LATE_IMPORTS
from grader.worker.wire.frames import pack, read_body, write_frame

pytestmark = pytest.mark.skipif(default_mode() != "fork", reason="workers are forked on Linux only")
OPTIONS = WorkerOptions(Limits(), "auto")


def has_ended(pid: int) -> bool:
    """Return whether no child of this process has that number any more."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@pytest.fixture
def starter() -> Iterator[WorkerStarter]:
    hide()  # as the fork server is
    prepared = prepare()
    made = WorkerStarter(prepared)
    yield made
    made.drop_spare()
    remove_scratch(prepared.scratch)


@pytest.fixture
def spare(starter: WorkerStarter) -> int:
    """Return the pid of a spare worker."""
    starter.make_spare(OPTIONS)
    (pid,) = starter.spare_pids
    return pid


def close(worker: ForkedWorker) -> None:
    worker.close()
    end_worker(worker.pid, died=False)


@pytest.mark.skipif(
    not landlock.abi() or not seccomp.has_tables(), reason="the sandbox is Linux's, with Landlock"
)
def test_a_spare_worker_is_confined_like_any_other(starter: WorkerStarter) -> None:
    starter.make_spare(OPTIONS)
    worker = starter.start(OPTIONS)
    channel = SocketChannel(worker.line, worker.output, output_bytes=1 << 10)
    hello = read_hello(channel, worker.pid)
    assert (hello.guarantees, hello.missing) == (tuple(GUARANTEES), ())
    channel.close()
    end_worker(worker.pid, died=False)


def test_a_spare_worker_is_handed_out_once(starter: WorkerStarter, spare: int) -> None:
    starter.make_spare(OPTIONS)  # one is enough
    workers = [starter.start(OPTIONS) for _ in range(2)]
    assert [worker.pid == spare for worker in workers] == [True, False]
    for worker in workers:
        close(worker)


@pytest.mark.parametrize(
    "other",
    [
        replace(OPTIONS, sandbox="off"),
        replace(OPTIONS, without=("seccomp",)),
        replace(OPTIONS, limits=Limits(cpu_seconds=1)),
    ],
)
def test_a_spare_worker_with_other_options_is_ended_and_not_handed_out(
    starter: WorkerStarter, spare: int, other: WorkerOptions
) -> None:
    worker = starter.start(other)
    assert worker.pid != spare
    assert has_ended(spare)
    close(worker)


def test_a_spare_worker_that_died_is_not_handed_out(starter: WorkerStarter, spare: int) -> None:
    os.kill(spare, signal.SIGKILL)
    os.waitid(os.P_PID, spare, os.WEXITED | os.WNOWAIT)
    worker = starter.start(OPTIONS)
    assert worker.pid != spare
    close(worker)


def test_a_spare_worker_that_is_dropped_has_ended(starter: WorkerStarter, spare: int) -> None:
    starter.drop_spare()
    assert has_ended(spare)


def serve(host: socket.socket, options: WorkerOptions, starter: WorkerStarter) -> bool:
    """Serve a judge's requests for workers, for a supervisor that stays."""
    ours, theirs = socket.socketpair()
    with ours, theirs, cast(BinaryIO, theirs.makefile("rb", buffering=0)) as jobs:
        return WorkerBroker(host, options, starter, jobs).serve_until_done()


def test_a_judge_that_needs_to_know_nothing_of_a_worker_waits_for_nothing(
    starter: WorkerStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host ends it anyway, even if the judge's last messages arrive together."""
    judge, host = socket.socketpair()
    monkeypatch.setattr(fork_server, "GRACE_SECONDS", 2.0)
    worker = starter.start(WorkerOptions(Limits(), "off"))
    channel = SocketChannel(worker.line, worker.output, output_bytes=1 << 10)
    with judge, host:
        workers = ForkedWorkers(judge, output_bytes=1 << 10)
        assert workers.end(read_hello(channel, worker.pid), died=False) is None
        judge.sendall(pack(BrokerRequest("done").as_json()))
        assert serve(host, WorkerOptions(Limits(lesson_seconds=1), "off"), starter)
    assert has_ended(worker.pid)


def test_a_judge_on_a_busy_host_is_waited_for(
    starter: WorkerStarter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It extends its deadlines while its worker gets no processor; that does not mean it hangs."""
    monkeypatch.setattr(fork_server, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(fork_server, "MAX_STARVED", 60.0)
    options = WorkerOptions(Limits(lesson_seconds=0.1, call_seconds=0.1), "off", ())
    judge, host = socket.socketpair()
    done = threading.Timer(1.0, judge.sendall, [pack(BrokerRequest("done").as_json())])
    with judge, host:
        done.start()
        assert serve(host, options, starter)
        done.join()


def test_lessons_side_by_side_make_the_same_report(host: ForkServerClient) -> None:
    """Lessons are in the course's order, whichever finishes first."""
    course = load_course(find_course())
    lessons = [course.lesson(name) for name in ("vector_backward", "chain_rule")]
    files = {
        lesson.id: LessonFile(lesson.id, lesson.filename, lesson.stub.read_text("utf-8"))
        for lesson in lessons
    }
    settings = Settings(7, limits=course.limits)
    hosts = HostPool(1, lambda: host)
    side = grade_side_by_side(hosts, course, lessons, files, settings, name="a")
    plain = grade_submission(host, course, lessons, files, settings, name="a")
    for left, right in zip(side.lessons, plain.lessons, strict=True):
        assert without_times(left) == without_times(right)
    assert replace(side, lessons=(), seconds=0.0) == replace(plain, lessons=(), seconds=0.0)


def test_a_host_that_ended_in_between_is_replaced(small_course: Course) -> None:
    """No result is lost: the first is there, and the next comes from a new host."""
    with ForkServerClient() as host:
        before = graded(host, small_course, RIGHT).result
        host.settle()
        assert host._process is not None
        host._process.kill()
        after = graded(host, small_course, RIGHT).result
    assert without_times(after) == without_times(before)
    assert not any(check.outcome is Outcome.GRADER_ERROR for check in after.checks)


PRINTS_PID = f"import os\nprint(os.getpid())\ndef double(x): return 2 * x\n{REST}"


def test_each_submission_has_a_worker_of_its_own_also_if_that_was_made_ahead(
    host: ForkServerClient, small_course: Course
) -> None:
    pids = set()
    for ahead in (False, True, True, True):
        checks = graded(host, small_course, PRINTS_PID, prestart=ahead).result.checks
        pids.add(next(check.output for check in checks if check.output))
    assert len(pids) == 4


@pytest.mark.parametrize(
    "source",
    [
        "def double(x): return x * x\n",
        "def double(x: return\n",
        "import os\ndef double(x): os._exit(3)\n",
        "def double(x):\n    while True: pass\n",
    ],
)
def test_a_submission_is_judged_alike_by_a_worker_that_was_made_ahead(
    source: str, host: ForkServerClient, small_course: Course
) -> None:
    """This holds even if the worker is never used, dies, or has to be killed."""
    limits = replace(small_course.limits, call_seconds=0.5)
    course = replace(small_course, limits=limits)
    plain = graded(host, course, source + REST).result
    graded(host, course, PRINTS_PID, prestart=True)
    ahead = graded(host, course, source + REST, prestart=True).result
    assert without_times(ahead) == without_times(plain)
    assert any(check.outcome is not Outcome.PASSED for check in ahead.checks)


# ----------------------------------------------------------------- a judge of many submissions


BODIES = {
    "right": "def double(x): return 2 * x\n",
    "wrong": "def double(x): return x * x\n",
    "raises": "def double(x): raise KeyError('here')\n",
    "writes into what it is given": "def double(x): return x.detach().mul_(2)\n",
    "dies": "import os\ndef double(x): os._exit(3)\n",
    "prints": "def double(x):\n    print('hm')\n    return 2 * x\n",
    "is not a Python": "def double(x:\n",
    "is a stub": "def double(x): raise NotImplementedError\n",
}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_submission_is_judged_alike_whatever_was_judged_before(
    lang: str, host: ForkServerClient, small_course: Course
) -> None:
    """Nothing carries over, including which messages have no translation."""

    def judged(name: str) -> object:
        outcome = graded(host, small_course, BODIES[name] + REST, lang=lang)
        return without_times(outcome.result), replace(outcome.judged, checks=(), nonce="")

    forward = {name: judged(name) for name in BODIES}
    backward = {name: judged(name) for name in reversed(BODIES)}
    assert backward == forward
    # The results do differ from each other.
    assert len({str(data) for data in forward.values()}) > len(BODIES) - 2


def test_results_do_not_depend_on_the_order_of_sets(
    host: ForkServerClient, small_course: Course
) -> None:
    """Hashes are those of ``PYTHONHASHSEED=0``, and replaced names are reported in order."""
    names = ("equal", "isclose", "allclose", "sum", "mean", "dot", "outer", "einsum")
    replaced = "\n".join(f"torch.{name} = None" for name in names)
    text = f"import torch\n{replaced}\ndef double(x): raise KeyError(hash('torch'))\n{REST}"
    said = subprocess.run(
        [sys.executable, "-c", "print(hash('torch'))"],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        check=True,
    )
    judged = graded(host, small_course, text)
    message = f"KeyError: {int(said.stdout)}"
    assert any(message in (check.message or "") for check in judged.result.checks)
    assert judged.judged.flags[-len(names) :] == tuple(
        f"tiny.py replaced torch.{name} while it was loaded" for name in sorted(names)
    )


def test_a_judge_makes_room_after_enough_submissions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next judge gets the tasks that wait; the end of the control socket ends all of them."""
    monkeypatch.setattr(lesson_server, "TASKS_PER_JUDGE", 2)
    control, theirs = socket.socketpair()
    jobs_out, jobs_in = os.pipe()
    results_out, results_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        control.close()
        with open(jobs_out, "rb", buffering=0) as jobs, open(results_in, "wb") as results:
            server = LessonServer(theirs, jobs, results)
            monkeypatch.setattr(
                server,
                "judge",
                lambda _: server.serve_tasks(
                    lambda task, workers: Fault(f"{task.settings.seed} {os.getpid()}")
                ),
            )
            server.run(LessonSpec("", "tiny", "en"))
    theirs.close()
    with open(jobs_in, "wb") as jobs, open(results_out, "rb") as results:
        served = []
        for seed in range(5):
            line, far_line = socket.socketpair()
            write_frame(jobs, Task("", "tiny.py", Settings(seed)).as_json())
            socket.send_fds(control, [b"t"], [far_line.fileno()])
            far_line.close()
            served.append(answer_from_json(read_body(results)))
            with line, line.makefile("rb") as said:
                assert BrokerRequest.from_json(read_body(said)) == BrokerRequest("done")
    control.close()
    told = [one.text.split() for one in served if isinstance(one, Fault)]
    assert [task for task, _ in told] == ["0", "1", "2", "3", "4"]
    first, second, third, fourth, fifth = (pid for _, pid in told)
    assert first == second != third == fourth != fifth
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == lesson_server.ENDED


# ------------------------------------------------------------------------------------- late imports


BARE = """
import os, sys, torch
import torch.autograd.forward_ad as forward_mode
import torch.fx.experimental.symbolic_shapes, torch.testing
import torch.profiler, torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from grader.course.source import TRANSFORMS
from grader.runtime.fork_server import import_late

class NoOperation(TorchDispatchMode):
    def __torch_dispatch__(self, operation, *_):
        sys.exit(f"ran {operation}")

def threads(): return len(os.listdir("/proc/self/task"))

before = threads()
with NoOperation():
    import_late()
assert threads() == before, threads()
with torch.profiler.record_function("as each step does"):  # which imports one little module
    known = set(sys.modules)
f, x = lambda x: (x ** 3).sum(), torch.ones(2)
# linearize traces, and imports two more small modules.
for name in set(TRANSFORMS) - {"linearize"}:
    made = getattr(torch.func, name)
    made(f, x) if name == "vjp" else made(f, (x,), (x,)) if name == "jvp" else made(f)(x)
with forward_mode.dual_level():
    forward_mode.unpack_dual(forward_mode.make_dual(x, x) * 2)
leaf = torch.ones(2, requires_grad=True)
for name in ("SGD", "Adam", "AdamW", "RMSprop", "LBFGS"):
    optimizer = getattr(torch.optim, name)([leaf], lr=0.1)
    optimizer.zero_grad()
    loss = torch.utils.checkpoint.checkpoint(f, leaf, use_reentrant=False)
    loss.backward()
    optimizer.step(lambda: loss.detach()) if name == "LBFGS" else optimizer.step()
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    f(leaf).backward()
print(*sorted(name for name in set(sys.modules) - known if name.startswith("torch")))
"""
ASKS = """
import sys
HAS = all(name in sys.modules for name in {modules})
def double(x):
    if HAS is not {expected}:
        raise RuntimeError("it is not as expected")
    return 2 * x
"""
USING = "def unused(x):\n    import torch\n    return torch.func.grad(double)(x)\n"


def test_it_is_all_that_torch_imports_at_first_use() -> None:
    """First use imports nothing then. The import itself ran no operation and left no thread."""
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done


def test_late_imports_stay_loaded_after_the_first_use(small_course: Course) -> None:
    """That submission's own worker already has it."""
    with ForkServerClient() as host:
        for expected, more in ((False, ""), (True, USING), (True, "")):
            source = ASKS.format(modules=LATE_IMPORTS, expected=expected) + more + REST
            checks = graded(host, small_course, source).result.checks
            asked = [check for check in checks if check.function == "double"]
            assert asked
            assert {check.outcome for check in asked} == {Outcome.PASSED}, asked


def test_what_another_torch_does_not_have_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "LATE_IMPORTS", ("torch.no_such_module",))
    fork_server.import_late()
    gc.unfreeze()
    assert "torch.no_such_module" in fork_server._imported_late
