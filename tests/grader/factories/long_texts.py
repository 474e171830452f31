"""Texts of any size that repeat one token of Python's grammar, valid or not."""

from __future__ import annotations

import json
import keyword
import token
from collections.abc import Mapping
from typing import Any

UNICODE = {
    "accents": "é",
    "Hangul": "값 = 1\n",
    "wide spaces": "\N{IDEOGRAPHIC SPACE}",
    "no-break spaces": "\N{NO-BREAK SPACE}",
    "byte order marks": "\N{ZERO WIDTH NO-BREAK SPACE}",
    "line separators": "\N{LINE SEPARATOR}",
    "combining": "e\N{COMBINING ACUTE ACCENT}",
    "curly quotes": "“",
    "emoji": "\N{PILE OF POO}",
}
LAYOUT = {
    "blanks": " ",
    "tabs": "\t",
    "form feeds": "\f",
    "newlines": "\n",
    "carriage returns": "\r",
    "backslashes": "\\",
    "continued lines": "\\\n",
    "vertical tabs": "\v",
    "comments": "# x\n",
    "one comment": "#",
    "indents": "if x:\n ",
    "prompts": ">>> ",
    "magics": "%x\n",
    "shell lines": "!x\n",
    "questions": "x?\n",
    "fences": "```\n",
}
PIECES = {
    "names": "a ",
    "one name": "a",
    "assignments": "a = 1\n",
    "chained assignments": "a = ",
    "numbers": "1 ",
    "one number": "1",
    "hexadecimal": "0xf",
    "underscores": "1_",
    "decimals": "1.",
    "imaginary": "1j+",
    "strings": "'a' ",
    "one string": "'",
    "double quotes": '"',
    "triple quotes": "'''",
    "bytes": "b'a' ",
    "raw": "r'\\' ",
    "escapes": "'\\d'\n",
    "f-strings": "f'{a}' ",
    "nested f-strings": "f'{",
    "braces in an f-string": "f'{{' ",
    "docstrings": "'''a'''\n",
    "pairs of brackets": "()",
    "pairs of square brackets": "[],",
    "pairs of braces": "{},",
    "calls": "a(",
    "indices": "a[0]",
    "attributes": "a.",
    "negations": "-",
    "nots": "not ",
    "sums": "a + ",
    "matrix products": "a @ ",
    "powers": "a ** ",
    "comparisons": "a < ",
    "ands": "a and ",
    "ternaries": "a if a else ",
    "lambdas": "lambda: ",
    "lambdas with arguments": "lambda a: ",
    "walruses": "(a := ",
    "stars": "*a, ",
    "decorators": "@a\n",
    "decorated functions": "@a\ndef f(): pass\n",
    "functions": "def f(): pass\n",
    "parameters": "a=a, ",
    "classes": "class A: pass\n",
    "classes with bases": "class A(A): pass\n",
    "chained classes": "class {0}(Base{1}): pass\n",
    "methods": "class A:\n def f(self): a.f\n",
    "passes": "pass\n",
    "elses": "else: ",
    "else ifs": "else if ",
    "ifs": "if a: pass\n",
    "elifs": "elif a: pass\n",
    "fors": "for a in a: pass\n",
    "comprehensions": "[a for a in ",
    "clauses": "for a in a ",
    "tries": "try: pass\nexcept: pass\n",
    "withs": "with a: pass\n",
    "matches": "match a:\n case 1: pass\n",
    "imports": "import torch\n",
    "imports of different names": "import a{0}\n",
    "late imports": "torch.func.grad(a)\n",
    "semicolons": "a;",
    "deletions": "del a\n",
    "globals": "global a\n",
    "displays": "display (",
    "future": "from __future__ import annotations\n",
    "conflicts": "<<<<<<< ",
    "different names": "b{0} = b{1}\n",
    "different functions": "def f{0}(): f{1}()\n",
    "entries": "T['a']\n",
}
"""What to repeat; ``{0}`` is the number of the piece, ``{1}`` the one before."""


def kinds() -> Mapping[str, str]:
    """Return everything that can be repeated: each operator, keyword and piece."""
    operators = {f"operator {text}": text for text in token.EXACT_TOKEN_TYPES}
    words = {f"keyword {word}": f"{word} " for word in (*keyword.kwlist, *keyword.softkwlist)}
    return {**LAYOUT, **UNICODE, **PIECES, **operators, **words}


def repeated(piece: str, size: int) -> str:
    """Return a text of at most ``size`` bytes of UTF-8 that repeats a piece."""
    if "{0}" not in piece:
        return piece * (size // len(piece.encode()))
    pieces: list[str] = []
    length = number = 0
    while True:
        made = piece.replace("{0}", str(number)).replace("{1}", str(number - 1))
        length += len(made.encode())
        if length > size:
            return "".join(pieces)
        pieces.append(made)
        number += 1


def in_lines(piece: str, size: int) -> str:
    """Return the same in lines of 400 characters, which pages show whole."""
    if "\n" in piece or "{0}" in piece:
        return repeated(piece, size)
    line = f"x = {piece * (395 // len(piece))}\n"
    return line * (size // len(line.encode()))


def below(solution: str, piece: str, size: int) -> str:
    """Return a solution with an unused function below it that repeats a piece, so that more of the
    file is read; ``func`` makes the engine look for late imports.
    """
    lines = repeated(piece, size - len(solution.encode()) - 40).replace("\n", "\n ")
    return f"{solution}\n\ndef func():\n {lines.rstrip(' ')}\n"


def notebook(*cells: str) -> str:
    """Return a notebook with these code cells as JSON."""
    empty: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
    }
    meta = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    made = [{**empty, "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": meta, "nbformat": 4, "nbformat_minor": 5})
