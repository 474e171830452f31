import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    torch.autograd.grad(z, x, create_graph=True)
    try:
        torch.autograd.grad(z, x)
    except RuntimeError as error:
        return str(error)
