"""tiny: its mistakes."""

from grader.authoring import rule, same


@rule
def squares(failure, student):
    x = failure.inputs.get("x")
    return {"square": x * x} if x is not None and same(failure.actual, x * x) else None


@rule
def off_by_one(failure, student):
    return {} if failure.actual == 19.0 else None
