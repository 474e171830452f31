"""The chain rule as a small class of one's own, with a backward method: by hand all the same. Hooks collect the bill's gradients."""

import torch
from torch import Tensor


class Step:
    """A value, and how it passes a gradient back to what it was made of."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, 0

    def backward(self, grad):
        self.grad = self.grad + grad
        for parent, local in self.parents:
            parent.backward(grad * local)


def power_of(x, n):
    return Step(x.value**n.value, [(x, n.value * x.value ** (n.value - 1)), (n, x.value**n.value * torch.log(x.value))])


def gradient_by_hand(x: Tensor) -> Tensor:
    leaf = Step(x)
    y, w = power_of(leaf, Step(3)), power_of(leaf, Step(2))
    root = w.value.sqrt()
    z = Step(y.value.log() + root, [(y, 1 / y.value), (w, 1 / (2 * root))])
    z.backward(torch.ones_like(x))
    return leaf.grad


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    base, exponent = Step(x), Step(q)
    y = power_of(base, exponent)
    Step(torch.log(y.value), [(y, 1 / y.value)]).backward(torch.ones_like(x))
    return base.grad, exponent.grad


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    layer = torch.nn.Linear(1, 1).double()
    inputs = torch.tensor([[x]], dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        layer.weight.fill_(w)
        layer.bias.fill_(b)
    layer(inputs).pow(2).sum().backward()
    return inputs.grad.item(), layer.weight.grad.item(), layer.bias.grad.item()


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    found = {}

    def watched(name, tensor):
        tensor.register_hook(lambda grad: found.__setitem__(name, grad.item()))
        return tensor

    def leaf(name, value):
        return watched(name, torch.tensor(float(value), requires_grad=True))

    apples = watched("apple_price", leaf("apple", apple) * leaf("num_apple", n_apple))
    tangerines = watched("tangerine_price", leaf("tangerine", tangerine) * leaf("num_tangerine", n_tangerine))
    price = watched("price", apples + tangerines)
    watched("result", price * leaf("ctax", tax)).backward()
    return found
