"""A student's function gives the same values, gradients and errors across the process border as it
does locally, and what it writes into its arguments is noticed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from forked import Students
from torch import Tensor
from torch.autograd import grad, gradcheck, gradgradcheck

from grader.core.errors import MissingName, StudentCodeError, WorkerLost
from grader.course.source import Source
from grader.judge.local_student import LocalStudent
from grader.judge.remote.session import NotStarted
from grader.judge.remote.workers import without_stack
from grader.worker.process import Sent
from grader.worker.wire.messages import Request
from grader.worker.wire.program import program
from grader.worker.wire.values import strided_of

SOURCE = '''
import math
import numpy
import torch
from torch.autograd import Function

CONSTANT = 20.0
TABLE = {"x + 1": True, "x * 2": ...}
UNFINISHED = ...

def cube(x): return x ** 3
def add_one(x): return x + 1
def scaled(x, factor, *, shift=0.0): return x * factor + shift
def identity(x): return x
def twice_the_same(x):
    y = x * x
    return y, y
def several(x, w):
    parts = [x.sin(), w.exp()]
    return {"sum": (x * w).sum(), "parts": parts, "n": x.numel(), "flat": x.detach()}
def unused(x, w): return x * 2
def detached(x): return x.detach() * 2
def half_detached(x, w): return x * 2, w.detach()
def kinds(x):
    layout = x.dtype, tuple(x.shape), x.stride(), x.storage_offset()
    return *layout, x.requires_grad, torch.is_grad_enabled(), x.is_leaf
def complex_square(z): return z * z
def counts(n): return n + 1, n > 2
def mutate(x): x.mul_(2); return x.sum()
def mutate_first(x): x[0] = 5; return x.sum()
def says(): print("hello"); return 1
def fail(x): return _inner(x)
def _inner(x): return x.no_such_method()
def wants_value_error(n):
    if n < 0: raise ValueError("n must not be negative")
    return n
def not_there_yet(): raise NotImplementedError
def torch_not_implemented(x):
    class Half(Function):
        @staticmethod
        def forward(ctx, x): return x * 1
    return Half.apply(x)
def no_tensor(): return math
def call(f, x): return f(x)
def calls_class(function, x): return function.apply(x)
def lengths(*args, **kwargs): return len(args), sorted(kwargs)

class NumpySine(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(numpy.sin(x.numpy()))
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(g.numpy() * numpy.cos(x.numpy()))

class InPlace(Function):
    @staticmethod
    def forward(ctx, x): return x * 3
    @staticmethod
    def backward(ctx, g): return g.mul_(3)

class FirstInPlace(Function):
    @staticmethod
    def forward(ctx, x): return x * 3
    @staticmethod
    def backward(ctx, g):
        g[0] = 5
        return g

class Optional(Function):
    """Two outputs; tells by its gradient which incoming gradients it got."""
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2
    @staticmethod
    def backward(ctx, g, h):
        if g is None and h is None: return None
        g = torch.full_like(h, 100.0) if g is None else g
        return g + (1000.0 if h is None else 2 * h)

class ReturnsNone(Function):
    @staticmethod
    def forward(ctx, x, y): return x * y
    @staticmethod
    def backward(ctx, g): return g, None

class Raises(Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, g): raise KeyError("in backward")

class TooMany(Function):
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, g): return g, g

class GradMode(Function):
    """Its gradient is 1 where backward ran in grad mode, else 0."""
    @staticmethod
    def forward(ctx, x): return x * 1
    @staticmethod
    def backward(ctx, g): return g * 0 + float(torch.is_grad_enabled())
'''
SCENARIOS = """
def gradients(student, x, v):
    y = student.cube(x)
    y.backward(v)
    return {"gradient": x.grad, "leaf": x.is_leaf, "nothing": None, "pair": (1, 2.5)}
def broken(student): raise RuntimeError("a scenario's own fault")
"""


def double(*shape: int, requires_grad: bool = True) -> Tensor:
    count = math.prod(shape)
    values = torch.linspace(0.3, 1.9, max(1, count), dtype=torch.float64)[:count]
    return values.reshape(shape).requires_grad_(requires_grad)


def outcome(probe: Callable[[Any], Any], student: Any) -> Any:
    """Return a probe's result, or how it raises, in a form that can be compared."""
    try:
        return plain(probe(student))
    except StudentCodeError as error:
        return ("raised", error.type_name, error.message)
    except Exception as error:
        return ("raised", type(error).__name__, str(error))


def plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return (str(value.dtype), tuple(value.shape), value.tolist(), value.requires_grad)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def total(tensors: Any) -> Any:
    return sum(y.sum() for y in tensors)


def slope(function: Any, count: int = 2, **options: Any) -> Any:
    x = double(count)
    return grad(function(x).sum(), x, **options)


def twice(student: Any, name: str, *, retain: bool) -> Any:
    x = double(3)
    y = getattr(student, name)(x).sum()
    first = grad(y, x, retain_graph=retain)
    return first, grad(y, x)


def in_place(student: Any) -> Any:
    x, v = double(3), double(3, requires_grad=False)
    with student.writing_allowed() as copies:
        got = grad(student.InPlace.apply(x), x, v)
    return got, copies.of(v)


def higher(student: Any, name: str, order: int) -> Any:
    x = double(4)
    y = getattr(student, name)(x)
    for _ in range(order):
        (y,) = grad(y.sum(), x, create_graph=True)
    return y.detach()


def second_through_incoming(student: Any) -> Any:
    x, v = double(3), double(3)
    (g,) = grad(student.cube(x), x, v, create_graph=True)
    return grad(g.sum(), [x, v])


def with_undefined(student: Any) -> Any:
    x = double(2)
    y = torch._C._functions.UndefinedGrad()(student.Optional.apply(x)[0])
    return grad(y, x, torch.ones_like(x), allow_unused=True)


def mutated(student: Any) -> Any:
    x = double(3, requires_grad=False)
    with student.writing_allowed() as copies:
        return student.mutate(x), copies.of(x)


def mutated_expanded(student: Any) -> Any:
    """Write to one number that several elements share."""
    x = double(1, 2, requires_grad=False).expand(3, 2)
    with student.writing_allowed() as copies:
        return student.mutate_first(x), copies.of(x)


def strided_input(student: Any) -> Any:
    base = double(4, 6, requires_grad=False)
    leaf = base.t()[1:4].detach().requires_grad_()
    return student.kinds(leaf)


