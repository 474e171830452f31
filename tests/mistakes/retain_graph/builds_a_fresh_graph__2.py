import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    def backward():
        z = torch.log(x**3)
        z.backward()

    backward()
    try:
        backward()
    except RuntimeError as error:
        return str(error)
