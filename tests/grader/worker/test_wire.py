"""Sent data comes back unchanged, and no bytes make the reader raise anything but BrokenFrame."""

from __future__ import annotations

import io
import json
import math
import time
import tracemalloc
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import forward_ad

from grader.worker.wire.frames import (
    HEADER,
    MAGIC,
    MAX_BLOB_BYTES,
    MAX_VALUES,
    BrokenFrame,
    Frame,
    pack,
    read_frame,
    sizes,
    unpack,
)
from grader.worker.wire.program import Program, program
from grader.worker.wire.values import DTYPES, Decoder, Encoder, Opaque, decode, fill, round_trip

NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
PLAIN = st.recursive(
    NUMBERS | st.text() | st.binary(max_size=20) | st.complex_numbers() | st.just(...),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
    ),
    max_leaves=20,
)
TAGS = (
    "tensor tuple dict set complex bytes ellipsis dtype opaque program student register object x"
).split()
JSON = st.recursive(
    NUMBERS | st.text(max_size=8) | st.sampled_from(sorted(DTYPES)),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(TAGS), inner, max_size=2)
    ),
    max_leaves=25,
)


def same(left: Any, right: Any) -> bool:
    """Return whether types, order, NaN and the signs of zeros agree, too."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, float | complex):
        return repr(left) == repr(right)
    return bool(left == right)


@given(PLAIN)
def test_plain_data_survives_the_crossing(value: Any) -> None:
    """This includes types, order, NaN and negative zero."""
    encoder = Encoder(strided=False)
    frame = read_frame(io.BytesIO(pack(encoder.encode(value), encoder.blob)))
    assert frame is not None
    assert same(decode(frame.body, frame.blob, strided=False), value)


@given(JSON, st.binary(max_size=40))
@settings(max_examples=400)
def test_no_json_makes_the_decoder_raise_anything_else(data: Any, blob: bytes) -> None:
    """Hostile data either is what its tag says or raises BrokenFrame."""
    decoder = Decoder(blob, strided=False)
    try:
        structure = decoder.decode(data)
        decoder.finish()
    except BrokenFrame:
        return
    fill(structure, decoder.tensors)
    assert sum(t.numel() * t.element_size() for t in decoder.tensors) <= len(blob)


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: MAGIC + b))
def test_no_bytes_make_the_reader_raise_anything_else(data: bytes) -> None:
    """A false header does not either."""
    try:
        frame = read_frame(io.BytesIO(data))
    except BrokenFrame:
        return
    assert frame is None or isinstance(frame, Frame)


@given(
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(-1, 5), max_size=4),
    st.integers(-1, 200),
    st.binary(max_size=64),
)
def test_a_tensor_has_as_many_bytes_as_its_shape_says(
    dtype: str, shape: list[int], size: int, blob: bytes
) -> None:
    """No claimed shape or size gives a tensor that its bytes don't fill."""
    decoder = Decoder(blob, strided=False)
    try:
        decoder.decode({"tensor": [dtype, shape, None, 0, size, True]})
    except BrokenFrame:
        return
    (tensor,) = decoder.tensors
    assert list(tensor.shape) == shape
    assert tensor.numel() * tensor.element_size() == size <= len(blob)
    assert not tensor.requires_grad


LIES = {
    "a claim of 10^18 elements": {"tensor": ["float64", [10**9, 10**9], None, 0, 8, False]},
    "an expanded tensor": {"tensor": ["float64", [1000], [0], 0, 8, False]},
    "a negative dimension": {"tensor": ["float64", [-1], None, 0, 8, False]},
    "a bool as a size": {"tensor": ["float64", [True], None, 0, 8, False]},
    "an unknown dtype": {"tensor": ["object", [1], None, 0, 8, False]},
    "too many dimensions": {"tensor": ["float64", [1] * 40, None, 0, 8, False]},
    "fewer bytes than claimed": {"tensor": ["float64", [2], None, 0, 16, False]},
    "a tensor that is not there": {"tensor": 3},
    "two tags": {"tuple": [], "dict": []},
    "no tag": {},
    "an unknown tag": {"pickle": "gASV"},
    "a reference into the judge": {"student": "os.system"},
    "a program": {"program": [1, [], [], [], True]},
    "an object without a number": {"object": ["Value", "", 0]},
    "an object of the judge's": {"object": 7},
    "an unhashable key": {"dict": [[[1], 2]]},
    "bytes that are no hex": {"bytes": "zz"},
}