PROBES: dict[str, Callable[[Any], Any]] = {
    "value": lambda s: s.cube(double(2, 3)),
    "float32": lambda s: s.cube(double(3).detach().float()),
    "zero_dimensional": lambda s: s.cube(double()),
    "empty": lambda s: s.cube(double(0, 3)),
    "gradient_with_incoming": lambda s: grad(
        s.cube(x := double(3)), x, torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    ),
    "gradient_of_empty": lambda s: slope(s.cube, 0),
    "arguments": lambda s: s.scaled(double(2), 3, shift=-1.5),
    "argument_kinds": lambda s: s.lengths(
        1, "two", None, [3.0, float("inf")], {"k": (True, 2 + 3j)}, a=b"x", b=...
    ),
    "identity": lambda s: slope(s.identity),
    "same_output_twice": lambda s: slope(lambda x: total(s.twice_the_same(x))),
    "structure": lambda s: s.several(double(3), double(3)),
    "one_of_several_outputs": lambda s: grad(
        s.several(x := double(3), w := double(3))["parts"][1].sum(), [x, w], allow_unused=True
    ),
    "unused_input": lambda s: grad(
        s.unused(x := double(3), w := double(3)).sum(), [x, w], allow_unused=True
    ),
    "unused_input_not_allowed": lambda s: (
        "appears to not"
        in str(outcome(lambda t: grad(t.unused(double(3), w := double(3)).sum(), w), s))
    ),
    "detached": lambda s: s.detached(double(3)).requires_grad,
    "half_detached": lambda s: [t.requires_grad for t in s.half_detached(double(2), double(2))],
    "no_grad_input": lambda s: s.cube(double(3, requires_grad=False)).requires_grad,
    "mixed_requires_grad": lambda s: grad(
        s.several(x := double(3), double(3, requires_grad=False))["sum"], x
    ),
    "what_it_sees": lambda s: s.kinds(double(2, 3)),
    "what_it_sees_in_no_grad": lambda s: torch.no_grad()(lambda: s.kinds(double(2)))(),
    "noncontiguous": strided_input,
    "expanded": lambda s: s.kinds(double(1, requires_grad=False).expand(3, 4)),
    "complex": lambda s: grad(
        s.complex_square(z := torch.tensor([1 + 2j], requires_grad=True)).abs().sum(), z
    ),
    "integers_and_bools": lambda s: s.counts(torch.tensor([1, 2, 3])),
    "second_derivative": lambda s: higher(s, "cube", 2),
    "third_derivative": lambda s: higher(s, "cube", 3),
    "through_the_incoming_gradient": second_through_incoming,
    "second_backward_kept": lambda s: twice(s, "cube", retain=True),
    "second_backward_freed": lambda s: twice(s, "cube", retain=False),
    "second_backward_that_needs_nothing": lambda s: twice(s, "add_one", retain=False),
    "numpy_backward": lambda s: slope(lambda x: s.NumpySine.apply(x) * x.detach()),
    "numpy_backward_twice": lambda s: outcome(
        lambda t: slope(t.NumpySine.apply, create_graph=True), s
    )[0],
    "backward_in_place": in_place,
    "backward_in_place_on_expanded": lambda s: outcome(lambda t: slope(t.InPlace.apply), s)[:2],
    "backward_in_place_on_a_part_of_expanded": lambda s: slope(s.FirstInPlace.apply),
    "only_first_output": lambda s: slope(lambda x: s.Optional.apply(x)[0]),
    "only_second_output": lambda s: slope(lambda x: s.Optional.apply(x)[1]),
    "both_outputs": lambda s: slope(lambda x: total(s.Optional.apply(x))),
    "undefined_gradient": with_undefined,
    "none_is_not_zero": lambda s: grad(
        s.ReturnsNone.apply(x := double(2), y := double(2)).sum(), [x, y], allow_unused=True
    ),
    "raises_in_backward": lambda s: slope(s.Raises.apply),
    "too_many_gradients": lambda s: outcome(lambda t: slope(t.TooMany.apply), s)[2][-60:],
    "grad_mode_off_in_backward": lambda s: slope(s.GradMode.apply),
    "grad_mode_on_in_backward": lambda s: slope(s.GradMode.apply, create_graph=True)[0].detach(),
    "mutated_input": mutated,
    "mutated_expanded_input": mutated_expanded,
    "raises": lambda s: s.fail(double(2)),
    "value_error": lambda s: s.wants_value_error(-1),
    "wrong_signature": lambda s: s.cube(double(2), double(2)),
    "program_argument": lambda s: s.call(program(lambda x: (x**2).sin() * 3), double(3)),
    "program_with_parameters": lambda s: grad(
        s.call(program(lambda x, w: w @ x, parameters=[w := double(2, 3)]), double(3)).sum(), w
    ),
    "gradcheck": lambda s: gradcheck(s.cube, (double(2, 2),)),
    "gradcheck_several": lambda s: gradcheck(
        lambda x, w: s.several(x, w)["sum"], (double(3), double(3))
    ),
    "gradcheck_fails": lambda s: outcome(lambda t: gradcheck(t.GradMode.apply, (double(2),)), s)[1],
    "gradgradcheck": lambda s: gradgradcheck(s.cube, (double(3),)),
    "gradgradcheck_fails": lambda s: outcome(
        lambda t: gradgradcheck(t.NumpySine.apply, (double(2),)), s
    )[0],
    "backward_fills_grad": lambda s: (s.cube(x := double(3)).sum().backward(), x.grad)[1],
    "on_top_of_more_graph": lambda s: grad((s.cube((a := double(3)) * 2) * a).sum(), a),
    "constant": lambda s: s.CONSTANT,
    "class_that_is_handed_back": lambda s: s.calls_class(s.NumpySine, double(2)),
}


@pytest.mark.parametrize("name", PROBES)
def test_remote_and_local_agree(name: str, remote: Students) -> None:
    """Value, dtype, shape, gradient, and error are the same on both sides of the border."""
    local = LocalStudent(Source(SOURCE, "lesson.py"), SCENARIOS)
    assert outcome(PROBES[name], remote(SOURCE, SCENARIOS)) == outcome(PROBES[name], local)


