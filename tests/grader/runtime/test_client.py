"""A fork server that gets or sends malformed data is a grader fault that names the field."""

from __future__ import annotations

import pytest

from grader.core.errors import EngineFault
from grader.core.protocol import Envelope, Task, WorkerOptions
from grader.course.course import Course
from grader.runtime import client
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, spec_for
from grader.worker.wire.frames import Frame


def judge(server: ForkServerClient, course: Course) -> None:
    """Judge an empty file."""
    spec = spec_for(course.lesson("tiny"), Settings(1))
    server.judge(WorkerOptions(sandbox="off"), spec, Task("", "tiny.py", 1))


def test_an_answer_that_is_none_names_what_is_wrong(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ForkServerClient() as server:
        monkeypatch.setattr(client, "read_frame", lambda _: Frame({"judged": {"checks": [1]}}))
        with pytest.raises(EngineFault, match=r"JudgeResult: .* - at `\$\.checks\[0\]`"):
            judge(server, small_course)
        assert server._process is None


def test_a_malformed_envelope_ends_the_fork_server_and_names_the_field(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Envelope, "as_json", lambda _: {"options": {"sandbox": 1}})
    with (
        ForkServerClient() as server,
        pytest.raises(EngineFault, match=r"Envelope: .* - at `\$\.options\.sandbox`"),
    ):
        judge(server, small_course)


@pytest.mark.posix
def test_a_fork_server_without_a_task_is_not_waited_for() -> None:
    """It ends while it imports torch, which takes longer than most mistakes of a user."""
    server = ForkServerClient()
    process = server._process
    assert process is not None
    server.close()
    assert process.returncode
