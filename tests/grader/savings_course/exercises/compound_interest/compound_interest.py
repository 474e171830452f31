"""compound_interest: what a savings account holds."""

from torch import Tensor


def grown(amount: Tensor, rate: float, years: int) -> Tensor:
    """Return amounts after whole years at a yearly rate, with compound interest."""
    raise NotImplementedError


def total(payments: Tensor) -> Tensor:
    """Return the sum of all payments, as a tensor without dimensions."""
    raise NotImplementedError


MONTHS_IN_A_YEAR: int = ...
