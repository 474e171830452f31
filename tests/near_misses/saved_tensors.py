"""saved_tensors: wrong answers. A cell shows the definitions that differ from the solution."""

# %% nothing_is_recomputed
# The wrong function.
def checkpointed(f, *xs: Tensor) -> Tensor:
    return f(*xs) * 2
