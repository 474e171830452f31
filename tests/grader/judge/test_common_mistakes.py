"""The engine recognizes mistakes that all lessons share, each from a failure that shows it, and
none from a similar one. Torch's exceptions are provoked, so that changed messages are noticed.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import polib
import pytest
import torch

from grader.core.errors import StudentCodeError
from grader.core.files import LOCALE
from grader.core.i18n import Catalogue
from grader.core.report import Outcome
from grader.course.source import Source
from grader.judge import common_mistakes
from grader.judge.common_mistakes import COMMON
from grader.judge.diagnosis import Failure, diagnose
from grader.judge.exception_verdicts import WROTE
from grader.judge.in_place_lines import line_of_write
from grader.judge.python_errors import ON_LEAF
from grader.judge.remote.proxies import LastCall
from grader.worker.wire.values import Opaque

WANTED = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], dtype=torch.float64)
SQUARE = torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64)
DEEP = WANTED.reshape(1, 2, 3, 1, 1)
ROUNDED = torch.tensor([0.1, 0.7, 1 / 3], dtype=torch.float64)
LEAF = torch.tensor([0.5, 2.0], requires_grad=True)
PLAIN = "def f(x):\n    return x\n"


Functions = dict[str, Callable[[torch.Tensor], torch.Tensor]]


def named(
    actual: Any = None,
    expected: Any = None,
    *,
    source: str = PLAIN,
    message: str = "wrong",
    error: StudentCodeError | None = None,
    facts: dict[str, Any] | None = None,
    solution: str = PLAIN,
    inputs: dict[str, Any] | None = None,
    call: LastCall | None = None,
    mine: Functions | None = None,
    ours: Functions | None = None,
) -> tuple[str | None, str]:
    """Return the id and the text of what the engine recognizes in a failure; ``mine`` and ``ours``
    are the functions of the student and of the reference.
    """
    student: Any = SimpleNamespace(source=Source(source, "f.py"), **(mine or {}))
    reference: Any = SimpleNamespace(source=Source(solution, "f.py"), **(ours or {}))
    student.writing_allowed = reference.writing_allowed = contextlib.nullcontext
    known: dict[str, Any] = {"check": "test_f", "about": "f", "draw": None, "call": call}
    known |= {
        "stub": Source(solution, "f.py"),
        "facts": facts or {},
        "inputs": inputs or {},
        "error": error,
        "reference": reference,
    }
    failure = Failure(Outcome.FAILED, message, expected=expected, actual=actual, **known)
    found, trouble = diagnose(COMMON, failure, student, Catalogue())
    assert trouble is None
    return (found.id, found.evidence) if found else (None, "")


@pytest.mark.parametrize(
    ("actual", "expected", "name", "says"),
    [
        (WANTED.float(), WANTED, "common_wrong_dtype", "float32 where float64"),
        (WANTED + 0j, WANTED, "common_wrong_dtype", "complex128 where float64"),
        (WANTED > 0, WANTED**0, "common_wrong_dtype", "A comparison, such as x > 0, gives bool"),
        (WANTED + 1j, WANTED, None, ""),
        (WANTED.float() + 1, WANTED, None, ""),
        (WANTED[:0].float(), WANTED[:0], "common_empty_of_another_dtype", "float32 where float64"),
        (WANTED[:0], WANTED[:0], None, ""),
        (WANTED.T, WANTED, "common_swapped_dimensions", ""),
        (SQUARE.T, SQUARE, "common_swapped_dimensions", ""),
        (WANTED.unsqueeze(0), WANTED, "common_wrong_shape", "size 1: the shape is (1, 2, 3)"),
        (WANTED[0], WANTED[:1], "common_wrong_shape", "is missing: the shape is (3,)"),
        (WANTED.flatten(), WANTED, "common_wrong_shape", "a different shape: the shape is (6,)"),
        (WANTED[:1, 0], WANTED[0, 0], "common_wrong_shape", "size 1: the shape is (1,)"),
        (WANTED[:0, 0], WANTED[:0], "common_wrong_shape", "as it should: the shape is (0,)"),
        (DEEP.transpose(0, 1), DEEP, "common_wrong_shape", "a different shape: the shape is (2, 1"),
        (WANTED.sum(), WANTED, "common_wrong_shape", "summed: the shape is ()"),
        (WANTED.mean(0), WANTED, "common_wrong_shape", "averaged: the shape is (3,)"),
        (WANTED[0], WANTED, None, ""),
        ([1.0, 2.0], (1.0, 2.0), "common_wrong_type", "type list, expected tuple"),
        (2.5, torch.tensor(2.5), "common_wrong_type", "type float, expected Tensor"),
        (torch.tensor(2.5), 2.5, "common_wrong_type", "type Tensor, expected float"),
        ([1.0, 3.0], (1.0, 2.0), None, ""),
        (Opaque("ndarray"), WANTED, "common_numpy_array", "a NumPy ndarray"),
        (Opaque("Result"), WANTED, None, ""),
        (ROUNDED.float().double(), ROUNDED, "common_rounded_to_float32", "largest error is"),
        (ROUNDED * (1 + 2e-8), ROUNDED, "common_few_digits", "about 7 digits"),
        (ROUNDED * (1 + 1e-3), ROUNDED, None, ""),
        (torch.zeros(3).double(), 1e-9 * ROUNDED, None, ""),
        (WANTED.log() * torch.inf, WANTED.log(), "common_not_finite", "6 of 6 values are NaN, inf"),
        (torch.tensor([1.0, torch.inf]), torch.tensor([1.0, 2.0]), "common_not_finite", "1 of 2"),
        (torch.tensor([9.0, torch.nan]), torch.tensor([1.0, 2.0]), None, ""),
        (torch.tensor([1.0, torch.nan]), torch.tensor([1.0, torch.inf]), None, ""),
        (-WANTED, WANTED, "common_wrong_sign", ""),
        (2.7 * WANTED, WANTED, "common_constant_factor", "is 2.7 times"),
        (2.0, 4.0, "common_constant_factor", "is 0.5 times"),
        (2.7, 4.0, None, ""),
        (WANTED + 1, WANTED, None, ""),
        (WANTED * (1 + 2e-6), WANTED, "common_few_digits", "about 5 digits"),
        (torch.zeros_like(WANTED), WANTED, None, ""),
    ],
)
def test_values(actual: Any, expected: Any, name: str | None, says: str) -> None:
    found, words = named(actual, expected)
    assert found == name
    assert says in words


def test_values_and_indices_that_are_returned() -> None:
    source = "def f(x):\n    return torch.max(x, 0)\n"
    found, words = named((WANTED, WANTED.long()), WANTED, source=source)
    assert (found, "max returns a pair here" in words) == ("common_pair_returned", True)
    assert named((WANTED, WANTED), WANTED, source=source)[0] is None
    assert named((WANTED, WANTED.long()), WANTED)[0] is None


def test_a_result_without_graph_is_right_otherwise_and_comes_from_a_call() -> None:
    """What a scenario measured has no graph in any case, and a rounded value is not right."""
    call = LastCall("g", (LEAF,), {}, True)
    wanted = LEAF.double() / 3
    found, words = named(wanted.detach(), wanted, call=call)
    assert found == "common_result_without_graph"
    assert "does not require grad" in words
    assert named(wanted.detach(), wanted)[0] is None
    assert named(wanted, wanted.detach(), call=call)[0] is None
    for rounded in (wanted.detach() * (1 + 1e-8), wanted.detach().float().double()):
        assert named(rounded, wanted, call=call)[0] in (
            "common_few_digits",
            "common_rounded_to_float32",
        )


def test_the_causes_of_nan_are_not_those_of_infinity() -> None:
    right = torch.tensor([1.0, 2.0])
    for wrong, cause, other in (
        (torch.nan, "0 / 0", "overflows"),
        (torch.inf, "overflows", "0 / 0"),
        (-torch.inf, "logarithm of 0", "0 / 0"),
    ):
        found, words = named(torch.tensor([1.0, wrong]), right)
        assert found == "common_not_finite"
        assert cause in words and other not in words


@pytest.mark.parametrize(
    ("got", "advice"),
    [("[]", "too few"), ("[2]", "too few"), ("[5, 3]", "too many"), ("[3, 1]", "is right")],
)
def test_only_a_gradient_that_is_too_large_is_told_to_sum(got: str, advice: str) -> None:
    text = f"Function FBackward returned an invalid gradient at index 0 - got {got} but expected"
    error = StudentCodeError("RuntimeError", f"{text} shape compatible with [3]")
    found, words = named(error=error)
    assert found == "common_gradient_shape"
    assert advice in words
    assert ("Sum over" in words) is (advice == "too many")


def test_nothing_is_returned() -> None:
    found, words = named(None, WANTED, source="def f(x):\n    print(x)\n")
    assert found == "common_no_return"
    assert "what it prints is not returned" in words
    assert "prints" not in named(None, WANTED, source="def f(x):\n    y = x\n")[1]
    assert named(None, WANTED, source="def f(x):\n    return None\n")[0] == found
    assert named(None, WANTED, source="def f(x):\n    if x:\n        return x\n")[0] is None
    twice = "def f(x):\n    return x\ndef f(x):\n    y = x\nf = g(f)\n"  # the last one counts
    assert named(None, WANTED, source=twice)[0] == found
    inner = "def f(x):\n    def g(z):\n        return 3 / z\n    {}\n"
    found_inside, words = named(None, WANTED, source=inner.format("g(x)"))
    assert (found_inside, "the return inside g belongs to g" in words) == (found, True)
    assert named(None, WANTED, source=inner.format("return g(x)"))[0] is None
    tuple_came = "None came back where a tuple is promised: is there a return?"
    assert named(message=tuple_came, source="def f(x):\n    x / 2\n")[0] == found
    silent = "def f(x):\n    x.sum().backward()\n"  # where None is the gradient, not the result
    assert named(None, WANTED, source="def f(x):\n    pass\n", solution=silent)[0] is None


NO_TENSOR = "None came back where a Tensor is promised: is there a return?"


@pytest.mark.parametrize(
    ("body", "end", "said"),
    [
        ("x + y", "return g", True),
        ("return x + y", "return g", False),
        ("yield x + y", "return g", False),
        ("x + y", "if x: return g", False),
        ("x + y", "g = x(g)\n    return g", False),
    ],
)
def test_the_function_that_is_returned_returns_nothing(body: str, end: str, said: bool) -> None:
    source = f"def f(x):\n    def g(y):\n        {body}\n    {end}\n"
    found, words = named(None, WANTED, message=NO_TENSOR, source=source)
    assert found == ("common_no_return" if said else None)
    assert not said or words.startswith("g ends without returning a value")


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("a = x.backward()\n    return a + a", 3, "x.backward()"),
        ("a = x.backward()\n    return a.clone()", 3, "x.backward()"),
        ("return x.sum().backward().clone()", 2, "x.sum().backward()"),
        ("a = x.backward()\n    a = x.g()\n    return a + a", 4, None),
        ("a = x.backward()\n    return x.grad + x", 3, None),
        ("return x.backward()", None, "x.backward()"),
        ("a = x.backward()\n    return a, a", None, "x.backward()"),
        ("x.backward()\n    return x.grad", None, None),
    ],
)
def test_backward_gives_none(body: str, line: int | None, said: str | None) -> None:
    text = "unsupported operand type(s) for +: 'NoneType' and 'NoneType'"
    error = StudentCodeError("TypeError", text, line=line) if line else None
    found, words = named(
        None, WANTED, message=NO_TENSOR, error=error, source=f"def f(x):\n    {body}\n"
    )
    assert (found == "common_backward_gives_none") is (said is not None)
    assert said is None or words.startswith(f"{said} returns None")
    own = f"def f(x):\n    {body}\nclass V:\n    def backward(self): return 1\n"
    assert named(None, WANTED, message=NO_TENSOR, error=error, source=own)[0] != (
        "common_backward_gives_none"
    )


FUNCTION = """
class f(Function):
    @staticmethod
    def forward({}):
        ctx.save_for_backward(x)
        return x / q
    @staticmethod
    def backward({}):
        return ctx.saved_tensors
