"""saved_tensors: wrong answers. A cell shows the definitions that differ from the solution."""

# %% nothing_is_recomputed
# f runs once, and its graph keeps everything.
def checkpointed(f, *xs: Tensor) -> Tensor:
    return f(*xs)
