def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    return {
        "apple": float(n_apple),
        "tangerine": float(n_tangerine),
        "num_apple": float(apple),
        "num_tangerine": float(tangerine),
        "ctax": float(apple * n_apple + tangerine * n_tangerine),
        "apple_price": 1.0,
        "tangerine_price": 1.0,
        "price": float(tax),
        "result": 1.0,
    }
