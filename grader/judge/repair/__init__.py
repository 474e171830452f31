"""Find the one wrong expression of a function whose failure has no name."""