def test_a_scenario_measures_the_same_on_both_sides(remote: Students) -> None:
    """Scenarios get copies and return plain data."""
    local = LocalStudent(Source(SOURCE, "lesson.py"), SCENARIOS)
    x, v = double(3), double(3, requires_grad=False)
    far, near = (
        student.observe("gradients", x, v=v) for student in (remote(SOURCE, SCENARIOS), local)
    )
    assert plain(far) == plain(near)
    assert x.grad is None


def test_an_exception_arrives_with_type_message_and_the_students_line(remote: Students) -> None:
    """Its traceback contains none of our frames."""
    with pytest.raises(StudentCodeError) as caught:
        remote(SOURCE).fail(double(2))
    line = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if "no_such_method" in text)
    assert caught.value.line == line
    assert caught.value.type_name == "AttributeError"
    assert "no_such_method" in caught.value.message
    assert "grader" not in str(caught.value)


def test_a_stub_is_told_from_torchs_own_not_implemented(remote: Students) -> None:
    """NotImplementedError means "not started" only if the student's file raises it explicitly."""
    student = remote(SOURCE)
    with pytest.raises(StudentCodeError) as stub:
        student.not_there_yet()
    assert stub.value.raised_here
    x = double(2)
    y = student.torch_not_implemented(x)
    with pytest.raises(StudentCodeError) as torchs:
        grad(y.sum(), x)
    assert torchs.value.is_a("NotImplementedError")
    assert not torchs.value.raised_here


def test_names_that_are_missing_unfinished_or_no_data(remote: Students) -> None:
    """A missing name lists those that exist; ``...`` is not started; a module becomes its type's
    name.
    """
    student = remote(SOURCE)
    with pytest.raises(MissingName) as missing:
        _ = student.nowhere
    assert "cube" in missing.value.present
    assert "torch" not in missing.value.present  # which the file imports, and doesn't define
    with pytest.raises(NotStarted):
        _ = student.UNFINISHED
    assert student.TABLE == {"x + 1": True, "x * 2": ...}
    assert student.no_tensor().type_name == "module"


