"""A session with short deadlines: a candidate may loop forever, and a student is waiting."""

from __future__ import annotations

from typing import Any

from grader.judge.remote.session import StudentSession
from grader.worker.wire.frames import Frame

PATIENCE = 2
"""Several calls in one frame may together take this many times the limit of one call."""


class HurriedSession(StudentSession):
    """A session that never extends a deadline, and does not ask a hanging worker for its stack."""

    def _send(self, do: str, blob: bytes, fields: dict[str, Any], *, patience: int = 1) -> Frame:
        return super()._send(do, blob, fields, patience=min(patience, PATIENCE))

    def _extension(self) -> float:
        return 0.0

    def _where(self, worker: object) -> None:
        return None
