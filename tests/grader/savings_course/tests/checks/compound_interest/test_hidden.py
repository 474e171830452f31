"""compound_interest, hidden."""

import torch

from grader.authoring import assert_equal, assert_tensor, assert_that, check


@check(points=2, about="grown", needs="test_interest_is_paid_on_interest")
def test_no_time_no_interest(student, draw):
    """no time, no interest"""
    amount = draw.tensor(2, low=10.0, high=90.0)
    assert_tensor(student.grown(amount, 0.5, 0), amount, inputs={"amount": amount})


@check(points=1, about="total", needs="test_payments_are_added")
def test_nothing_paid(student, reference):
    """nothing paid is zero"""
    nothing = torch.zeros(0, dtype=torch.float64)
    assert_equal(student.observe("summed", nothing), reference.observe("summed", nothing))


@check(points=1, about="MONTHS_IN_A_YEAR")
def test_months_are_whole(student):
    """months are counted in whole numbers"""
    assert_that(
        type(student.MONTHS_IN_A_YEAR) is int, "no whole number", actual=student.MONTHS_IN_A_YEAR
    )
