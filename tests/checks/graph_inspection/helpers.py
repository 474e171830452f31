"""graph_inspection, what its visible and hidden checks share.

A graph is written down as text, which is PyTorch as it stands: the text is run here on symbols,
which makes a Program that can cross, and it is what a message shows, ready to be pasted. ``cube``
and ``blend`` are custom Functions of one and of two tensors.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

from torch import Tensor

from grader.authoring import (
    Opaque,
    StudentCodeError,
    assert_that,
    fail,
    fetch,
    graph_figure,
    graphs_figure,
    is_number,
    is_same,
    program,
    trace,
    type_name,
)

WORDS = {
    "torch": SimpleNamespace(cat=lambda parts: parts[0].cat(*parts[1:])),
    "cube": lambda x: x.cube(),
    "blend": lambda x, y: x.blend(y),
}
NODES = {
    ".sin()": "SinBackward0",
    ".cos()": "CosBackward0",
    ".tanh()": "TanhBackward0",
    ".exp()": "ExpBackward0",
    ".sigmoid()": "SigmoidBackward0",
    ".abs()": "AbsBackward0",
    ".square()": "PowBackward0",
}
"""Operations on one tensor as they are written, and the node that each leaves."""
UNARY = list(NODES)
SINGLE = {"rtol": 1e-5, "atol": 1e-5}
"""Room for computations in float32."""
COPY = "copy = x.detach().clone().copy_(x)\n"
"""A text may begin with this line. It makes a node whose ``name()`` is not its type's name, by a
method that a Program doesn't have.
"""


@dataclass(frozen=True)
class Graph:
    """A graph as text that ends in making ``root``, and the tensors that it begins with, by
    name.
    """

    text: str
    tensors: dict[str, Tensor]

    def ask(self, student, name):
        """What the student's function of this name returns for the root (``answer``); an exception
        says in which graph it came.
        """
        return self._shown_in(answer, student, name)

    def printed(self, student):
        """What is printed while the student's format_graph works."""
        return self._shown_in(
            lambda student, build, tensors: student.observe("printed", build, tensors), student
        )

    def _shown_in(self, question, student, *name):
        try:
            return question(student, *name, self.build, list(self.tensors.values()))
        except StudentCodeError as error:
            error.args = (f"{error} (in the graph  {self.shown})",)
            raise

    @property
    def build(self):
        """The text as a Program of the tensors; after ``COPY``, a function that runs one."""
        copied = self.text.startswith(COPY)
        known, text = [*self.tensors, *["copy"] * copied], self.text.removeprefix(COPY)

        def run(*symbols):
            names = {**WORDS, **dict(zip(known, symbols, strict=True))}
            exec(text, names)
            return names["root"]

        made = program(run, inputs=len(known))
        if not copied:
            return made
        return AfterCopy(made, known.index("x"))

    @property
    def shown(self):
        """The text on one line."""
        return self.text.replace("\n    ", " ").replace("\n", "; ")

    def details(self, at=None, **facts):
        """What a failure tells of this graph, drawn with the place ``at`` marked
        (``graph_figure``).
        """
        leaves = [name for name, tensor in self.tensors.items() if tensor.requires_grad]
        constants = [name for name in self.tensors if name not in leaves]
        inputs = {"graph": self.shown, "leaves": ", ".join(leaves)} | (
            {"constants": ", ".join(constants)} if constants else {}
        )
        figure = partial(self.figure, at)
        return {
            "inputs": inputs,
            "facts": {"build": self.build, "tensors": self.tensors, **facts},
            "figures": [figure],
        }

    def figure(self, at):
        """The graph, drawn."""
        return graph_figure(self.build(*self.tensors.values()), self.tensors, at)


@dataclass(frozen=True)
class AfterCopy:
    """A Program of the tensors and of a copy of one of them. Unlike a lambda, it has the same text
    in every run, by which failures are compared.
    """

    made: object = field(repr=False)
    place: int

    def __call__(self, *tensors):
        return self.made(*tensors, copy_of(tensors[self.place]))


def copy_of(x):
    """A copy of x that keeps x's graph, as ``COPY`` makes it."""
    return x.detach().clone().copy_(x)


def put(student, tensors):
    """The tensors beside the student's module; those that share memory here share it there."""
    there = []
    for tensor in tensors:
        twin = next((k for k, one in enumerate(tensors[: len(there)]) if shares(one, tensor)), None)
        there.append(student.put(tensor) if twin is None else there[twin].detach().requires_grad_())
    return there


