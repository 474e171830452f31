"""Changes of a rule or a check to its lesson's constants are undone before the next submission."""

from __future__ import annotations

from typing import Any

import torch

from grader.course.course import find_course, load_course
from grader.judge.checks import Constants, namespace_of
from grader.judge.graphs import Graph
from grader.judge.plugin import LessonPlugin


def space() -> dict[str, Any]:
    return {
        "LEAF": torch.tensor([1.0, 2.0], requires_grad=True),
        "PLAIN": torch.tensor([3.0]),
        "NESTED": {"inner": [torch.tensor([4.0])]},
        "WRITTEN": Graph("y = x * 2", {"x": torch.tensor([6.0])}),
        "NUMBER": 5,
    }


def test_values_gradients_and_flags_are_put_back() -> None:
    names = space()
    constants = Constants([names])
    assert len(constants) == 4
    leaf, inner = names["LEAF"], names["NESTED"]["inner"][0]
    leaf.sum().backward()
    with torch.no_grad():
        leaf.add_(1)
        names["PLAIN"].zero_()
        names["WRITTEN"].inputs["x"].zero_()
        inner.mul_(7)
    names["PLAIN"].requires_grad_()
    constants.put_back()
    assert leaf.grad is None
    assert leaf.tolist() == [1.0, 2.0]
    assert leaf.requires_grad
    assert names["PLAIN"].tolist() == [3.0]
    assert not names["PLAIN"].requires_grad
    assert inner.tolist() == [4.0]
    assert names["WRITTEN"].inputs["x"].tolist() == [6.0]


def test_namespaces_are_those_of_the_functions() -> None:
    names: dict[str, Any] = {"HERE": torch.ones(1)}
    exec("def check(): pass", names)
    assert namespace_of(names["check"]) is names


def test_a_lessons_constants_are_found_when_its_checks_are_collected() -> None:
    """The rules of tensor_state hold two leaves."""
    plugin = LessonPlugin(load_course(find_course()).lesson("tensor_state"), "en")
    plugin.pytest_collection_modifyitems([])
    assert len(plugin.constants) >= 2
