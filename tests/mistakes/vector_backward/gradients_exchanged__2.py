"""By hand, and by the alphabet turned round."""

import torch


def broadcast_dot(x, a, b):
    dx, dy = torch.dot(a, b), b.clone()
    return (x * a) @ b, dy, dx
