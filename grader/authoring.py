"""The one module of the engine that a lesson's checks, scenarios and rules may import.

``python tests/documentation.py`` makes ``grader/docs/authoring.md`` of this text and of what each
name says itself. In the examples, which a test runs, ``student`` and ``draw`` are the fixtures of a
check, and the student's file is::

    import torch


    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x * grad_output


    def square(x):
        return Square.apply(x)


    GUESSES = {"x": True, "y": False}

Checks

``chain``                 what formulas give in turn, many times over: one step in the worker

    >>> values = {"x": student.put(torch.tensor(2.0)), "c": student.put(torch.tensor(3.0))}
    >>> nodes = chain(["x * c", "x + c"], 2, **values)  # x, and what the formulas give in turn
    >>> fetch(nodes[-1])
    tensor(30.)

``check``                 declare a test as a check: its points, what it is about, what it needs

    >>> @check(points=2, about="square", needs="test_value")
    ... def test_gradient(student, draw):
    ...     '''the gradient of x² is 2 x v'''
    ...     x, v = draw.given(x=draw.tensor(3, requires_grad=True), v=draw.tensor(3))
    ...     (got,) = differentiated(student.square(x), [x], v)
    ...     assert_gradient(got, 2 * x.detach() * v)
    >>> test_gradient(student, draw)

``check_of``              make a check of parts, which are called one after the other

    >>> S = under_test("Square.apply", torch.square)
    >>> declare = check(points=1, about="Square")
    >>> test_apart = check_of([S.calls_apart], "calls don't affect each other", declare)

``InCheck``               base of an object whose methods ask the student of the running check

    >>> class Doubles(InCheck):
    ...     def of_a_sum(self):
    ...         x = self.draw.tensor(3)
    ...         assert_tensor(self.student.square(x + x), (2 * x) ** 2)
    >>> Doubles().of_a_sum()

``RandomInputs``          the type of the fixture ``draw``

    >>> x = draw.tensor(2, 3, low=0.5, high=2.0, requires_grad=True)  # float64, two decimals
    >>> x.shape, x.dtype, bool((x >= 0.5).all())
    (torch.Size([2, 3]), torch.float64, True)
    >>> count, sign = draw.integer(2, 5), draw.choice([-1.0, 1.0])
    >>> f = draw.elementwise()  # a smooth function to pass to the student's code
    >>> strided, shapes, two = draw.noncontiguous(3, 4), draw.shapes(), draw.sample([1, 2, 3], 2)

``Graph``                 a graph that is written once, as PyTorch: ``draw.graph`` makes it

    >>> g = draw.graph("y = 3 * x", "z = y.exp()", x=draw.tensor(3, requires_grad=True))
    >>> g.lines  # what a failure shows
    {'y': '3 * x', 'z': 'y.exp()'}
    >>> (at_x,) = g.gradients("z", torch.ones(3, dtype=torch.float64))
    >>> [*g.tensors()]
    ['x', 'y', 'z']

``Student``               the type of the fixtures ``student`` and ``reference``

    >>> x = draw.tensor(3)
    >>> y = student.square(x)  # the student's code gets a copy of x
    >>> seen = student.observe("kept", "Square.apply", [x.requires_grad_()])  # a scenario
    >>> seen["saved"]
    1
    >>> with student.writing_allowed() as copies:  # else a write into x fails the check
    ...     y = student.square(x)
    >>> student.source.names_used("square")["Square.apply"]  # what the text uses, with a line
    17

``program``               a function as an argument: it crosses the border as a graph of operations

    >>> f = program(lambda x: x.sin() * 2)  # crosses the border as a graph of operations
    >>> f(torch.tensor(0.0))
    tensor(0.)

``formula``               the same, from its text, which a failure shows

    >>> f = formula("x * y + 1", "x y")
    >>> f(torch.tensor(2.0), torch.tensor(3.0))
    tensor(7.)
    >>> f = draw.formula("{a} * x**3", "({a} * x).exp()")  # one of these, with a drawn number

``fetch``                 the values of remote objects: what a student's object holds

    >>> y = student.put(torch.tensor(2.0)) * 3  # a step, done in the worker
    >>> fetch(y)
    tensor(6.)

``is_same``               whether two objects are identical

    >>> x = student.put(torch.tensor(2.0))
    >>> fetch(is_same(x, x))
    True

``predictions``           the predictions that a student wrote down

    >>> predictions(student, "GUESSES", ["x", "y"])
    {'x': True, 'y': False}

``within``                what a function returns inside of a context manager

    >>> within(torch.no_grad(), student.square, torch.ones(1, requires_grad=True)).requires_grad
    False

A function under test

``under_test``            a student's function with its truth: parts of checks, and whole checks

    >>> S = under_test("Square.apply", torch.square, over=(-3, 3))
    >>> S.right_gradients()
    >>> test_every_shape = S.check(2, "every shape works", S.every_shape, S.strided, S.empty)
    >>> x = draw.tensor(3, requires_grad=True)
    >>> gradient = S.gradient(x, torch.ones(3), says="the gradient is inexact", atol=1e-8)

``hands_on``              the same for a function that returns what ``apply`` of a class returns

    >>> H = hands_on("square", to="Square")
    >>> H.after_a_change(torch.square)

``differentiated``        gradients of what the student returned, None where there is none

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> differentiated(student.square(x), [x], torch.ones(1))
    (tensor([4.]),)

``declared``              a truth whose derivative is declared, as that of a step

    >>> step = declared(lambda x: (x > 0).to(x.dtype), torch.ones_like)
    >>> S = under_test("Step.apply", step)

``differences``           a truth: the slopes of a function over a step of each element

    >>> differences(torch.square, torch.tensor([1.0, 2.0]), 0.0, 0.5)
    tensor([[2.5000, 0.0000],
            [0.0000, 4.5000]])

Assertions

``assert_equal``          plain data must be the same: types and values

    >>> assert_equal([1.0, "a"], [1.0, "a"])
    >>> assert_equal(1, 1.0, "the result is not {wanted}", facts={"wanted": 1.0})
    Traceback (most recent call last):
    grader.core.errors.CheckFailure: the result is not {wanted}

``assert_gradcheck``      compare the student's backward with differences of its forward

    >>> x = draw.tensor(3, requires_grad=True)
    >>> assert_gradcheck(student.square, [x], names=["x"])

``assert_gradgradcheck``  the same, one derivative later

    >>> x = draw.tensor(3, requires_grad=True)
    >>> assert_gradgradcheck(student.square, [x], names=["x"])

``assert_gradient``       a gradient must have the expected values; None has its own message

    >>> assert_gradient(None, torch.ones(2))
    Traceback (most recent call last):
    grader.core.errors.CheckFailure: None came back where a gradient is promised

``assert_hands_on``       a function must return what another function of the student returns

    >>> assert_hands_on(student, "square", "Square.apply", draw.tensor(3))
    True

``assert_not_used``       the student's definitions must not use certain names

    >>> banned = ["torch.square", ".square", ".pow"]
    >>> assert_not_used(student, ["square"], banned, "line {line} uses {used}")

``assert_raises``         a call must raise the expected exception

    >>> assert_raises("ValueError", int, "x", message="a {wanted} is promised")
    "invalid literal for int() with base 10: 'x'"

``assert_tensor``         a tensor must have the expected shape, dtype and values

    >>> assert_tensor(torch.tensor([1.0]), torch.tensor([1.1]), "wrong", atol=0.2)
    >>> assert_tensor(torch.ones(2), torch.ones(3))
    Traceback (most recent call last):
    grader.core.errors.CheckFailure: the shape is {shape}, expected {expected_shape}

``assert_tuple``          a tuple must have so many elements

    >>> assert_tuple((1, 2), 2)
    >>> assert_tuple([1, 2], 2, lists=True)
    >>> assert_tuple(None, 2)
    Traceback (most recent call last):
    grader.core.errors.CheckFailure: None came back where a tuple is promised: is there a return?

``assert_worst``          require many values, and show those that are furthest off

    >>> x = torch.linspace(-3, 3, 100)
    >>> assert_worst(student.square(x), x**2, "wrong", worst=4, atol=1e-6, inputs={"x": x})

``assert_that``           fail with a message unless a condition holds

    >>> assert_that(callable(student.square), "square is not a function", actual=student.square)

``fail``                  fail with a message

    >>> fail("there are {count} calls", facts={"count": 2})
    Traceback (most recent call last):
    grader.core.errors.CheckFailure: there are {count} calls

Values

``Opaque``                a value that cannot cross the border: only its type is known

    >>> Opaque("ndarray", "array([1.])").type_name  # what came back instead of a tensor
    'ndarray'

``is_number``             whether a value is a number and not a bool

    >>> is_number(2.5), is_number(True), is_number(float("inf"))
    (True, False, False)

``short_repr``            a value in four digits and four elements, for a note

    >>> short_repr(1 / 3)
    '0.3333'

``trace``                 the graph behind a tensor as plain data

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> sorted(trace(x * 2, {"x": x}))
    ['edges', 'left_out', 'nodes', 'root_output']

``type_name``             the name of a value's type, as a student would say it

    >>> type_name(torch.ones(2)), type_name("a")
    ('Tensor', 'str')

Figures

``ask_all``               a student's function for many arguments at once, for a plot's points

    >>> ask_all(student.square, [(torch.tensor(1.0),), (torch.tensor(2.0),)])
    [tensor(1.), tensor(4.)]

``bar_names``             the names of a tensor's elements, for bars

    >>> bar_names("x", torch.ones(2))
    ['x[0]', 'x[1]']

``bar_values``            a tensor's elements, for bars

    >>> bar_values(torch.tensor([1.0, 2.0]))
    [1.0, 2.0]

``chart_figure``          a figure: a plot made of panels

    >>> lines = curve("truth", [0, 1], [0, 1]), curve("yours", [0, 1], [0, 2])
    >>> figure = chart_figure("the slope", panel("near 0", *lines, x="h"))

``curve``                 a plot's values over x: a line, dots or bars

    >>> bars = curve("yours", None, [1.0, 2.0], form="bars")

``drawing``               a block: if it fails, the failure shows these figures

    >>> x = torch.ones(1)
    >>> with drawing(lambda: plot_figure(student.square, torch.square, x, over=(-3, 3))):
    ...     assert_tensor(student.square(x), torch.ones(1))

``error_panel``           how far finite differences are from the slopes, for steps of many sizes

    >>> def call(step):
    ...     return (torch.tensor(3.0 + step),)
    >>> exact = torch.tensor(9.0)
    >>> drawn = error_panel(
    ...     "off by", student.square, call, lambda step: exact + step, exact, x="step"
    ... )

``gradients_figure``      a figure: the graph of z, with the gradients at named tensors

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> figure = gradients_figure(x * 2, {"x": x}, at="x")

``graph_figure``          a figure: the graph that a check is about, with one place marked

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> figure = graph_figure(x * 2, {"x": x})

``graphs_figure``         a figure: the student's graph beside the right one

    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> seen = student.observe("graph", "square", ["x"], [x])
    >>> figure = graphs_figure(seen, trace(torch.square(x), {"x": x}))

``own_graph``             a figure: the student's graph beside that of a single custom Function

    >>> figure = own_graph(student, "Square", "square", {"x": torch.ones(2, requires_grad=True)})

``panel``                 one drawing of a plot

    >>> drawn = panel("errors", curve("yours", [0.1, 0.01], [0.2, 0.02], form="dots"), log=True)

``plot_figure``           a figure: value and gradient of a function over the true ones

    >>> x, v = draw.tensor(3), draw.tensor(3)
    >>> figure = plot_figure(student.square, torch.square, x, over=(-3, 3), incoming=v)

``prediction_figure``     a figure: what was predicted beside what happens

    >>> figure = prediction_figure([("x.grad", True, False, "x is not a leaf")])

Diagnosis

``Again``                 how a function is asked again, for the formulas of ``diagnosis.toml``

    >>> def asked_again(failure, student):  # for value = ["2 * x"] in diagnosis.toml
    ...     x = failure.draw.tensor(3)
    ...     ask = {"value": lambda at: student.square(at["x"])}
    ...     return Again(names={"x": x}, right={"value": "x * x"}, ask=ask)

``Backward``              what rules about a backward compare: v, and gradients as a function of v

    >>> def backward_at(failure, student) -> Backward:
    ...     x, v = failure.draw.tensor(3), failure.draw.tensor(3)
    ...     return v, lambda v: {"x": value_and_gradients(student.square, [x], v)[1][0]}

``Failure``               what a rule gets: expected and actual value, inputs, exception

    >>> @rule
    ... def too_large(failure, student):
    ...     here = failure.check == "test_value" and failure.raised("ValueError")
    ...     return {"x": failure.inputs.get("x")} if here else None

``LessonRule``            the type of a rule

    >>> isinstance(rule(lambda failure, student: None), LessonRule)
    True

``ends_in_return``        whether some functions end in a return with a value

    >>> ends_in_return(methods(student, "forward"))
    True

``methods``               functions of the student's file, by name and class

    >>> [method.name for method in methods(student, "forward", "backward", of=["Square"])]
    ['forward', 'backward']

``differs``               whether two tensors of one shape are clearly different

    >>> differs(torch.ones(2), torch.zeros(2)), differs(torch.ones(2), torch.ones(3))
    (True, False)

``formula_value``         the value of a formula that is written as text

    >>> formula_value("v * exp(x)", x=torch.zeros(1), v=torch.ones(1))
    tensor([1.])

``function_rule``         a rule of the engine's about any torch.autograd.Function, by its name

    >>> recognize = function_rule("nothing_saved")  # or rule = ["nothing_saved"] in diagnosis.toml

``has_facts``             a rule that recognizes a failure by facts of the check

    >>> built_in = has_facts("used")

``is_function_class``     whether a student's class derives from torch.autograd.Function

    >>> is_function_class(student, "Square")
    True

``nonlinear_backward``    a rule for a backward that is not linear in the incoming gradient

    >>> uses_the_absolute_value = nonlinear_backward(backward_at)

``raises``                a rule that recognizes an exception by its message

    >>> not_unpacked = raises("AttributeError", "'tuple' object", unless=["append"])

``rule``                  declare a function as the rule that recognizes a mistake

    >>> @rule
    ... def doubled(failure, student):
    ...     twice = same(failure.actual, failure.expected * 2)
    ...     return {"factor": 2} if twice else None

``same``                  whether two values agree in shape and, within a tolerance, in value

    >>> same(torch.ones(2), torch.ones(2, dtype=torch.float64)), same(1.0, 1.1)
    (True, False)

``says``                  a rule that recognizes a failure by its message

    >>> wrote = says("changed x")

``term_beside_v``         a rule for a backward that adds to the product with the incoming gradient

    >>> adds_a_constant = term_beside_v(backward_at)

``value_and_gradients``   what a function returns, and its gradients for an incoming gradient

    >>> y, (gradient,) = value_and_gradients(student.square, [torch.tensor([3.0])], torch.ones(1))
    >>> gradient
    tensor([6.])

``value_rule``            the same as ``rule``, but skipped if the student's code raised

    >>> @value_rule
    ... def halved(failure, student):
    ...     return {} if same(student.square(torch.ones(1)), torch.ones(1) / 2) else None

Texts

``Phrase``                the type of what ``phrase`` returns

    >>> isinstance(phrase("the result is {size}", size=3), Phrase)
    True

``phrase``                a fact that is a sentence to be translated

    >>> str(phrase("autograd's {name}", name="MulBackward0"))
    "autograd's MulBackward0"

Exceptions

``EngineFault``           what a check raises when the grader itself is at fault

    >>> raise EngineFault("there is no scenario 'kep'")
    Traceback (most recent call last):
    grader.core.errors.EngineFault: there is no scenario 'kep'

``MissingName``           what a call raises when the student defines no such name

    >>> try:
    ...     student.cube
    ... except (MissingName, AttributeError):
    ...     print("there is no cube")
    there is no cube

``StudentCodeError``      what a call raises when the student's code raised

    >>> error = StudentCodeError("ValueError", "no", line=3)
    >>> error.is_a("ValueError"), str(error)
    (True, 'ValueError: no')

Scenarios run in the worker, where this module contains only ``trace``.
"""