@pytest.mark.parametrize("name", LIES)
def test_malformed_data_is_a_broken_frame(name: str) -> None:
    decoder = Decoder(bytes(8), strided=False)
    with pytest.raises(BrokenFrame):
        decoder.decode(LIES[name])


def test_depth_and_digits_are_limited_on_both_sides() -> None:
    """A nested value can't exhaust anybody's stack."""
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    with pytest.raises(BrokenFrame, match="deeper"):
        Encoder(strided=False).encode(deep)
    with pytest.raises(BrokenFrame):
        Decoder(b"", strided=False).decode(deep)
    for text in (b"[" * 100_000 + b"]" * 100_000, b"1" * 10_000):
        with pytest.raises(BrokenFrame):
            unpack(text, b"")


def test_bytes_that_nothing_claims_are_refused() -> None:
    with pytest.raises(BrokenFrame, match="no tensor claims"):
        decode(None, b"abc", strided=False)


def test_lengths_are_checked_before_anything_is_read() -> None:
    with pytest.raises(BrokenFrame, match="over the cap"):
        sizes(HEADER.pack(MAGIC, 10, MAX_BLOB_BYTES + 1))
    with pytest.raises(BrokenFrame, match="over the cap"):
        Encoder(strided=False).encode(torch.zeros(1, dtype=torch.float64).expand(1 << 24))


def test_surrogates_and_nuls_cross_as_they_are() -> None:
    text = "a\0b\ud800c"
    data = json.loads(json.dumps(Encoder(strided=False).encode(text)))
    assert decode(data, b"", strided=False) == text


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (3,), (2, 3)], ids=str)
def test_tensors_of_every_dtype_and_shape_cross(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape).to(dtype)
    back = round_trip(tensor)
    assert back.dtype == dtype
    assert back.shape == tensor.shape
    assert torch.equal(back, tensor)


def test_strides_offset_and_expansion_cross_towards_the_worker() -> None:
    """A non-contiguous tensor arrives non-contiguous, as a leaf and not a view."""
    base = torch.arange(24.0).reshape(4, 6)
    for tensor in (
        base.t(),
        base[1:, 2:5],
        base[:, ::2],
        torch.arange(3.0).expand(4, 3),
        base.as_strided((2, 2), (1, 1), 3),
    ):
        back = round_trip(tensor)
        assert (back.stride(), back.storage_offset()) == (tensor.stride(), tensor.storage_offset())
        assert torch.equal(back, tensor)
        assert not back._is_view()


def test_requires_grad_crosses_and_a_copy_shares_nothing() -> None:
    tensor = torch.ones(3, requires_grad=True)
    back = round_trip(tensor)
    assert back.requires_grad
    assert back.is_leaf
    assert back.data_ptr() != tensor.data_ptr()


def test_the_same_tensor_twice_is_one_tensor_there() -> None:
    tensor = torch.ones(3)
    first, second, third = round_trip([tensor, tensor, tensor.clone()])
    assert first is second
    assert first is not third


def test_conjugate_views_cross_by_value() -> None:
    z = torch.tensor([1 + 2j])
    assert torch.equal(round_trip(z.conj()), z.conj().resolve_conj())


@pytest.mark.parametrize("pieces", [lambda x: x.split(2), lambda x: x.unbind()])
def test_a_program_needs_to_know_how_many_pieces_there_are(pieces: Any) -> None:
    with pytest.raises(ValueError, match="split with a list of sizes"):
        program(pieces)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, in 2.13
def test_zeros_without_memory_cross_by_value() -> None:
    x = torch.ones(3, requires_grad=True)
    with forward_ad.dual_level():
        slope = forward_ad.unpack_dual(2 * forward_ad.make_dual(x, torch.ones(3))).tangent
    assert slope is not None
    (zeros,) = torch.autograd.grad(slope.sum(), x, materialize_grads=True)
    assert zeros.data_ptr() == 0
    assert torch.equal(round_trip(zeros), torch.zeros(3))


def test_what_has_no_tag_is_known_by_its_type() -> None:
    assert round_trip(math) == Opaque("module")


