"""What only the worker can observe in custom_sigmoid, besides the engine's scenarios."""

import torch

from grader.worker.scenarios import copied, replaced, with_methods


def sigmoid_again(student, x, z, v, b):
    """sigmoid and its gradient for v: of x, of a copy of x, and of x after it was set to z; all
    read at the end. Meanwhile forward is torch's, and backward scales by b.
    """
    x = x.detach().clone().requires_grad_()
    results = []
    for leaf, numbers in ((x, x), (x.detach().clone().requires_grad_(), x), (x, z)):
        with torch.no_grad():
            leaf.copy_(numbers)
        others = replaced("Sigmoid", lambda ctx, x, *rest: torch.sigmoid(x), b)
        results.append(with_methods(student.Sigmoid, others, student.sigmoid, [leaf], v.clone()))
    return [{"value": copied(y), "gradient": found and found[0]} for y, found in results]


class NoGradient(torch.autograd.Function):
    """The identity, behind which no gradient begins."""

    @staticmethod
    def forward(ctx, y):
        return y.clone()

    @staticmethod
    def backward(ctx, grad_output):
        return None


def undefined(student, x):
    """x.grad after a backward in which no gradient arrives at Sigmoid, or what was raised."""
    x = x.detach().requires_grad_()
    try:
        NoGradient.apply(student.Sigmoid.apply(x)).sum().backward()
    except Exception as error:
        return {"said": f"{type(error).__name__}: {error}", "gradient": None}
    return {"said": None, "gradient": copied(x.grad)}