def shares(one, other):
    """Whether two tensors begin at the same address."""
    return one.numel() > 0 and one.data_ptr() == other.data_ptr()


def answer(student, name, build, tensors):
    """What the student's function of this name returns for the root that ``build`` makes of
    ``tensors``; of leaf_tensors what came back, taken apart (``listed_leaves``).
    """
    leaves = put(student, tensors)
    found = getattr(student, name)(build(*leaves))
    return listed_leaves(found, leaves) if name == "leaf_tensors" else fetch(found)


def listed_leaves(found, leaves):
    """A list of tensors: the kind of container, its items, and which of ``leaves`` each of them
    is.
    """
    value = fetch(found)
    kind = next((base.__name__ for base in (list, tuple) if isinstance(value, base)), None)
    if kind is None:
        return {"kind": type_name(value), "items": [], "places": []}
    rows = fetch([[is_same(found[k], leaf) for leaf in leaves] for k in range(len(value))])
    places = [row.index(True) if True in row else None for row in rows]
    return {"kind": kind, "items": list(value), "places": places}


def entries(got, want, graph):
    """What came back as a list of entries, pairs as tuples; a failure where it is not a list."""
    if not isinstance(got, list | tuple):
        details = graph.details(type=type_name(got))
        fail(
            "returned a value of type {type}, expected a list", expected=want, actual=got, **details
        )
    return [tuple(entry) if isinstance(entry, list) else entry for entry in got]


def assert_rows(got, want, graph):
    """Entry by entry the same; the message names the first that differs."""
    rows = entries(got, want, graph)
    number = first_difference(rows, want)
    if number is None:
        return
    wanted, found = (
        column[number - 1] if number <= len(column) else None for column in (want, rows)
    )
    message = "entry {number} is {found}, expected {wanted}"
    if number > len(rows):
        message = "the list ends before entry {number}, which should be {wanted}"
    elif number > len(want):
        message = "the list should end after {count} entries, but {found} follows"
    depths = bool(want) and isinstance(
        want[0][0], int
    )  # entries of a walk; those of inputs_of begin with a name
    at = ("entry" if depths else "edge", number)
    details = graph.details(at, number=number, wanted=wanted, found=found, count=len(want))
    fail(message, expected=want, actual=rows, **details)


def assert_text(got, want, graph, *, end=False):
    """Line by line the same text, and with ``end``, no newline after it; the message names the
    first line that differs.
    """
    wanted = want.split("\n")
    if not isinstance(got, str):
        fail(
            "returned a value of type {type}, expected a str",
            expected=wanted,
            actual=got,
            **graph.details(type=type_name(got)),
        )
    lines = (got if end else got.rstrip("\n")).split("\n")
    number = first_difference(lines, wanted)
    if number is None:
        return
    line, found = (
        repr(column[number - 1]) if number <= len(column) else None for column in (wanted, lines)
    )
    message = "line {number} is {found}, expected {wanted}"
    if number > len(lines):
        message = "the text ends before line {number}, which should be {wanted}"
    elif number > len(wanted):
        message = "the text should end after line {count}, but {found} follows"
    details = graph.details(
        ("entry", number), number=number, wanted=line, found=found, count=len(wanted)
    )
    fail(message, expected=wanted, actual=lines, **details)


def assert_silent(printed, graph):
    """Nothing was printed; the message shows the first line of what was, or the white space."""
    shown = printed[:1000]
    first = printed.strip().split("\n")[0] or printed
    details = graph.details(line=repr(first[:60]), printed=shown)
    message = "format_graph printed {line}; it must only return the text"
    assert_that(not printed, message, expected="", actual=shown, **details)


def assert_again(student, reference, name, draw):
    """The right result also from later calls for the same root; the order of leaves is another
    check's.
    """
    x, y, z = (draw.tensor(2, requires_grad=True) for _ in range(3))
    graph = Graph(f"root = x{draw.choice(UNARY)} * y + x", {"x": x, "y": y, "z": z})
    asked = (name, graph.build, list(graph.tensors.values()))
    want, got = reference.observe("again", *asked), student.observe("again", *asked)
    for call, message in (
        ("first", "{function} returned {found}, expected {wanted}"),
        ("again", "a second call for the same root returned {found}, expected {wanted}"),
        ("cleared", "after the returned list was cleared, the next call returned {found}"),
        ("changed", "after root was multiplied in place, the next call returned {found}"),
    ):
        found, wanted = (shown_leaves(seen[call], graph) for seen in (got, want))
        facts = {"function": name, "found": repr(found), "wanted": repr(wanted)}
        # After the change, only an earlier result shows that it was kept.
        kept = got["changed"] in ([], got["first"]) if call == "changed" else call != "first"
        if kept:
            facts["call"] = call
        inputs = {"graph": graph.shown, "in place": "root.mul_(z)"}
        details = {"expected": wanted, "actual": found, "inputs": inputs, "facts": facts}
        if name == "leaf_tensors":
            found, wanted = (sorted(rows, key=str) for rows in (found, wanted))
        assert_that(found == wanted, message, **details)


