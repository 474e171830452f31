"""Call a function and trace the graph behind its result, as the child process of ``grade graph``.

The file runs with the user's own rights. The request comes as JSON on standard input, the answer
goes to a file, so the function may print.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import Told
from grader.core.messages import Traced, TraceProblem, TraceRequest
from grader.worker.wire.trace import trace

OTHER_ARGUMENTS = (
    "{call} can't be called with these inputs ({reason}). Write one --input for each of its"
    " arguments, all of them tensors"
)
TAKES_A_FUNCTION = (
    "{name} calls its argument, but --input gives tensors. Draw a function of your own that calls"
    " {name}, such as {example}"
)


class GraphRequestError(Told):
    """The request can't be drawn; the text says why."""


def main() -> None:
    """Answer one request. ``argv``: the file for the answer."""
    request = TraceRequest.from_json(json.load(sys.stdin))
    answer: Traced | TraceProblem
    try:
        answer = drawn(request)
    except GraphRequestError as problem:
        answer = TraceProblem(problem.template, problem.facts)
    Path(sys.argv[1]).write_text(json.dumps(answer.as_json()), "utf-8", newline="\n")


def drawn(request: TraceRequest) -> Traced:
    """Call the function and trace the graph behind its result; raise GraphRequestError."""
    name = request.function
    function = lookup(load_file(Path(request.file)), name)
    signature = signature_of(function)
    names = parameters(signature)
    count = max(len(names), bool(signature.parameters))
    values = request.inputs or [[2.0, 3.0]] * count
    insist_on_call(signature, name, len(values))
    inputs = {
        names[k] if k < len(names) else f"input{k}": torch.tensor(
            value, dtype=torch.get_default_dtype(), requires_grad=True
        )
        for k, value in enumerate(values)
    }
    try:
        result, inside = called(function, list(inputs.values()))
        root = root_of(result)
        if request.backward:
            torch.autograd.backward(root.sum())
    except GraphRequestError:
        raise
    except Exception as error:
        print_traceback(error, request.file)
        if isinstance(error, TypeError) and "'Tensor' object is not callable" in str(error):
            raise GraphRequestError(
                TAKES_A_FUNCTION, name=name, example=f"def shown(x): return {name}(torch.sin, x)"
            ) from None
        raise GraphRequestError(
            "{name} raised {error}; the traceback is above", name=name, error=type(error).__name__
        ) from None
    pairs = zip(inputs, values, strict=True)
    shown = ", ".join(f"{one} = {json.dumps(value)}" for one, value in pairs)
    return Traced(trace(root, {**inside, **inputs}), f"{name}({shown})")


def load_file(path: Path) -> types.ModuleType:
    """Return the file as a module; raise GraphRequestError if it can't be loaded."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise GraphRequestError(
            "{path} is not a Python file. Name one that ends with .py", path=str(path)
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        print_traceback(error, str(path))
        raise GraphRequestError(
            "{path} can't be loaded: {error}; the traceback is above",
            path=str(path),
            error=type(error).__name__,
        ) from None
    return module


def print_traceback(error: Exception, file: str) -> None:
    """Print a traceback from the first line of the user's own file on."""
    start = error.__traceback__
    while start is not None and Path(start.tb_frame.f_code.co_filename) != Path(file):
        start = start.tb_next
    traceback.print_exception(error.with_traceback(start or error.__traceback__))


def lookup(module: types.ModuleType, name: str) -> Callable[..., Any]:
    """Return what a name such as ``Sigmoid.apply`` means in the module.

    Raise GraphRequestError, with the names that exist, unless it is a function.
    """
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            functions = (key for key in vars(module) if inspect.isfunction(getattr(module, key)))
            there = ", ".join(key for key in functions if not key.startswith("_"))
            raise GraphRequestError(
                "{path} has no function {name}. Its functions: {names}",
                path=str(module.__file__),
                name=name,
                names=there or "-",
            )
        value = getattr(value, part)
    if not callable(value):
        raise GraphRequestError(
            "{name} is a {type}, and can't be called. Name a function",
            name=name,
            type=type(value).__name__,
        )
    return value  # type: ignore[no-any-return]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return how a function is called; with any inputs if Python can't tell, as for a builtin."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return inspect.signature(lambda *inputs: inputs)  # the call itself will show it


def parameters(signature: inspect.Signature) -> list[str]:
    return [
        one.name
        for one in signature.parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]


def insist_on_call(signature: inspect.Signature, name: str, count: int) -> None:
    """Raise GraphRequestError unless the function can be called with ``count`` inputs."""
    try:
        signature.bind(*range(count))
    except TypeError as error:
        call = f"{name}{signature.replace(return_annotation=signature.empty)}"
        raise GraphRequestError(OTHER_ARGUMENTS, call=call, reason=str(error)) from None


def called(function: Callable[..., Any], inputs: list[Tensor]) -> tuple[Any, dict[str, object]]:
    """Return the function's result, and the variables that it had when it returned."""
    inside: dict[str, object] = {}
    code = getattr(function, "__code__", None)

    def watch(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            inside.clear()
            inside.update(frame.f_locals)

    sys.setprofile(watch)
    try:
        result = function(*inputs)
    finally:
        sys.setprofile(None)
    return result, inside


def root_of(result: Any) -> Tensor:
    """Return the result, or the last one with a graph; raise GraphRequestError if there is none."""
    several = result if isinstance(result, list | tuple) else [result]
    tensors = [one for one in several if isinstance(one, Tensor)]
    if not tensors:
        raise GraphRequestError(
            "the function returned a value of type {type}, not a tensor: there is no graph to draw",
            type=type(result).__name__,
        )
    return next((one for one in reversed(tensors) if one.requires_grad), tensors[-1])


if __name__ == "__main__":
    main()
