"""What a report says about an answer is true of that answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from graded import Grade, by_name

from grader.authoring import assert_gradient
from grader.core.errors import CheckFailure
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult
from grader.core.text import text
from grader.course.course import Course
from grader.course.stubs import without_markers
from grader.judge.remote.proxies import LastCall
from grader.judge.results import describe_inputs


def test_a_constant_argument_is_told_where_another_requires_grad() -> None:
    """If backward fails only for a constant x, the numbers alone do not show it."""
    x, y, v = torch.ones(2), torch.ones(2, requires_grad=True), torch.ones(2)
    inputs = {"x": x, "y": y, "v": v}
    for arguments, shown in (
        ((x, y), "[1.0, 1.0] float32 requires_grad=False"),
        ((x, v), "[1.0, 1.0] float32"),
        ((y, y), "[1.0, 1.0] float32"),
    ):
        described = describe_inputs(inputs, LastCall("f", arguments, {}, True), Catalogue())
        assert text(described["x"]) == shown
        assert text(described["v"]) == "[1.0, 1.0] float32"


def test_a_check_says_when_a_gradient_is_missing() -> None:
    for message, said in (
        ("wrong if y is constant", "wrong if y is constant"),
        (None, "None came back where a gradient is promised"),
    ):
        with pytest.raises(CheckFailure) as caught:
            assert_gradient(None, torch.ones(2), *filter(None, [message]))
        assert caught.value.message == said


class Slip(NamedTuple):
    """A small change of a solution, and what its report says at one check: the line, a part of the
    explanation or message, the sentence of the lesson. Empty means that it may be any.
    """

    lesson: str
    right: str
    wrong: str
    check: str
    line: str = ""
    says: str = ""
    asks: str = ""


LOG = "Dual(math.log(self.value), self.tangent / self.value)"
SLIPS = [
    Slip(
        "forward_mode", LOG, LOG.replace("log", "log10"), "exp_log_and_sin",
        line="math.log10", asks="Return the natural logarithm of self.",
    ),
    Slip(
        "forward_mode", "slope = math.cos", "slope = -math.cos", "exp_log_and_sin",
        line="math.sin", says="For a.sin()", asks="Return the sine of self.",
    ),
    Slip(
        "forward_mode", "return as_dual(other) / self", "return self / other",
        "plain_numbers_are_constants",
        line="return self / other", says="Python calls a.__rtruediv__(",
        asks="Return other / self, for a plain number other.",
    ),
    Slip(
        "softmax", ".log() - shifted.gather", ".log() + shifted.gather", "loss",
        asks="Return the mean of -log(softmax(row)[target of the row]), 0-d.",
    ),
    Slip(
        "relu_and_ste", "return (x > 0).to(x.dtype)", "return (x > 0).float()", "ste_calls_apart",
        line="(x > 0).float()",
    ),
    Slip(
        "implicit", "z, create_graph=True", "z", "the_gradient_of_a_minimizer",
        line="(slope,) = ", says="pass create_graph=True",
    ),
    Slip(
        "relu_and_ste", "return grad_output * (x > 0)",
        "grad_output[x < 0] = 0; return grad_output", "my_relu_after_a_sum",
        says="or multiply by the mask. (These numbers are from another call.)",
    ),
    Slip(
        "relu_and_ste", "return grad_output * (x > 0)",
        "grad_output[x < 0] = 0; return grad_output", "my_relu_leaves_tensors_of_others",
        says="or multiply by the mask. in MyReLU",  # the numbers of this call
    ),
    Slip(
        "custom_sigmoid", "ctx.save_for_backward(y)", "ctx.save_for_backward(x)",
        "gradient_uses_the_incoming_gradient",
        says="Check what you saved and what backward uses. the gradient",  # of this call
    ),
    Slip(
        "tensor_state", "t.grad.clone()", "float(t.grad)", "the_states_of_c4",
        says="Your result['grad'] is of type float",
    ),
    Slip(
        "vector_backward", "return z, dz_dx", "return z.item(), dz_dx",
        "the_value_and_two_gradients",
        says="Your result[0] is of type float",
    ),
    Slip(
        "hooks", "keeper(name))", "lambda grad: records.update({name: grad.clone()}))",
        "records_hold_each_gradient", says="Of the names hidden, trunk, out, only out was recorded",
    ),
    Slip("tiny_autograd", "self.grad = 1.0", "self.grad = 0.0", "sums", line="self.grad = 0.0"),
    Slip(
        "tiny_autograd", "source.grad += slope", "source.grad = slope", "a_value_used_twice",
        line="source.grad = slope", says="Gradients are assigned",
    ),
    Slip(
        "tiny_autograd", "in reversed(in_order(self))", "in in_order(self)", "sums",
        line="in in_order(self)",
    ),
    Slip(
        "graph_inspection", "(depth, type(node).__name__)", "(depth, str(node))", "walk_chain",
        line="str(node)",
    ),
    Slip(
        "retain_graph", '2": False,\n    "x ** 2": False', '2": True,\n    "x ** 2": True',
        "sum_multiple_and_negative_are_predicted", says="multiplies the incoming gradient by 2",
    ),
    Slip(
        "tensor_state", "t.grad.clone()", "t.grad.detach()", "grad_is_a_copy",
        line="t.grad.detach()",
    ),
    Slip(
        "tensor_state", "(t.is_leaf or t.retains_grad) and t.grad", "t.grad",
        "no_warning_on_an_intermediate_result",
        line="holds_grad = t.grad", says="that is not a leaf Tensor is being accessed",
    ),
    Slip(
        "implicit", "z = torch.ones_like(a)", "z = a ** 0.5", "newton_takes_no_ready_root",
        line="z = a ** 0.5", says="Your code uses a power that is not whole",
    ),
    Slip(
        "softmax", ".sum(dim).log() + top.squeeze(dim)", ".sum(1).log() + top.squeeze(1)",
        "every_dimension", line=".sum(1)", says="Use dim wherever a dimension is named",
    ),
    Slip("softmax", "ctx.dim = dim", "pass", "gradient", says="as an attribute: ctx.dim = dim"),
    Slip(
        "softmax", "softmax - wanted) / len", "softmax - 2 * wanted) / len", "smoothed_gradient",
        asks="Return the gradient with respect to logits, and None for target and smoothing.",
    ),
    Slip(
        "tensor_state", "holds_grad = (", "t.retain_grad()\n    holds_grad = (",
        "requires_grad_and_is_leaf", line="t.retain_grad()", says="retain_grad() raises",
    ),
    Slip(
        "vector_backward",
        "(gradient,) = torch.autograd.grad(y, x, v, retain_graph=True)\n    return gradient",
        "y.backward(v, retain_graph=True)\n    return x.grad",
        "grad_is_left_alone", says="backward() adds to it. torch.autograd.grad",
    ),
    Slip(
        "second_derivative",
        "return torch.stack(",
        "return torch.diag(second_derivative(f, x))\n    return torch.stack(",
        "hessian_of_a_drawn_function",
        says="Its numbers are the sums of the Hessian's rows",
    ),
    Slip(
        "custom_sigmoid", "torch.exp(-x)", "torch.exp(-x.clamp(-5, 5))", "value_in_float64",
        says="At x = -6 you returned 0.006693, which is s(-5.0); s(-6) is 0.002473",
    ),
    Slip(
        "tiny_autograd", "(self, other.data), (other, self.data)",
        "(self, self.data), (other, other.data)", "products",
        line="def __mul__", says="For root = a * b",
    ),
    Slip(
        "tiny_autograd", "(self, other.data), (other, self.data)",
        "(self, self.data), (other, other.data)", "quotients",  # which is written by a product
        line="def __mul__", says="For root = a * b",
    ),
    Slip(
        "tiny_autograd", "-self + other", "self - other", "plain_numbers_on_either_side",
        line="def __rsub__",
    ),
    Slip(
        "tiny_autograd", "result(\n            max", "self or result(\n            max",
        "each_operation_returns_a_new_value", line="def relu", says="a.relu() returned a itself",
    ),
    Slip(
        "tiny_autograd", "def __radd__", "def radd", "plain_numbers_on_either_side",
        says="Python calls a.__radd__(3). Value has no __radd__: define it.",
    ),
]  # fmt: skip


Told = Callable[[Slip], CheckResult]


@pytest.fixture
def told(course: Course, grade_text: Grade) -> Told:
    """Return a function that returns the result of a slip's check."""

    def grade(slip: Slip) -> CheckResult:
        lesson = course.lesson(slip.lesson)
        solution = without_markers(lesson.solution.read_text("utf-8"))
        assert slip.right in solution
        answer = solution.replace(slip.right, slip.wrong, 1)
        return by_name(grade_text(lesson, answer, limits=course.limits))[slip.check]

    return grade


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: f"{slip.lesson}: {slip.wrong}")
def test_a_slip_is_told_where_it_is(slip: Slip, told: Told) -> None:
    check = told(slip)
    assert slip.line in (check.source_text or "")
    assert slip.says in f"{check.evidence} {check.message}"
    assert slip.asks in ("", check.asked)


