"""compound_interest: its mistakes."""

from grader.authoring import mistake, same


@mistake(
    "simple_interest",
    about="grown",
    title="interest earns no interest",
    explanation="{actual} is {amount} with {years} times the same.",
)
def simple_interest(failure, student):
    given = failure.inputs
    return (
        {}
        if "rate" in given
        and same(failure.actual, given["amount"] * (1 + given["rate"] * given["years"]))
        else None
    )
