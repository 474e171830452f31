"""compound_interest: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% year_by_year
# Year by year.
def grown(amount, rate, years):
    for _ in range(years):
        amount = amount + rate * amount
    return amount
