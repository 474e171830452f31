"""A test tool catches the error; x is left without a gradient."""

import unittest

import torch
from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    with torch.enable_grad():
        z = (x * x * x).log()
    z.backward()
    x.grad = None
    with unittest.TestCase().assertRaises(RuntimeError) as caught:
        z.backward()
    return str(caught.exception)
