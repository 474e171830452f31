"""Make the files of a new lesson, which works and is to be replaced piece by piece.

What only a person can write is marked ``TO WRITE: …``. ``grade verify`` lists every such place.
"""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.templates import render_text
from grader.course.stubs import WIDTH, header, stub_of

MARK = "TO WRITE:"
"""The mark at every place where a person has to write something."""
UNWRITTEN = "still holds its placeholder:"

FILES = {
    "solution.py": "solutions/{lesson}.py",
    "README.md": "exercises/{lesson}/README.md",
    "hints.toml": "exercises/{lesson}/hints.toml",
    "test_checks.py": "tests/checks/{lesson}/test_checks.py",
    "diagnosis.toml": "tests/checks/{lesson}/diagnosis.toml",
    "contract.toml": "tests/checks/{lesson}/contract.toml",
    "mistakes.py": "tests/mistakes/{lesson}.py",
    "accepted.py": "tests/accepted/{lesson}.py",
}
"""The paths of the files of ``templates/lesson/`` below the course's root."""
ANY_SHAPE = "Tensors are float32 or float64, of any shape: also 0-d, empty and transposed ones."
EVERYWHERE = (
    ANY_SHAPE,
    "A result has the shape and the dtype of the tensor that it belongs to.",
    "Leave arguments as you found them: values, requires_grad, .grad, hooks of others.",
    "Calls don't affect each other.",
)
"""What a new course asks in every lesson."""


def lesson_files(
    lesson: str,
    name: str,
    inputs: Sequence[str] = ("x",),
    *,
    truth: str = "2 * x",
    is_class: bool,
    everywhere: Sequence[str],
) -> dict[str, str]:
    """Return the files of a new lesson, by path below the course's root.

    ``name`` is a function of tensors, the inputs, or a torch.autograd.Function; ``truth`` is what
    it computes. ``everywhere`` is what the course asks in every lesson.
    """
    tree = known_truth(truth, inputs)
    called, given = f"{name}.apply" if is_class else name, ", ".join(inputs)
    sentence = f"{called}({given}) computes {truth}." if is_class else f"Return {truth}."
    task, shape = f"`{called}({given})` returns `{truth}`.", "Every shape works."
    values = {
        "lesson": lesson,
        "name": name,
        "path": called,
        "is_class": is_class,
        "inputs": inputs,
        "given": given,
        "unpacked": f"{given}," if len(inputs) == 1 else given,
        "typed": ", ".join(f"{one}: Tensor" for one in inputs),
        "shown": " and ".join(f"{one} = {{{one}}}" for one in inputs),
        "shown_first": f"{inputs[0]} = {{{inputs[0]}}}",
        "truth": truth,
        "function": function_of(tree, inputs) or f"lambda {given}: {truth}",
        "factor": truth if isinstance(tree, ast.Call | ast.Name) else f"({truth})",
        "documented": wrapped(f'"""{sentence}"""', "    ").strip(),
        "header": wrapped(header(lesson)) if everywhere else "",
        "task": task,
        "gradient": "The gradient is right for every incoming gradient.",
        "shape": shape,
        "asked": json.dumps([sentence, task], ensure_ascii=False),
        "shapes": json.dumps([shape, *(one for one in everywhere if one == ANY_SHAPE)]),
    }
    files = {
        path.format(lesson=lesson): render_text(f"lesson/{file}.j2", **values)
        for file, path in FILES.items()
    }
    files[f"exercises/{lesson}/{lesson}.py"] = stub_of(files[f"solutions/{lesson}.py"], name=lesson)
    return files


def known_truth(truth: str, inputs: Sequence[str]) -> ast.expr:
    """Return the expression; raise UsageError if it is not one of the inputs, all of them."""
    try:
        tree = ast.parse(truth, mode="eval").body
    except SyntaxError as error:
        raise UsageError(f"--truth {truth!r} is not an expression: {error.msg}") from None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if names - {"torch"} != {*inputs}:
        raise UsageError(
            f"--truth {truth!r} must be an expression of {', '.join(inputs)} with functions of"
            " torch, such as 'torch.nn.functional.softplus(x)'. For other inputs name them:"
            " --function 'gate(x, w)'"
        )
    return tree


def function_of(tree: ast.expr, inputs: Sequence[str]) -> str | None:
    """Return the function of an expression that only calls it with the inputs, or None."""
    match tree:
        case ast.Call(func=function, args=args, keywords=[]):
            if [*map(ast.unparse, args)] == [*inputs]:
                return ast.unparse(function)
    return None


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def placeholders_in(path: Path, root: Path) -> Iterator[str]:
    """Yield each line with a placeholder: ``README.md:5 still holds its placeholder: …``."""
    place = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        _, mark, wanted = line.partition(MARK)
        if mark:
            text = wanted.strip(' ",')
            yield f"{place}:{number} {UNWRITTEN} {MARK} {text}"
