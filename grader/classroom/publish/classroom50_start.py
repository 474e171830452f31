"""Grade one submission in Classroom 50's runner: install what grading needs, grade, publish.

``grade classroom50`` copies this file as ``autograder.py`` beside ``autograder.json``, ``engine``
and ``course``. It uses only the standard library. The current folder is the student's checkout.
Nothing may be imported from there, so other processes start elsewhere. Exit code 0 means that the
submission was graded. Any other means a fault that is not the student's; then nothing was
published.

Format: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULT, BODY, PAGE = "result.json", "release-body.md", "report.html"
OUTPUTS = "outputs"
"""The file for ``$GITHUB_OUTPUT``."""
PASSED_ON = (
    "ASSIGNMENT",
    "ASSIGNMENT_TYPE",
    "CLASSROOM",
    "COMMIT_URL",
    "GITHUB_SHA",
    "HOME",
    "LANG",
    "OWNER",
    "PATH",
    "RELEASE_URL",
    "REVIEW_URL",
    "SUBMISSION_TAG",
    "TMPDIR",
    "USERNAME",
)
"""The environment variables that the grader gets: no token, and no path that the runner reads."""
INSTALL_SECONDS = 240
"""Classroom 50 ends a run after 15 minutes; this much of it is for installing."""
OWN_FAULT = (
    "The grader itself failed ({why}), so nothing was graded. This is not a score. Run the workflow"
    " again."
)


def main() -> int:
    checkout = Path.cwd()
    for name in (RESULT, BODY, PAGE):
        remove(checkout / name)
    with tempfile.TemporaryDirectory() as folder:
        try:
            settings = json.loads((HERE / "autograder.json").read_text("utf-8"))
            # What is printed from now on may come from a student's code; the runner must not obey
            # it.
            token = secrets.token_hex(16)
            print(f"::stop-commands::{token}", flush=True)
            try:
                python = install(settings["pip"])
                grade(python, settings, checkout, Path(folder))
            finally:
                print(f"\n::{token}::", flush=True)
            publish(Path(folder), checkout)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            for name in (RESULT, BODY, PAGE):
                remove(checkout / name)
            print("::error::" + OWN_FAULT.format(why=why(error)), flush=True)
            return 1
    return 0


def remove(path: Path) -> None:
    """Remove files and links of the student's repository that have the names of our results."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def install(steps: list[list[str]]) -> str:
    """Return a Python with what grading needs: a new environment, or this one if nothing is
    installed.
    """
    if not steps:
        return sys.executable
    deadline = time.monotonic() + INSTALL_SECONDS
    environment = HERE / "venv"
    python = str(environment / "bin" / "python")
    pip = [python, "-I", "-m", "pip", "install", "--quiet", "--no-input"]
    commands = [[sys.executable, "-I", "-m", "venv", str(environment)]]
    for command in (*commands, *([*pip, *step] for step in steps)):
        left = max(deadline - time.monotonic(), 0.0)
        subprocess.run(command, cwd=HERE, check=True, timeout=left)
    return python


def grade(python: str, settings: dict[str, Any], checkout: Path, target: Path) -> None:
    """Run the grader, which writes into ``target``; raise CalledProcessError if it fails."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    ours = {"PYTHONPATH": str(HERE / "engine"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        [python, "-P", "-s", "-X", "utf8", "-m", settings["main"], HERE, checkout, target],
        cwd=HERE,
        env={**kept, **ours},
        check=True,
        timeout=settings["seconds"],
    )


def publish(made: Path, checkout: Path) -> None:
    """Put the grader's files where the runner reads them; the result comes last."""
    for name in (PAGE, BODY, RESULT):
        if (made / name).exists() or name == RESULT:
            shutil.copyfile(made / name, checkout / name)
    lines = (made / OUTPUTS).read_text("utf-8")
    print(lines, end="")
    if os.environ.get("GITHUB_OUTPUT"):
        with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8", newline="\n") as stream:
            stream.write(lines)


def why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"installing or grading took longer than the {error.timeout:.0f} s left for it"
    if isinstance(error, subprocess.CalledProcessError):
        return f"a process ended with status {error.returncode}; the lines above say more"
    return " ".join(f"{type(error).__name__}: {error}".split())


if __name__ == "__main__":
    sys.exit(main())
