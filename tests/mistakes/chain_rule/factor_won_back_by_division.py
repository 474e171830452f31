def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    apple_price, tangerine_price = apple * n_apple, tangerine * n_tangerine
    price = apple_price + tangerine_price
    return {
        "apple": float(apple_price / apple * tax),
        "num_apple": float(apple_price / n_apple * tax),
        "tangerine": float(n_tangerine * tax),
        "num_tangerine": float(tangerine * tax),
        "ctax": float(price),
        "apple_price": float(tax),
        "tangerine_price": float(tax),
        "price": float(tax),
        "result": 1.0,
    }
