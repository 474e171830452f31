"""Easy checks."""
from grader.checks import check


@check(points=10, about="sigmoid")
def test_nothing(student):
    """nothing is checked"""
