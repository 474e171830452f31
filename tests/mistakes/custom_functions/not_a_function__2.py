"""A layer, which is another thing with a forward."""

from torch import nn


class Add(nn.Module):
    def forward(self, x, y):
        return x + y
