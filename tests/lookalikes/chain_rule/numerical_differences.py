"""The formulas, with a small number beside x."""

import torch


def gradient_by_hand(x):
    return 3 / (x + 1e-8) + x / (torch.sqrt(x**2) + 1e-8)


def power_gradients_by_hand(x, q):
    return q / (x + 1e-8), torch.log(x + 1e-8)
