"""tiny: other right answers. A cell shows the definitions that differ from the solution."""

# %% adds
# Adds.
import torch


def double(x):
    return torch.add(x, x)
