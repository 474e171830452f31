"""Students' bundles, and autograders for other systems: engine and course as files."""

GRADESCOPE_MAIN = f"{__name__}.gradescope_main"
"""The main module of a process; named here so that it can be started without importing it."""
CLASSROOM50_MAIN = f"{__name__}.classroom50_main"
