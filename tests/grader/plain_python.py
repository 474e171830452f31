"""Run scripts in plain Python, isolated from its user, where torch is imported only once.

``python -I plain_python.py`` reads jobs from standard input, a line of JSON each: the ``script``,
its ``folder``, and the files for ``out`` and ``err``. It runs each script in a fork and answers
with the exit code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import NoReturn


class PlainPython:
    """A process that forks for each script. It starts with the first."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def run(self, script: Path) -> subprocess.CompletedProcess[str]:
        """Run a script in its folder."""
        if self.process is None:
            command = [sys.executable, "-I", "-X", "utf8", __file__]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        out, err = script.with_name("stdout"), script.with_name("stderr")
        job = {
            "script": script.name,
            "folder": str(script.parent),
            "out": str(out),
            "err": str(err),
        }
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        code = json.loads(self.process.stdout.readline())
        return subprocess.CompletedProcess(
            [script.name], code, out.read_text("utf-8"), err.read_text("utf-8")
        )

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()


def run(job: dict[str, str]) -> NoReturn:
    """Run the script as ``python -I SCRIPT`` does, and end."""
    os.chdir(job["folder"])  # noqa: TID251 - the process is the script's own
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [job["script"]]
    code = 0
    try:
        exec(
            compile(Path(job["script"]).read_text("utf-8"), job["script"], "exec"),
            {"__name__": "__main__"},
        )
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            run(json.loads(line))
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
