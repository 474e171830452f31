"""Private names and messages exist, or are reported; only ``compat`` uses them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from _pytest import config
from pytest_jsonreport.plugin import JSONReport

import grader
from grader.judge.compat_check import missing
from grader.judge.runner import REACHING_OUT
from grader.verify import verify as versions
from grader.worker.wire import compat

PACKAGE = Path(grader.__file__).parent
COMPAT = PACKAGE / "worker" / "wire" / "compat.py"
CHECKING = PACKAGE / "judge" / "compat_check.py"
SCENARIOS = PACKAGE / "worker" / "scenarios.py"
"""Text that runs beside a student's code; the table of verified versions covers it."""
GRADCHECK: Any = sys.modules["torch.autograd.gradcheck"]  # a function hides it in torch.autograd

Patch = pytest.MonkeyPatch


def test_the_installed_versions_lack_nothing() -> None:
    """A new process checks it, because gradcheck has imported nothing there."""
    assert versions.missing_internals() == []


def test_a_process_that_fails_is_a_problem(monkeypatch: Patch) -> None:
    monkeypatch.setattr(versions, "COMPAT_CHECK", "grader.judge.no_such_module")
    (sentence,) = versions.missing_internals()
    assert "No module named 'grader.judge.no_such_module'" in sentence


# ------------------------------------------------------------------------ what another version does


def words_it_otherwise(patch: Patch) -> None:
    patch.setattr(GRADCHECK, "_get_notallclose_msg", lambda *_, **__: "they do not agree")


def configures_otherwise(patch: Patch) -> None:
    patch.setattr(JSONReport, "pytest_configure", lambda self, config: None)


CHANGES: dict[str, tuple[Callable[[Patch], None], tuple[str, ...]]] = {
    "an undefined gradient arrives as zeros": (
        lambda patch: patch.setattr(compat, "undefined_gradient", lambda tensor: tensor.clone()),
        ("torch lacks a working torch._C._functions.UndefinedGrad, so gradcheck can't try",),
    ),
    "function modes can't be left": (
        lambda patch: patch.delattr(torch._C, "DisableTorchFunction"),
        ("torch lacks a working torch._C.DisableTorchFunction, so grade replay can't",),
    ),
    "whether a graph is kept is always denied": (
        lambda patch: patch.setattr(
            torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: False
        ),
        ("torch lacks a working torch._C._autograd._get_current_graph_task_keep_graph, so",),
    ),
    "versions are not counted": (
        lambda patch: patch.setattr(compat, "version_counter", lambda tensor: 0),
        ("torch lacks a working Tensor._version, so nobody notices",),
    ),
    "saved tensors have another name": (
        lambda patch: patch.setattr(compat, "RAW_SAVED", "_packed_"),
        ("torch lacks the attributes _raw_saved_…, _saved_… and unpack_hook",),
    ),
    "a module has moved": (
        lambda patch: patch.setattr(compat, "LATE_IMPORTS", ("torch.no_such_module",)),
        ("torch lacks the modules torch._decomp.decompositions_for_jvp and torch._dynamo, so",),
    ),
    "leaves are not told": (
        lambda patch: patch.setattr(compat, "leaf_of", lambda node: None),
        ("torch lacks the attributes variable and _input_metadata of nodes, so a drawn graph",),
    ),
    "hooks are elsewhere": (
        lambda patch: patch.setattr(compat, "hooks_of", lambda tensor: (None, None)),
        ("torch lacks the attributes _backward_hooks and _post_accumulate_grad_hooks",),
    ),
    "freed tensors are worded otherwise": (
        lambda patch: patch.setattr(compat, "FREED", "gone"),
        ('torch lacks the word "freed" in what reading a freed tensor raises, so a drawn',),
    ),
    "the allocator words it otherwise": (
        lambda patch: patch.setattr(compat, "CANNOT_ALLOCATE", "no memory"),
        ('torch lacks the message "can\'t allocate memory", so a report does not say',),
    ),
    "a constant is worded otherwise": (
        lambda patch: patch.setattr(compat, "CUT_OFF", "it is a constant"),
        ('torch lacks the message "element 0 of tensors does not require grad", so gradcheck',),
    ),
    "gradcheck words it otherwise": (
        words_it_otherwise,
        ('torch lacks "numerical:" and "analytical:" before matrices in gradcheck\'s message',),
    ),
    "pytest brings another plugin": (
        lambda patch: patch.setattr(config, "default_plugins", (*config.default_plugins, "voice")),
        ("pytest lacks a list of its own plugins in which we know each, so a new plugin may",),
    ),
    "a report is registered elsewhere": (
        configures_otherwise,
        ("pytest-json-report lacks a report that sets config._json_report, or the class",),
    ),
}


