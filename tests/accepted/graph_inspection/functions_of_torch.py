"""build_loss by torch's functions; the prediction as a product of the links, a whole number."""

import torch


def build_loss(x):
    y = torch.mul(x, 2)
    z = torch.add(y, 3)
    loss = torch.square(z)
    return y, z, loss


PREDICTED_GRADIENT = 2 * (2 * 1 + 3) * 1 * 2
