"""Worked out at x = 2, as in the lesson's other example."""

PREDICTED_GRADIENT: float = 28.0
