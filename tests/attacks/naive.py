"""A typical grader, against which every attack succeeds. It imports the student's file and compares
in one process.

It does what graders in the field do. The checks are copied beside the submission, pytest runs them
in this process, one submission after the other; whatever did not fail counts as right; results are
lines of JSON on standard output, and the process that started it reads them there; the page is put
together from strings. Nothing of the project's grader is used here.

``python naive.py`` serves jobs from standard input, a line of JSON each: ``submissions`` (folders),
``out`` (where to write ``printed.txt`` and ``report.html``), ``environment`` (to add), ``seconds``.
A job runs in a fork, so that torch is imported once. It answers each with a line of JSON: the exit
status, or null after a timeout.
"""

import importlib
import json
import os
import shutil
import signal
import stat
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, NoReturn

if sys.platform != "win32":
    import resource

CHECKS = """
import importlib
import sys

import torch

import truth

student = importlib.import_module("custom_sigmoid")
POINTS = torch.tensor([-1.5, 0.25, 2.0], dtype=torch.float64, requires_grad=True)
INCOMING = torch.tensor([1.0, 0.5, -2.0], dtype=torch.float64)


def test_forward():
    want = truth.expected(POINTS)
    got = student.Sigmoid.apply(POINTS)
    assert torch.allclose(got, want)


def test_backward():
    (want,) = torch.autograd.grad(truth.expected(POINTS), POINTS, INCOMING)
    (got,) = torch.autograd.grad(student.Sigmoid.apply(POINTS), POINTS, INCOMING)
    assert torch.allclose(got, want)


def test_gradcheck():
    points = torch.randn(4, dtype=torch.get_default_dtype()).double().requires_grad_()
    assert torch.autograd.gradcheck(student.Sigmoid.apply, points)
    assert torch.allclose(student.Sigmoid.apply(points), truth.expected(points))


def test_sigmoid():
    want = truth.expected(POINTS)
    got = student.sigmoid(POINTS)
    assert torch.allclose(got, want)
"""
TRUTH = '"""What is expected."""\nimport torch\n\n\ndef expected(x):\n    return torch.sigmoid(x)\n'


def grade(folder: Path) -> dict[str, Any]:
    """Return a submission's score out of 10, and the failed checks."""
    for name in ("custom_sigmoid", "truth", "test_sigmoid", "conftest"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    for path in folder.glob("*.zip"):
        unpack(path, folder)
    for name, text in (("test_sigmoid.py", CHECKS), ("truth.py", TRUTH)):
        if not (folder / name).exists():
            (folder / name).write_text(text)
    try:
        recorder = Recorder()
        importlib.import_module("pytest").main(
            [
                str(folder / "test_sigmoid.py"),
                "-q",
                "-p",
                "no:cacheprovider",
                "--capture=no",
                "--rootdir",
                str(folder),
                "-c",
                os.devnull,
            ],
            plugins=[recorder],
        )
    finally:
        sys.path.remove(str(folder))
    failed = [one for one in recorder.outcomes if one[1] == "failed"]
    return {
        "submission": folder.name,
        "score": 0.0 if recorder.broken else 10.0 - 2.5 * len(failed),
        "failed": failed,
    }


def unpack(path: Path, folder: Path) -> None:
    """Unpack a zip as careless tools do: write members where their names say, make links."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            target = Path(os.path.normpath(folder / member.filename))
            if stat.S_ISLNK(member.external_attr >> 16):
                target.symlink_to(archive.read(member).decode())
            else:
                target.write_bytes(archive.read(member))


class Recorder:
    """A pytest plugin that keeps the outcome of each check."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, str, str]] = []
        self.broken = False

    def pytest_collectreport(self, report: Any) -> None:
        self.broken = self.broken or report.failed

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            self.outcomes.append((report.nodeid, report.outcome, report.longreprtext))


def run(job: dict[str, Any]) -> NoReturn:
    """Grade the job's submissions, one after the other, and end."""
    out = Path(job["out"])
    printed = os.open(out / "printed.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.environ.update(job["environment"])
    os.chdir(out)  # noqa: TID251 - what a submission leaves in the current folder belongs there
    os.setsid()
    page = []
    for folder in job["submissions"]:
        result = grade(Path(folder))
        print(json.dumps(result), flush=True)
        page.append(f"<h1>{result['submission']}: {result['score']}</h1>")
        page += [f"<p>{name}</p><pre>{text}</pre>" for name, _, text in result["failed"]]
    report = f"<pre>{(out / 'printed.txt').read_text(errors='replace')}</pre>{''.join(page)}"
    (out / "report.html").write_text(report, errors="replace")
    sys.exit(0)


def main() -> None:
    """Serve jobs until standard input ends."""
    import pytest  # noqa: F401
    import torch

    torch.set_num_threads(1)
    torch.autograd.gradcheck(torch.sin, torch.ones(1, dtype=torch.float64, requires_grad=True))
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                shutil.rmtree(Path(job["out"]) / "__pycache__", ignore_errors=True)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                run(job)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 1
            finally:
                sys.stdout.flush()
                for hook in (importlib.import_module("atexit")._run_exitfuncs,):
                    hook()
                os._exit(code)
        print(json.dumps(wait(pid, job["seconds"])), flush=True)


def wait(pid: int, seconds: float) -> int | None:
    """Wait for a process; return its status, or None if it had to be killed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


if __name__ == "__main__":
    main()
