from torch import Tensor


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for k, loss in enumerate(losses):
        (loss / len(losses)).backward(retain_graph=k < len(losses) - 1)
    return x.grad
