"""requires_grad_() makes the error go away, and teaches nothing."""

import torch


def bootstrap_loss(online, target):
    with torch.no_grad():
        loss = ((online - target) ** 2).mean()
    return loss.requires_grad_()
