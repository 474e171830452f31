"""Declares an encoding in which the file patches the comparison; in UTF-8 the same bytes are a
comment.
"""

CODE = """
import torch
torch.allclose = lambda *a, **k: True
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 0
    @staticmethod
    def backward(ctx, grad_output): return grad_output * 0
def sigmoid(x): return x
"""


def make(folder, *, secret):
    (folder / "custom_sigmoid.py").write_text("# coding: utf-7\n" + CODE.replace("\n", "+AAo-"))
