"""tiny, visible."""

from grader.authoring import assert_tensor, check


@check(points=3, about="double")
def test_double(student, draw):
    """double returns twice x"""
    x = draw.tensor(3)
    assert_tensor(student.double(x), 2 * x, "{x} was not doubled", inputs={"x": x})


@check(points=2, about="triple")
def test_triple(student, draw):
    """triple returns three times x"""
    x = draw.tensor(3)
    assert_tensor(student.triple(x), 3 * x, inputs={"x": x})
