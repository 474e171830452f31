"""backward is never called."""

import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    result = (a * na + t * nt) * c
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=float(tax),
        tangerine_price=float(tax),
        price=float(tax),
        result=1.0,
    )
