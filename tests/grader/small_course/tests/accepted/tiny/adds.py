import torch


def double(x):
    return torch.add(x, x)
