"""Who changes a gradebook."""

from __future__ import annotations

import getpass


def login_name() -> str:
    """Return the name of who runs this, for the trail; ``unknown`` if the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name, as in some containers; an OSError since Python 3.13
        return "unknown"
