"""The value of z."""

PREDICTED_GRADIENT: float = 5.0
