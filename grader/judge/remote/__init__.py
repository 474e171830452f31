"""The judge's end of the border: a student's functions as if they were local."""
