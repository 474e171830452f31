"""Experiments on torch: imports, autograd's private names, the nodes of a graph, messages."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from grader.judge.compat_check.reliance import Probe, leaf, message_of, relies
from grader.worker.wire import compat


@relies(
    "torch",
    f"the modules {' and '.join(compat.LATE_IMPORTS)}",
    loss="each worker that uses torch.func or an optimizer imports a lot by itself",
)
def late_imports_exist() -> bool:
    return all(importlib.util.find_spec(name) for name in compat.LATE_IMPORTS)


@relies(
    "torch",
    "a working Tensor._version",
    loss="nobody notices that a student's code writes into its inputs",
)
def version_counter_counts_writes() -> bool:
    x = torch.zeros(2)
    before = compat.version_counter(x)
    x.add_(1)
    return bool(compat.version_counter(x) == before + 1)


@relies(
    "torch",
    "a working torch._C._autograd._get_current_graph_task_keep_graph",
    loss="no check can differentiate a student's function",
)
def backward_knows_whether_the_graph_is_kept() -> bool:
    x, probe = leaf(1.0), Probe()
    y = probe(x)
    torch.autograd.grad(y, x, retain_graph=True)
    torch.autograd.grad(y, x)
    return probe.kept == [True, False]


@relies(
    "torch",
    "a working torch._C._functions.UndefinedGrad",
    loss="gradcheck can't try undefined gradients on a student's function",
)
def undefined_gradient_arrives_as_none() -> bool:
    x, probe = leaf(1.0), Probe()
    out = compat.undefined_gradient(probe(x))
    torch.autograd.grad(out, x, torch.zeros_like(out), allow_unused=True)
    return probe.gradients == [None]


@relies(
    "torch", "a working torch._C.DisableTorchFunction", loss="grade replay can't record a check"
)
def block_is_hidden_from_function_modes() -> bool:
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


@relies(
    "torch",
    "the attributes variable and _input_metadata of nodes",
    loss="a drawn graph shows neither its leaves nor the shapes of its results",
)
def nodes_tell_leaves_and_shapes() -> bool:
    x = leaf(1.0, 2.0)
    node: Any = x.sin().grad_fn
    shapes = [(tuple(one.shape), one.dtype) for one in compat.output_metadata(node)]
    return compat.leaf_of(node.next_functions[0][0]) is x and shapes == [((2,), x.dtype)]


@relies(
    "torch",
    "the attributes _backward_hooks and _post_accumulate_grad_hooks of tensors",
    loss="a drawn graph shows no hooks",
)
def hooks_are_found() -> bool:
    x = leaf(1.0)
    x.register_hook(lambda gradient: None)
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    return [len(hooks or ()) for hooks in compat.hooks_of(x)] == [1, 1]


@relies(
    "torch",
    "the attributes _raw_saved_…, _saved_… and unpack_hook behind nodes",
    loss="a drawn graph does not show what backward needs",
)
def saved_tensors_are_found() -> bool:
    x = leaf(1.0)
    y = x.exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        hooked = x.exp()
    return (
        compat.saved_names(y.grad_fn) == ["result"]
        and compat.has_no_unpack_hook(compat.raw_saved(y.grad_fn, "result"))
        and not compat.has_no_unpack_hook(compat.raw_saved(hooked.grad_fn, "result"))
        and torch.equal(compat.saved(y.grad_fn, "result"), y)
        and "tensors" in compat.saved_names(Probe()(x).grad_fn)
    )


@relies(
    "torch",
    f'the word "{compat.FREED}" in what reading a freed tensor raises',
    loss="a drawn graph does not mark freed tensors",
)
def freed_tensor_says_so() -> bool:
    y = leaf(1.0).exp()
    y.backward()
    return compat.FREED in message_of(lambda: compat.saved(y.grad_fn, "result"))


@relies(
    "torch",
    f'the message "{compat.CANNOT_ALLOCATE}"',
    loss="a report does not say that the memory limit was hit",
)
def allocator_says_that_memory_is_short() -> bool:
    return compat.CANNOT_ALLOCATE in message_of(lambda: torch.empty(1 << 60, dtype=torch.uint8))


@relies(
    "torch",
    f'the message "{compat.CUT_OFF}"',
    loss="gradcheck does not say that a result is cut off from the graph",
)
def constant_can_not_be_differentiated() -> bool:
    return compat.CUT_OFF in message_of(lambda: torch.autograd.grad(torch.ones(1), leaf(1.0)))
