"""compound_interest, visible."""

from grader.authoring import assert_equal, assert_tensor, check


@check(points=3, about="grown")
def test_interest_is_paid_on_interest(student, draw):
    """interest is paid on interest"""
    amount, rate, years = (
        draw.tensor(3, low=10.0, high=90.0),
        draw.coefficients(1)[0],
        draw.integer(2, 5),
    )
    want = amount
    for _ in range(years):
        want = want + want * rate
    assert_tensor(
        student.grown(amount, rate, years),
        want,
        "not what is there then",
        inputs={"amount": amount, "rate": rate, "years": years},
    )


@check(points=2, about="total")
def test_payments_are_added(student, draw):
    """payments are added"""
    payments = draw.tensor(4, low=1.0, high=9.0)
    assert_tensor(student.total(payments), payments.sum(), inputs={"payments": payments})


@check(points=1, about="MONTHS_IN_A_YEAR")
def test_months(student):
    """a year has its months"""
    assert_equal(student.MONTHS_IN_A_YEAR, 12)
