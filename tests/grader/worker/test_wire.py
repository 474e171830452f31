"""Sent data comes back unchanged, and no bytes make the reader raise anything but BrokenFrame."""

from __future__ import annotations

import io
import math
import time
import tracemalloc
from typing import Any

import msgspec
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
    encode,
    framed,
    limit_values,
    pack,
    read_frame,
    sizes,
)
from grader.worker.wire.messages import ANSWER, Raised, Returned, explain
from grader.worker.wire.program import Program, program
from grader.worker.wire.values import (
    DTYPES,
    MAX_DIMS,
    Builder,
    Dict,
    Digits,
    Encoder,
    Flat,
    Items,
    ObjectRef,
    Opaque,
    ProgramOf,
    StudentAt,
    TensorAt,
    flat_of,
    flat_tensors,
    round_trip,
    strided_of,
)

NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
LARGE = st.integers(-(1 << 66), 1 << 66) | st.sampled_from([-(1 << 63), (1 << 64) - 1, 1 << 64])
TEXTS = st.text() | st.text(st.characters(categories=["Cs", "L"]), max_size=5)
PLAIN = st.recursive(
    NUMBERS
    | LARGE
    | TEXTS
    | st.binary(max_size=20)
    | st.complex_numbers()
    | st.just(...)
    | st.sampled_from(list(DTYPES.values())),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
        | st.sets(st.integers(), max_size=4)
    ),
    max_leaves=20,
)
WORDS = ["returned", "gradients", "raised", "missing", "loaded", "function", *sorted(DTYPES)]
UNTYPED = st.recursive(
    NUMBERS | st.text(max_size=8) | st.binary(max_size=8) | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.dictionaries(st.text(max_size=4), inner, max_size=2)
        | st.tuples(st.just(0), st.sampled_from(["list", "set"]), st.lists(inner)).map(list)
        | st.tuples(st.integers(-1, 16), inner).map(list)
        | st.tuples(st.sampled_from(WORDS), inner, inner, inner, inner).map(list)
    ),
    max_leaves=25,
)


def crossed(value: Any) -> Any:
    """Return a value as the judge gets it from a worker: encoded, read and built."""
    encoder = Encoder(strided=False)
    answer = Returned(encoder.encode(value), encoder.headers)
    return received(framed(encode(answer), encoder.parts))


def received(data: bytes) -> Any:
    """Read a worker's frame as the judge does; return the value."""
    frame = read_frame(io.BytesIO(data))
    assert frame is not None
    limit_values(bytes(frame.message), MAX_VALUES)
    answer = frame.read(ANSWER)
    if not isinstance(answer, Returned):
        return answer
    written = [one.tensor for one in answer.written]
    return Builder(flat_tensors(answer.tensors + written, frame.blob)).build(answer.value)


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
    """This includes types, order, NaN, negative zero, large integers and lone surrogates."""
    assert same(crossed(value), value)
    assert same(round_trip(value), value)


@given(UNTYPED, st.binary(max_size=40))
@settings(max_examples=400)
def test_no_message_makes_the_judge_raise_anything_else(data: Any, blob: bytes) -> None:
    """Hostile data either is what its type says or raises BrokenFrame."""
    for message in (data, ["returned", data, [], False, [], None]):
        try:
            received(framed(encode(message), (blob,)))
        except BrokenFrame:
            pass
        except OverflowError:  # no worker can send such an integer
            return


@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: MAGIC + b))
def test_no_bytes_make_the_reader_raise_anything_else(data: bytes) -> None:
    """A false header does not either."""
    try:
        frame = read_frame(io.BytesIO(data))
    except BrokenFrame:
        return
    assert frame is None or isinstance(frame, Frame)


@given(st.binary(max_size=200), st.integers(0, 300))
def test_no_bytes_make_the_count_or_the_decoder_raise_anything_else(data: bytes, most: int) -> None:
    with pytest.raises(BrokenFrame):
        limit_values(data + b"\xdd\xff\xff\xff\xff", 0)
    try:
        limit_values(data, most)
        Frame(data).read(ANSWER)
    except BrokenFrame:
        pass


SIZED = st.sampled_from(
    ["x" * n for n in (0, 31, 32, 255, 256, 70_000)]
    + [bytes(n) for n in (0, 255, 256, 70_000)]
    + [[0] * n for n in (15, 16, 70_000)]
    + [dict.fromkeys(map(str, range(n))) for n in (15, 16)]
)
EXTENSIONS = st.builds(msgspec.msgpack.Ext, st.integers(-1, 5), st.binary(max_size=20))


