"""A lesson server's judges serve submission after submission, and nothing carries over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest
from factories.tiny import REST, graded, without_times

from grader.core.messages import BrokerRequest, Fault, Settings, Task, answer_from_json
from grader.course.course import Course
from grader.runtime import lesson_server
from grader.runtime.client import ForkServerClient
from grader.runtime.lesson_server import LessonServer
from grader.worker.wire.frames import read_body, write_frame

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
            LessonServer(theirs, jobs, results).supervise_judges(
                lambda task, workers: Fault(f"{task.settings.seed} {os.getpid()}")
            )
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
