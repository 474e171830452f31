"""2y, and the inner derivative forgotten too."""

PREDICTED_GRADIENT: float = 4.0
