"""Easy checks."""
from grader.judge.checks import check


@check(points=10, about="sigmoid")
def test_nothing(student):
    """nothing is checked"""
