"""A class has both ways, of which only the written-out one is called; a field is called grad, as is what an import brings elsewhere."""

from dataclasses import dataclass

import torch
from torch.autograd import grad


@dataclass
class Term:
    value: torch.Tensor
    grad: torch.Tensor | float = 0.0


class Power:
    def on_paper(self, x, q):
        return [Term(x, q / x), Term(q, torch.log(x))]

    def by_torch(self, x, q):
        return grad((x**q).log().sum(), (x, q))


def power_gradients_by_hand(x, q):
    with torch.no_grad():
        match [term.grad for term in Power().on_paper(x, q)]:
            case [first, grad]:
                return first, grad
