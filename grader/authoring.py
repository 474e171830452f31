"""The one module of the engine that a lesson's checks, scenarios and rules may import.

Checks

``chain``                 what formulas give in turn, many times over: one step in the worker
``check``                 declare a test as a check: its points, what it is about, what it needs
``check_of``              make a check of parts, which are called one after the other
``InCheck``               base of an object whose methods ask the student of the running check
``import_helpers``        load the ``helpers.py`` that the visible and the hidden checks share
``RandomInputs``          the type of the fixture ``draw``
``Graph``                 a graph that is written once, as PyTorch: ``draw.graph`` makes it
``Student``               the type of the fixtures ``student`` and ``reference``
``program``               a function as an argument: it crosses the border as a graph of operations
``formula``               the same, from its text, which a failure shows
``fetch``                 the values of remote objects: what a student's object holds
``is_same``               whether two objects are identical
``predictions``           the predictions that a student wrote down

A function under test

``under_test``            a student's function with its truth: parts of checks, and whole checks
``hands_on``              the same for a function that returns what ``apply`` of a class returns
``differentiated``        gradients of what the student returned, None where there is none
``declared``              a truth whose derivative is declared, as that of a step
``differences``           a truth: the slopes of a function over a step of each element

Assertions

``assert_equal``          plain data must be the same: types and values
``assert_gradcheck``      compare the student's backward with differences of its forward
``assert_gradgradcheck``  the same, one derivative later
``assert_gradient``       a gradient must have the expected values; None has its own message
``assert_hands_on``       a function must return what another function of the student returns
``assert_not_used``       the student's definitions must not use certain names
``assert_raises``         a call must raise the expected exception
``assert_tensor``         a tensor must have the expected shape, dtype and values
``assert_tuple``          a tuple must have so many elements
``assert_worst``          require many values, and show those that are furthest off
``assert_that``           fail with a message unless a condition holds
``fail``                  fail with a message

Values

``Opaque``                a value that cannot cross the border: only its type is known
``is_number``             whether a value is a number and not a bool
``short_repr``            a value in four digits and four elements, for a note
``trace``                 the graph behind a tensor as plain data
``type_name``             the name of a value's type, as a student would say it

Figures

``ask_all``               a student's function for many arguments at once, for a plot's points
``bar_names``             the names of a tensor's elements, for bars
``bar_values``            a tensor's elements, for bars
``chart_figure``          a figure: a plot made of panels
``curve``                 a plot's values over x: a line, dots or bars
``drawing``               a block: if it fails, the failure shows these figures
``error_panel``           how far finite differences are from the slopes, for steps of many sizes
``gradients_figure``      a figure: the graph of z, with the gradients at named tensors
``graph_figure``          a figure: the graph that a check is about, with one place marked
``graphs_figure``         a figure: the student's graph beside the right one
``own_graph``             a figure: the student's graph beside that of a single custom Function
``panel``                 one drawing of a plot
``plot_figure``           a figure: value and gradient of a function over the true ones
``prediction_figure``     a figure: what was predicted beside what happens

Diagnosis

``Again``                 how a function is asked again, for the formulas of ``diagnosis.toml``
``Backward``              what rules about a backward compare: v, and gradients as a function of v
``Failure``               what a rule gets: expected and actual value, inputs, exception
``LessonRule``            the type of a rule
``ends_in_return``        whether some functions end in a return with a value
``methods``               functions of the student's file, by name and class
``differs``               whether two tensors of one shape are clearly different
``formula_value``         the value of a formula that is written as text
``function_rule``         a rule of the engine's about any torch.autograd.Function, by its name
``has_facts``             a rule that recognizes a failure by facts of the check
``is_function_class``     whether a student's class derives from torch.autograd.Function
``nonlinear_backward``    a rule for a backward that is not linear in the incoming gradient
``raises``                a rule that recognizes an exception by its message
``rule``                  declare a function as the rule that recognizes a mistake
``same``                  whether two values agree in shape and, within a tolerance, in value
``says``                  a rule that recognizes a failure by its message
``term_beside_v``         a rule for a backward that adds to the product with the incoming gradient
``value_and_gradients``   what a function returns, and its gradients for an incoming gradient
``value_rule``            the same as ``rule``, but skipped if the student's code raised

Texts

``Phrase``                the type of what ``phrase`` returns
``phrase``                a fact that is a sentence to be translated

Exceptions

``EngineFault``           what a check raises when the grader itself is at fault
``MissingName``           what a call raises when the student defines no such name
``StudentCodeError``      what a call raises when the student's code raised

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
    import_helpers,
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
from grader.judge.remote.proxies import chain, fetch, is_same
from grader.judge.remote.session import Student
from grader.judge.rule_keys import Again
from grader.judge.running_check import InCheck
from grader.judge.under_test import hands_on, under_test
from grader.judge.under_test.calls import assert_worst, differentiated
from grader.judge.under_test.tested import declared
from grader.worker.wire.program import program
from grader.worker.wire.trace import trace
from grader.worker.wire.values import Opaque