def test_a_missing_name_is_asked_for_again_only_after_a_call(
    remote: Students, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call may define it."""
    student = remote("def define():\n    global late\n    late = 1\n")
    session = student._session
    asked: list[str] = []
    ask = session.ask

    def counting(request: Request, *kinds: Any, **parts: Any) -> Any:
        asked.append(type(request).__name__)
        return ask(request, *kinds, **parts)

    monkeypatch.setattr(session, "ask", counting)
    for _ in range(3):
        with pytest.raises(MissingName):
            _ = student.late
    assert asked.count("Describe") == 1
    student.define()
    assert student.late == 1


def test_a_function_that_is_handed_over_is_a_plain_one(remote: Students) -> None:
    """Code that expects a function may ask whether it has a module's attributes."""
    text = (
        "import inspect\n"
        "def about(f):\n"
        "    kind = inspect.isfunction(f), hasattr(f, 'parameters')\n"
        "    return *kind, f.__name__, f.__qualname__\n"
    )
    assert remote(text).about(program(lambda x: x * 2)) == (True, False, "f", "f")


def test_what_is_printed_is_kept_apart_and_cut(remote: Students) -> None:
    """Output arrives in the order of the calls; beyond the cap it is counted."""
    student = remote("def f(n):\n    print('x' * n)\n", output_bytes=50)
    student.f(3)
    assert student._session.take_output() == "xxx\n"
    student.f(1000)
    assert student._session.take_output() == "x" * 50 + "\n[951 more bytes were cut]"


def test_handles_die_with_the_nodes_that_hold_them(remote: Students) -> None:
    """A worker keeps a call's graph exactly as long as the judge's result exists."""
    student = remote(
        "import gc, sys\ndef f(x): return x * 2\ndef calls():\n"
        "    from grader.worker.process import Worker\n"
        "    return sum(len(w.calls) for w in gc.get_objects() if type(w) is Worker)\n"
    )
    kept = [student.f(double(2)) for _ in range(3)]
    assert student.calls() == 3
    kept.clear()
    assert student.calls() == 0


FLOODS_THE_LINE = """
import os
def f():
    for fd in range(3, 64):
        try: os.write(fd, b'x' * 100000)
        except OSError: pass
"""
DIES = "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSEGV)"
LOST = {
    "loops": ("def f():\n    while True: pass", "timeout", "still running after 0.5 s"),
    "exits": ("import os\ndef f(): os._exit(3)", "crashed", "ended with exit status 3"),
    "dies": (DIES, "crashed", "killed by SIGSEGV"),
    "floods_the_line": (FLOODS_THE_LINE, "crashed", "not a message of the worker's"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_worker_is_told_apart_and_replaced(name: str, remote: Students) -> None:
    """A loop is a timeout, a death gives its reason, and the next request goes to a new worker."""
    source, expected, reason = LOST[name]
    student = remote(source + "\ndef g(): return 7\n", call_seconds=0.5)
    with pytest.raises(WorkerLost) as lost:
        student.f()
    assert lost.value.outcome == expected
    assert reason in str(lost.value)
    assert student.g() == 7


@pytest.mark.parametrize(
    ("body", "asked", "said"),
    [
        ("i = 0\n    while i < 3: y = 1", 1, "nothing in it changes i, so it never ends"),
        ("while True: pass", 1, "nothing in it ends it"),
        ("i = 0\n    while i >= 0: i += 1", 4, "still running after 0.2 s, in this loop"),
    ],
)
def test_a_busy_computer_gives_no_time_to_a_loop_that_can_not_end(
    body: str, asked: int, said: str, remote: Students, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other code gets the time for which it waited."""
    waited = iter([0.4, 0.4, 0.4])
    asks: list[float] = []

    def seconds_since() -> float:
        asks.append(next(waited, 0.0))
        return asks[-1]

    student = remote(f"def f():\n    {body}\n", call_seconds=0.2)
    monkeypatch.setattr(student._session.clock, "_starved_since", seconds_since)
    with pytest.raises(WorkerLost) as lost:
        student.f()
    assert len(asks) == asked
    assert str(lost.value).endswith(said)


def test_a_flood_that_looks_like_a_stack_is_searched_in_linear_time(remote: Students) -> None:
    """It ignores the signal at which it should write its stack."""
    student = remote(
        "import os, signal\n"
        "def f():\n"
        "    signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
        "    while True: os.write(1, b'Current thread 0x' * 4000)\n"
        "def g(): return 7\n",
        call_seconds=0.5,
    )
    with pytest.raises(WorkerLost) as lost:
        student.f()
    assert lost.value.outcome == "timeout"
    assert student.g() == 7


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_stack_that_arrives_in_pieces_is_not_output(first: int) -> None:
    """The first lines were read with the stack, the others came later; tracebacks stay."""
    trace = 'Traceback (most recent call last):\n  File "f.py", line 2, in f\n'
    stack = (
        "Stack (most recent call first):\n",
        '  File "f.py", line 3 in f\n',
        '  File "/somewhere/serving.py", line 210 in serve\n',
        '  File "/somewhere/serv',
    )
    assert without_stack("".join(["n = 1\n", trace, *stack[first:]])) == f"n = 1\n{trace}"


def test_a_slow_function_is_not_taken_for_another_that_hung(
    remote: Students, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They share a decorator; and a module that loads slowly has the time of a call for it."""
    monkeypatch.setattr("grader.judge.remote.session.PATIENCE_SECONDS", 0.1)
    student = remote(
        "import time\n"
        "def slowly(n):\n    time.sleep(0.015)\n    return n\n"
        "TABLE = [slowly(n) for n in range(20)]\n"
        "def checked(f):\n    def wrapper(x):\n        return f(x)\n    return wrapper\n"
        "@checked\ndef bad(x):\n    while x: slowly(1)\n"
        "@checked\ndef good(x):\n    for _ in range(20): slowly(1)\n    return x * 2\n",
        call_seconds=4.0,
    )
    with pytest.raises(WorkerLost):
        student.bad(1)
    assert student.good(2) == 4


def test_a_loop_through_two_functions_is_known_again(
    remote: Students, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be outside of the function with the loop at the moment of one look."""
    student = remote(
        "def numbers():\n    while True: yield 1\ndef f(): return sum(numbers())\n", call_seconds=9
    )
    session = student._session
    session._check_id = "first"
    session._late([2, 3])
    monkeypatch.setattr(session.clock, "_starved_since", lambda: 0.0)
    looks = itertools.chain([[3], [3]], itertools.repeat([2, 3]))
    asked: list[int] = []

    def where(worker: Any) -> list[int]:
        asked.append(1)
        return next(looks)

    monkeypatch.setattr(session, "_where", where)
    with pytest.raises(WorkerLost):
        student.f()
    assert len(asked) == 4  # the last one when it is given up


@pytest.mark.parametrize("answer", ["10 ** 4100", "torch.ones([1] * 17)", "torch.zeros(0, 70_000)"])
def test_what_is_too_large_for_the_wire_costs_no_worker(answer: str, remote: Students) -> None:
    student = remote(f"import torch\ndef f(): return {answer}\ndef g(): return 7\n")
    with pytest.raises(StudentCodeError, match="can't be sent"):
        student.f()
    assert student.g() == 7


def test_after_a_malformed_answer_the_exit_status_does_not_count(remote: Students) -> None:
    """How it ends depends on timing, but a report must be the same every time."""
    student = remote(FLOODS_THE_LINE + "    os._exit(3)\n")
    with pytest.raises(WorkerLost) as lost:
        student.f()
    assert str(lost.value) == "what came back is not a message of the worker's"


def test_a_flood_of_output_does_no_harm(remote: Students) -> None:
    """Ten megabytes on standard output are read, cut, and the call still answers."""
    student = remote(
        "import os\ndef f():\n    for _ in range(1000): os.write(1, b'y' * 10_000)\n    return 5\n"
    )
    assert student.f() == 5
    assert "more bytes were cut" in student._session.take_output()


@pytest.mark.parametrize("value", ["10 ** 5000", "[0] * 60_000", "eval('[' * 80 + ']' * 80)"])
def test_a_value_that_can_not_be_sent_is_an_error(value: str, remote: Students) -> None:
    """It has too many digits, values or levels. The worker continues."""
    student = remote(f"def f(): return {value}\ndef g(): return 1")
    with pytest.raises(StudentCodeError, match="can't be sent"):
        student.f()
    assert student.g() == 1


def test_sys_exit_is_an_exception_like_another(remote: Students) -> None:
    """``sys.exit()`` in a function is the student's exception, and the worker continues."""
    student = remote("import sys\ndef f(): sys.exit(0)\ndef g(): return 1")
    with pytest.raises(StudentCodeError, match="SystemExit"):
        student.f()
    assert student.g() == 1


def test_a_graph_whose_worker_is_gone_can_not_be_differentiated(remote: Students) -> None:
    """A handle of the lost worker is not mistaken for one of the new worker."""
    student = remote("import os\ndef f(x): return x * 2\ndef die(): os._exit(1)")
    x = double(2)
    y = student.f(x)
    with pytest.raises(WorkerLost):
        student.die()
    with pytest.raises(WorkerLost, match="gone"):
        grad(y.sum(), x)


NAN = float("nan")


def crossed(tensor: Tensor) -> Sent:
    header, raw = strided_of(tensor)
    return Sent(header, memoryview(raw))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.data.add_(1),
        lambda x: x.detach().clamp_(max=1.5),
        lambda x: x.detach().numpy().fill(7.0),
        lambda x: x.data.fill_(NAN),
        lambda x: x.data.add_(0),
    ],
)
def test_a_write_is_noticed(write: Callable[[Tensor], object]) -> None:
    sent = crossed(torch.tensor([1.0, 2.0, 3.0]))
    write(sent.tensor)
    changed = not torch.equal(sent.tensor, torch.tensor([1.0, 2.0, 3.0]))
    assert sent.is_changed() is changed


def test_contents_of_another_shape_are_not_copied_back() -> None:
    sent = crossed(torch.tensor([1.0, 2.0, 3.0]))
    sent.tensor.data = torch.ones(2)
    assert not sent.is_changed()


def test_a_tensor_that_is_turned_in_its_own_memory_is_written_to() -> None:
    sent = crossed(torch.arange(4.0).reshape(2, 2))
    sent.tensor.data = sent.tensor.data.t()
    assert sent.is_changed()


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([1.0, NAN, float("inf"), -0.0]),
        torch.tensor([], dtype=torch.float64),
        torch.tensor(2),
        torch.tensor(3.0).expand(2, 3),
        torch.tensor([True, False]),
        torch.ones(2, 3, requires_grad=True).t(),
    ],
)
def test_what_was_only_read_is_as_it_was(x: Tensor) -> None:
    sent = crossed(x)
    assert (sent.tensor * 2).shape == x.shape
    assert not sent.is_changed()