"""
ORDER = "common_parameters_in_another_order"


def test_ctx_behind_another_parameter() -> None:
    """The method is named whose body raises; if none of them raised, whichever it is."""
    error = StudentCodeError("AttributeError", "no attribute 'saved_tensors'", line=9)
    for forward, backward, line, name in (
        ("ctx, x, q", "grad_output, ctx", 9, "common_ctx_not_first"),
        ("ctx, x, q", "grad_output, ctx", None, "common_ctx_not_first"),
        ("ctx, x, q", "ctx, grad_output", 9, None),
        ("ctx, x, q", "grad_output, ctx", 5, None),
        ("self, ctx, x, q", "ctx, grad_output", 5, None),
        ("cls, ctx, x, q", "ctx, grad_output", 5, None),
    ):
        error.line = line
        source = FUNCTION.format(forward, backward)
        found, words = named(error=error, source=source, solution=source)
        assert found == name
        assert found is None or "Write backward(ctx, grad_output)." in words
    assert named(WANTED + 1, WANTED, source=FUNCTION.format("x, ctx", "v, ctx"))[0] is None


def test_forward_takes_ctx_beside_setup_context() -> None:
    """Python blames whichever method is called."""
    error = StudentCodeError("TypeError", "missing a required argument: 'q'", line=9)
    both = FUNCTION + "    @staticmethod\n    def setup_context(ctx, inputs, output): pass\n"
    source = both.format("ctx, x, q", "ctx, grad_output")
    found, words = named(error=error, source=source, solution=source)
    assert found == "common_ctx_beside_setup_context"
    assert "line 4 defines forward(ctx, x, q). Write forward(x, q)," in words
    for other in (both.format("x, q", "ctx, v"), FUNCTION.format("ctx, x, q", "ctx, v")):
        assert named(error=error, source=other, solution=source)[0] is None


def test_exchanged_parameters_where_the_code_raises() -> None:
    solution = FUNCTION.format("ctx, x: Tensor, q: int = 1", "ctx, grad_output")
    error = StudentCodeError("IndexError", "out of range", line=5)
    source = solution.replace("x: Tensor, q: int = 1", "q, x")
    found, words = named(error=error, source=source, solution=solution)
    assert found == ORDER
    assert "The stub has forward(ctx, x, q=1), and line 4 has forward(ctx, q, x)." in words
    assert named(error=error, source=source.replace("x)", "y)", 1), solution=solution)[0] is None
    error.line = 9
    assert named(error=error, source=source, solution=solution)[0] is None


def test_exchanged_parameters_where_the_value_is_wrong() -> None:
    """The exchange explains the value, or the gradient, or it is not named."""
    stub, mine = "def f(x, q):\n    return x / q\n", "def f(q, x):\n    return x / q\n"
    one, other = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    call = LastCall("f", (one, other), {}, grad=True)

    def name(wrong: Any, right: Any, source: str = mine, call: LastCall | None = call) -> Any:
        functions: dict[str, Any] = {"mine": {"f": wrong}, "ours": {"f": right}}
        return named(WANTED + 1, WANTED, source=source, solution=stub, call=call, **functions)[0]

    assert name(lambda q, x: x / q, lambda x, q: x / q) == ORDER
    assert name(lambda q, x: x + q.detach(), lambda x, q: x + q.detach()) == ORDER
    assert name(lambda q, x: x * q, lambda x, q: x * q) is None
    assert name(lambda q, x: x / q**2, lambda x, q: x / q) is None
    assert name(lambda q, x: x / q, lambda x, q: x / q, source=stub) is None
    assert name(None, None, call=None) == ORDER


def test_exchanged_parameters_of_forward() -> None:
    """Its backward returns the gradients in the stub's order, so they are those of the others."""
    solution = FUNCTION.format("ctx, x, q", "ctx, grad_output")
    source = solution.replace("x, q)", "q, x)")
    factors = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    call = LastCall("f.apply", factors, {}, grad=True)
    functions: dict[str, Any] = {"mine": {"f": Exchanged}, "ours": {"f": Multiplied}}
    known = {"solution": solution, "call": call, **functions}
    assert named(WANTED + 1, WANTED, source=source, **known)[0] == ORDER
    assert named(WANTED + 1, WANTED, source=solution, **known)[0] is None
    functions["mine"] = {"f": Multiplied}
    assert named(WANTED + 1, WANTED, source=source, **(known | functions))[0] is None


