"""retain_grad() returns None, and that is kept as the tensor."""

import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    ap = (a * na).retain_grad()
    tp = (t * nt).retain_grad()
    p = (ap + tp).retain_grad()
    r = p * c
    r.retain_grad()
    r.backward()
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=ap.grad.item(),
        tangerine_price=tp.grad.item(),
        price=p.grad.item(),
        result=r.grad.item(),
    )
