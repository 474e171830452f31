import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    z = torch.log(x * x * x)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        print(f"as expected: {error}")
