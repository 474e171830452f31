"""The seeds of a submission's checks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seed of a run. A check's seed is in ``by_check``, or else derived from it."""

    run: int
    by_check: Mapping[str, int] = field(default_factory=dict)

    def of(self, check_id: str) -> int:
        return self.by_check.get(check_id, check_seed(self.run, check_id))


def check_seed(seed: int, check_id: str) -> int:
    """Return a check's seed: 32 bits of a hash of the run's seed and the check's id."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{check_id}".encode()).digest()[:4], "big")