class Multiplied(torch.autograd.Function):
    """A product with the gradients of its factors."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, q)
        return x * q

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:
        x, q = ctx.saved_tensors
        return grad_output * q, grad_output * x


class Exchanged(Multiplied):
    @staticmethod
    def forward(ctx: Any, q: Any, x: Any) -> torch.Tensor:  # type: ignore[override]
        return Multiplied.forward(ctx, x, q)


ONE_MISSPELT = """class f:
    def __init__(self, data):
        self.date = data
    def g(self):
        return self.data + self.data
"""
READ = ONE_MISSPELT.replace("self.data +", "self.date +")
ATTRIBUTE = "AttributeError: 'f' object has no attribute 'data' (did you mean: 'date'?)"
RECORDS = "def f(x):\n    recrods = {{}}\n    {}\n    return records\n"
UNKNOWN = "NameError: name 'records' is not defined (did you mean: 'recrods'?)"
BODY = "def f(x):\n    {}\n    return x\n"
SAVING = "save_for_backward can only save variables, but argument 0 is of type list"
SAID = [
    (
        "class f:\n    pass\ndef backward(ctx, v):\n    pass\n",
        "NotImplementedError: You must implement either the backward or vjp method for your",
        "common_outside_of_class",
        "line 3 defines it outside",
    ),
    (
        "class f:\n    def backward(ctx, v):\n        pass\n",
        "NotImplementedError: You must implement either the backward or vjp method for your",
        None,
        "",
    ),
    (ONE_MISSPELT, ATTRIBUTE, "common_misspelt_once", "Line 3 writes date. Elsewhere it is data"),
    (READ, ATTRIBUTE, "common_misspelt", "Did you mean date?"),
    (RECORDS.format("records[0] = x"), UNKNOWN, "common_misspelt_once", "Line 2 writes recrods."),
    (RECORDS.format("pass"), UNKNOWN, "common_misspelt_somewhere", "One of the two is misspelt."),
    (RECORDS.format("recrods[0] = x"), UNKNOWN, "common_misspelt", "Did you mean recrods?"),
    (
        "class f:\n    def exp() -> f:\n        pass\n",
        "TypeError: f.exp() takes 0 positional arguments but 1 was given",
        "common_self_missing",
        "Line 2 defines exp(). Write exp(self).",
    ),
    (
        "class f:\n    def exp(self):\n        pass\n",
        "TypeError: f.exp() takes 1 positional argument but 2 were given",
        "common_argument_count",
        "",
    ),
    (
        "def f(g):\n    return g.apply()\n",
        "TypeError: Pair.forward() missing 2 required positional arguments: 'x' and 'y'",
        "common_called_without_arguments",
        "g.apply() passes no arguments",
    ),
    (
        "def f(g):\n    return g(x.sum())\n",
        "TypeError: g() missing 1 required positional argument: 'y'",
        "common_argument_count",
        "",
    ),
    (
        "def f(y):\n    return x\n",
        "NameError: name 'x' is not defined",
        "common_parameter_renamed",
        "Line 1 defines f(y), so x has no value in it. The stub has f(x).",
    ),
    (
        "def f(x: Optional[int]):\n    pass\n\nfrom typing import Optional\n",
        "NameError: name 'Optional' is not defined",
        "common_defined_below",
        "further down, in line 4.",
    ),
    (
        "n = 1\ndef f(x: Optional[int]):\n    pass\n",
        "NameError: name 'Optional' is not defined",
        "common_missing_import",
        "from typing import Optional",
    ),
    (
        BODY.format("x.is_leaf()"),
        "TypeError: 'bool' object is not callable",
        "common_attribute_called",
        "is_leaf is an attribute",
    ),
    (
        BODY.format("x.grad()"),
        "TypeError: 'NoneType' object is not callable",
        "common_attribute_called",
        "grad is an attribute",
    ),
    (
        BODY.format("x = 2(x)"),
        "TypeError: 'int' object is not callable",
        "common_not_callable",
        "For a product, write *.",
    ),
    (
        "class f:\n    def __int__(self, x):\n        pass\n",
        "TypeError: f() takes no arguments",
        "common_special_method",
        "looks for __init__ in the class f, and it is not there. __int__ in this line is misspelt.",
    ),
    (
        "class f:\n    x: float\n",
        "TypeError: f() takes no arguments",
        "common_special_method",
        "or write @dataclass above the class.",
    ),
    (
        "class f:\n    def __add__(self, x):\n        pass\n",
        "TypeError: unsupported operand type(s) for +: 'int' and 'f'",
        "common_special_method",
        "Python looks for __radd__ in the class f, and it is not there. Define it in the class.",
    ),
    (
        "class f:\n    def __raad__(self, x):\n        pass\n",
        "TypeError: unsupported operand type(s) for +: 'int' and 'f'",
        "common_special_method",
        "__raad__ in this line is misspelt.",
    ),
    (
        "class f:\n    def __add__(self, x):\n        return NotImplemented\n",
        "TypeError: unsupported operand type(s) for +: 'f' and 'int'",
        None,
        "",
    ),
    (
        "class f:\n    def g(self):\n        pass\n",
        "TypeError: bad operand type for unary -: 'f'",
        "common_special_method",
        "__neg__",
    ),
    (
        ONE_MISSPELT,
        "AttributeError: 'int' object has no attribute 'date'",
        "common_number_not_wrapped",
        "This line needs date, which a f has and a plain int does not.",
    ),
    (ONE_MISSPELT, "AttributeError: 'int' object has no attribute 'gone'", None, ""),
    (
        BODY.format("with torch.no_grad: pass"),
        "TypeError: 'type' object does not support the context manager protocol",
        "common_with_not_called",
        "with torch.no_grad():",
    ),
    (
        BODY.format("yield"),
        "TypeError: 'generator' object does not support the context manager protocol",
        "common_generator_in_with",
        "Write @contextmanager",
    ),
    (BODY.format("breakpoint()"), "SystemExit: 1", "common_debugger", "Delete the call."),
    (BODY.format("breakpoint(); exit()"), "SystemExit: 1", "common_exit", ""),
    (BODY.format("exit()"), "SystemExit: 1", "common_exit", ""),
    (BODY.format("y = x.mul_(2)"), f"RuntimeError: {ON_LEAF}.", "common_inplace_on_leaf", "x requ"),
    (BODY.format("g(x)"), f"RuntimeError: {ON_LEAF}.", "common_inplace_on_leaf", "The tensor requ"),
    (BODY.format("ctx.save_for_backward([x])"), f"TypeError: {SAVING}", "common_not_saved", "list"),
    (
        BODY.format("f.apply(x)") + "class F: pass\n",
        "AttributeError: 'function' object has no attribute 'apply'",
        "common_other_case",
        "Did you mean F?",
    ),
    (
        BODY.format("g.apply(x)") + "class F: pass\n",
        "AttributeError: 'function' object has no attribute 'apply'",
        None,
        "",
    ),
]


@pytest.mark.parametrize(("source", "raised", "name", "says"), SAID)
def test_what_is_raised_and_the_line(source: str, raised: str, name: str | None, says: str) -> None:
    kind, _, message = raised.partition(": ")
    found, words = named(error=StudentCodeError(kind, message, line=2), source=source)
    assert found == name
    assert says in words


def test_a_name_of_the_stub_is_not_the_misspelt_one() -> None:
    source = "class f:\n    def ReLU(self):\n        pass\n"
    error = StudentCodeError(
        "AttributeError", "'f' object has no attribute 'relu' (did you mean: 'ReLU'?)"
    )
    found, words = named(error=error, source=source, solution=source.replace("ReLU", "relu"))
    assert (found, "Write relu in line 2, too." in words) == ("common_misspelt_once", True)
    assert named(error=error, source=source, solution=source)[0] == "common_misspelt"


@pytest.mark.parametrize("line", [None, 4])
def test_a_call_by_a_check_is_not_compared_with_the_definition(line: int | None) -> None:
    """The student's own calls are."""
    message = "f() takes 0 positional arguments but 1 was given"
    error = StudentCodeError("TypeError", message, line=line)
    found, words = named(error=error, source="def f():\n    return 1\n\nf(1)\n")
    assert found == ("common_argument_count" if line else "common_other_parameters")
    assert line or "The stub has f(x), and line 1 has f()." in words
    assert named(error=StudentCodeError("TypeError", message))[0] == "common_argument_count"


