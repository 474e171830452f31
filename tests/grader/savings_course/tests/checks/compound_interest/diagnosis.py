"""compound_interest: its mistakes."""

from grader.authoring import rule, same


@rule
def simple_interest(failure, student):
    given = failure.inputs
    return (
        {}
        if "rate" in given
        and same(failure.actual, given["amount"] * (1 + given["rate"] * given["years"]))
        else None
    )
