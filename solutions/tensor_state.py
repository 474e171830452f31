"""tensor_state: what a tensor knows about its place in the graph, and where backward leaves a
gradient.

Run `grade tensor_state` to see how far you are, `grade hint tensor_state` for a nudge.
"""

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    """Return what t remembers, as a dictionary with these five entries.

    "requires_grad", "is_leaf", "retains_grad": bool, as t has them. "grad_fn": the type name of t's
    node, a str such as "PowBackward0"; None where t has no node. "grad": a copy of the gradient
    that t holds, with its shape and dtype; None where t holds none. Whatever is written into t.grad
    later does not show in the copy, nor the other way round.

    t is any tensor, of any shape and dtype, before a backward or after one. No warning is raised,
    on an intermediate result either, and t is left as it was.
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
    """Run backward from z and return the gradient of z with respect to each of the tensors, as a
    list in their order.

    z is a 0-d tensor. tensors are one or more that require grad and that z depends on: leaves,
    intermediate results, z itself. Each gradient has its tensor's shape and dtype. What .grad of
    any of them held before, be it a leaf's or an intermediate result's, is not counted in.
    """
    # solution
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]
    # end solution


# True where .grad holds a gradient once the program has run, False where it is None. Two programs,
# C4 and C5:
#  C4:  x = torch.tensor(5.0, requires_grad=True)        C5:  x = torch.tensor(5.0,
# requires_grad=True) y = x ** 3                                            y = x ** 3 z =
# torch.log(y)                                      z = torch.log(y) y.retain_grad() z.retain_grad()
# z.backward()                                          z.backward()
#
# Write down what you think before you run anything.
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
