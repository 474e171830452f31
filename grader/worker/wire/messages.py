"""The messages between judge and worker, one type each, and the decoders of both sides.

::

    judge  ── Asked (Load, Describe, Call, Product, Observe, Run) ─────────▶  worker
           ◀── Loaded, Function, Returned, Gradients, Missing, Raised ──────

msgspec checks every field of a message against its type and limits before the message exists.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from grader.worker.wire.values import MAX_TEXT, Flat, Node, Strided, Text, Value, shortened

MAX_LINE = 1 << 20
"""A file has at most as many lines as bytes."""
MAX_NAME, MAX_TYPE = 80, 200
MAX_NAMES, MAX_REPLACED, MAX_ANCESTORS = 100, 20, 20
Line = Annotated[int, Meta(gt=0, lt=MAX_LINE)] | None
Name = Annotated[str, Meta(max_length=MAX_NAME)]
TypeName = Annotated[str, Meta(max_length=MAX_TYPE)]


class Load(Node, tag="load"):
    """Execute the student's file as the module ``name``. ``words``: as in ``process.execute``."""

    source: str
    filename: str
    name: str
    words: list[str]
    optional_after: int | None


class Describe(Node, tag="describe"):
    """Say what a name in the student's module is: a callable, a value, or missing."""

    path: str


class Call(Node, tag="call"):
    """Call a function of the student; keep inputs and outputs under the number ``keep``."""

    path: str
    args: list[Value]
    kwargs: dict[str, Value]
    tensors: list[Strided]
    grad: bool
    keep: int


class Product(Node, tag="product"):
    """Return the vector-Jacobian product of the call that is kept as ``handle``.

    ``incoming`` has a gradient for each of its outputs, or None. The product is kept too, so this
    nests to any order.
    """

    handle: int
    incoming: list[Strided | None]
    needs: list[bool]
    create_graph: bool
    retain_graph: bool
    keep: int


class Observe(Node, tag="observe"):
    """Run a scenario on the student's module."""

    scenario: str
    args: list[Value]
    kwargs: dict[str, Value]
    tensors: list[Strided]


class Step(Node):
    """A step on objects (``process.Objects``): ``out`` is the number of its result."""

    kind: str
    out: int
    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    grad: bool


class Run(Node, tag="run"):
    """Run steps and return the objects to ``read``. Earlier steps had ``sent`` tensors."""

    steps: list[Step]
    read: list[int]
    sent: int
    tensors: list[Strided]
    keep: int


Request = Load | Describe | Call | Product | Observe | Run


class Asked(Node):
    """A request, and what differs between workers.

    ``freed`` are handles that the judge no longer uses. ``forget``: drop all objects. ``warned``
    says what to do about warnings, which Python shows once: ``keep`` those that were shown so far
    in mind, or ``restore`` that state. ``traced`` is a function to trace: its name, and the lines
    of its returns. ``source`` is that of a scenario that the worker does not have.
    """

    request: Request
    freed: list[int] = field(default_factory=list)
    forget: bool = False
    warned: str = ""
    traced: tuple[str, list[int]] | None = None
    source: str | None = None


class Answer(Node, kw_only=True):
    """Base of answers. ``returned`` is the line at which the traced function returned."""

    returned: Line = None

    @property
    def headers(self) -> list[Flat]:
        """The headers of all tensors in the blob, in order; last come those in ``written``."""
        return []


class Loaded(Answer, tag="loaded"):
    """The module is loaded; names of torch and Python that its file has replaced."""

    replaced: Annotated[list[Name], Meta(max_length=MAX_REPLACED)]


class Function(Answer, tag="function"):
    """A name is a function, a class or another callable."""

    is_class: bool


class Written(Node):
    """What the student's code wrote into an input: its position, and what it holds now."""

    position: Annotated[int, Meta(ge=0)]
    tensor: Flat


class Returned(Answer, tag="returned"):
    """A value. ``kept``: its graph is kept under the number that the judge chose."""

    value: Value
    tensors: list[Flat] = field(default_factory=list)
    kept: bool = False
    written: list[Written] = field(default_factory=list)

    @property
    def headers(self) -> list[Flat]:
        return [*self.tensors, *(one.tensor for one in self.written)]


class Gradients(Answer, tag="gradients"):
    """A vector-Jacobian product: for each input a gradient, or None."""

    gradients: list[Flat | None]
    kept: bool
    written: list[Written]

    @property
    def headers(self) -> list[Flat]:
        found = [one for one in self.gradients if one is not None]
        return [*found, *(one.tensor for one in self.written)]


class Missing(Answer, tag="missing"):
    """The student's module does not have a name; the names that it has."""

    name: Name
    names: Annotated[list[Name], Meta(max_length=MAX_NAMES)]


class Raised(Answer, tag="raised"):
    """The student's code raised. ``line`` is the innermost one of the student's file.

    ``raised_here``: the exception comes from a ``raise NotImplementedError`` in that file, as the
    stubs have it.
    """

    type_name: TypeName
    message: Text
    ancestors: Annotated[list[TypeName], Meta(max_length=MAX_ANCESTORS)] = field(
        default_factory=list
    )
    line: Line = None
    raised_here: bool = False


ASKED = msgspec.msgpack.Decoder(Asked)
ANSWER: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(
    Loaded | Function | Returned | Gradients | Missing | Raised
)


def explain(error: BaseException, filename: str) -> Raised:
    """Return an exception as plain data. ``filename`` is that of the student's file."""
    line, innermost, trace = None, "", error.__traceback__
    while trace is not None:
        innermost = trace.tb_frame.f_code.co_filename
        if innermost == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    statement = linecache.getline(filename, line or 0).strip()
    message = _text(error)
    raised_here = innermost == filename and "raise NotImplementedError" in statement
    if isinstance(error, SyntaxError) and error.filename == filename:
        line, message = error.lineno, str(error.msg)
    return Raised(
        shortened(type(error).__name__, MAX_TYPE),
        shortened(message),
        [shortened(base.__name__, MAX_TYPE) for base in type(error).__mro__[1:MAX_ANCESTORS]],
        line if type(line) is int and 0 < line < MAX_LINE else None,
        raised_here,
    )


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT] + _suggestion(error)
    except BaseException:  # the student's __str__ may raise
        return "(an exception without text: its __str__ raised)"


SUGGESTION = re.compile(r"\. Did you (mean: '[\w.]+'|forget to import '\w+')\?\Z")


def _suggestion(error: BaseException) -> str:
    """Return what Python prints after a message, and keeps nowhere: which name may be meant."""
    if not isinstance(error, NameError | AttributeError | ImportError):
        return ""
    with contextlib.redirect_stderr(io.StringIO()) as printed, contextlib.suppress(Exception):
        sys.__excepthook__(type(error), error, error.__traceback__)
    found = SUGGESTION.search(printed.getvalue().rstrip())
    return f" (did you {found[1]}?)" if found else ""