def shown_leaves(rows, graph):
    """Names in place of numbers of tensors."""
    names = list(graph.tensors)
    return [names[row] if isinstance(row, int) else row for row in rows]


def first_difference(found, wanted):
    """The number, from 1, of the first entry in which two lists differ; None where they are the
    same.
    """
    for number in range(1, max(len(found), len(wanted)) + 1):
        if number > min(len(found), len(wanted)) or not same_entry(
            found[number - 1], wanted[number - 1]
        ):
            return number
    return None


def same_entry(mine, wanted):
    """Whether two entries hold the same plain data; a tensor or a node that came back in place of
    it is not compared.
    """
    if isinstance(wanted, str):
        return isinstance(mine, str) and mine == wanted
    return (
        isinstance(mine, tuple)
        and [type(part) for part in mine] == [type(part) for part in wanted]
        and mine == wanted
    )


def assert_leaves(seen, expected, graph):
    """The same leaves, each once, in whatever order; the message names the first that is too many,
    too few or another object.
    """
    names = list(graph.tensors)
    want = [names[place] for place in expected["places"]]
    if seen["kind"] not in ("list", "tuple"):
        fail(
            "returned a value of type {type}, expected a list",
            expected=want,
            actual=Opaque(seen["kind"]),
            **graph.details(type=seen["kind"]),
        )
    found = [
        item if place is None else names[place]
        for place, item in zip(seen["places"], seen["items"], strict=True)
    ]
    details = {"expected": want, "actual": found}
    for number, item in enumerate(found, 1):
        if isinstance(item, Tensor):
            facts = graph.details(number=number, values=item)
            fail(
                "entry {number} is not a tensor of this graph, but another one with the value"
                " {values}",
                **details,
                **facts,
            )
        if not isinstance(item, str) or seen["places"][number - 1] is None:
            fail(
                "entry {number} is of type {type}, not a tensor",
                **details,
                **graph.details(number=number, type=type_name(item)),
            )
    counts = Counter(found)
    for name in names:
        facts = graph.details(("leaf", name), name=name, count=counts[name])
        assert_that(counts[name] <= 1, "{name} is listed {count} times", **details, **facts)
        assert_that(name not in want or counts[name], "{name} is missing", **details, **facts)
        assert_that(
            name in want or not counts[name],
            "{name} is listed, but no gradient reaches it",
            **details,
            **facts,
        )


def three_tensors(result, inputs, *, kind=(tuple, list)):
    """What build_loss returned, taken apart."""
    count = len(result) if isinstance(result, kind) else 0
    y = 2 * inputs["x"]
    details = {
        "expected": (y, y + 3, (y + 3) ** 2),
        "actual": result,
        "inputs": inputs,
        "facts": {"type": type_name(result), "count": count},
    }
    assert_that(
        isinstance(result, kind),
        "returned a value of type {type}, expected a tuple (y, z, loss)",
        **details,
    )
    assert_that(count == 3, "returned a tuple of {count}, expected (y, z, loss)", **details)
    return result


def like(actual, expected):
    """What came back in the floating dtype of ``expected``, for checks that are not about it."""
    actual = fetch(actual)
    if isinstance(actual, Tensor) and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    return actual


def predicted(student):
    """The prediction, where it is a number."""
    value = student.PREDICTED_GRADIENT
    assert_that(
        is_number(value),
        "PREDICTED_GRADIENT is of type {type}; write a plain number",
        actual=value,
        facts={"type": type_name(value)},
    )
    return value


def loss_figure(student, x, at):
    """The graph behind the student's loss beside that of the three steps; marked is the tensor
    ``at``, where the student's has it.
    """
    leaf = x.detach().clone().requires_grad_()
    y = 2 * leaf
    z = y + 3
    loss = z**2
    wanted = trace(loss, {"x": leaf, "y": y, "z": z, "loss": loss})
    return graphs_figure(student.observe("loss_graph", x), wanted, at=at)
