"""A class and a table have both ways, of which only the one on paper is called; a field is called grad, as is what an import brings."""

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


def on_paper(x):
    return 3 / x + 1


def by_torch(x):
    x = x.detach().requires_grad_()
    return grad((x**3).log().sum() + (x**2).sqrt().sum(), x)[0]


WAYS = {"paper": on_paper, "torch": by_torch}


def gradient_by_hand(x):
    with torch.no_grad():
        return WAYS["paper"](x)
