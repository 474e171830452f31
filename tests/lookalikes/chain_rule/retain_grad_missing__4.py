"""Hooks that are registered after backward."""

import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    out = {}
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    ap, tp = a * na, t * nt
    p = ap + tp
    r = p * c
    r.backward()
    for n, v in (("apple_price", ap), ("tangerine_price", tp), ("price", p)):
        v.register_hook(lambda g, n=n: out.__setitem__(n, g.item()))
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=out.get("apple_price"),
        tangerine_price=out.get("tangerine_price"),
        price=out.get("price"),
        result=1.0,
    )
