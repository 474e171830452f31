"""Flag what looks like tampering, for a person to check. A flag never changes points.

There are two sources, and neither is proof: the text of the file, read here without executing it
(``flags_in``), and names that were replaced in torch and in the builtins while the file was loaded.
The worker reports these (``Worker.do_load``), so the file could hide them.
"""

from __future__ import annotations

import ast

from grader.core.i18n import Catalogue
from grader.course.source import Source, dotted_name

REACHING_OUT = {
    "sys._getframe": "walks the frames of the process",
    "sys._current_frames": "walks the frames of the process",
    "inspect.currentframe": "walks the frames of the process",
    "inspect.stack": "walks the frames of the process",
    "inspect.getouterframes": "walks the frames of the process",
    "gc.get_objects": "searches the memory of the process",
    "gc.get_referrers": "searches the memory of the process",
    "ctypes.CDLL": "calls into the C library",
    "ctypes.memmove": "writes to raw memory",
    "ctypes.string_at": "reads raw memory",
    "os._exit": "ends the process",
    "os.kill": "sends signals",
    "os.fork": "starts processes",
    "os.system": "starts processes",
    "os.execv": "starts programs",
    "os.write": "writes to descriptors",
    "os.fdopen": "writes to descriptors",
    "sys.exit": "ends the process",
    "atexit.register": "runs code at exit",
    "sys.settrace": "traces the process",
    "sys.setprofile": "traces the process",
    "sys.meta_path": "changes how modules are imported",
    "threading.Thread": "starts threads",
}
TAILS = {name.rpartition(".")[2] for name in REACHING_OUT}
"""The last parts of those names, for a quick check of attributes."""
MODULES = {
    "subprocess": "starts programs",
    "socket": "opens connections",
    "multiprocessing": "starts processes",
    "requests": "opens connections",
    "urllib": "opens connections",
    "http": "opens connections",
    "pytest": "looks for the checks",
    "_pytest": "looks for the checks",
    "grader": "looks for the grader",
    "pickle": "makes objects that run code where they are loaded",
}
PATCHED_MODULES = ("torch", "builtins", "sys", "numpy", "math")
REPLACES = "replaces something outside the lesson"
DEFINES = "defines a special method"
HOOKS = ("__eq__", "__torch_function__", "__instancecheck__", "__reduce__")
BUILTINS = {
    "exec": "runs code from text",
    "eval": "runs code from text",
    "open": "opens files",
    "__import__": "imports by name",
}


def flags_in(source: Source, tr: Catalogue) -> list[str]:
    """Return a line of text, with the file's line number and the name in question, for each thing
    that a person should check.
    """
    found: dict[tuple[str, str], int] = {}
    for node in source.nodes:
        for flag in _flags_of(node, source):
            found.setdefault(flag, getattr(node, "lineno", 0))
    return [f"{source.place(line)} {tr(reason)} ({name})" for (reason, name), line in found.items()]


def _flags_of(node: ast.AST, source: Source) -> list[tuple[str, str]]:
    """Return the reasons to flag a node, each with the name in question."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        aliases = [alias.name for alias in node.names]
        names = aliases if isinstance(node, ast.Import) else [node.module or ""]
        return [(MODULES[top], name) for name in names if (top := _top(name)) in MODULES]
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
        return [(REPLACES, name) for target in targets if (name := _outside(target, source))]
    if isinstance(node, ast.Call):
        name = resolved(node.func, source)
        if (
            name == "setattr"
            and node.args
            and (owner := resolved(node.args[0], source))
            and _top(owner) in PATCHED_MODULES
        ):
            return [(REPLACES, owner)]
        if name in BUILTINS:
            return [(BUILTINS[name], name)]
    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in TAILS):
        name = resolved(node, source)
        return [(REACHING_OUT[name], name)] if name in REACHING_OUT else []
    if isinstance(node, ast.FunctionDef) and node.name in HOOKS:
        return [(DEFINES, node.name)]
    return []


def resolved(node: ast.expr, source: Source) -> str | None:
    """Return a dotted name with its import resolved, or None."""
    dotted = dotted_name(node)
    if dotted is None:
        return None
    head, _, rest = dotted.partition(".")
    head = source.imports.get(head, head)
    return f"{head}.{rest}" if rest else head


def _outside(target: ast.expr, source: Source) -> str | None:
    """Return the name that an assignment replaces in a module that is not the student's."""
    if isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Attribute):
        return None
    name = resolved(target, source)
    return name if name and _top(name) in PATCHED_MODULES else None


def _top(name: str) -> str:
    return name.split(".")[0]
