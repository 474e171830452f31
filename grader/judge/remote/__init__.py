"""The judge's side of the process border: a student's functions used as if they were local."""
