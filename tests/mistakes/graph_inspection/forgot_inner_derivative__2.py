"""z times 2: the square's own factor is forgotten."""

PREDICTED_GRADIENT: float = (2 * 1 + 3) * 2
