"""``make matrix``: verify the course with the oldest, the pinned and the newest versions.

    python tests/matrix.py [ROW]...

uv makes an environment for each row in ``.matrix/``, on the oldest and the newest Python, and
``grade verify`` runs in it. Each row that was verified is written into the table in
``tests/README.md``, with the commit and a digest of the lessons' scenarios and rules, which use
torch most closely; a test fails when these have changed since the oldest row. A row's name as an
argument, such as ``"oldest 3.11"``, runs that row alone. ``UV_TORCH_BACKEND=cpu`` takes PyTorch's
builds without CUDA.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "tests" / "README.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DEPENDENCIES = [re.split(r"[^\w-]", line)[0] for line in PROJECT["dependencies"]]
CHOICES = {
    "oldest": [
        *("--resolution", "lowest-direct"),
        *(word for name in DEPENDENCIES for word in ("--only-binary", name)),
    ],
    "pinned": ["--constraint", ".ci/constraints.txt"],
    "newest": ["--upgrade"],
}
"""How uv chooses versions among those in ``pyproject.toml``; the oldest that have a wheel."""
PYTHONS = ("3.11", "3.14")
PACKAGES = ("torch", "numpy", "pytest")
TABLE = re.compile(r"(?<=<!-- make matrix -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEAD = (
    "| versions | Python | torch | NumPy | pytest | gradings | problems | commit | rules |\n"
    + "|---" * 9
    + "|\n"
)


def main(names: list[str]) -> int:
    known = {f"{choice} {python}": (choice, python) for python in PYTHONS for choice in CHOICES}
    if unknown := set(names) - set(known):
        sys.exit(f"unknown rows: {', '.join(sorted(unknown))}. There are: {', '.join(known)}")
    rows, at = rows_in(README.read_text("utf-8")), commit()
    for name in names or known:
        rows[name] = [*verified(name, *known[name]), at, rules_digest()]
        table = HEAD + "".join(f"| {' | '.join(rows[row])} |\n" for row in known if row in rows)
        README.write_text(TABLE.sub(lambda _, t=table: t, README.read_text("utf-8")), "utf-8")
    return int(any(rows[name][6] != "0" for name in names or known))


def rows_in(text: str) -> dict[str, list[str]]:
    """Return the cells of the table's rows, by name."""
    found = TABLE.search(text)
    lines = found[0].splitlines()[2:] if found else []
    cells = [line.strip("| ").split(" | ") for line in lines]
    return {one[0]: one for one in cells}


def verified(name: str, choice: str, python: str) -> list[str]:
    """Make an environment, verify the course in it, and return the row's first seven cells."""
    folder = ROOT / ".matrix" / name.replace(" ", "-")
    interpreter = str(folder / "bin" / "python")
    uv("venv", "--quiet", "--clear", "--python", python, str(folder))
    uv(
        *("pip", "install", "--quiet", "--python", interpreter),
        *(*CHOICES[choice], "--editable", "."),
    )
    verify = [str(folder / "bin" / "grade"), "verify"]
    done = subprocess.run(verify, cwd=ROOT, capture_output=True, text=True, check=False)
    print(f"== {name}\n{done.stdout}{done.stderr}", flush=True)
    found = re.search(r"([\d,]+) gradings?, 1 seed: (no|\d+) problem", done.stdout)
    if found is None:
        sys.exit(f"{name}: grade verify ended with {done.returncode}")
    gradings, problems = int(found[1].replace(",", "")), "0" if found[2] == "no" else found[2]
    return [name, *versions(interpreter), f"{gradings:,}", problems]


def versions(interpreter: str) -> list[str]:
    """Return the versions of Python and of the packages, without the build of torch."""
    script = (
        "import json, platform; from importlib.metadata import version;"
        f"print(json.dumps([platform.python_version(), *map(version, {PACKAGES})]))"
    )
    said = subprocess.run([interpreter, "-c", script], capture_output=True, text=True, check=True)
    return [version.partition("+")[0] for version in json.loads(said.stdout)]


def commit() -> str:
    """Return the commit that is checked out, with a ``+`` if files have changed since."""
    words = ["git", "describe", "--always", "--abbrev=8", "--dirty=+", "--exclude=*"]
    return subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def rules_digest() -> str:
    """Return a digest of all scenarios and of the lessons' rules."""
    digest = hashlib.sha256()
    for pattern in (
        "tests/checks/*/scenarios.py",
        "tests/checks/*/diagnosis.py",
        "grader/worker/scenarios.py",
    ):
        for path in sorted(ROOT.glob(pattern)):
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:8]


def uv(*arguments: str) -> None:
    command = shutil.which("uv")
    if command is None:
        sys.exit("make matrix needs uv. Install it: pip install uv")
    subprocess.run([command, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
