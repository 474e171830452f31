"""Find what torch imports at first use in a submission's text, and import it in the host before a
worker needs it.
"""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from grader.core.report import Outcome
from grader.course.course import Course
from grader.course.submission import LessonFile
from grader.runtime import lazy_imports
from grader.runtime.client import ForkServerClient, default_mode
from grader.runtime.grading import Settings, grade_lesson
from grader.worker.wire.compat import LATE_IMPORTS

USES = {
    "by its whole name": "import torch\ndef f(x): return torch.func.jacrev(g)(x)\n",
    "imported alone": "from torch.func import hessian\ndef f(x): return hessian(g)(x)\n",
    "its module imported": "from torch import func\ndef f(x): return func.vjp(g, x)\n",
    "under another name": "import torch.func as F\ndef f(x): return F.grad(g)(x)\n",
    "inside a function": "def f(x):\n    from functorch import jacfwd\n    return jacfwd(g)(x)\n",
    "an optimizer": "from torch import optim\ndef f(x): return optim.SGD([x], lr=0.1)\n",
    "an optimizer, by its name": "from torch.optim import Adam\ndef f(x): return Adam([x])\n",
    "a checkpoint": (
        "from torch.utils.checkpoint import checkpoint\ndef f(x): return checkpoint(g, x)\n"
    ),
    "saved tensors that may be written to": (
        "from torch.autograd import graph\n"
        "def f(x): return graph.allow_mutation_on_saved_tensors()\n"
    ),
    "forward mode": (
        "import torch.autograd.forward_ad as fwAD\ndef f(x): return fwAD.make_dual(x, x)\n"
    ),
}
USES_NONE = {
    "nothing of the kind": "import torch\ndef f(x): return torch.autograd.grad(x.sum(), x)\n",
    "in a docstring": 'import torch\ndef f(x):\n    """Without torch.func.grad."""\n    return x\n',
    "in a comment": "import torch\ndef f(x): return x  # torch.func.grad(g) would do\n",
    "a name of the student's": "def f(func, x): return func.grad(x)\n",
    "another optimizer": "def f(optim, x): return optim.SGD([x])\n",
    "imported and not used": "from torch.func import grad\ndef f(x): return x\n",
    "what needs no import": (
        "import torch\n"
        "def f(x): return torch.func.vmap(g)(x) + torch.func.functional_call(g, {}, x)\n"
    ),
    "no Python": "def f(x: torch.func.grad(\n",
}
BARE = """
import os, sys, torch
import torch.autograd.forward_ad as forward_mode
import torch.fx.experimental.symbolic_shapes, torch.testing
import torch.profiler, torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from grader.runtime import lazy_imports

class NoOperation(TorchDispatchMode):
    def __torch_dispatch__(self, operation, *_):
        sys.exit(f"ran {operation}")

def threads(): return len(os.listdir("/proc/self/task"))

before = threads()
with NoOperation():
    lazy_imports.import_early()
assert lazy_imports.loaded() and threads() == before, threads()
with torch.profiler.record_function("as each step does"):  # which imports one little module
    known = set(sys.modules)
f, x = lambda x: (x ** 3).sum(), torch.ones(2)
# linearize traces, and imports two more small modules.
for name in set(lazy_imports.TRANSFORMS) - {"linearize"}:
    made = getattr(torch.func, name)
    made(f, x) if name == "vjp" else made(f, (x,), (x,)) if name == "jvp" else made(f)(x)
with forward_mode.dual_level():
    forward_mode.unpack_dual(forward_mode.make_dual(x, x) * 2)
leaf = torch.ones(2, requires_grad=True)
for name in ("SGD", "Adam", "AdamW", "RMSprop", "LBFGS"):
    optimizer = getattr(torch.optim, name)([leaf], lr=0.1)
    optimizer.zero_grad()
    loss = torch.utils.checkpoint.checkpoint(f, leaf, use_reentrant=False)
    loss.backward()
    optimizer.step(lambda: loss.detach()) if name == "LBFGS" else optimizer.step()
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    f(leaf).backward()
print(*sorted(name for name in set(sys.modules) - known if name.startswith("torch")))
"""
ASKS = """
import sys
HAS = all(name in sys.modules for name in {modules})
def double(x):
    if HAS is not {expected}:
        raise RuntimeError("it is not as expected")
    return 2 * x
def triple(x): return 3 * x
LIMIT = 20.0
"""
USING = "def unused(x):\n    import torch\n    return torch.func.grad(double)(x)\n"


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_a_use_of_late_imports_is_found(text: str) -> None:
    assert lazy_imports.needed(text)


@pytest.mark.parametrize("text", USES_NONE.values(), ids=USES_NONE)
def test_other_code_needs_no_late_imports(text: str) -> None:
    assert not lazy_imports.needed(text)


@pytest.mark.linux
def test_it_is_all_that_torch_imports_at_first_use() -> None:
    """First use then imports nothing of torch; the import itself ran no operation and left no
    thread.
    """
    done = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("", 0), done


@pytest.mark.skipif(default_mode() != "fork", reason="without fork each worker imports for itself")
def test_late_imports_stay_loaded_after_the_first_use(small_course: Course) -> None:
    """That submission's own worker already has it."""
    lesson = small_course.lesson("tiny")
    settings = Settings(7, limits=small_course.limits)
    with ForkServerClient() as host:
        for source in (
            ASKS.format(modules=LATE_IMPORTS, expected=False),
            ASKS.format(modules=LATE_IMPORTS, expected=True) + USING,
            ASKS.format(modules=LATE_IMPORTS, expected=True),
        ):
            checks = grade_lesson(
                host, lesson, LessonFile("tiny", "tiny.py", source), settings
            ).result.checks
            asked = [check for check in checks if check.function == "double"]
            assert asked
            assert {check.outcome for check in asked} == {Outcome.PASSED}, asked


def test_what_another_torch_does_not_have_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_imports, "LATE_IMPORTS", ("torch.no_such_module",))
    assert not lazy_imports.loaded()
    lazy_imports.import_early()
    gc.unfreeze()
    assert lazy_imports.loaded()