DIRECT = "def f(x, q):\n    y = x.clone()\n    y += 1\n    {}\n    return y\n"
SHARED = "class f:\n    def forward(ctx, x):\n        y = {}\n        y += 1\n        return y\n"
PAIR = "def f(x):\n    y, z = x.detach(), 1\n    y += z\n    return y\n"
POSSIBLE = "def f(x, q):\n    y = q.detach().flatten()\n    y /= 2\n    {}\n    return y\n"


@pytest.mark.parametrize(
    ("source", "body", "name", "line"),
    [
        (DIRECT, "x[0] = 2", "x", 4),
        (DIRECT, "x.mul_(2)", "x", 4),
        (DIRECT, "z = x.mul_(2)", "x", 4),
        (DIRECT, "x[0].mul_(2)", "x", 4),
        (DIRECT, "torch.exp(y, out=x)", "x", 4),
        (DIRECT, "x[0] = 2; x += 1\n    x *= 2", "x", 4),
        (DIRECT, "x[0] = 2; q += 1", None, None),
        (DIRECT, "x.requires_grad_()", None, None),
        (DIRECT, "x[y > 0].mul_(2)", None, None),
        (DIRECT, "g(x)", None, None),
        (SHARED, "x.detach()", "x", 4),
        (SHARED, "x.view(-1)", "x", 4),
        (SHARED, "x.exp() if a else x.detach()", "x", 4),
        (SHARED, "x.detach().to(torch.float64)", "x", 4),
        (SHARED, "x.exp()", None, None),
        (PAIR, "", "x", 3),
        (POSSIBLE, "pass", "q", 3),  # flatten may copy, so a certain write counts more
        (POSSIBLE, "x += 1", "x", 4),
    ],
)
def test_an_argument_is_written_to(
    source: str, body: str, name: str | None, line: int | None
) -> None:
    found, words = named(message=WROTE, source=source.format(body))
    assert found == ("common_writes_into_argument" if name else None)
    if name:
        assert f"{name} is an argument" in words and f"changes it in line {line}" in words
    assert named(message="wrong", source=source.format(body))[0] is None


