"""A share that nobody asked for divides by a whole number that is 0 at any bill."""


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    halves = 1 // 2
    return {"apple": tax * n_apple / halves, "tangerine": tax * n_tangerine / halves}
