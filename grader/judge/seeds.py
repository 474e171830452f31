"""The seeds of a submission's checks."""

from __future__ import annotations

import hashlib


def check_seed(seed: int, check_id: str) -> int:
    """Return a check's seed: 32 bits of a hash of the run's seed and the check's id."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{check_id}".encode()).digest()[:4], "big")
