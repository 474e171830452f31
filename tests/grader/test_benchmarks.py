"""Each benchmark runs, with its smallest numbers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
LESSON = "tensor_state"
SMALLEST = {
    "bench.py": "--rounds 1 --only border",
    "border.py": "--rounds 1",
    "ideal.py": f"{LESSON} --rounds 1",
    "lessons.py": f"{LESSON} --rounds 1",
    "machine.py": "",
    "memory.py": f"--lessons {LESSON} --count 1",
    "named.py": f"{LESSON} --every 50",
    "planted_copies.py": LESSON,
    "processor.py": f"{LESSON} --rounds 1",
    "repair.py": f"{LESSON} --every 50",
    "scale.py": "--sizes 1,2",
    "texts.py": "--largest 1 --only attributes",
    "watch.py": f"{LESSON} --rounds 1",
    "workers.py": "--rounds 1",
}
"""The arguments with which a script does as little as it can."""
RUN_BY_BENCH = {"border.py", "machine.py", "workers.py"}


def scripts() -> set[str]:
    return {path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text("utf-8")}


def test_every_benchmark_is_run() -> None:
    """A script that is not in the table is never run by these tests."""
    assert scripts() == set(SMALLEST)


@pytest.mark.proof  # make test checks their types
@pytest.mark.linux
@pytest.mark.parametrize("name", sorted(set(SMALLEST) - RUN_BY_BENCH))
def test_a_benchmark_runs(name: str) -> None:
    """It ends without an error and prints something."""
    if name == "memory.py" and os.geteuid():
        pytest.skip("only root can read the memory of hidden processes")
    ran = subprocess.run(
        [sys.executable, FOLDER / name, *SMALLEST[name].split()],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
