"""Rules that import contracts can't express: the supervisor imports no torch, nothing unpickles,
the fork server reads only envelopes.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import grader
from grader.classroom.publish import CLASSROOM50_MAIN, GRADESCOPE_MAIN
from grader.judge import COMPAT_CHECK, DEBUGGER
from grader.render.graph import TRACING_PROCESS
from grader.runtime import FORK_SERVER
from grader.worker import SPAWNED_WORKER

PACKAGE = Path(grader.__file__).parent


def modules() -> dict[str, Path]:
    """Return our modules by dotted name below the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if "_course" not in path.parts:
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            found[".".join(parts).removesuffix("__init__").rstrip(".")] = path
    return found


def output_of(code: str) -> str:
    """Return what Python prints for some code in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_the_supervisor_never_imports_torch_or_pytest() -> None:
    """Everything that the command needs besides a host starts without them."""
    heavy = "[m for m in ('torch', 'pytest', 'numpy') if m in sys.modules]"
    # A process of its own, which runs a user's file with the user's rights.
    apart = ("render.graph.tracing_process",)
    light = ("core", "course", "render", "classroom", "verify", "cli")
    names = {name for name in modules() if name.split(".")[0] in light} - {*apart}
    ours = ", ".join(f"grader.{name}" for name in sorted(names))
    assert output_of(f"import sys, {ours}; print({heavy})") == "[]"


def test_the_fork_server_loads_torch_in_its_warm_up() -> None:
    """There garbage collection is off, which saves a tenth of a second at each start."""
    code = "import sys, grader.runtime.fork_server; print('torch' in sys.modules)"
    assert output_of(code) == "False"


def test_nothing_unpickles() -> None:
    """No module of the engine imports a way to run code from data."""
    banned = {"pickle", "dill", "cloudpickle", "marshal", "shelve"}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert not banned & {alias.name.split(".")[0] for alias in node.names}, name
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in banned, name


def test_the_fork_server_reads_envelopes_and_nothing_else() -> None:
    """Workers are copies of it, so it never reads a spec or a task; lesson servers and judges read
    those after the fork.
    """
    source = ast.parse((PACKAGE / "runtime" / "fork_server.py").read_text("utf-8"))
    reading = {
        function.name: {
            ast.unparse(node)
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and "(jobs)" in ast.unparse(node)
        }
        for function in source.body
        if isinstance(function, ast.FunctionDef)
    }
    assert reading["serve_forks"] == {"read_frame(jobs)"}
    assert {name for name, calls in reading.items() if calls} == {"serve_forks", "serve_inline"}


def test_the_main_modules_of_processes_are_where_their_names_say() -> None:
    """A process is started by its main module's name, which no import checks."""
    names = (CLASSROOM50_MAIN, COMPAT_CHECK, DEBUGGER, FORK_SERVER, GRADESCOPE_MAIN)
    found = modules()
    for name in (*names, SPAWNED_WORKER, TRACING_PROCESS):
        tree = ast.parse(found[name.removeprefix("grader.")].read_text("utf-8"))
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert "main" in functions, name