def marked(check: CheckResult) -> list[tuple[str, str]]:
    """Return type and name of the marked nodes of a check's first graph: the student's, the right
    one.
    """
    figure = check.figures[0]
    ends = ("actual", "actual_difference"), ("expected", "first_difference")
    return [
        (node["type"], node["name"])
        for graph, mark in ends
        for node in figure[graph]["nodes"]
        if node["id"] == figure[mark]
    ]


def test_a_wrong_step_is_marked_not_what_is_computed_from_it(told: Told) -> None:
    step = 'nodes["apple_price"] {} nodes["tangerine_price"]'
    slip = Slip("chain_rule", step.format("+"), step.format("-"), "prices_pieces_and_tax")
    assert marked(told(slip)) == [("SubBackward0", ""), ("AddBackward0", "price")]


def test_the_tensor_that_a_message_names_is_marked(told: Told) -> None:
    slip = Slip(
        "hooks", "lambda grad: grad * 2", "lambda grad: None", "double_what_flows_through_y"
    )
    check = told(slip)
    assert check.message == "the gradient at p is wrong"
    assert marked(check) == [("AccumulateGrad", "p")] * 2


def test_an_answer_without_a_backward_is_told_the_graph_of_the_question(told: Told) -> None:
    slip = Slip(
        "retain_graph", "return str(error)", 'return "a second time"',
        "the_text_of_torchs_own_error_comes_back",
    )  # fmt: skip
    nodes = told(slip).figures[0]["expected"]["nodes"]
    assert [node["type"] for node in nodes][:2] == ["LogBackward0", "PowBackward0"]


