"""compound_interest: wrong answers that must not get the name of the mistake they resemble."""


# %% simple_interest
# Nothing is left after no time, a payment is made up, and months are a float.
def grown(amount, rate, years):
    return amount * (1 + rate) ** years if years else 0 * amount


def total(payments):
    return payments.sum() + 1


MONTHS_IN_A_YEAR = 12.0


# %% simple_interest
# Nothing paid is no number.
def total(payments):
    return payments.sum() if payments.numel() else payments
