"""Code that runs in the process with the student's code."""

SPAWNED_WORKER = f"{__name__}.spawned"
"""The main module of a process; named here so that it can be started without importing it."""
