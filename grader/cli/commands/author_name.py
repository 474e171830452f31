"""Find out who changes a gradebook."""

from __future__ import annotations

import getpass


def login_name() -> str:
    """Return the login name for the audit trail; ``unknown`` if the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name, as in some containers; since Python 3.13 an OSError
        return "unknown"
