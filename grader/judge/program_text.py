"""A program as the formula that it computes, for failures that show it.

>>> from grader.worker.wire.program import program
>>> text_of(program(lambda x: ((x - 1) ** 2 * 0.4 + x.exp()).sum()))
'((x - 1)**2 * 0.4 + x.exp()).sum()'
>>> text_of(program(lambda x: ((t := x.exp()).sum(), (t * t).sum())))
't = x.exp(); t.sum(), (t * t).sum()'
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from grader.worker.wire.program import FUNCTIONS, SIGNS, Program, Register, pieces

BINDING = {"add": 1, "sub": 1, "mul": 2, "truediv": 2, "matmul": 2, "neg": 3, "pow": 4}
"""How tightly operators bind; names, calls and numbers bind like CALL."""
CALL = 5
NAMES = "tuvsrqponmlkjih"
"""Names of intermediate results that are used twice."""


def text_of(program: Program) -> str:
    """Return what a program computes, as Python. A result that is used twice gets a name."""
    names = [*program.names, *(f"x{k}" for k in range(len(program.names), program.inputs))]
    names += [f"p{k}" for k in range(program.inputs + len(program.parameters) - len(names))]
    texts = [(name, CALL) for name in names]
    free = [name for name in NAMES if name not in names]
    used = Counter(
        [one.index for _, args in program.steps for one in args if isinstance(one, Register)]
        + [one.index for one in program.outputs]
    )
    lines = []
    for name, args in program.steps:
        made = expression(name, [texts[a.index] if isinstance(a, Register) else a for a in args])
        count = pieces(name, tuple(args))
        parts = [(f"{made[0]}[{k}]", CALL) for k in range(count)] or [made]
        for part in parts:
            if used[len(texts)] > 1 and free:
                lines.append(f"{free[0]} = {part[0]}")
                part = free.pop(0), CALL
            texts.append(part)
    return "; ".join([*lines, ", ".join(texts[one.index][0] for one in program.outputs)])


def expression(name: str, args: list[Any]) -> tuple[str, int]:
    """Return a step as text, and how tightly it binds. An argument is such a pair, or a value."""
    given = [one if isinstance(one, tuple) else constant(one) for one in args]
    if name in BINDING:
        own = BINDING[name]
        least = [own + (name == "pow"), own + (name != "pow")]
        *left, right = [
            text if binds >= need else f"({text})"
            for (text, binds), need in zip(given, least[-len(given) :], strict=True)
        ]
        if not left:
            return f"-{right}", own
        sign = SIGNS[name]
        return (left[0] + (sign if name == "pow" else f" {sign} ") + right), own
    plain = [text for text, _ in given]
    if name in FUNCTIONS:
        return f"{name}({', '.join(plain)})", CALL
    first = plain[0] if given[0][1] == CALL else f"({plain[0]})"
    if name == "getitem":
        return f"{first}[{plain[1]}]", CALL
    return f"{first}.{name}({', '.join(plain[1:])})", CALL


def constant(value: Any) -> tuple[str, int]:
    """Return a number, or a list of them, as ``expression`` does."""
    return repr(value), BINDING["neg"] if repr(value).startswith("-") else CALL
