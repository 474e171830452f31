import torch


def bootstrap_loss(online, target):
    loss = ((online - target.detach()) ** 2).mean()
    return torch.tensor(loss.item(), dtype=online.dtype, requires_grad=True)