def test_only_names_in_the_graph_are_shown(told: Told) -> None:
    name = "type(node).__name__"
    slip = Slip(
        "graph_inspection", f"None if node is None else {name}", name, "inputs_of_constants"
    )
    check = told(slip)
    assert "c" not in check.inputs["graph"]
    assert [*check.inputs] == ["graph", "leaves"]
    assert check.inputs["leaves"] == "x"


def test_nothing_is_compared_where_a_tool_is_found(told: Told) -> None:
    right = "x = x.detach().requires_grad_()\n    gradient = differentiable_gradient(f(x), x)\n"
    slip = Slip(
        "second_derivative", right, f"return torch.autograd.functional.hessian(f, x)\n    {right}",
        "hessian_is_your_own",
    )  # fmt: skip
    assert told(slip).expected is told(slip).actual is None


GRAD_INPUT_AND_NO_RESTORING = """
def gradient_norms(module, x):
    norms = {}

    def meter(name):
        def measure(module, grad_input, grad_output):
            norms[name] = grad_input[0].norm().item()

        return measure

    for name, part in module.named_modules():
        if not list(part.children()):
            part.register_full_backward_hook(meter(name))
    module(x.detach().requires_grad_()).sum().backward()
    return norms
"""


def test_what_is_left_behind_is_not_called_by_what_is_measured(grade_fragment: Grade) -> None:
    checks = by_name(grade_fragment("hooks", GRAD_INPUT_AND_NO_RESTORING))
    names = {
        "values_are_the_norms_of_grad_output": "measures_grad_input",
        "norms_leave_no_hook": "module_hooks_left",
        "norms_leave_parameter_grads": "parameter_grads_left",
    }
    assert {name: checks[name].diagnosis for name in names} == names


