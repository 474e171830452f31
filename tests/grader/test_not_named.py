"""Wrong answers that look like a mistake which they don't make: they lose marks, and not under that mistake's name."""

from __future__ import annotations

import pytest

from grader.course import Course, find_course, load_course
from grader.grading import Settings, grade_lesson
from grader.host import Host
from grader.model import Outcome
from grader.stubs import compose, without_markers
from grader.submission import LessonFile

DEEPEST_SO_FAR = """
def walk(root):
    if root.grad_fn is None:
        return []
    found, stack, depths = [], [root.grad_fn], {root.grad_fn: 0}
    while stack:
        node = stack.pop()
        found.append((depths[node], type(node).__name__))
        for following, _ in reversed(node.next_functions):
            if following is not None:
                depths[following] = max(depths.get(following, 0), depths[node] + 1)
                stack.append(following)
    return found
"""
CALLS_ITSELF = """
def walk(root):
    return [(0, type(root.grad_fn).__name__)] + [row for node, _ in root.grad_fn.next_functions for row in walk(node, 1)]
"""
ONLY_FIRST_OUTPUTS = """
def format_graph(root):
    def visit(node, depth):
        if node is None:
            return []
        return [" " * depth + type(node).__name__] + [line for after, i in node.next_functions if not i for line in visit(after, depth + 1)]

    return "\\n".join(visit(root.grad_fn, 0))
"""
SORTED_EDGES = """
def inputs_of(root):
    edges = root.grad_fn.next_functions if root.grad_fn else ()
    return sorted([(type(node).__name__ if node else None, index) for node, index in edges], key=lambda edge: edge[1])
"""
CUT_OFF = """
def second_backward_error(x):
    z = torch.log(x.detach() ** 3)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
"""
SHORTENED = """
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)[:40]
"""
KEEPS_THE_FIRST = """
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    grad = x.grad.clone()
    loss.backward()
    return grad
"""
ANOTHER_LOCAL_NAME = """
def double_gradient(y):
    def hook(grad):
        doubled = grad * 2
        return grad

    return y.register_hook(hook)
"""
NO_HOOK = """
def backward_with_scaled_gradient(loss, y, factor):
    y = y * factor
    loss.backward()
"""
ONLY_THE_LAST = """
def record_gradients(tensors):
    records = {}
    for name, tensor in tensors.items():
        def hook(grad, name=name):
            records[name] = grad.clone()
    return records, [tensor.register_hook(hook)]
"""
NOT_DIVIDED = """
def clip_gradient(y, max_norm):
    return y.register_hook(lambda grad: grad * max_norm if grad.norm() > max_norm else grad)
"""
ENGINE = """
class Value:
    def __init__(self, data, sources=()):
        self.data, self.grad, self.sources = float(data), 0.0, sources

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, ({sum}))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, ({product}))

    def relu(self):
        return Value(max(self.data, 0.0), ((self, float(self.data > 0)),))

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                {step}
"""
RIGHT = {
    "sum": "(self, 1.0), (other, 1.0)",
    "product": "(self, other.data), (other, self.data)",
    "step": "source.grad += slope * node.grad",
}
CASES = [
    ("graph_inspection", DEEPEST_SO_FAR, {"depth_counts_visits"}),
    ("graph_inspection", CALLS_ITSELF, {"another_signature"}),
    ("graph_inspection", ONLY_FIRST_OUTPUTS, {"lookalikes_merged", "shared_nodes_once"}),
    ("graph_inspection", SORTED_EDGES, {"index_is_a_count"}),
    ("retain_graph", CUT_OFF, {"message_is_typed_in"}),
    ("retain_graph", SHORTENED, {"stops_after_one_backward"}),
    ("retain_graph", KEEPS_THE_FIRST, {"clears_between_the_passes"}),
    ("hooks", ANOTHER_LOCAL_NAME, {"hook_returns_nothing"}),
    ("hooks", NO_HOOK, {"hook_returns_nothing"}),
    ("hooks", ONLY_THE_LAST, {"late_binding_closure"}),
    ("hooks", NOT_DIVIDED, {"other_norm"}),
    ("tiny_autograd", ENGINE.format(**RIGHT | {"step": "slope * node.grad"}), {"root_without_gradient", "wrong_local_derivative"}),
    ("tiny_autograd", ENGINE.format(**RIGHT | {"product": "(other, self.data),"}), {"stops_after_one_step"}),
    ("tiny_autograd", ENGINE.format(**RIGHT | {"sum": "(self, 1.0),"}), {"order_not_topological"}),
    ("tiny_autograd", ENGINE.format(**RIGHT | {"sum": "(self, 1.0), (other, 2.0)"}), {"counts_again"}),
]


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(find_course())


@pytest.mark.proof
@pytest.mark.parametrize(("name", "fragment", "others"), CASES)
def test_a_wrong_answer_has_no_name_of_another_mistake(name: str, fragment: str, others: set[str], host: Host, course: Course) -> None:
    """From three seeds something is wrong, and what is said of it is not what others do."""
    lesson = course.lesson(name)
    source = LessonFile(name, lesson.filename, compose(without_markers(lesson.solution.read_text("utf-8")), fragment, name=name))
    for seed in (2, 5, 6):
        checks = grade_lesson(host, lesson, source, Settings(seed, limits=course.limits)).result.checks
        assert any(check.outcome in (Outcome.FAILED, Outcome.ERROR) for check in checks)
        assert not others & {check.diagnosis for check in checks}
