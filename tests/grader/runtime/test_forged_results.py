"""On a host without Landlock and seccomp, a worker can neither look into the processes that judge
it nor write a result in the judge's name.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from factories.tiny import graded

from grader.core import messages
from grader.core.i18n import engine_catalogue
from grader.core.report import Outcome, SandboxReport
from grader.course.course import Course
from grader.render.page import FORGEABLE, host_limitations
from grader.runtime import client
from grader.runtime.client import ForkServerClient

UNCONFINED = ("landlock", "seccomp")

LOOKS_AROUND = """
import os

def double(x):
    reached = []
    for pid in os.listdir("/proc"):
        if pid.isdigit() and pid != str(os.getpid()):
            for name in ("fd", "mem", "environ"):
                try:
                    place = f"/proc/{pid}/{name}"
                    if name == "fd":
                        [os.readlink(f"{place}/{fd}") for fd in os.listdir(place)]
                    else:
                        open(place, "rb").read(1)
                except OSError:
                    continue
                if pid == "SUPERVISOR" or "fork_server" in open(f"/proc/{pid}/cmdline").read():
                    reached.append(place)
    raise RuntimeError(f"reached {reached}")
"""


@pytest.mark.linux
def test_a_worker_can_look_into_no_process_that_judges_it(
    host: ForkServerClient, small_course: Course
) -> None:
    source = LOOKS_AROUND.replace("SUPERVISOR", str(os.getpid()))
    outcome = graded(host, small_course, source, without=UNCONFINED)
    assert "verdict" in outcome.judged.guarantees
    messages = [check.message or "" for check in outcome.result.checks]
    assert any("reached []" in message for message in messages), messages


@pytest.mark.linux
def test_with_capabilities_the_verdict_is_not_guaranteed(
    host: ForkServerClient, small_course: Course
) -> None:
    outcome = graded(host, small_course, "x = 1", without=("capabilities",))
    assert "verdict" in outcome.judged.missing
    report = SandboxReport("auto", outcome.judged.guarantees, outcome.judged.missing, {})
    assert FORGEABLE in host_limitations(report, engine_catalogue("en"))


def test_the_page_warns_of_forgery_only_where_it_is_possible() -> None:
    confined = SandboxReport("auto", ("verdict",), ("files",), {})
    (sentence,) = host_limitations(confined, engine_catalogue("en"))
    assert sentence != FORGEABLE
    assert host_limitations(SandboxReport("auto", (), ("verdict",), {}), engine_catalogue("ko"))


def test_a_result_without_the_tasks_nonce_is_not_believed(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task has its own nonce; a result with another one is a grader fault, not a mark."""
    seen: list[str] = []
    read = messages.answer_from_json

    def forged(data: object) -> object:
        answer = read(data)
        assert isinstance(answer, messages.JudgeResult)
        seen.append(answer.nonce)
        return replace(answer, nonce="0" * 32)

    monkeypatch.setattr(client, "answer_from_json", forged)
    with ForkServerClient() as server:
        for _ in range(2):
            outcome = graded(server, small_course, "def double(x):\n    return 2 * x\n")
            assert {check.outcome for check in outcome.result.checks} == {Outcome.GRADER_ERROR}
    assert len(set(seen)) == 2
    assert all(len(nonce) == 32 for nonce in seen)
