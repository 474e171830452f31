"""Test each assumption of ``compat`` with a small experiment on the installed versions.

``missing`` returns a sentence for each experiment that fails: what the version lacks, and what
breaks because of that. ``grade verify`` runs ``main`` in a process of its own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import torch
from packaging.version import Version
from pytest_jsonreport import plugin
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError
from torch.overrides import TorchFunctionMode

from grader.worker.wire import compat

Experiment = Callable[[], bool]
EXPERIMENTS: list[tuple[Experiment, str]] = []
"""Each experiment, and the sentence to say if it fails."""


def relies(experiment: Experiment) -> None:
    """Register an experiment. Its docstring is the sentence, with names of ``compat`` filled in."""
    sentence = " ".join((experiment.__doc__ or "").split()).format_map(vars(compat))
    library = sentence.split()[0]
    EXPERIMENTS.append((experiment, sentence.replace(library, f"{library} {version(library)}", 1)))


def missing() -> list[str]:
    """Return a sentence for each thing that an installed version lacks."""
    found = []
    for experiment, sentence in EXPERIMENTS:
        with contextlib.suppress(Exception):  # whatever another version does instead
            if experiment():
                continue
        found.append(sentence)
    return found


def main() -> None:
    """Print the sentences as a JSON list."""
    json.dump(missing(), sys.stdout)


def leaf(*values: float) -> Tensor:
    """Return a float64 leaf that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def message_of(call: Callable[[], object]) -> str:
    """Return what a call's RuntimeError says, or an empty string if it raises none."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


class Probe:
    """A custom Function that doubles its input and records its calls.

    Backward multiplies by ``factor``; anything but 2 is wrong.
    """

    def __init__(self, factor: float = 2.0) -> None:
        self.gradients: list[Tensor | None] = []
        self.kept_graph: list[bool] = []
        probe = self

        class Doubling(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Tensor) -> Tensor:
                ctx.set_materialize_grads(False)
                return 2 * x

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                (gradient,) = grads
                probe.gradients.append(gradient if gradient is None else gradient.detach().clone())
                probe.kept_graph.append(compat.keeps_graph())
                return None if gradient is None else factor * gradient

        self.apply: Callable[[Tensor], Tensor] = Doubling.apply


@relies
def gradcheck_imports_known_modules() -> bool:
    """torch lacks a gradcheck that imports only {GRADCHECK_IMPORTS[0]} and {GRADCHECK_IMPORTS[1]},
    so each worker imports more modules in its first gradcheck, which is slow"""
    # The first experiment of all: later gradcheck has imported everything.
    import torch.testing

    compat.import_for_gradcheck()
    before = set(sys.modules)
    torch.autograd.gradcheck(torch.sin, (leaf(1.0, 2.0),))
    return not any(name.startswith("torch.") for name in set(sys.modules) - before)


@relies
def gradcheck_prints_both_jacobians() -> bool:
    """torch lacks "{NUMERICAL}" and "{ANALYTICAL}" before matrices in gradcheck's message, so a
    failed gradcheck shows no Jacobian as the expected value"""
    # The Jacobian is printed without a dtype only if it is float32.
    probe = Probe(factor=3.0)
    try:
        torch.autograd.gradcheck(
            lambda x: probe.apply(x).float(), (leaf(1.0, 2.0),), eps=1e-2, atol=1e-3
        )
    except GradcheckError as error:
        numerical, _ = compat.gradcheck_jacobians(str(error))
        twice = 2 * torch.eye(2, dtype=torch.float64)
        assert numerical is not None
        return compat.ANALYTICAL in str(error) and torch.allclose(numerical, twice, 1e-3)
    return False


@relies
def late_imports_exist() -> bool:
    """torch lacks the modules {LATE_IMPORTS[0]} and {LATE_IMPORTS[1]}, so each worker that uses
    torch.func or an optimizer imports a lot by itself"""
    return all(importlib.util.find_spec(name) for name in compat.LATE_IMPORTS)


@relies
def version_counter_counts_writes() -> bool:
    """torch lacks a working Tensor._version, so nobody notices that a student's code writes
    into its inputs"""
    x = torch.zeros(2)
    before = compat.version_counter(x)
    x.add_(1)
    return bool(compat.version_counter(x) == before + 1)


@relies
def backward_knows_whether_the_graph_is_kept() -> bool:
    """torch lacks a working torch._C._autograd._get_current_graph_task_keep_graph, so no check
    can differentiate a student's function"""
    x, probe = leaf(1.0), Probe()
    y = probe.apply(x)
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x)
    return probe.kept_graph == [True, False]


