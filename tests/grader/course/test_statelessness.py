"""Which files keep no state between calls."""

from __future__ import annotations

import pytest

from grader.course.course import find_course, load_course
from grader.course.source import Source
from grader.course.stubs import without_markers

STATELESS = {
    "a function": "def f(x): return x",
    "an object's attribute": "class A:\n    def __init__(self): self.x = 0",
    "what ctx keeps": "def f(ctx, x):\n    ctx.x = x\n    ctx.set_materialize_grads(False)",
    "a name that contains rand": "def f(operands): return operands",
    "a local list": "def f():\n    a = []\n    a[0] = 1\n    return a",
    "constants": "A = 1\nB: int = -2\nC = (A, 'x')\nD = {'a': True}\nE = D",
    "known decorators": "class A:\n    @staticmethod\n    @torch.no_grad()\n    def f(): ...",
    "an import": "import torch.nn.functional as F\nfrom math import pi",
}
STATEFUL = {
    "a global": "def f():\n    global n\n    n = 1",
    "a nonlocal name": "def f():\n    n = 0\n    def g():\n        nonlocal n",
    "a list of the module": "SEEN = []",
    "a dictionary that changes": "D = {}\ndef f(x): D.update(x)",
    "a dictionary's entry": "D = {}\ndef f(x): D[0] = x",
    "an entry that is deleted": "D = {0: 1}\ndef f(): del D[0]",
    "a class's attribute": "class A: ...\ndef f(x): A.x = x",
    "an attribute of cls": "class A:\n    @classmethod\n    def f(cls, x): cls.x = x",
    "a function's attribute": "def f(x): f.x = x",
    "an attribute of what a call returns": "def f(x): type(x).y = 1",
    "a list in a class": "class A:\n    seen = []",
    "a mutable default": "def f(x, seen=[]): ...",
    "a default that is made": "def f(x, seen=list()): ...",
    "a cache": "from functools import lru_cache\n@lru_cache\ndef f(x): ...",
    "another decorator": "@memo\ndef f(x): ...",
    "random numbers": "def f(x): return torch.rand_like(x)",
    "random numbers in place": "def f(x): x.random_()",
    "random numbers of numpy": "def f(x): return numpy.random.rand()",
    "a seed": "def f(x): torch.manual_seed(0)",
    "grad mode": "def f(x): torch.set_grad_enabled(False)",
    "a statement that runs": "torch.f()",
    "a call that makes a constant": "A = torch.ones(1)",
    "a file": "def f(x): open('x')",
    "what is printed": "def f(x): print(x)",
    "another module": "import os",
    "a module's attribute": "import torch\ndef f(x): torch.x = x",
    "an import with another name": "from torch import rand as r",
    "a special attribute": "def f(x): x.__dict__",
    "names as text": "def f(x): setattr(f, 'x', x)",
    "no Python": "def f(:",
}


@pytest.mark.parametrize("text", STATELESS.values(), ids=STATELESS)
def test_files_that_keep_no_state(text: str) -> None:
    assert Source(text, "a.py").keeps_no_state


@pytest.mark.parametrize("text", STATEFUL.values(), ids=STATEFUL)
def test_files_that_may_keep_state(text: str) -> None:
    assert not Source(text, "a.py").keeps_no_state


STATE_IS_THE_SUBJECT = {"saved_tensors"}
"""Its solution puts the state of random numbers back, and writes files."""


@pytest.mark.parametrize("lesson", load_course(find_course()).lessons, ids=lambda one: one.id)
def test_no_solution_keeps_state(lesson) -> None:  # type: ignore[no-untyped-def]
    text = without_markers(lesson.solution.read_text("utf-8"))
    stateless = Source(text, lesson.filename).keeps_no_state
    assert stateless is (lesson.id not in STATE_IS_THE_SUBJECT)
