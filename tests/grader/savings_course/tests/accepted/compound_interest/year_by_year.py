def grown(amount, rate, years):
    for _ in range(years):
        amount = amount + rate * amount
    return amount
