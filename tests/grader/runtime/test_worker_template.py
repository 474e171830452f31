"""What workers share with the process that they are forked from: nothing of the judge, and nothing
through which one reaches another.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from factories.tiny import REST, RIGHT, graded

from grader.core.report import Outcome
from grader.course.course import Course
from grader.runtime.client import ForkServerClient, default_mode
from grader.worker.sandbox import landlock, seccomp
from grader.worker.sandbox.scratch import prefix_of

pytestmark = pytest.mark.skipif(
    default_mode() != "fork" or not landlock.abi() or not seccomp.has_tables(),
    reason="workers are forked, and confined by Landlock and seccomp, on Linux only",
)


def raised_by(host: ForkServerClient, course: Course, body: str, **settings: object) -> str:
    """Return the messages of the checks of ``double``, which raises what it has found."""
    source = f"def double(x):\n{body}\n    raise RuntimeError(f'found {{found}}')\n{REST}"
    outcome = graded(host, course, source, **settings)
    return "\n".join(check.message or "" for check in outcome.result.checks)


JUDGES_MEMORY = """
    import gc, sys, types
    gc.unfreeze()  # what was imported before the fork
    functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]
    homes = {str(one.__module__).rpartition('.grader.')[2] for one in functions}
    found = sorted(home for home in homes if home.startswith(
        ('_pytest', 'pytest', 'grader.judge', 'grader.authoring', 'grader.course')
    ))
    found.append('torch' in sys.modules and len(functions) > 1000)
"""


def test_a_worker_has_nothing_of_the_judge_in_memory(
    host: ForkServerClient, small_course: Course
) -> None:
    """Not even unreachable by import: the process that it was forked from never had it."""
    assert "found [True]" in raised_by(host, small_course, JUDGES_MEMORY)


@pytest.fixture
def other(small_course: Course) -> Iterator[ForkServerClient]:
    """Return another fork server of this supervisor, with a file in its scratch folder."""
    with ForkServerClient() as made:
        graded(made, small_course, RIGHT)
        yield made


ACTS = {
    "signal it": "os.kill({pid}, 0)",
    "read its memory": "open('/proc/{pid}/mem', 'rb').read(1)",
    "list its descriptors": "os.listdir('/proc/{pid}/fd')",
    "signal the process that both are forks of": "os.kill({template}, 0)",
    "read the memory of the process that both are forks of": "open('/proc/{template}/mem', 'rb')",
    "list its scratch folder": "os.listdir({scratch!r})",
    "write into its scratch folder": "open({scratch!r} + '/mark', 'w')",
}


def test_a_worker_reaches_no_other_fork_server(
    host: ForkServerClient, other: ForkServerClient, small_course: Course
) -> None:
    assert other._process is not None
    pid = other._process.greet()
    (scratch,) = Path(tempfile.gettempdir()).glob(f"{prefix_of(pid)}*")
    template = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    facts = {"pid": pid, "template": template, "scratch": str(scratch)}
    body = ["    import os", "    found = []"]
    for name, act in ACTS.items():
        body += ["    try:", f"        {act.format(**facts)}", f"        found.append({name!r})"]
        body += ["    except OSError:", "        pass"]
    assert "found []" in raised_by(host, small_course, "\n".join(body), sandbox="require")
    assert list(scratch.iterdir()) == []


def test_a_stream_that_was_opened_before_the_fork_is_the_workers_own(
    host: ForkServerClient, small_course: Course
) -> None:
    """It is the pipe to this worker's judge, and what one submission prints stays there."""
    talks = f"import sys\nsys.stdout.write('half a line')\n{RIGHT}"
    tells = "    import sys\n    found = [sys.stdout.seekable(), sys.stdout is sys.__stdout__]"
    graded(host, small_course, talks)
    assert "found [False, True]" in raised_by(host, small_course, tells)
    checks = graded(host, small_course, RIGHT).result.checks
    assert {check.outcome for check in checks} == {Outcome.PASSED}
    assert not any(check.output for check in checks)


def test_the_filter_of_a_worker_lets_it_signal_itself_only() -> None:
    """One filter is assembled for all, so no other process's number may stay in it."""
    for machine in seccomp.AUDIT_ARCH:
        mine, others = seccomp.program(machine, 41), seccomp.program(machine, 42)
        assert mine != others
        number = seccomp.instruction(seccomp.EQUAL, seccomp.ANY_PID, 0, 1)
        assert number in seccomp.program_for_all(machine)
        assert number not in mine
        signals = seccomp.instruction(seccomp.EQUAL, 41, 0, 1)
        assert mine.count(signals) - others.count(signals) == 2  # kill and tgkill


HOLES = """
from grader.runtime.worker_template import Mallinfo2, fill_holes
from grader.worker.sandbox.c_library import libc
kept = [bytearray(3000 + number % 7 * 900) for number in range(2000)]
del kept[::2]
libc().mallinfo2.restype = Mallinfo2
def free():
    found = libc().mallinfo2()
    return found.fordblks - found.keepcost
before = free()
fill_holes()
print(before > 1 << 20, free() < 1 << 12)
"""


@pytest.mark.skipif(
    "glibc" not in (os.confstr("CS_GNU_LIBC_VERSION") or ""), reason="asks glibc what is free"
)
def test_free_pieces_between_what_is_allocated_are_used_up() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split() == ["True", "True"]
