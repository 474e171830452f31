"""The house: imports point downward, the worker knows nothing but the wire, the supervisor never imports torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import grader

PACKAGE = Path(grader.__file__).parent

# From the ground up; a module may import those on lower floors and, within its own floor, what PEERS allows.
FLOORS = [
    {
        "errors",
        "model",
        "translation",
        "wire.frames",
        "wire.program",
        "wire.trace",
        "wire.tensors",
        "wire",
        "sandbox.limits",
        "sandbox.landlock",
        "sandbox.seccomp",
        "reaper",
        "affinity",
        "pages",
        "render",
        "render.clean",
        "render.values",
        "intake",
        "intake.names",
        "gradebook",
        "batch",
        "batch.executors",
        "exports",
        "exports.cells",
        "bundles",
        "bundles.engine",
        "classroom",
        "classroom.items",
        "graph",
        "scopes",
        "source",
        "worker_streams",
        "cellwise",
        "",
    },
    {"scoring", "wire.values", "bundles.texts", "render.words", "inputs", "stubs", "archives", "sandbox.watch", "channel", "redaction"}
    | {"notebooks", "render.places", "late_imports"},
    {"scaffold", "render.comparison", "render.code", "progress"},
    {"leaves", "gradebook.migrations", "batch.regrade", "durable"},
    {"submission"},
    {"graph.picture"},
    {"graph.layout", "graph.words"},
    {"graph.svg", "graph.tree"},
    {"graph.child", "graph.drawing", "graph.heatmap"},
    {"render.figures", "render.keepsake"},
    {
        "sandbox",
        "evidence",
        "course",
        "workers",
        "integrity",
        "worker",
        "local",
        "foresight",
        "render.html",
        "render.terminal",
        "intake.records",
    },
    {
        "remote",
        "host",
        "gradebook.records",
        "intake.items",
        "render.github",
        "bundles.withhold",
        "bundles.gradescope",
        "gradebook.matching",
    },
    {"intake.drafts", "gradebook.roster", "gradebook.reading", "gradebook.canonical"},
    {"gradebook.store"},
    {"gradebook.lock"},
    {"intake.plain", "intake.canvas", "intake.moodle", "intake.gradescope", "intake.github"},
    {"intake.find"},
    {"exchange"},
    {"session", "exports.records", "exports.sheet", "exports.details", "classroom.records"},
    {"exports.matching", "exports.csv_table", "exports.json_list", "exports.gradescope", "exports.exercism", "exports.junit"},
    {"exports.canvas", "exports.moodle"},
    {"exports.formats"},
    {"figures"},
    {"recording", "gradchecks"},
    {"literals"},
    {"script"},
    {"snippet"},
    {"checks", "diagnosis", "classroom.gather", "classroom.rows", "classroom.similarity"},
    {"verdicts"},
    {"results"},
    {"plugin", "render.class_page"},
    {"rehearsal"},
    {"forked"},
    {"judge", "batch.outputs", "debugging", "render.similar_page"},
    {"lesson_host", "spawned", "grading"},
    {"forkserver", "batch.run", "batch.elsewhere"},
    {"findings"},
    {"ingredients", "ledger", "proved"},
    {"kept"},
    {"verify", "bundles.release", "bundles.container", "batch.cluster"},
    {"route"},
    {"render.journey"},
    {"watching", "keys"},
    {"commands.selection", "commands.workspace", "commands.bars", "commands.waiting", "commands.interrupts", "commands.summary"},
    {"commands.learn", "commands.keepsake"},
    {"commands", "commands.watch", "commands.grade", "commands.author", "commands.export", "commands.release", "commands.gradescope"},
    {"commands.replay"},
    {"commands.last_wrong", "commands.new", "commands.graph", "commands.batch", "commands.adjust", "commands.similar", "commands.notebook"},
    {"cli.options", "cli.streams"},
    {"cli.words"},
    {"cli.learn", "cli.teach", "cli.author"},
    {"cli.magics"},
    {"cli"},
    {"__main__"},
]
PEERS = {
    ("translation", "errors"),
    ("source", "scopes"),
    ("wire", "wire.frames"),
    ("wire.tensors", "wire.frames"),
    ("stubs", "source"),
    ("bundles.engine", ""),
}
PEERS |= {("", "graph.drawing"), ("", "cli.magics")}  # grader.draw and %load_ext grader, loaded when they are first asked for


def modules() -> dict[str, Path]:
    """Our modules by dotted name below the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if "_course" not in path.parts:
            name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
            found[name] = path
    return found


def imports(path: Path) -> set[str]:
    """What a module of ours imports of ours, at the top or inside functions; imports for types alone don't count."""
    found = set()
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "grader":
            base = (node.module or "").removeprefix("grader").lstrip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}".lstrip(".")
                found.add(inner if inner in modules() else base)
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("grader").lstrip(".") for alias in node.names if alias.name.split(".")[0] == "grader"}
    return found


def test_every_module_has_a_floor() -> None:
    placed = set().union(*FLOORS)
    assert set(modules()) == placed


def test_imports_point_downward() -> None:
    """No module imports one on its own floor or above."""
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    upward = [
        f"{name} -> {target}"
        for name, path in modules().items()
        for target in imports(path)
        if floor[target] >= floor[name] and (name, target) not in PEERS and target != name
    ]
    assert upward == []


def test_the_worker_imports_the_wire_and_nothing_else_of_ours() -> None:
    assert {name.split(".")[0] for name in imports(PACKAGE / "worker.py")} == {"wire"}
    for name in ("frames", "program", "tensors", "trace", "values"):
        assert {target.split(".")[0] for target in imports(PACKAGE / "wire" / f"{name}.py")} <= {"wire"}


def test_the_supervisor_never_imports_torch_or_pytest() -> None:
    """Everything that the command needs beside a host starts without them."""
    heavy = "[m for m in ('torch', 'pytest', 'numpy') if m in sys.modules]"
    ours = ", ".join(
        sorted(
            f"grader.{name}"
            for name in modules()
            if name.split(".")[0] in ("commands", "cli", "render", "gradebook", "intake", "batch", "exports", "bundles")
        )
    )
    code = f"import sys, {ours}; print({heavy})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_nothing_unpickles() -> None:
    """No module of the engine imports a way to run code from data."""
    banned = {"pickle", "dill", "cloudpickle", "marshal", "shelve"}
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert not banned & {alias.name.split(".")[0] for alias in node.names}, name
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in banned, name


def test_the_fork_host_reads_envelopes_and_nothing_else() -> None:
    """What a worker is a copy of has never seen a spec or a task: lesson hosts and judges read those, after they were forked."""
    source = ast.parse((PACKAGE / "forkserver.py").read_text("utf-8"))
    reading = {
        function.name: {ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.Call) and "(jobs)" in ast.unparse(node)}
        for function in source.body
        if isinstance(function, ast.FunctionDef)
    }
    assert reading["serve_forks"] == {"read_frame(jobs)"}
    assert {name for name, calls in reading.items() if calls} == {"serve_forks", "serve_inline"}
