"""Write a program as a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.worker.wire.program import Program, Register, pieces


def program_lines(
    name: str,
    program: Program,
    parameters: list[str],
    value: Callable[[Any], str],
    operation: Callable[[str, list[str]], str],
) -> list[str]:
    """Return the lines that define a program as the function ``name``; ``parameters`` are the names
    of its parameter tensors. ``value`` writes an argument, and ``operation`` a call, as Python.
    """
    arguments = [f"x{k}" for k in range(program.inputs)]
    registers = [*arguments, *parameters]
    body = []
    for step, args in program.steps:
        given = [registers[a.index] if isinstance(a, Register) else value(a) for a in args]
        results = [f"r{len(registers) + k}" for k in range(pieces(step, tuple(args)) or 1)]
        body.append(f"    {', '.join(results)} = {operation(step, given)}")
        registers += results
    outs = ", ".join(registers[out.index] for out in program.outputs)
    comma = "" if program.single or len(program.outputs) > 1 else ","
    head = f"def {name}({', '.join(arguments)}):"
    return ["", head, *body, f"    return {outs}{comma}", ""]
