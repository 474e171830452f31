import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.clamp(min=0)

    @staticmethod
    def backward(grad_output):
        return grad_output
