"""2z: the derivative of y = 2x is forgotten."""

PREDICTED_GRADIENT: float = 10.0
