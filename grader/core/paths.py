"""Find the package, and files in it or, in a checkout, beside it."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the package ``grader``."""
CHECKOUT = PACKAGE.parent
"""The folder around it: the repository's root in a checkout, else where packages are installed."""
LOCALE = PACKAGE / "locale"
PACKAGED_COURSE = PACKAGE / "_course"
"""The course that a wheel carries."""


def templates() -> Path:
    """Return the folder of the Jinja templates, in the checkout or in the wheel."""
    beside = CHECKOUT / "templates"
    return beside if (beside / "report.html").exists() else PACKAGE / "_templates"
