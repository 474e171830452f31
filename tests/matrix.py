"""``make matrix``: verify the course with the newest, the pinned and the oldest torch.

uv makes an environment for each in ``.matrix/``, ``grade verify`` runs in it, and the table in
``tests/README.md`` is written from what it prints. ``UV_TORCH_BACKEND=cpu`` takes PyTorch's builds
without CUDA. A name as an argument, such as ``newest``, runs that row alone and writes nothing.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "tests" / "README.md"
ENVIRONMENTS = {
    "newest": ("3.12", ["--upgrade"]),
    "pinned": ("3.11", ["--constraint", ".ci/constraints.txt"]),
    "oldest": ("3.11", ["--resolution", "lowest-direct"]),
}
"""By name: the version of Python, and how uv chooses versions among those in ``pyproject.toml``."""
PACKAGES = ("torch", "numpy", "pytest")
TABLE = re.compile(r"(?<=<!-- make matrix -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEAD = "| versions | Python | torch | NumPy | pytest | gradings | problems |\n" + "|---" * 7 + "|\n"


def main(names: list[str]) -> int:
    rows = [row(name) for name in names or ENVIRONMENTS]
    table = HEAD + "".join(f"| {' | '.join(cells)} |\n" for cells in rows)
    print(table, end="")
    if not names:
        README.write_text(TABLE.sub(lambda _: table, README.read_text("utf-8")), "utf-8")
    return int(any(cells[-1] != "0" for cells in rows))


def row(name: str) -> list[str]:
    """Make an environment, verify the course in it, and return its cells of the table."""
    python, choice = ENVIRONMENTS[name]
    folder = ROOT / ".matrix" / name
    interpreter = str(folder / "bin" / "python")
    uv("venv", "--quiet", "--clear", "--python", python, str(folder))
    uv("pip", "install", "--quiet", "--python", interpreter, *choice, "--editable", ".")
    verify = [str(folder / "bin" / "grade"), "verify"]
    done = subprocess.run(verify, cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"== {name}\n{done.stdout}{done.stderr}", flush=True)
    found = re.search(r"(\d+) gradings, 1 seed: (no|\d+) problem", done.stdout)
    if found is None:
        sys.exit(f"{name}: grade verify ended with {done.returncode}")
    problems = "0" if found[2] == "no" else found[2]
    return [name, *versions(interpreter), f"{int(found[1]):,}", problems]


def versions(interpreter: str) -> list[str]:
    """Return the versions of Python and of the packages, without the build of torch."""
    script = (
        "import json, platform; from importlib.metadata import version;"
        f"print(json.dumps([platform.python_version(), *map(version, {PACKAGES})]))"
    )
    said = subprocess.run([interpreter, "-c", script], capture_output=True, text=True, check=True)
    return [version.partition("+")[0] for version in json.loads(said.stdout)]


def uv(*arguments: str) -> None:
    command = shutil.which("uv")
    if command is None:
        sys.exit("make matrix needs uv. Install it: pip install uv")
    subprocess.run([command, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
