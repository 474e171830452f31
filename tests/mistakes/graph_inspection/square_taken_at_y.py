"""The square is differentiated where y is."""

PREDICTED_GRADIENT: float = 8.0
