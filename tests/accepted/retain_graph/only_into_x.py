"""backward(inputs=[x]); losses taken from the end, the list emptied; the earlier x.grad put back."""

import copy

from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(inputs=[x], retain_graph=True)
    loss.backward(inputs=[x])
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    before, x.grad = x.grad, None
    loss.backward(inputs=[x], retain_graph=True)
    first, x.grad = x.grad, None
    loss.backward(inputs=[x])
    second, x.grad = copy.deepcopy(x.grad), before
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    while losses:
        losses.pop().backward(inputs=[x], retain_graph=bool(losses))
    total, x.grad = x.grad, before
    return total
