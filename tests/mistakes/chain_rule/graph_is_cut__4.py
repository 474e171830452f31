"""The tax does not require grad; what lies in between is worked out by hand, and right."""

import torch


def shopping(apple: float, n_apple: float, tangerine: float, n_tangerine: float, tax: float) -> dict[str, float]:
    a, n, t, m = (torch.tensor(float(number), requires_grad=True) for number in (apple, n_apple, tangerine, n_tangerine))
    multiplier = torch.tensor(float(tax))
    ((a * n + t * m) * multiplier).backward()
    return {
        "apple": a.grad.item(),
        "num_apple": n.grad.item(),
        "tangerine": t.grad.item(),
        "num_tangerine": m.grad.item(),
        "ctax": multiplier.grad.item(),
        **dict.fromkeys(("apple_price", "tangerine_price", "price"), float(tax)),
        "result": 1.0,
    }
