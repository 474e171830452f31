"""The engine's other processes: their command line and environment, and what Linux' ``/proc`` says
about processes and memory. Other systems say nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import IO

from grader.core.files import PACKAGE

OUT_OF_MEMORY = (
    "The host ran out of memory, so the kernel killed a process of the grader. Free some memory, or"
    " grade fewer lessons or submissions at once, and grade again"
)
"""The message if ``oom_kills`` has grown since the start of a process that is gone now."""


def oom_kills() -> int:
    """Return how many processes this kernel has killed because memory ran out; 0 if unknown."""
    found = re.search(rb"^oom_kill (\d+)", _proc("vmstat"), re.MULTILINE)
    return int(found[1]) if found else 0


def run_delay(pid: int | str) -> float:
    """Return how many seconds a process's main thread has waited for a processor; 0 if unknown.

    Source: the second number of /proc/PID/schedstat (sched-stats in the kernel's documentation).
    """
    fields = _proc(f"{pid}/schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) > 1 else 0.0


def has_children(pid: int) -> bool | None:
    """Return whether a process's main thread has children; None if unknown.

    Source: /proc/PID/task/TID/children in proc_pid_task(5).
    """
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
            return bool(children.read().strip())
    except OSError:
        return None


def cpu_seconds(pid: int | str) -> float:
    """Return how much processor time a process has used; 0 if unknown.

    Source: fields 14 and 15, utime and stime, of proc_pid_stat(5).
    """
    if sys.platform == "win32":
        return 0.0
    fields = _proc(f"{pid}/stat").rpartition(b")")[2].split()
    if len(fields) <= 12:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _proc(name: str) -> bytes:
    """Return a file of ``/proc``; nothing if there is no such process or no ``/proc``."""
    try:
        with open(f"/proc/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


ALLOWED_ENVIRONMENT = "PATH LANG LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP SYSTEMROOT WINDIR".split()
"""The environment variables that a fork server or a worker keeps; others are dropped."""


def scrubbed_environment() -> dict[str, str]:
    """Return a fork server's environment: the allowed names, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ALLOWED_ENVIRONMENT if name in os.environ}
    single = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    )
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}
    return {**kept, **single, **hidden}


def users_environment() -> dict[str, str]:
    """Return the environment for a file that users run with their own rights.

    It is their environment, except that characters which their terminal can't show are replaced.
    """
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    return {**os.environ, "PYTHONIOENCODING": f"{encoding}:replace"}


def isolated_command(module: str, *args: str) -> list[str]:
    """Return a command that runs ``module.main()`` with only this package added to the path.

    ``-I`` would ignore ``PYTHONHASHSEED``, which makes the order of sets reproducible. Text is
    UTF-8 on every system, so a student's ``print`` works on Windows too.
    """
    home = str(PACKAGE.parent)
    code = f"import sys; sys.path.insert(0, {home!r}); from {module} import main; main()"
    return [sys.executable, "-s", "-P", "-X", "utf8", "-c", code, *args]


def reap() -> None:
    """Reap the children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def end_process(
    process: subprocess.Popen[bytes], streams: Iterable[IO[bytes] | None], seconds: float
) -> None:
    """Close a process's streams and wait for its end; kill it after some seconds."""
    for stream in streams:
        with contextlib.suppress(OSError):  # data that a dead process did not read
            if stream is not None:
                stream.close()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
