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

from grader.worker.wire.frames import HEADER, MAX_VALUES, BrokenFrame, pack, unpack
from grader.worker.wire.values import DTYPES, Decoder

P = (1 << 61) - 1
STEPS_FOR_A_BYTE, STEPS_AT_LEAST = 12, 3000
BYTES_FOR_A_BYTE, BYTES_AT_LEAST = 120, 1 << 20  # "[]" becomes two lists of 88 bytes or more

SEEDS = st.sampled_from(
    [
        0, P, 10**400, float("nan"), "", "x" * 50, [], [[]], {"tuple": []}, {"set": [P]},
        {"dict": [[P, 0]]}, {"dict": [[{"tuple": [P, P]}, {}]]}, {"opaque": ["a", "b"]},
        {"bytes": 0}, {"complex": [0.0, 0.0]}, {"ellipsis": 0}, {"dtype": "float64"},
        {"object": [1, "T", "t"]}, {"tensor": 0}, {"nonsense": 1},
    ]
)  # fmt: skip
SHAPES = st.lists(st.sampled_from([0, 1, 3, 1 << 20, 1 << 40, -1]), max_size=5)
TENSORS = st.builds(
    lambda dtype, shape: {"tensor": {"dtype": dtype, "shape": shape, "grad": False}},
    st.sampled_from(sorted(DTYPES)),
    SHAPES,
)


def grown(seed: Any, wide: int, deep: int) -> Any:
    """Return the same data repeated, side by side and nested."""
    for _ in range(deep):
        seed = [seed]
    return [seed] * wide


def cost_of(text: bytes, blob: bytes) -> tuple[int, int]:
    """Return the calls and the most memory that reading and decoding a message take."""
    steps = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal steps
        steps += event in ("call", "c_call")

    tracemalloc.start()
    sys.setprofile(count)
    try:
        decoder = Decoder(blob, strided=False)
        decoder.decode(unpack(text, blob, most=MAX_VALUES).body)
        decoder.finish()
    except BrokenFrame:
        pass
    finally:
        sys.setprofile(None)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return steps, peak


@given(SEEDS | TENSORS, st.integers(0, 4000), st.integers(0, 80), st.integers(0, 5000))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_steps_and_memory_grow_with_the_bytes_of_a_message(
    seed: Any, wide: int, deep: int, blob_bytes: int
) -> None:
    try:
        text = pack(grown(seed, wide, deep))[HEADER.size :]
    except (BrokenFrame, ValueError, RecursionError):  # it could not be sent either
        return
    blob = bytes(blob_bytes)
    cost_of(text[:0] + b"0", b"")  # what is imported and cached at first is not the message's
    steps, peak = cost_of(text, blob)
    size = len(text) + len(blob)
    assert steps <= STEPS_FOR_A_BYTE * size + STEPS_AT_LEAST
    assert peak <= BYTES_FOR_A_BYTE * size + BYTES_AT_LEAST


def test_the_cost_of_decoding_grows_with_the_number_of_values() -> None:
    """Otherwise the test above would hold for anything."""
    few, _ = cost_of(b"[" + b"[0]," * 10 + b"0]", b"")
    many, _ = cost_of(b"[" + b"[0]," * 5_000 + b"0]", b"")
    assert many > few + 5_000
    _, large = cost_of(b"[" + b"[]," * 10_000 + b"0]", b"")
    assert large > 400_000
