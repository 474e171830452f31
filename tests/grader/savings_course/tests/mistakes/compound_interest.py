"""compound_interest: wrong answers. A cell shows the definitions that differ from the solution."""


# %% simple_interest
# Interest earns no interest.
def grown(amount, rate, years):
    return amount * (1 + rate * years)
