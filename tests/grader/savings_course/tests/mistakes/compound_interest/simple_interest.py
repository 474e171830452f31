def grown(amount, rate, years):
    return amount * (1 + rate * years)
