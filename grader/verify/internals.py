"""Find what the engine needs and the installed torch, pytest and pytest-json-report lack."""

from __future__ import annotations

import json
import subprocess

from grader.core.processes import isolated_command, scrubbed_environment
from grader.judge import COMPAT_CHECK


def missing_internals() -> list[str]:
    """Return a sentence for each private name or message that is gone, and what breaks without it.

    A separate process tries them, which takes about two seconds because it loads torch.
    """
    done = subprocess.run(
        isolated_command(COMPAT_CHECK),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=scrubbed_environment(),
        start_new_session=True,  # a terminal's Ctrl-C would end it, which would look like a problem
        check=False,
    )
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2]
        return [f"the installed torch or pytest does not suit this engine: {reason}"]
    found: list[str] = json.loads(done.stdout)
    return found