@pytest.mark.parametrize(("change", "sentences"), CHANGES.values(), ids=CHANGES)
def test_what_a_version_lacks_is_said_and_what_it_breaks(
    change: Callable[[Patch], None], sentences: tuple[str, ...]
) -> None:
    """Nothing else is reported, because each experiment tests one thing."""
    with pytest.MonkeyPatch.context() as patch:
        change(patch)
        found = missing()
    said = [re.sub(r"^(\S+) \S+ lacks", r"\1 lacks", sentence) for sentence in found]
    assert len(said) == len(sentences), said
    assert all(map(str.startswith, said, sentences)), said


# ------------------------------------------------------------------------------------ the one place

OURS_OR_PYTHONS = {"os._exit", "sys._getframe", "sys._clear_type_cache", "_fields"}
OURS_OR_PYTHONS |= {name.rpartition(".")[2] for name in REACHING_OUT}  # only compared with
PRIVATE_MODULE = re.compile(r"\btorch\._|\b_pytest\.")
MESSAGES = (compat.CANNOT_ALLOCATE, compat.CUT_OFF, compat.NUMERICAL, compat.ANALYTICAL)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def reaching(source: str) -> Iterator[str]:
    """Yield the places where a module uses a private name, or text of torch's messages."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    slots = {node.value for node in nodes if isinstance(node, ast.Constant)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"):
            defined.add(node.attr)
    for node in nodes:
        match node:
            case ast.Attribute(attr=name):
                if is_private(name) and name not in defined | slots:
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, asked, *_]):
                if isinstance(asked, ast.Constant) and is_private(str(asked.value)):
                    yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Import(names=aliases):
                for alias in aliases:
                    if PRIVATE_MODULE.search(alias.name + "."):
                        yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.ImportFrom(module=module, names=aliases):
                for alias in aliases:
                    if PRIVATE_MODULE.search(f"{module}.{alias.name}."):
                        yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.Constant(value=str() as text) if id(node) not in docstrings:
                if PRIVATE_MODULE.search(text) or any(words in text for words in MESSAGES):
                    yield f"{node.lineno}: {text}"


def test_no_other_module_of_the_engine_names_private_things() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{place}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_course" not in path.parts and path not in (COMPAT, CHECKING, SCENARIOS)
        for place in reaching(path.read_text("utf-8"))
        if place.partition(": ")[2] not in OURS_OR_PYTHONS
        and place.rpartition(".")[2] not in OURS_OR_PYTHONS
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "torch._C._functions.UndefinedGrad()",
        "import torch._dynamo",
        "from torch import _dynamo",
        "from torch._C import DisableTorchFunction",
        "import _pytest",
        "from _pytest.config import default_plugins",
        "version = tensor._version",
        'getattr(node, "_saved_self")',
        'MODULES = ("torch._dynamo",)',
        'if "element 0 of tensors does not require grad and" in text: pass',
    ],
)
def test_a_private_name_is_found(source: str) -> None:
    assert list(reaching(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""As torch._dynamo does."""',
        "class A:\n    def f(self): self._x = 1\n    def g(self, other): return other._x",
        "import torch.autograd\nfrom torch.autograd.gradcheck import GradcheckError",
        "type(x).__name__",
    ],
)
def test_public_names_and_our_own_are_not_reported(source: str) -> None:
    assert not list(reaching(source))
