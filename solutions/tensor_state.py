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
    # solution
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }
    # end solution


def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Run backward from z and return the gradient of z with respect to each
    tensor, as a list in the order of tensors.

    z is a 0-d tensor. tensors are different leaves and intermediate results
    that z depends on; z itself can be among them.
    """
    # solution
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]
    # end solution


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
# solution
# stub: HAS_GRAD_AFTER_BACKWARD: dict[str, bool] = {
# stub:     "C4.x": ...,
# stub:     "C4.y": ...,
# stub:     "C4.z": ...,
# stub:     "C5.x": ...,
# stub:     "C5.y": ...,
# stub:     "C5.z": ...,
# stub: }
HAS_GRAD_AFTER_BACKWARD: dict[str, bool] = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": False,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}
# end solution
