"""create_graph=True retains the graph as well: more than is needed, and with a warning, but everything promised is there."""

from torch import Tensor


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(create_graph=True)
    loss.backward()
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(create_graph=True)
    first = x.grad
    x.grad = None
    loss.backward()
    second = x.grad
    x.grad = None
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for loss in losses[:-1]:
        loss.backward(create_graph=True)
    losses[-1].backward()
    return x.grad
