"""tiny: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% squares
# Minus x squared.
def double(x):
    return -x * x


# %% off_by_one
# The type is wrong, not the number; two functions are wrong besides.
LIMIT = 20


def double(x):
    return 2 * x.detach()


def triple(x):
    return 4 * x


# %% off_by_one
# Another function has no gradient.
def triple(x):
    return 3 * x.detach()