@relies
def undefined_gradient_arrives_as_none() -> bool:
    """torch lacks a working torch._C._functions.UndefinedGrad, so gradcheck can't try undefined
    gradients on a student's function"""
    x, probe = leaf(1.0), Probe()
    out = compat.undefined_gradient(probe.apply(x))
    torch.autograd.grad(out, x, torch.zeros_like(out), allow_unused=True)
    return probe.gradients == [None]


@relies
def block_is_hidden_from_function_modes() -> bool:
    """torch lacks a working torch._C.DisableTorchFunction, so grade replay can't record a check"""
    seen: list[Any] = []

    class Recording(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.zeros(2)
    with Recording():
        x.clone()
        with compat.without_torch_function():
            x.clone()
    return seen == [Tensor.clone]


@relies
def nodes_have_leaves_and_shapes() -> bool:
    """torch lacks the attributes variable and _input_metadata of nodes, so a drawn graph shows
    neither its leaves nor the shapes of its results"""
    x = leaf(1.0, 2.0)
    node: Any = x.sin().grad_fn
    shapes = [(tuple(one.shape), one.dtype) for one in compat.output_metadata(node)]
    return compat.leaf_of(node.next_functions[0][0]) is x and shapes == [((2,), x.dtype)]


@relies
def hooks_are_found() -> bool:
    """torch lacks the attributes _backward_hooks and _post_accumulate_grad_hooks of tensors, so
    a drawn graph shows no hooks"""
    x = leaf(1.0)
    x.register_hook(lambda gradient: None)
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    return [len(hooks or ()) for hooks in compat.hooks_of(x)] == [1, 1]


@relies
def saved_tensors_are_found() -> bool:
    """torch lacks the attributes _raw_saved_…, _saved_… and unpack_hook behind nodes, so a
    drawn graph does not show what backward needs"""
    if Version(version("torch")) < Version("2.10"):
        return True  # unpack_hook came with 2.10
    x = leaf(1.0)
    y = x.exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        hooked = x.exp()
    return (
        compat.saved_names(y.grad_fn) == ["result"]
        and compat.has_no_unpack_hook(compat.raw_saved(y.grad_fn, "result"))
        and not compat.has_no_unpack_hook(compat.raw_saved(hooked.grad_fn, "result"))
        and torch.equal(compat.saved(y.grad_fn, "result"), y)
        and "tensors" in compat.saved_names(Probe().apply(x).grad_fn)
    )


@relies
def freed_tensor_says_so() -> bool:
    """torch lacks the word "{FREED}" in what reading a freed tensor raises, so a drawn graph
    does not mark freed tensors"""
    y = leaf(1.0).exp()
    y.backward()
    return compat.FREED in message_of(lambda: compat.saved(y.grad_fn, "result"))


@relies
def allocator_names_missing_memory() -> bool:
    """torch lacks the message "{CANNOT_ALLOCATE}", so a report does not say that the memory
    limit was hit"""
    return compat.CANNOT_ALLOCATE in message_of(lambda: torch.empty(1 << 60, dtype=torch.uint8))


@relies
def constant_has_no_gradient() -> bool:
    """torch lacks the message "{CUT_OFF}", so gradcheck does not say that a result is cut off
    from the graph"""
    return compat.CUT_OFF in message_of(lambda: torch.autograd.grad(torch.ones(1), leaf(1.0)))


@relies
def pytest_loads_no_unknown_plugin() -> bool:
    """pytest lacks a list of its own plugins in which we know each, so a new plugin may print,
    capture or rewrite something while the judge runs"""
    return set(compat.own_plugins()) <= {*compat.PLUGINS_LEFT_OUT, *compat.PLUGINS_USED}


@relies
def json_report_is_found() -> bool:
    """pytest-json-report lacks a report that sets config._json_report, or the class Hooks, so
    the judge can't run a lesson's checks"""
    option = SimpleNamespace(tbstyle="no", json_report_omit=["traceback"])
    config, report = SimpleNamespace(option=option), plugin.JSONReport()
    report.pytest_configure(config)
    return compat.json_report_of(config) is report and hasattr(plugin, "Hooks")
