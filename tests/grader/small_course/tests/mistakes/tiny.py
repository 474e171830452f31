"""tiny: wrong answers. A cell shows the definitions that differ from the solution."""

# %% off_by_one
# One too few.
LIMIT = 19.0


# %% squares
# x is squared.
def double(x):
    return x * x