WRITING = """
class f:
    def forward(ctx, x, q):
        q.requires_grad_()
        q[0] = 1
        x.mul_(2)
        ctx.y = x
        return ctx.y
    def backward(ctx, v):
        v += ctx.y
        return v
"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("forward changed x", 6),
        ("f.apply changed the values of q", 5),
        ("your code wrote into a tensor that it was given", 5),
        ("f.apply(x) + w passes v to both, and backward changed what w gets", 10),
        ("the gradient is wrong writes_into_v", 10),
        ("q does not require grad, but after f.apply(q) q does", 4),
        ("x does not require grad, but after f.apply(x) x does", None),
        ("backward uses a tensor in ctx.y, which did not go through save_for_backward", 7),
        ("backward uses a tensor in ctx.z, which did not go through save_for_backward", None),
        ("x and q were changed in place between two calls, and the value is wrong", None),
        ("v.add_(100) also changed records[x]", None),
        ("the value is wrong", None),
    ],
)
def test_the_line_that_a_message_means(said: str, line: int | None) -> None:
    assert line_of_write(said, Source(WRITING, "f.py"), "f") == line


@pytest.mark.parametrize(
    ("statement", "called"),
    [
        ("y.backward", "y.backward()"),
        ("handles[0].remove", "handles[0].remove()"),
        ("y.grad", None),
        ("y.backward()", None),
        ("g = y.backward", None),
    ],
)
def test_a_method_that_a_statement_only_names(statement: str, called: str | None) -> None:
    """In the function that the check is about, or in one that it uses."""
    helper = f"def helper(y):\n    {statement}\n    return y\n"
    for source in (helper.replace("helper", "f"), helper + "def f(x):\n    return helper(x)\n"):
        found, words = named(WANTED + 1, WANTED, source=source, solution=source)
        assert (found == "common_only_named") is (called is not None)
        assert called is None or f"is not called. Write {called}." in words
    unused = helper + "def f(x):\n    return x\n"
    assert named(WANTED + 1, WANTED, source=unused, solution=unused)[0] != "common_only_named"


def test_values_written_into_a_copy() -> None:
    source = "def f(x):\n    flat = torch.zeros_like(x).{}\n    flat[0] = 1\n    return flat\n"
    zero, x = torch.zeros_like(WANTED), WANTED.t().contiguous().t()
    for method in ("reshape(-1)", "flatten()"):
        found, words = named(zero, WANTED, inputs={"x": x}, source=source.format(method))
        assert found == "common_written_into_copy"
        assert words.startswith(f"{method.split('(')[0]} in line 2 copies a tensor")
    assert named(zero, WANTED, inputs={"x": x}, source=source.format("view(-1)"))[0] is None
    assert named(zero, WANTED, inputs={"x": WANTED}, source=source.format("flatten()"))[0] is None
    pair = source.replace("flat = torch", "flat, _ = torch").replace("{}\n", "{}, 1\n", 1)
    assert named(zero, WANTED, inputs={"x": x}, source=pair.format("flatten()"))[0] == found
    helper = source.replace("def f", "def g") + "def f(x):\n    return g(x)\n"
    assert named(zero, WANTED, inputs={"x": x}, source=helper.format("flatten()"))[0] == found
    direct = "def f(x):\n    x.reshape(-1)[0] = 1\n    return x\n"
    assert named(zero, WANTED, inputs={"x": x}, source=direct)[0] == "common_written_into_copy"


def test_another_exception_than_wanted() -> None:
    source = "def f(x):\n    {}\n"
    error = StudentCodeError("AssertionError", "n", line=2)
    error.wanted = "ValueError"
    found, words = named(error=error, source=source.format("assert x"))
    assert found == "common_other_exception"
    assert words == "The task asks for ValueError here, but line 2 raises AssertionError."
    assert named(error=error, source=source.format("g(x)"))[0] is None


def test_an_input_in_the_result() -> None:
    held = torch.tensor([[5.0, 1.0, 2.0], [0.5, 0.25, 8.0]], dtype=torch.float64)
    found, words = named(WANTED + held, WANTED, facts={"held": held})
    assert found == "common_input_added"
    assert "plus held" in words
    assert named(WANTED + 2 * held, WANTED, facts={"held": held})[0] is None
    found, words = named(held, WANTED, inputs={"x": held})
    assert (found, "has the values of x" in words) == ("common_input_returned", True)
    assert named(held, WANTED, inputs={"x": held, "y": held.clone()})[0] is None  # which of them
    assert named(held, WANTED, facts={"result": held})[0] is None  # what a scenario measured


def test_a_diagonal_that_is_counted_twice() -> None:
    twice = SQUARE + SQUARE.diag().diag()
    found, words = named(twice, SQUARE)
    assert (found, "are 2 times the expected" in words) == ("common_wrong_diagonal", True)
    assert named(twice + 1, SQUARE)[0] is None
    assert named(SQUARE + torch.eye(2), SQUARE)[0] is None  # no common factor
    assert named(WANTED[:, :1] * 2, WANTED[:, :1])[0] == "common_constant_factor"


def test_wrong_only_where_an_input_has_a_certain_sign() -> None:
    x, right = torch.tensor([-2.0, 0.0, 3.0, -1.0]), torch.tensor([0.2, 0.5, 0.9, 0.3])
    for condition, where in (("is 0", x == 0), ("is negative", x < 0)):
        found, words = named(right.where(~where, 7.0), right, inputs={"x": x})
        assert (found, f"where x {condition} are wrong" in words) == ("common_wrong_where", True)
    assert named(right.where(x <= 0, 7.0), right, inputs={"x": x})[0] is None  # one element alone
    assert named(right.where(x != 3, 7.0), right, inputs={"x": x.abs()})[0] is None
    assert named(right * 0, right.where(x > 0, 0.0), inputs={"x": x})[0] is None  # all zeros
    same_places = {"x": x, "y": x.clone()}
    assert named(right.where(x != 0, 7.0), right, inputs=same_places)[0] is None  # which of them


def test_an_old_gradient_without_a_copy() -> None:
    source = "def f(x):\n    old = x.grad{}\n    x.sum().backward()\n    return x.grad - old\n"
    zero = torch.zeros_like(WANTED)
    found, words = named(zero, WANTED, source=source.format(""))
    assert found == "common_grad_kept_by_reference"
    assert words.startswith("old in line 2 is .grad itself")
    for copied in (".clone()", " * 1", " + 0", ".sum()"):  # each has memory of its own
        assert named(zero, WANTED, source=source.format(copied))[0] is None
    assert named(zero, WANTED, source=source.format(".detach()"))[0] == found
    assert named(WANTED + 1, WANTED, source=source.format(""))[0] is None


def test_an_old_gradient_that_is_cleared_with_the_new_one() -> None:
    source = "def f(x):\n    old = x.grad{}\n    x.grad{}\n    x.sum().backward()\n    {}\n"
    for old, cleared, rest, name in (
        ("", ".zero_()", "x.grad += old", "common_grad_kept_by_reference"),
        (".clone()", ".zero_()", "x.grad += old", None),
        ("", " = None", "x.grad += old", None),
        ("", ".zero_()", "return x.grad", None),
        ("", ".zero_()", "old = 0 * old", None),
    ):
        code = source.format(old, cleared, rest)
        assert named(WANTED * 3 + 1, WANTED, source=code)[0] == name


@pytest.mark.parametrize(
    ("source", "path", "found"),
    [
        (PLAIN, "f", "common_calls_disagree"),
        (PLAIN, "g", None),  # not what the check is about
        ("import random\ndef f(x):\n    return random.random()\n", "f", None),
    ],
)
def test_equal_calls_that_disagree(source: str, path: str, found: str | None) -> None:
    counted = itertools.count(2)
    mine: Functions = dict.fromkeys("fg", lambda x: x * next(counted))
    call = LastCall(path, (torch.ones(2),), {}, grad=True)
    name, words = named(source=source, call=call, mine=mine, ours={"f": lambda x: x + 1})
    assert name == found
    assert "returned [2.0, 2.0] float32, then [3.0, 3.0]" in words or found is None


def test_an_exception_is_swallowed() -> None:
    source = "def f(x):\n    try:\n        return g(x)\n    except {}:\n        {}\n"
    details: dict[str, Any] = {"facts": {"wanted": "ValueError"}}
    wanted = Opaque("ValueError")
    found, words = named(0, wanted, source=source.format("Exception", "return 0"), **details)
    assert found == "common_swallowed_exception"
    assert "line 4" in words
    for handler in (("KeyError", "return 0"), ("Exception", "raise")):
        assert named(0, wanted, source=source.format(*handler), **details)[0] is None
    details["solution"] = "def f(x):\n    if x < 0:\n        raise ValueError('x')\n    return x\n"
    assert named(0, wanted, source=source.format("Exception", "return 0"), **details)[0] is None
    raised = source.replace("return g(x)", "raise ValueError").format("Exception", "return 0")
    assert named(0, wanted, source=raised, **details)[0] == found


class Scaled(torch.autograd.Function):
    """A Function whose backward returns what its test requests."""

    returned: Any = None

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:
        return Scaled.returned


def leaf() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def twice() -> None:
    y = leaf().exp().sum()
    y.backward()
    y.backward()


def changed_after_it_was_saved() -> None:
    y = leaf().exp()
    y.add_(1)
    y.sum().backward()


def wrong_backward(returned: Any) -> Callable[[], object]:
    def run() -> None:
        Scaled.returned = returned
        Scaled.apply(leaf()).sum().backward()  # type: ignore[no-untyped-call]

    return run


def unset(flag: bool = False) -> object:
    if flag:
        value = 1
    return value


def in_inference_mode() -> None:
    with torch.inference_mode():
        constant = torch.ones(3)
    (leaf() * constant).sum().backward()


def without_end() -> object:
    return without_end()


NOTHING: Any = None
RAISING: list[tuple[str, Callable[[], object]]] = [
    ("common_no_graph", lambda: torch.ones(()).backward()),
    ("common_backward_twice", twice),
    ("common_backward_of_many", lambda: (leaf() * 2).backward()),
    ("common_inplace_on_leaf", lambda: leaf().add_(1)),
    ("common_inplace_on_saved", changed_after_it_was_saved),
    ("common_unused_input", lambda: torch.autograd.grad(leaf().sum(), leaf())),
    ("common_none_used", lambda: NOTHING.item()),
    ("common_none_used", lambda: NOTHING + 1),
    ("common_none_used", lambda: 1 * NOTHING),
    ("common_none_used", lambda: list(NOTHING)),
    ("common_many_as_one", lambda: torch.ones(3).item()),
    ("common_many_as_one", lambda: float(torch.ones(3))),
    ("common_truth_of_tensor", lambda: bool(torch.ones(3) > 0)),
    ("common_view_of_noncontiguous", lambda: torch.ones(2, 3).T.view(6)),
    ("common_zero_dimensions", lambda: torch.ones(())[0]),
    ("common_zero_dimensions", lambda: list(torch.ones(()))),
    ("common_retains_nothing", lambda: torch.ones(3).retain_grad()),
    ("common_integers_have_no_gradient", lambda: torch.tensor(2).requires_grad_()),
    ("common_dtypes_mixed", lambda: torch.ones(2, 2) @ torch.ones(2, 2).double()),
    ("common_sizes_differ", lambda: torch.ones(2) + torch.ones(3)),
    ("common_sizes_differ", lambda: torch.ones(2, 3) @ torch.ones(2, 3)),
    ("common_name_before_value", unset),
    ("common_values_and_indices", lambda: torch.ones(2, 2) - torch.ones(2, 2).max(1)),  # type: ignore[operator]
    ("common_values_and_indices", lambda: torch.exp(torch.ones(2, 2).sort())),  # type: ignore[arg-type]
    ("common_values_and_indices", lambda: torch.ones(2, 2).median(0).sqrt()),  # type: ignore[attr-defined]
    ("common_empty_input", lambda: torch.empty(0).max()),
    ("common_empty_input", lambda: torch.stack([])),
    ("common_empty_input", lambda: torch.cat([])),
    ("common_empty_input", lambda: torch.empty(0)[0]),
    ("common_empty_input", lambda: max([])),
    ("common_overflow_of_floats", lambda: math.exp(1000.0)),
    ("common_overflow_of_floats", lambda: 10.0**1000),
    ("common_size_of_nothing", lambda: torch.empty(0, 3).reshape(-1, 0)),
    ("common_flag_of_a_result", lambda: setattr(leaf() * 2, "requires_grad", False)),
    ("common_numpy_of_graph", lambda: leaf().numpy()),
    ("common_inference_tensor", in_inference_mode),
    ("common_copy_of_result", lambda: copy.deepcopy(leaf() * 2)),
    ("common_too_many_levels", without_end),
    ("common_no_size_passed", lambda: torch.ones(()).sum_to_size(*())),
    ("common_no_size_passed", lambda: torch.ones(()).view(*())),
    ("common_argument_count", lambda: twice(1)),  # type: ignore[call-arg]
    ("common_argument_count", lambda: wrong_backward()),  # type: ignore[call-arg]
    ("common_argument_count", lambda: unset(flags=1)),  # type: ignore[call-arg]
    ("common_gradient_count", wrong_backward((torch.ones(3), None, torch.ones(3)))),
    ("common_gradient_shape", wrong_backward(torch.ones(2))),
]


@pytest.mark.parametrize(("name", "raising"), RAISING)
def test_what_is_raised(name: str, raising: Callable[[], object]) -> None:
    with pytest.raises(Exception) as caught:
        raising()
    error = StudentCodeError(type(caught.value).__name__, str(caught.value))
    found, words = named(error=error)
    assert found == name, str(error)
    assert "{" not in words


def test_other_exceptions_have_no_name() -> None:
    assert named(error=StudentCodeError("ValueError", "x must be positive"))[0] is None
    assert named(error=StudentCodeError("KeyError", "'apple'"))[0] is None


def test_each_has_korean_words_and_is_short() -> None:
    known = {entry.msgid for entry in polib.pofile(str(LOCALE / "ko.po")) if entry.msgstr}
    for one in COMMON:
        assert {one.title, one.explanation} <= known, one.id
        assert len(one.title) <= 60, one.id
        assert len(one.explanation.split()) <= 45, one.id


def test_each_function_that_recognizes_a_mistake_is_in_use() -> None:
    functions = {name for name in vars(common_mistakes) if name.startswith("common_")}
    used = {one.rule.__name__ for one in COMMON if one.rule}
    assert functions <= used
    assert all(one.rule for one in COMMON)