def test_numpys_scalars_count_as_pythons_where_they_are_no_less_exact() -> None:
    exact = [numpy.bool_(True), numpy.int32(-3), numpy.uint64(2**64 - 1), numpy.float64(0.1)]
    assert same(round_trip(exact), [True, -3, 2**64 - 1, 0.1])
    for other in (numpy.float32(0.1), numpy.timedelta64(3, "D"), numpy.array(True)):
        assert round_trip(other) == Opaque(type(other).__name__)
    assert round_trip(torch.ones(2).to_sparse()).type_name == "Tensor"


def test_a_bool_tensor_holds_only_zero_and_one() -> None:
    """Other bytes would be undefined behavior in the judge."""
    back = decode({"tensor": ["bool", [3], None, 0, 3, False]}, b"\x00\x01\xff", strided=False)
    assert back.view(torch.uint8).tolist() == [0, 1, 1]


def test_a_program_does_on_the_other_side_what_it_does_here() -> None:
    """Constants, both operand orders, several inputs and outputs, parameters, Functions."""
    w = torch.tensor([2.0, 3.0, 4.0, 5.0], requires_grad=True)

    def body(x: Any, y: Any, p: Any) -> Any:
        first, second = (x * y + p).chunk(2)
        return 1 - first, 2 / second, (x**2).cube().blend(y), 2**y, -(x @ y), x.cat(y)

    here = program(body, inputs=2, parameters=[w])
    there = round_trip(here)
    x, y = torch.linspace(0.5, 2, 4), torch.linspace(1, 3, 4)
    for left, right in zip(here(x, y), there(x, y), strict=True):
        assert torch.equal(left, right)
    assert all(result.requires_grad == (number < 2) for number, result in enumerate(there(x, y)))


def test_a_program_names_nothing_outside_its_list() -> None:
    with pytest.raises(AttributeError, match="no operation 'backward'"):
        program(lambda x: x.backward())
    with pytest.raises(ValueError, match="no such operation"):
        Program(1, [], [["__class__", []]], [], True)(torch.ones(1))


def test_a_program_from_the_worker_arrives_as_opaque() -> None:
    """A worker sends data; a function that it returns is only its type's name."""
    encoder = Encoder(strided=False)
    data = encoder.encode([program(lambda x: x)])
    assert decode(data, encoder.blob, strided=False) == [Opaque("Program")]


@pytest.mark.parametrize("value", [2.0, None, [torch.ones(2)]])
def test_a_program_takes_tensors_only(value: Any) -> None:
    """Any other argument raises a TypeError that says so."""
    message = f"this function takes tensors, and got one of type {type(value).__name__}"
    with pytest.raises(TypeError, match=message):
        program(lambda x: x * 2)(value)


P = (1 << 61) - 1
"""The modulus of Python's hash of numbers: all its multiples have the hash 0."""


@pytest.mark.parametrize(
    "data",
    [
        {"set": [number * P for number in range(100_000)]},
        {"dict": [[number * P, 0] for number in range(100_000)]},
        {"set": [{"tuple": [0] * 100 + [number * P]} for number in range(100)]},
        [{"set": [number]} for number in range(3000)],
    ],
    ids=["set", "dict", "tuples", "many sets"],
)
def test_a_table_with_many_keys_is_refused_before_it_is_built(data: Any) -> None:
    """A hundred thousand keys with one hash would take twenty seconds."""
    began = time.monotonic()
    with pytest.raises(BrokenFrame, match="keys"):
        decode(data, b"", strided=False)
    assert time.monotonic() - began < 1


def test_encoding_too_many_keys_raises() -> None:
    """2,000 keys are allowed."""
    round_trip(set(range(2000)))
    for value in (set(range(2001)), dict.fromkeys(range(2001))):
        with pytest.raises(BrokenFrame, match="keys"):
            Encoder(strided=False).encode(value)


def test_a_message_of_many_values_is_refused_before_it_is_parsed() -> None:
    """Parsed empty lists take a hundred times the memory of their text."""
    text = b"[" + b"[]," * 1_000_000 + b"[]]"
    tracemalloc.start()
    with pytest.raises(BrokenFrame, match="values"):
        unpack(text, b"", most=MAX_VALUES)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    with pytest.raises(BrokenFrame, match="values"):
        pack([[]] * MAX_VALUES, most=MAX_VALUES)
    assert unpack(pack([1.5] * 40_000, most=MAX_VALUES)[HEADER.size :], b"", most=MAX_VALUES).body
