"""Find the one expression that is wrong in a function whose failure has no name."""
