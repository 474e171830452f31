"""Loss itself."""

PREDICTED_GRADIENT: float = 25.0