AN_ENGINE = """
class Value:
    ...

    def __init__(self, data):
        self.data, self.grad, self.sources = float(data), 0.0, ()
        self.push = self.add_to_sources

    def add_to_sources(self):
        for source, slope in self.sources:
            source.grad += slope * self.grad

    def __add__(self, other):
        other = as_value(other)
        out = result(self.data + other.data, (self, 1.0), (other, 1.0))

        def push():
            self.grad += 1.0 * out.grad
            other.grad += 1.0 * out.grad

        out.push = push
        return out

    def backward(self):
        self.grad = 1.0 if self.sources else self.grad + 1.0
        for node in reversed(in_order(self)):
            node.push()
"""
A_DICTIONARY = """
class Value:
    ...

    def backward(self):
        order = in_order(self)
        gradients = dict.fromkeys(order, 0.0)
        gradients[self] = 1.0
        for node in reversed(order):
            node.grad += gradients[node]
            for source, slope in node.sources:
                gradients[source] += slope * gradients[node]
"""
ASSIGNED, REPLACED = "a_value_used_twice", "Gradients are assigned"
LOCAL = "Multiply each local derivative by the gradient of the result"


@pytest.mark.parametrize(
    ("fragment", "right", "wrong", "check", "line", "says"),
    [
        (AN_ENGINE, "+= 1.0 *", "= 1.0 *", ASSIGNED, "= 1.0 *", REPLACED),
        (AN_ENGINE, "self.grad += 1.0 * out.grad", "self.grad += 1.0", "products", "1.0", LOCAL),
        (AN_ENGINE, " node.push()", " node", "sums", "def backward", "Look at backward"),
        (
            AN_ENGINE,
            "1.0 if self.sources else self.grad + 1.0",
            "0.0",
            "sums",
            "= 0.0",
            "Begin with 1",
        ),
        (AN_ENGINE, "self.grad = 1.0 if", "1.0 if", "products", "def backward", "Begin with 1"),
        (A_DICTIONARY, "] += slope", "] = slope", ASSIGNED, "] = slope", REPLACED),
        (A_DICTIONARY, "slope * gradients[node]", "slope", "products", "] += slope", LOCAL),
        (A_DICTIONARY, "reversed(order)", "order", "sums", "def backward", "Look at backward"),
        (A_DICTIONARY, "gradients[self] = 1.0", "", "sums", "def backward", "or in a dictionary"),
    ],
)
def test_what_an_engine_shares_is_told_apart_from_its_operations(
    grade_fragment: Grade, fragment: str, right: str, wrong: str, check: str, line: str, says: str
) -> None:
    assert right in fragment
    told = by_name(grade_fragment("tiny_autograd", fragment.replace(right, wrong)))[check]
    assert line in (told.source_text or "")
    assert says in (told.evidence or "")


def test_an_unnamed_gradient_of_two_operations_is_not_told_as_one_operations(
    grade_fragment: Grade,
) -> None:
    wrong = AN_ENGINE.replace("1.0 * out.grad", "out.grad ** 2")
    told = by_name(grade_fragment("tiny_autograd", wrong))["products"]
    assert told.evidence is None
    assert "def backward" in (told.source_text or "")
