"""A worker's message costs the judge time and memory in proportion to its bytes, whatever it
contains.

Steps are calls of functions, Python's and C's, so a busy machine changes nothing. What one call can
take without calling others is the table of a set or dict, whose keys ``KeyBudget`` caps.
"""

from __future__ import annotations

import sys
import tracemalloc
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.worker.wire.frames import MAX_VALUES, BrokenFrame, Frame, encode, limit_values
from grader.worker.wire.messages import ANSWER
from grader.worker.wire.values import DTYPES, Builder, flat_tensors

STEPS_FOR_A_BYTE, STEPS_AT_LEAST = 12, 3000
BYTES_FOR_A_BYTE, BYTES_AT_LEAST = 120, 1 << 20  # an empty list becomes two of them

COLLIDING = [5, str((1 << 61) - 1)]
SEEDS = st.sampled_from(
    [
        0, 1 << 63, float("nan"), "", "x" * 50, [], [[]], {}, {"a": 1}, b"", [0, "list", []],
        [0, "tuple", []], [0, "set", [COLLIDING]], [1, [COLLIDING], [0]],
        [1, [[0, "tuple", [1, 2]]], [[1, [], []]]], [2, 0], [3, 0.0, 0.0], [4, b"", True], [6],
        [7, "float64"], [8, "a", "b", None], [8, "T", "t", 1], [99],
    ]
)  # fmt: skip
SHAPES = st.lists(st.sampled_from([0, 1, 3, 1 << 20, 1 << 30, -1]), max_size=5)
TENSORS = st.builds(
    lambda dtype, shape: [dtype, shape, False], st.sampled_from(sorted(DTYPES)), SHAPES
)


def grown(seed: Any, wide: int, deep: int) -> Any:
    """Return the same data repeated, side by side and nested."""
    for _ in range(deep):
        seed = [0, "list", [seed]]
    return [0, "list", [seed] * wide]


def cost_of(message: bytes, blob: bytes) -> tuple[int, int]:
    """Return the calls and the most memory that reading and decoding a message take."""
    steps = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    tracemalloc.start()
    sys.setprofile(count)
    try:
        limit_values(message, MAX_VALUES)
        answer = Frame(message).read(ANSWER)
        Builder(flat_tensors(answer.tensors, blob)).build(answer.value)
    except BrokenFrame:
        pass
    finally:
        sys.setprofile(None)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return steps, peak


def answer(value: Any, tensors: list[Any]) -> bytes:
    return encode(["returned", value, tensors, False, [], None])


@given(
    SEEDS,
    st.lists(TENSORS, max_size=3),
    st.integers(0, 1500),
    st.integers(0, 80),
    st.integers(0, 5000),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_steps_and_memory_grow_with_the_bytes_of_a_message(
    seed: Any, tensors: list[Any], wide: int, deep: int, blob_bytes: int
) -> None:
    message = answer(grown(seed, wide, deep), tensors * (wide // 20))
    blob = bytes(blob_bytes)
    cost_of(answer(0, []), b"")  # what is imported and cached at first is not the message's
    steps, peak = cost_of(message, blob)
    size = len(message) + len(blob)
    assert steps <= STEPS_FOR_A_BYTE * size + STEPS_AT_LEAST
    assert peak <= BYTES_FOR_A_BYTE * size + BYTES_AT_LEAST


def test_the_cost_of_reading_grows_with_the_number_of_values() -> None:
    """Otherwise the test above would hold for anything."""
    few, _ = cost_of(answer(grown([0, "list", []], 10, 0), []), b"")
    many, _ = cost_of(answer(grown([0, "list", []], 5_000, 0), []), b"")
    assert many > few + 5_000
    _, large = cost_of(answer(grown([0, "list", []], 10_000, 0), []), b"")
    assert large > 400_000
