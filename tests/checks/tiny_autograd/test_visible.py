"""tiny_autograd, the checks that students may read."""

from functools import partial

from grader.authoring import check, import_helpers

helpers = import_helpers(__file__)
expression, judge, judge_cleared = helpers.expression, helpers.judge, helpers.judge_cleared
judge_roughly = partial(judge, factor=helpers.ROUGH)


# -------------------------------------------------------------------------------------------- Value


@check(points=0.25, about="Value", at="Value.__init__")
def test_a_new_value(student):
    """a new Value holds its number, and grad 0.0"""
    for data in (3, 0, -0.5, 2.5):
        helpers.judge_new(student, data)


@check(points=0.25, about="Value", at="Value.__add__")
def test_sums(student, draw):
    """sums and their derivatives are right"""
    a, b, c, _ = helpers.numbers(draw)
    helpers.judge_plain_python(student)
    judge_roughly(student, expression("root = a + b", a=a, b=b))
    judge_roughly(student, expression("s = a + b\nroot = s + c", a=a, b=b, c=c))
    judge_roughly(
        student, expression("s = a + b\nroot = s + c", a=a, b=b * 1e12, c=c)
    )  # differences of two roots would be lost in rounding


@check(points=0.5, about="Value", at="Value.__mul__")
def test_products(student, draw):
    """products and their derivatives are right"""
    a, b, c, _ = helpers.numbers(draw)
    judge_roughly(student, expression("root = a * b", a=a, b=b))
    judge_roughly(student, expression("root = a * b", a=-0.05, b=40.0))  # derivatives of every size
    judge_roughly(student, expression("s = a * b\nroot = s * c", a=a, b=b, c=c))
    judge_roughly(student, expression("s = a * b\nroot = c * s", a=a, b=b, c=c))
    judge_roughly(student, expression("s = a + b\nroot = s * c", a=a, b=b * 1e12, c=c))


@check(points=0.25, about="Value", at="Value.__sub__")
def test_differences(student, draw):
    """differences and negatives are right"""
    a, b, c, _ = helpers.numbers(draw)
    judge_roughly(student, expression("root = -a", a=a))
    judge_roughly(student, expression("root = a - b", a=a, b=b))
    judge_roughly(student, expression("s = a - b\nroot = -s - c", a=a, b=b, c=c))
    judge_roughly(student, expression("s = a - b\nroot = s - c", a=a, b=b * 1e12, c=c))


@check(points=0.25, about="Value", at="Value.tanh")
def test_tanh(student, draw):
    """tanh and its derivative are right, also at ±1000"""
    for a in (draw.number(0.2, 0.9), draw.number(1.1, 1.5), draw.number(-1.5, -0.2)):
        judge(student, expression("root = a.tanh()", a=a))
        judge(student, expression("s = a.tanh()\nroot = s.tanh()", a=a))
    judge(student, expression("s = a.tanh()\nroot = s * b", a=-2.0, b=0.05))
    judge(student, expression("s = a.tanh()\nroot = s * b", a=0.5, b=40.0))
    for a in (0, 1000.0, -1000.0):  # exp(1000) is too large for a float, tanh(1000) is 1.0
        judge(student, expression("root = a.tanh()", a=a))


@check(points=0.25, about="Value", at="Value.exp")
def test_exponential_and_logarithm(student, draw):
    """exp, log and their derivatives are right"""
    for a, b in (
        (draw.number(-2.0, -0.2), draw.number(0.2, 0.9)),
        (draw.number(0.2, 2.0), draw.number(1.1, 4.0)),
    ):
        judge(student, expression("root = a.exp()", a=a))
        judge(student, expression("root = b.log()", b=b))
        judge(student, expression("s = a.exp()\nroot = s.exp()", a=a))
        judge(student, expression("s = b.log()\nt = s * c\nroot = t.exp()", b=b, c=5.0))
    for a in (0, -3.0, -1000.0, 709.0):  # exp(709) is nearly the largest float
        judge(student, expression("root = a.exp()", a=a))
    for b in (1e-200, 40.0):
        judge(student, expression("root = b.log()", b=b))


@check(points=0.25, about="Value", at="Value.backward", needs=(test_sums, test_products))
def test_a_square_of_a_sum(student):
    """(w x + b)² gives 42, 28 and 14; (2x + 3)² gives 20"""
    judge_roughly(student, expression("z = w * x\ny = z + b\nroot = y ** 2", x=2.0, w=3.0, b=1.0))
    judge_roughly(student, expression("y = x * 2\nz = y + 3\nroot = z ** 2", x=1.0))


@check(points=0.5, about="Value", at="Value.backward", needs=(test_sums, test_products))
def test_a_value_used_twice(student, draw):
    """a Value that is used twice gets both gradients"""
    a, b, _, _ = helpers.numbers(draw)
    for text in (
        "root = a + a",
        "root = a * a",
        "s = a * b\nroot = s + a",
        "s = a + b\nt = s * s\nroot = t * b",
    ):
        judge_roughly(student, expression(text, a=a, b=b))


# ---------------------------------------------------------------------------------------- zero_grad


@check(points=0.5, about="zero_grad")
def test_every_value_below_is_cleared(student, draw):
    """zero_grad clears root and every Value below it"""
    helpers.judge_plain_python(student, filled=1.0)
    a, b, c, d = (draw.number(digits=None) for _ in range(4))  # no two Values below are equal
    lines = expression("s = a + b\nt = s * c\nu = b + d\nv = t + s\nw = v * u", a=a, b=b, c=c, d=d)
    judge_cleared(student, lines, "w", draw)
    judge_cleared(student, lines, "v", draw)


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_what_backward_left_is_cleared(student, draw):
    """zero_grad clears 0.6, 0.008 and 1, also a second time"""
    lines = expression("y = x * x * x\nz = y + y", x=5.0)
    judge_cleared(student, lines, "z", draw, filled={"x": 0.6, "y": 0.008, "z": 1.0})
    judge_cleared(student, lines, "z", draw, backward=True)
    judge_cleared(student, lines, "z", draw, calls=2)
