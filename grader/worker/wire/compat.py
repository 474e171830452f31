"""Collect the private names and English messages of torch, pytest and pytest-json-report that the
engine relies on.

No other module may use one; a test checks that. ``grader.judge.compat_check`` tries each of them on
the installed versions and says what breaks if one is gone.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # the supervisor must not import it
    from torch import Tensor

GRADCHECK_IMPORTS = (
    "torch.fx.experimental.symbolic_shapes",
    "torch.nested._internal.nested_tensor",  # since torch 2.15
)
"""Modules that gradcheck imports when it first runs."""
LATE_IMPORTS = ("torch._decomp.decompositions_for_jvp", "torch._dynamo")
"""Modules that torch imports at first use: both for function transforms and forward mode, only the
second for optimizers and checkpoints.
"""


def import_for_gradcheck() -> None:
    """Import what gradcheck would otherwise import in each fork."""
    for name in GRADCHECK_IMPORTS:
        importlib.import_module(name)


version_counter = cast("Any", attrgetter("_version"))
"""A tensor's version counter. It shows whether the student's code wrote into an input."""


def keeps_graph() -> bool:
    """Return whether the running backward pass has ``retain_graph``.

    The worker has to free its part of the graph exactly when the judge's part is freed.
    """
    import torch

    return torch._C._autograd._get_current_graph_task_keep_graph()


def undefined_gradient(tensor: Tensor) -> Tensor:
    """Return the tensor as the result of a new node whose backward passes on an undefined gradient.

    gradcheck asks what a backward does with one, so the worker has to be able to make one.
    """
    import torch

    make: Any = torch._C._functions.UndefinedGrad()
    return cast("Tensor", make(tensor))


def without_torch_function() -> AbstractContextManager[Any]:
    """Return a block that ``TorchFunctionMode`` does not see.

    The recorder copies tensors in it, so that its own copies are not recorded.
    """
    import torch

    return torch._C.DisableTorchFunction()


RAW_SAVED, SAVED = "_raw_saved_", "_saved_"


def leaf_of(node: Any) -> Any:
    """Return the leaf that a node accumulates into; None for any other node."""
    return getattr(node, "variable", None)


def output_metadata(node: Any) -> Any:
    """Return the shape and dtype of each of a node's outputs, and so of its incoming gradients."""
    return node._input_metadata


def hooks_of(tensor: Tensor) -> tuple[Mapping[Any, Any] | None, ...]:
    """Return a tensor's hooks: on its gradient, and after its accumulation."""
    return (
        getattr(tensor, "_backward_hooks", None),
        getattr(tensor, "_post_accumulate_grad_hooks", None),
    )


def saved_names(node: Any) -> list[str]:
    """Return the names of what a node saves for backward, sorted."""
    names = (name for name in dir(type(node)) if name.startswith(RAW_SAVED))
    return sorted(name.removeprefix(RAW_SAVED) for name in names)


def raw_saved(node: Any, name: str) -> Any:
    """Return what a node saves under a name, still packed.

    If it was freed, this or reading it (``saved``) raises RuntimeError.
    """
    return getattr(node, RAW_SAVED + name)


def saved(node: Any, name: str) -> Any:
    """Return what a node saves under a name. This runs the unpack hook if there is one."""
    return getattr(node, SAVED + name)


def has_no_unpack_hook(packed: Any) -> bool:
    """Return whether a packed tensor can be read without running anybody's hook.

    This is False for a tuple of packed tensors, and before torch 2.10 for all.
    """
    return getattr(packed, "unpack_hook", False) is None


CANNOT_ALLOCATE = "can't allocate memory"
"""The allocator's message for ENOMEM. A report then names the memory limit."""
CUT_OFF = "element 0 of tensors does not require grad"
"""The message of backward for a result without a graph. gradcheck's failure then says so."""
NUMERICAL, ANALYTICAL = "numerical:", "analytical:"
"""The labels of the two Jacobians in gradcheck's message. A report shows both matrices."""
FREED = "freed"
"""A word in the exception for reading a freed tensor. A drawn graph marks its node."""


def gradcheck_jacobians(message: str) -> tuple[Tensor | None, Tensor | None]:
    """Return the numerical and the analytical one, None for one that the message does not have."""
    return _matrix(message.partition(NUMERICAL)[2]), _matrix(message.partition(ANALYTICAL)[2])


def _matrix(text: str) -> Tensor | None:
    """Return the first matrix in a text, if torch printed it in full."""
    import torch

    start = text.find("tensor(")
    end = text.find("]])", start)
    if start < 0 or end < 0 or text[start:end].count("tensor(") > 1:
        return None
    rows = text[start + len("tensor([[") : end].split("],")
    try:
        return torch.tensor(
            [[float(number) for number in row.strip(" [\n").split(",")] for row in rows],
            dtype=torch.float64,
        )
    except ValueError:
        return None


PLUGINS_LEFT_OUT = (
    "cacheprovider unraisableexception threadexception doctest stepwise junitxml pastebin "
    "faulthandler logging warnings debugging setuponly setupplan recwarn nose monkeypatch "
    "tmpdir python_path terminal capture skipping unittest subtests"
).split()
"""pytest's own plugins that the judge starts without, because it prints, captures and rewrites
nothing. Some exist only in some of the supported versions.
"""
PLUGINS_USED = (
    "mark main runner fixtures helpconfig python legacypath assertion reports freeze_support"
).split()
"""The other plugins that pytest may load by itself."""


def json_report_of(config: Any) -> Any:
    """Return the report that pytest-json-report collects in this run of pytest."""
    return config._json_report


def own_plugins() -> tuple[str, ...]:
    """Return the names of the plugins that pytest brings and loads."""
    from _pytest.config import default_plugins

    return default_plugins
