"""Read off x.grad after the cell was run twice."""

PREDICTED_GRADIENT: float = 40.0
