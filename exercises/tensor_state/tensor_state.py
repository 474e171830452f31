"""tensor_state: read what a tensor knows about its graph, and find out where
gradients are kept.

Run `grade tensor_state` to check your work, `grade hint tensor_state` for a
hint. What holds in every lesson is in ../README.md.
"""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    """Return a dictionary that describes t, with five entries.

    "requires_grad", "is_leaf" and "retains_grad" are t's attributes of these
    names. "grad_fn" is the name of the type of t's node, or None. "grad" is a
    copy of the gradient that t holds, or None. Raise no warning, even if t is
    an intermediate result that does not retain its gradient.
    """
    raise NotImplementedError


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Run backward from z and return the gradient of z with respect to each
    tensor, as a list in the order of tensors.

    z is a 0-d tensor. tensors are different leaves and intermediate results
    that z depends on; z itself can be among them.
    """
    raise NotImplementedError


# Two programs, C4 and C5:
#
#     # C4                           # C5
#     x = torch.tensor(              x = torch.tensor(
#         5.0, requires_grad=True        5.0, requires_grad=True
#     )                              )
#     y = x ** 3                     y = x ** 3
#     z = torch.log(y)               z = torch.log(y)
#                                    y.retain_grad()
#                                    z.retain_grad()
#     z.backward()                   z.backward()
#
# For x, y and z of each program: does .grad hold a gradient after the program
# has run? Write True if it does and False if it is None, before you run
# anything.
HAS_GRAD_AFTER_BACKWARD: dict[str, bool] = {
    "C4.x": ...,
    "C4.y": ...,
    "C4.z": ...,
    "C5.x": ...,
    "C5.y": ...,
    "C5.z": ...,
}