@given(
    st.recursive(
        NUMBERS.filter(lambda n: not isinstance(n, int) or abs(n) < 1 << 63) | SIZED | EXTENSIONS,
        lambda inner: (
            st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=3), inner, max_size=20)
        ),
        max_leaves=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_values_of_a_message_are_counted(value: Any) -> None:
    message, count = encode(value), values_in(value)
    limit_values(message, count)
    with pytest.raises(BrokenFrame, match="values"):
        limit_values(message, count - 1)


def values_in(value: Any) -> int:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return 1 + sum(map(values_in, value)) if isinstance(value, list) else 1


@given(
    st.sampled_from(sorted(DTYPES)),
    st.lists(st.integers(-1, 5), max_size=4),
    st.binary(max_size=64),
)
def test_a_tensor_has_as_many_bytes_as_its_shape_says(
    dtype: str, shape: list[int], blob: bytes
) -> None:
    """No claimed shape gives a tensor that its bytes don't fill."""
    message = encode(Returned(TensorAt(0), [Flat(dtype, shape, True)]))
    try:
        tensor = received(framed(message, (blob,)))
    except BrokenFrame:
        return
    assert list(tensor.shape) == shape
    assert tensor.numel() * tensor.element_size() == len(blob)
    assert not tensor.requires_grad


def with_tensor(dtype: Any, shape: Any, requires_grad: Any = False) -> list[Any]:
    """Return an answer with eight bytes' tensor, which claims to be another."""
    return ["returned", [2, 0], [[dtype, shape, requires_grad]], False, [], None]


def with_value(value: Any) -> list[Any]:
    return ["returned", value, [["float64", [1], False]], False, [], None]


LIES = {
    "a claim of 10^18 elements": with_tensor("float64", [10**9, 10**9]),
    "a claim of 10^40 elements": with_tensor("float64", [2**31 - 1] * MAX_DIMS),
    "a tensor with strides": with_tensor("float64", [1000], [0]),
    "a negative dimension": with_tensor("float64", [-1]),
    "a huge dimension": with_tensor("float64", [1 << 62, 0]),
    "an empty tensor out of proportion": with_tensor("float64", [0, 1 << 30]),
    "a bool as a size": with_tensor("float64", [True]),
    "a text as a size": with_tensor("float64", ["1"]),
    "a float as a size": with_tensor("float64", [1.0]),
    "an unknown dtype": with_tensor("object", [1]),
    "too many dimensions": with_tensor("float64", [1] * 40),
    "fewer bytes than claimed": with_tensor("float64", [2]),
    "more bytes than claimed": with_tensor("float64", [0]),
    "a tensor that is not there": with_value([2, 3]),
    "a tensor with a negative number": with_value([2, -1]),
    "more fields than it has": with_value([0, "list", [], []]),
    "another container": with_value([0, "deque", []]),
    "no tag": with_value([]),
    "a map": with_value({"tuple": []}),
    "an extension": with_value(msgspec.msgpack.Ext(1, b"x")),
    "a time": with_value(msgspec.msgpack.Ext(-1, bytes(8))),
    "bytes": with_value(b"x"),
    "an unknown tag": with_value([99, []]),
    "a text as a tag": with_value(["pickle", "gASV"]),
    "a reference into the judge": with_value([10, "os.system"]),
    "a program": with_value([12, [1, *[[0, "list", []]] * 3, True]]),
    "a register": with_value([11, 1]),
    "an object without a number": with_value([8, "Value", "", 0]),
    "an object with a huge number": with_value([8, "Value", "", 1 << 63]),
    "an object of the judge's": with_value([9, 7]),
    "a key that can't be one": with_value([1, [[0, "list", [1]]], [2]]),
    "more keys than values": with_value([1, [1, 2], [1]]),
    "bytes that are no text": with_value([4, b"\xff", True]),
    "digits that are none": with_value([5, "zz"]),
    "digits without end": with_value([5, "9" * 4301]),
    "a long name": with_value([8, "V" * 4001, "", None]),
    "no message": [],
    "another message": ["pickle", "gASV"],
    "a request": ["describe", "f"],
    "an answer with a field too many": [*with_value(1), 1],
    "an answer with a field too few": ["returned"],
    "a written input before the first": ["returned", 1, [], False, [[-1, ["bool", [8], False]]], 1],
    "a line before the first": ["returned", 1, [["float64", [1], False]], False, [], 0],
    "a line far below": ["returned", 1, [["float64", [1], False]], False, [], 1 << 40],
    "an exception of too many classes": ["raised", "E", "", ["A"] * 21, 1, False, None],
    "a flag that is a number": ["raised", "E", "", [], 1, 1, None],
    "too many names": ["missing", "f", ["n"] * 101, None],
}


@pytest.mark.parametrize("name", LIES)
def test_malformed_data_is_a_broken_frame(name: str) -> None:
    with pytest.raises(BrokenFrame):
        received(framed(encode(LIES[name]), (bytes(8),)))


