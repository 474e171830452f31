"""tiny: what the engine is tested with."""

from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Twice x."""
    # solution
    return 2 * x
    # end solution


def triple(x: Tensor) -> Tensor:
    """Three times x."""
    # solution
    return 3 * x
    # end solution


# solution
# stub: LIMIT: float = ...
LIMIT: float = 20.0
# end solution
