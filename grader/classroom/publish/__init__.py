"""What leaves the house: the students' bundle, and the engine with a course for another system's
container.
"""

GRADESCOPE_MAIN = f"{__name__}.gradescope_main"
"""The main module of a process; named here, so that who starts it need not import it."""
