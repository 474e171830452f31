"""Lessons as notebooks: read as text, run cell by cell, without IPython's magics."""
