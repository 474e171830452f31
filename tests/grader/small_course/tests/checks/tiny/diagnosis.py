"""tiny: its mistakes."""

from grader.authoring import mistake, same


@mistake(
    "squares",
    about="double",
    title="x is squared",
    explanation="For x = {x} you returned {actual}, which is x * x = {square}.",
)
def squares(failure, student):
    x = failure.inputs.get("x")
    return {"square": x * x} if x is not None and same(failure.actual, x * x) else None


@mistake(
    "off_by_one",
    about="LIMIT",
    title="one too few",
    explanation="{actual} is one less than the limit.",
)
def off_by_one(failure, student):
    return {} if failure.actual == 19.0 else None
