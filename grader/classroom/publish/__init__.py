"""Hand-outs: the students' bundle, and engine and course for another system's machine."""

GRADESCOPE_MAIN = f"{__name__}.gradescope_main"
"""The main module of a process; named here, so that who starts it need not import it."""
CLASSROOM50_MAIN = f"{__name__}.classroom50_main"