from grader.core.errors import EngineFault, MissingName, StudentCodeError
from grader.core.i18n import Phrase, phrase
from grader.judge.checks import (
    assert_equal,
    assert_gradcheck,
    assert_gradgradcheck,
    assert_gradient,
    assert_hands_on,
    assert_not_used,
    assert_raises,
    assert_tensor,
    assert_that,
    assert_tuple,
    check,
    check_of,
    fail,
    is_number,
    own_graph,
    predictions,
    type_name,
)
from grader.judge.diagnosis import (
    Backward,
    Failure,
    LessonRule,
    differs,
    formula_value,
    has_facts,
    is_function_class,
    nonlinear_backward,
    raises,
    rule,
    same,
    says,
    term_beside_v,
    value_and_gradients,
    value_rule,
)
from grader.judge.figures import (
    ask_all,
    bar_names,
    bar_values,
    chart_figure,
    curve,
    drawing,
    gradients_figure,
    graph_figure,
    graphs_figure,
    panel,
    plot_figure,
    prediction_figure,
    short_repr,
)
from grader.judge.formulas import differences, error_panel, formula
from grader.judge.function_rules import ends_in_return, function_rule, methods
from grader.judge.graphs import Graph
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import chain, fetch, is_same, within
from grader.judge.remote.session import Student
from grader.judge.rule_keys import Again
from grader.judge.running_check import InCheck
from grader.judge.under_test import hands_on, under_test
from grader.judge.under_test.tested import assert_worst, declared, differentiated
from grader.worker.wire.program import program
from grader.worker.wire.trace import trace
from grader.worker.wire.values import Opaque
