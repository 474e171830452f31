"""The two programs are run, and looked at."""

import torch


def run(retain):
    x = torch.tensor(5.0, requires_grad=True)
    y = x**3
    z = torch.log(y)
    if retain:
        y.retain_grad()
        z.retain_grad()
    z.backward()
    return {"x": x, "y": y, "z": z}


def kept(t):
    return (t.is_leaf or t.retains_grad) and t.grad is not None


HAS_GRAD_AFTER_BACKWARD = {
    **{f"C5.{name}": kept(t) for name, t in run(True).items()},
    **{f"C4.{name}": kept(t) for name, t in run(False).items()},
}
