"""tiny: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% squares
# Minus x squared.
def double(x):
    return -x * x
