from torch import Tensor


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    for loss in losses[:-1]:
        loss.backward(retain_graph=True)
    losses[-1].backward()
    return x.grad
