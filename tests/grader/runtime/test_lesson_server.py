"""A lesson server's judges serve submission after submission, and nothing carries over."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from grader.core.messages import BrokerRequest, Fault, Settings, Task, answer_from_json
from grader.course.course import Course
from grader.course.submission import LessonFile
from grader.runtime import lesson_server
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.runtime.lesson_server import LessonServer
from grader.worker.wire.frames import read_body, read_frame, write_frame

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
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


def graded(host: ForkServerClient, course: Course, name: str, lang: str) -> dict[str, Any]:
    """Return a submission's result, without times and nonce."""
    lesson = course.lesson("tiny")
    judged = grade_lesson(
        host,
        lesson,
        LessonFile("tiny", "tiny.py", BODIES[name] + REST),
        Settings(7, limits=course.limits, lang=lang),
    )
    data = asdict(judged)
    for part in (data["result"], *data["result"]["checks"], *data["judged"]["checks"]):
        part["seconds"] = 0
    data["judged"]["nonce"] = ""
    return data


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_submission_is_judged_alike_whatever_was_judged_before(
    lang: str, host: ForkServerClient, small_course: Course
) -> None:
    """Nothing carries over, including which messages have no translation."""
    forward = {name: graded(host, small_course, name, lang) for name in BODIES}
    backward = {name: graded(host, small_course, name, lang) for name in reversed(BODIES)}
    assert backward == forward
    # The results do differ from each other.
    assert len({str(data) for data in forward.values()}) > len(BODIES) - 2


def test_results_do_not_depend_on_the_order_of_sets(
    host: ForkServerClient, small_course: Course
) -> None:
    """Hashes are those of ``PYTHONHASHSEED=0``, and replaced names are reported in order."""
    names = ("equal", "isclose", "allclose", "sum", "mean", "dot", "outer", "einsum")
    text = "\n".join(
        [
            "import torch",
            *(f"torch.{name} = None" for name in names),
            f"def double(x): raise KeyError(hash('torch'))\n{REST}",
        ]
    )
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    said = subprocess.run(
        [sys.executable, "-c", "print(hash('torch'))"],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    judged = grade_lesson(
        host,
        small_course.lesson("tiny"),
        LessonFile("tiny", "tiny.py", text),
        Settings(7, limits=small_course.limits),
    )
    assert any(
        f"KeyError: {int(said.stdout)}" in (check.message or "") for check in judged.result.checks
    )
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
                frame = read_frame(said)
                assert frame is not None
                assert BrokerRequest.from_json(frame.body) == BrokerRequest("done")
    control.close()
    told = [one.text.split() for one in served if isinstance(one, Fault)]
    assert [task for task, _ in told] == ["0", "1", "2", "3", "4"]
    first, second, third, fourth, fifth = (pid for _, pid in told)
    assert first == second != third == fourth != fifth
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == lesson_server.ENDED
