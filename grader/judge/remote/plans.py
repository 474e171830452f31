"""Ask ahead: send the worker a check's next questions before the check asks them.

What a check asks hardly ever depends on the answers, so with the same seed it asks every submission
what it asked the solution. A *plan* has these questions, recorded while the solution was judged
through the same border. A session that has a plan sends some questions ahead of the one that the
check is waiting for. The worker then goes on while the judge compares, and neither waits for the
other at each question.

A plan can only save time. The session compares each question with the plan. If the check asks
something else, or ends before it has asked everything that was sent ahead, ``plugin`` runs the
check again without a plan, as if nothing had been sent. For this the module must be as it was
before, so a plan is used only for a file that keeps no state between calls
(``Source.keeps_no_state``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.worker.wire.frames import Bytes, encode
from grader.worker.wire.messages import Observe, Request

MOST_AHEAD = 32
"""How many questions may be sent ahead."""
MOST_BYTES_AHEAD = 1 << 16
"""How many bytes of them: less than a socket holds, so that sending never waits for the worker."""


class Question(NamedTuple):
    """A request as it crosses, without what differs between workers."""

    kind: type[Request]
    message: bytes
    """The request in MessagePack."""
    blob: bytes
    scenario: str = ""

    @classmethod
    def of(cls, request: Request, parts: Sequence[Bytes] = ()) -> Question:
        scenario = request.scenario if isinstance(request, Observe) else ""
        return cls(type(request), encode(request), b"".join(parts), scenario)

    @property
    def size(self) -> int:
        return len(self.message) + len(self.blob)


Plan = Sequence[Question]


class OffPlan(BaseException):
    """The check asked something else than was sent ahead. No check may catch it."""


class PlannedCheck:
    """A check that follows its plan: how much of it was asked, and sent."""

    def __init__(self, plan: Plan, *, binding: bool = True) -> None:
        """If the plan is not ``binding``, leaving it has no consequences."""
        self.binding = binding
        self._plan = plan
        self._asked = 0
        self._sent = 0
        self._bytes_ahead = 0

    @property
    def begun(self) -> bool:
        return self._asked > 0

    def ask(self, question: Question) -> bool:
        """Return whether this is the plan's next question."""
        if self._asked == len(self._plan) or self._plan[self._asked] != question:
            return False
        if self._asked < self._sent:
            self._bytes_ahead -= question.size
        self._asked += 1
        return True

    def due(self) -> Iterator[Question]:
        """Yield the questions to send now: the one that was asked, unless it was sent, and those
        that follow it, once half of what may be sent ahead has been asked.
        """
        if self._sent - self._asked > MOST_AHEAD // 2:
            return
        while self._sent < len(self._plan):
            following = self._plan[self._sent]
            ahead = self._sent - self._asked
            if ahead >= 0:
                size = self._bytes_ahead + following.size
                if ahead == MOST_AHEAD or size > MOST_BYTES_AHEAD:
                    return
                self._bytes_ahead = size
            self._sent += 1
            yield following
