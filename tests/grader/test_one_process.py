"""The tool that judges a file in one process shows the frames, and stops at a breakpoint."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.linux
def test_it_shows_frames_and_stops_in_the_judge(tmp_path: Path) -> None:
    """The breakpoint is set from outside, because the course's checks have none."""
    script = (
        "import sys; sys.path.insert(0, 'tests');"
        "from grader.judge.random_inputs import RandomInputs as Inputs; init = Inputs.__init__;"
        "Inputs.__init__ = lambda *a, **k: (breakpoint(), init(*a, **k))[1];"
        "import one_process; one_process.main()"
    )
    words = ["tensor_state", "solutions/tensor_state.py", "--frames"]
    ran = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=ROOT,
        input="c\n" * 100,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = ran.stdout.splitlines()
    assert ran.returncode == 0, ran.stderr
    assert any(line.startswith("> [['load'") for line in lines)
    assert any(line.startswith("< ['loaded'") for line in lines)
    assert "(Pdb)" in ran.stdout
    assert lines[-1].partition(" ")[0].endswith("passed")
