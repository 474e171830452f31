"""Grade one submission in Gradescope's container, as a program of its own.

The container has 768 MB, half a processor and ten minutes, so workers get less memory than
elsewhere. After a grader fault ``results.json`` has no score.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

from grader.classroom.exports.gradescope import as_bytes, results
from grader.classroom.publish.unattended import grade_folder, read_settings
from grader.core.errors import ExitCode
from grader.core.limits import MIB

MEMORY_BYTES = 256 * MIB
"""A worker's memory, beyond what it shares with the fork server: fork server and judges take up to
350 MB of the container's 768.
"""
OWN_FAULT = (
    "The grader itself failed, so nothing was graded. This is not your score. Your instructor can"
    " run the autograder again."
)


def main() -> None:
    """Grade ``ROOT/submission`` and write ``ROOT/results/results.json``."""
    root = Path(sys.argv[1])
    target = root / "results" / "results.json"
    try:
        data = grade(root)
    except Exception:
        traceback.print_exc()  # into the log that instructors see
        write(target, {"output": OWN_FAULT, "stdout_visibility": "hidden"})
        sys.exit(ExitCode.ENGINE_FAULT)
    write(target, data)


def grade(root: Path) -> dict[str, Any]:
    source = root / "source"
    entry = grade_folder(source, root / "submission", memory_bytes=MEMORY_BYTES)
    return results(entry, read_settings(source)["hidden_checks"])


def write(target: Path, data: dict[str, Any]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(".results.part")
    part.write_bytes(as_bytes(data))
    part.replace(target)


if __name__ == "__main__":
    main()
