"""Run checks, decide outcomes and name mistakes; replay checks."""

COMPAT_CHECK = f"{__name__}.compat_check"
DEBUGGER = f"{__name__}.debugger"
"""The main modules of two processes, to be started without importing them."""