def test_the_forms_that_lies_have_are_those_of_true_messages() -> None:
    """Otherwise the test above would hold for anything."""
    tensor = received(framed(encode(with_tensor("float64", [1])), (bytes(8),)))
    assert torch.equal(tensor, torch.zeros(1, dtype=torch.float64))
    assert received(framed(encode(with_value([0, "tuple", [2, 3]])), (bytes(8),))) == (2, 3)
    assert isinstance(received(pack(["missing", "f", ["n"] * 100, None])), msgspec.Struct)


@pytest.mark.parametrize(
    "message",
    [
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\x96\xa8returned\x93\x00\xa3set\xdd\xff\xff\xff\xff",
        b"\x96\xa8returned\x93\x00\xa3set\xdc\xff\xff",
        b"\x96\xa8returned" + b"\x93\x00\xa3set\xdc\x7f\xff" * 200,
        b"\x96\xa8returned\xc6\xff\xff\xff\xff",
        b"\x96\xa8returned\xdb\xff\xff\xff\xff",
    ],
)
def test_a_size_that_is_a_lie_takes_no_memory(message: bytes) -> None:
    """The second claims two values for each key."""
    tracemalloc.start()
    with pytest.raises(BrokenFrame):
        received(framed(message, ()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_depth_and_digits_are_limited_on_both_sides() -> None:
    """A nested value can't exhaust anybody's stack."""
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    with pytest.raises(BrokenFrame, match="deeper"):
        Encoder(strided=False).encode(deep)
    for levels in (100, 1000, 40_000):
        message = b"\x96\xa8returned" + b"\x93\x00\xa5tuple\x91" * levels + b"\x01\x90\xc2\x90\xc0"
        with pytest.raises(BrokenFrame, match=r"deeper|recursion|values"):
            received(framed(message, ()))
    with pytest.raises(BrokenFrame, match="digits"):
        Encoder(strided=False).encode(10**5000)


def test_bytes_that_nothing_claims_are_refused() -> None:
    with pytest.raises(BrokenFrame, match="in a blob of 3"):
        received(framed(encode(Returned(None)), (b"abc",)))


def test_lengths_are_checked_before_anything_is_read() -> None:
    with pytest.raises(BrokenFrame, match="over the cap"):
        sizes(HEADER.pack(MAGIC, 10, MAX_BLOB_BYTES + 1, 0))
    with pytest.raises(BrokenFrame, match="over the cap"):
        Encoder(strided=False).encode(torch.zeros(1, dtype=torch.float64).expand(1 << 24))


def test_a_text_of_the_engine_with_a_lone_surrogate_is_escaped() -> None:
    frame = read_frame(io.BytesIO(pack({"a\ud800": ["b\udc80", 1, ("c", None)]})))
    assert frame is not None
    assert frame.body == {r"a\ud800": [r"b\udc80", 1, ["c", None]]}


def test_an_exceptions_texts_can_be_sent() -> None:
    error = type("E" * 400, (ValueError,), {})("m\udc80" * 5000)
    raised = received(framed(encode(explain(error, "f.py")), ()))
    assert isinstance(raised, Raised)
    assert (len(raised.type_name), len(raised.message)) == (200, 4000)


ELEMENTS = {
    torch.bool: st.booleans(),
    torch.uint8: st.integers(0, 255),
    torch.float64: st.floats(),
    torch.complex128: st.complex_numbers(),
}


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """Draw a tensor of any dtype and layout, such as empty, 0-d, expanded or conjugate."""
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    kind = torch.float64 if dtype.is_floating_point else torch.int64
    kind = torch.complex128 if dtype.is_complex else kind
    elements = draw(
        st.lists(
            ELEMENTS.get(kind, st.integers(0, 100)),
            min_size=math.prod(shape),
            max_size=math.prod(shape),
        )
    )
    tensor = torch.tensor(elements, dtype=kind).reshape(shape).to(dtype)
    change = draw(st.sampled_from(["", "t", "expand", "slice", "conj", "neg"]))
    if change == "t":
        tensor = tensor.permute(tuple(reversed(range(tensor.dim()))))
    elif change == "expand":
        tensor = tensor.expand(2, *tensor.shape)
    elif change == "slice" and shape:
        tensor = tensor[1:]
    elif change == "conj" and dtype.is_complex:
        tensor = tensor.conj()
    elif change == "neg" and dtype.is_complex:
        tensor = tensor.conj().imag
    wants = draw(st.booleans()) and (tensor.is_floating_point() or tensor.is_complex())
    return tensor.detach().requires_grad_(wants)


def bits(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    row = plain.as_strided((plain.numel(),), (1,))  # a single element may have any stride
    return bytes(row.view(torch.uint8).tolist())


@given(tensors())
@settings(max_examples=300)
def test_every_tensor_crosses_bit_by_bit(tensor: torch.Tensor) -> None:
    """Both ways; towards the worker with its layout."""
    (from_worker,) = crossed([tensor])
    there = round_trip(tensor)
    for back in (from_worker, there):
        assert (back.dtype, back.shape, back.is_leaf) == (tensor.dtype, tensor.shape, True)
        assert bits(back) == bits(tensor)
        assert not back._is_view()
    assert there.requires_grad == tensor.requires_grad
    if tensor.numel() and not (tensor.is_conj() or tensor.is_neg()):
        layouts = [(one.stride(), one.storage_offset()) for one in (there, tensor)]
        assert layouts[0] == layouts[1]


def test_a_workers_tensor_crosses_without_a_copy() -> None:
    tensor = torch.arange(4.0)
    _, memory = flat_of(tensor)
    tensor[0] = 7.0
    assert bytes(memory) == tensor.numpy().tobytes()
    del tensor
    assert torch.frombuffer(bytearray(memory), dtype=torch.float32).tolist() == [7.0, 1.0, 2.0, 3.0]


def test_a_judges_tensor_crosses_as_it_was_when_it_was_sent() -> None:
    tensor = torch.arange(4.0)
    header, memory = strided_of(tensor)
    tensor[0] = 7.0
    assert header.tensor(memory).tolist() == [0.0, 1.0, 2.0, 3.0]


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


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, in 2.13
@pytest.mark.parametrize("transform", [torch.func.jacfwd, torch.func.jacrev, torch.func.hessian])
def test_a_tensor_that_a_transform_of_torch_func_left_behind_crosses(transform: Any) -> None:
    """A student's code asks for f from inside the transform; f's argument is read afterwards."""
    found = []

    def f(x: torch.Tensor) -> torch.Tensor:
        found.append(x)
        return (x**2).sum()

    x = torch.arange(3.0)
    transform(f)(x)
    assert bytes(flat_of(found[0])[1]) == x.numpy().tobytes()


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
    (back,) = flat_tensors([Flat("bool", [3], False)], b"\x00\x01\xff")
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


def test_what_only_the_judge_sends_arrives_from_a_worker_as_opaque() -> None:
    """A worker sends data; a function that it returns is only its type's name."""
    assert crossed([program(lambda x: x)]) == [Opaque("Program")]
    for node in (ProgramOf([1, Items("list", [])]), StudentAt("f"), ObjectRef(1)):
        with pytest.raises(BrokenFrame, match="only the judge sends"):
            Builder([]).build(node)


@pytest.mark.parametrize("value", [2.0, None, [torch.ones(2)]])
def test_a_program_takes_tensors_only(value: Any) -> None:
    """Any other argument raises a TypeError that says so."""
    message = f"this function takes tensors, and got one of type {type(value).__name__}"
    with pytest.raises(TypeError, match=message):
        program(lambda x: x * 2)(value)


P = (1 << 61) - 1
"""The modulus of Python's hash of numbers: all its multiples have the hash 0."""


@pytest.mark.parametrize(
    "node",
    [
        Items("set", [Digits(str(number * P)) for number in range(7_000)]),
        Dict([Digits(str(number * P)) for number in range(7_000)], [0] * 7_000),
        Items("set", [Items("tuple", [*[0] * 100, number]) for number in range(100)]),
        Items(
            "set", [Items("tuple", [Items("tuple", [*[0] * 99, number])]) for number in range(100)]
        ),
        Items("list", [Items("set", [number]) for number in range(3000)]),
    ],
    ids=["set", "dict", "tuples", "tuples in tuples", "many sets"],
)
def test_a_table_with_many_keys_is_refused_before_it_is_built(node: Any) -> None:
    """A hundred thousand keys with one hash would take twenty seconds."""
    began = time.process_time()
    with pytest.raises(BrokenFrame, match="keys"):
        received(framed(encode(Returned(node)), ()))
    assert time.process_time() - began < 1


def test_encoding_too_many_keys_raises() -> None:
    """2,000 keys are allowed."""
    round_trip(set(range(2000)))
    for value in (set(range(2001)), dict.fromkeys(range(2001))):
        with pytest.raises(BrokenFrame, match="keys"):
            Encoder(strided=False).encode(value)


def test_a_message_of_many_values_is_refused_before_it_is_parsed() -> None:
    """Parsed empty lists take a hundred times the memory of their bytes."""
    message = encode(["returned", [0, "list", [[]] * 1_000_000]])
    tracemalloc.start()
    with pytest.raises(BrokenFrame, match="values"):
        received(framed(message, ()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20
    assert len(crossed([1.5] * 40_000)) == 40_000
