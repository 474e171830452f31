"""custom_sigmoid, the checks that are not handed out."""

from grader.checks import assert_gradcheck, assert_gradgradcheck, assert_equal, check


@check(points=6, about="Sigmoid", at="Sigmoid.backward", needs="test_gradient_uses_the_incoming_gradient")
def test_gradcheck(student, draw):
    """gradcheck agrees with the numeric derivative"""
    assert_gradcheck(student.sigmoid, [draw.tensor(2, 3, requires_grad=True)], names=["x"])


@check(points=1, about="Sigmoid", bonus=True, needs="test_gradient_uses_the_incoming_gradient")
def test_gradgradcheck(student, draw):
    """backward can itself be differentiated"""
    assert_gradgradcheck(student.sigmoid, [draw.tensor(2, 3, requires_grad=True)], names=["x"])


@check(points=0, about="sigmoid")
def test_node(student, reference, draw):
    """node"""
    x = draw.tensor(3, requires_grad=True)
    assert_equal(student.observe("node_of", x), reference.observe("node_of", x))
