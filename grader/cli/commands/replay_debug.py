"""Run ``grade replay --pdb``: one check in a debugger, with the user's own rights."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from grader.cli.commands.replay import Replay, ReplayRequest, find_replay, one_wrong_check, own_file
from grader.core.errors import ExitCode, UsageError
from grader.core.messages import DebugRequest
from grader.core.processes import users_environment
from grader.course.course import Course
from grader.judge import DEBUGGER
from grader.render.terminal import make_console
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import task_for


def debug(course: Course, asked: ReplayRequest, *, stop: bool) -> ExitCode:
    """Run one check in a separate process without sandbox,
    with a debugger in the student's code.
    """
    what = find_replay(course, asked)
    path = own_file(asked.place, what.file)
    if what.file.problem is not None:
        raise UsageError(what.file.template or what.file.problem, **what.file.facts)
    chosen: Replay | None = what
    if what.check is None:
        with ForkServerClient() as client:
            chosen = one_wrong_check(client, make_console(), what, asked)
    if chosen is None:
        return ExitCode.NOT_FULL_MARKS
    if chosen.check is None:
        refused = (
            "No check of {lesson} is wrong with this seed. Name the one to step through: {command}"
        )
        command = f"grade replay {what.lesson.id}.<check> --break"
        raise UsageError(what.tr(refused, lesson=what.lesson.id, command=command))
    warning = what.tr("{file} is run here, with your rights: this is not a sandbox", file=path.name)
    make_console(stderr=True).print(Text(warning, "dim"))
    request = debug_request(what, path, chosen.check, stop=stop)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "request.json"
        file.write_text(json.dumps(request.as_json()), "utf-8", newline="\n")
        done = subprocess.run(debug_command(file), env=users_environment(), check=False)
    return ExitCode.OK if done.returncode == 0 else ExitCode.NOT_FULL_MARKS


def debug_request(what: Replay, path: Path, check: str, *, stop: bool) -> DebugRequest:
    spec, task = what.lesson.spec(what.settings.lang), task_for(what.file, what.settings)
    return DebugRequest(str(path), check, stop, spec, task)


def debug_command(request: Path) -> Sequence[str]:
    return [sys.executable, "-m", DEBUGGER, str(request)]
