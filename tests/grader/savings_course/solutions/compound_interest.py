"""compound_interest: what a savings account holds."""

from torch import Tensor


def grown(amount: Tensor, rate: float, years: int) -> Tensor:
    """Return amounts after whole years at a yearly rate, with compound interest."""
    # solution
    return amount * (1 + rate) ** years
    # end solution


def total(payments: Tensor) -> Tensor:
    """Return the sum of all payments, as a tensor without dimensions."""
    # solution
    return payments.sum()
    # end solution


# solution
# stub: MONTHS_IN_A_YEAR: int = ...
MONTHS_IN_A_YEAR: int = 12
# end solution
