"""chain_rule, the checks that students may read."""

from functools import partial

import torch

from grader.authoring import assert_gradient, check, import_helpers

helpers = import_helpers(__file__)
PRICES, BETWEEN = helpers.PRICES, helpers.BETWEEN
assert_both, assert_three, assert_entries = (
    helpers.assert_both,
    helpers.assert_three,
    helpers.assert_entries,
)


# --------------------------------------------------------------------------------- gradient_by_hand


@check(points=0.75, about="gradient_by_hand")
def test_both_paths_add_up(student, draw):
    """the contributions of both paths are added"""
    x = torch.cat([draw.tensor(3, low=0.3, high=4.0), torch.tensor([2.9], dtype=torch.float64)])
    helpers.assert_formula(student, x, figures=[partial(helpers.paths_figure, x)])


@check(points=0.25, about="gradient_by_hand", needs=helpers.WRITTEN_OUT)
def test_the_number_of_c9(student):
    """log(x³) + sqrt(x²) has the gradient 1.6 at x = 5"""
    x, want = (torch.tensor(number, dtype=torch.float64) for number in (5.0, 1.6))
    assert_gradient(student.gradient_by_hand(x), want, inputs={"x": x})


# -------------------------------------------------------------------------- power_gradients_by_hand


@check(points=0.75, about="power_gradients_by_hand")
def test_base_and_exponent_get_their_gradients(student, draw):
    """dz/dx and dz/dq are right and in this order"""
    x = torch.tensor([1.5, draw.number(1.6, 2.6), draw.number(2.7, 4.0)], dtype=torch.float64)
    q = torch.tensor(draw.sample([2.0, 3.0, 4.0], 3), dtype=torch.float64)
    figure = partial(helpers.power_figure, x, q)
    helpers.assert_formulas(student, x, q, figure=figure)


@check(points=0.25, about="power_gradients_by_hand", needs=helpers.BOTH_WRITTEN_OUT)
def test_the_numbers_of_c10(student):
    """log(x^q) at x = 5, q = 3 has the gradients 0.6 and 1.609"""
    numbers = (5.0, 3.0, 0.6, 1.6094379124341003)
    x, q, *want = (torch.tensor(number, dtype=torch.float64) for number in numbers)
    assert_both(student.power_gradients_by_hand(x, q), want, {"x": x, "q": q})


# --------------------------------------------------------------------------------- linear_gradients


@check(points=0.5, about="linear_gradients")
def test_three_gradients_in_their_order(student, draw):
    """the gradients of (w·x + b)² are in the order x, w, b"""
    x, w, b = helpers.drawn_line(draw)
    with helpers.drawn_behind(student, "linear_gradients", helpers.square, (x, w, b)):
        assert_three(student.linear_gradients(x, w, b), x, w, b)


@check(points=0.25, about="linear_gradients", needs=helpers.BY_AUTOGRAD)
def test_the_numbers_of_g(student):
    """x = 2, w = 3, b = 1 gives 42, 28 and 14"""
    assert_three(student.linear_gradients(2.0, 3.0, 1.0), 2.0, 3.0, 1.0, want=(42.0, 28.0, 14.0))


# ----------------------------------------------------------------------------------------- shopping


@check(points=0.75, about="shopping")
def test_prices_pieces_and_tax(student, draw):
    """the gradients of prices, pieces and tax are right"""
    bill = helpers.drawn_bill(draw, 0)
    with helpers.drawn_behind(student, "shopping", helpers.bill_of, bill):
        assert_entries(student.shopping(*bill), raises_of(*bill), PRICES, bill)


def raises_of(apple, n_apple, tangerine, n_tangerine, tax):
    """By how much one more of each raises the bill: its gradient, since the bill is linear in each
    of them alone.
    """

    def total(
        apple=apple, num_apple=n_apple, tangerine=tangerine, num_tangerine=n_tangerine, ctax=tax
    ):
        return (apple * num_apple + tangerine * num_tangerine) * ctax

    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    return {name: total(**{name: number + 1}) - total() for name, number in numbers.items()}


@check(points=0.5, about="shopping", needs=test_prices_pieces_and_tax)
def test_the_nine_numbers_of_s(student):
    """the bill in the README has its nine gradients"""
    bill = (100.0, 2.0, 150.0, 3.0, 1.1)
    numbers = (2.2, 3.3, 110.0, 165.0, 650.0, 1.1, 1.1, 1.1, 1.0)
    want = dict(zip(PRICES + BETWEEN, numbers, strict=True))
    with helpers.drawn_behind(student, "shopping", helpers.bill_of, bill):
        assert_entries(student.shopping(*bill), want, PRICES + BETWEEN, bill)
