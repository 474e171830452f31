"""Analyze a student's file without executing it: definitions, the names they use, and whether they
are still the stub's.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Callable, Iterator

import pytest

from grader.core.errors import StudentCodeError
from grader.course.course import find_course
from grader.course.lesson_texts import read_catalogue
from grader.course.source import DEFINING, Source, bound_names, imports_in
from grader.judge.remote.proxies import RemoteStudent

TEXT = '''"""A lesson: don't use torch.tanh."""

import math
import torch.nn.functional as F
from torch import sigmoid as s
from torch.autograd import Function

LIMIT: float = 20.0
UNSET: float
A = B = 1


def direct(x):
    """Like torch.relu."""
    # torch.exp(x)
    return s(x)


def by_alias(x):
    return F.softplus(x)


def by_helper(x):
    y = helper(x)
    return y


def helper(x):
    return helper_of_helper(x)


def helper_of_helper(x):
    return math.log(x)


def by_method(x):
    return x.detach().numpy()


def by_constant(x):
    return TABLE["log"](x)


TABLE = {"log": math.log1p}


class Twice(Function):
    """Doubles."""

    @staticmethod
    def forward(ctx, x):
        if x is None:
            return None
        return x.mul(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g


if __name__ == "__main__":
    import numpy as np

    print(np.cosh(direct(1.0)))
'''
FILE = Source(TEXT, "lesson.py")


def line_of(text: str) -> int:
    """Return the number of the line that contains the text."""
    return next(number for number, line in enumerate(TEXT.splitlines(), 1) if text in line)


def source(text: str) -> Source:
    return Source(text, "lesson.py")


def test_definitions_are_what_the_top_level_binds() -> None:
    """These are functions, classes, and all kinds of assignments; a mere annotation binds
    nothing.
    """
    functions = "direct by_alias by_helper helper helper_of_helper by_method by_constant"
    assert list(FILE.definitions) == ["LIMIT", "A", "B", *functions.split(), "TABLE", "Twice"]


def test_the_last_definition_of_a_name_counts() -> None:
    twice = source("def f(): return 1\nasync def g(): pass\ndef f(): return 2\n")
    assert twice.definitions["f"].lineno == 3
    assert "g" in twice.definitions


# --------------------------------------------------------------------------------------- names used


@pytest.mark.parametrize(
    ("function", "used"),
    [
        ("direct", "torch.sigmoid"),
        ("by_alias", "torch.nn.functional.softplus"),
        ("by_helper", "math.log"),
        ("by_method", ".numpy"),
        ("by_constant", "math.log1p"),
        ("Twice", ".mul"),
        ("Twice", "torch.autograd.Function"),
    ],
)
def test_a_name_is_found_under_what_it_stands_for(function: str, used: str) -> None:
    """It may be reached through renamed imports, helpers, tables or methods."""
    assert used in FILE.names_used(function)


def test_a_name_comes_with_the_line_where_it_stands() -> None:
    assert FILE.names_used("by_helper")["math.log"] == line_of("math.log(x)")


def test_only_what_a_definition_reaches_counts() -> None:
    """Docstrings, comments, other functions, imports and a demonstration at the end do not
    count.
    """
    used = FILE.names_used("direct")
    elsewhere = {"torch.tanh", "torch.relu", "torch.exp", "math.log", ".detach", ".cosh"}
    assert not {*elsewhere, "numpy.cosh"} & set(used)
    assert "numpy.cosh" not in FILE.names_used(*FILE.definitions)


def test_several_definitions_are_asked_at_once() -> None:
    assert {"torch.sigmoid", "math.log"} <= set(FILE.names_used("direct", "helper"))


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (
            "def f(x):\n    from torch import special as sp\n    return sp.expit(x)\n",
            "torch.special.expit",
        ),
        (
            "import torch.nn\ndef f(x): return torch.nn.functional.relu(x)\n",
            "torch.nn.functional.relu",
        ),
        (
            "from torch.autograd import grad\n"
            "def f(ys, x):\n    total = sum(grad for grad in ys)\n    return grad(total, x)\n",
            "torch.autograd.grad",
        ),
        (
            "import torch\nT = torch\nR: object = T._refs\ndef f(x): return R.exp(x)\n",
            "torch._refs.exp",
        ),
        (
            "import torch as t\ndef f(x):\n    func = t.func\n    return lambda: func.grad(x)\n",
            "torch.func.grad",
        ),
    ],
    ids=[
        "inside a function",
        "a submodule binds its package",
        "beside a comprehension",
        "another name of an import, and of that",
        "a local of an import",
    ],
)
def test_an_import_is_resolved(text: str, used: str) -> None:
    """The variable of a comprehension hides nothing outside it."""
    assert used in source(text).names_used("f")


def test_recursion_ends() -> None:
    loops = source("def f(x): return g(x)\ndef g(x): return f(x) + x.exp()\n")
    assert {"f", "g", ".exp"} <= set(loops.names_used("f"))


def test_annotations_do_not_count() -> None:
    """They compute nothing."""
    text = (
        "def f(x: torch.Tensor, *y: math.pi) -> torch.Tensor:\n    z: numpy.array = x\n    return z"
    )
    assert source(text).names_used("f") == {}


def test_a_name_that_is_not_there_uses_nothing() -> None:
    assert FILE.names_used("nowhere") == {}


LOCAL = {
    "variable like an import": (
        "from torch import exp\ndef f(x):\n    exp = x.grad\n    return exp\ng = exp(y)\n"
    ),
    "variable like a function": (
        "def exp(x): return torch.exp(x)\ndef f(x):\n    exp = 1 / x\n    return exp\n"
    ),
    "argument": "from torch import exp\ndef f(exp): return exp + 1\n",
    "exception": (
        "def f(x):\n    try: pass\n    except OSError as e: print(e)\ne = torch.exp(y)\n"
    ),
    "capture": "def f(x):\n    match x:\n        case [1, e]: return e\ne = torch.exp(y)\n",
    "star": "def f(x):\n    match x:\n        case [1, *e]: return e\ne = torch.exp(y)\n",
    "rest": "def f(x):\n    match x:\n        case {1: 2, **e}: return e\ne = torch.exp(y)\n",
    "field": "class f:\n    e: bool = True\ne = torch.exp(y)\n",
    "fields": "from torch import exp\nclass f:\n    exp = 0.0\n    both = (exp, exp)\n",
    "walrus": "from torch import exp\ndef f(x): return [exp for y in x if (exp := y)] and exp\n",
    "import elsewhere": (
        "from math import exp\ndef f(x): return exp(x)\ndef g():\n    from torch import exp\n"
    ),
    "definition and import elsewhere": (
        "def exp(x): return x\ndef f(x): return exp(x)\ndef g():\n    from torch import exp\n"
    ),
    "definition after import": (
        "from torch import exp\ndef exp(x): return x\ndef f(x): return exp(x)\n"
    ),
    "one name of an import and of something else": (
        "import math\ndef f(x):\n    m = math\n    m = torch\n    return m.exp(x)\n"
    ),
    "argument like another name of an import": "m = torch\ndef f(m): return m.exp()\n",
    "alias elsewhere": (
        "import math as F\ndef f(x): return F.exp(x)\ndef g():\n    import torch as F\n"
    ),
}
IMPORTED = {
    "inner function": "def f(x):\n    def g(torch): return 1\n    return torch.exp(x)\n",
    "class": "from torch import exp\nclass f:\n    exp = 1\n    def g(self, x): return exp(x)\n",
    "global": "from torch import exp\ndef f(x):\n    global exp\n    exp = exp(x)\n",
    "default": "def f(x, torch=torch.exp): return torch(x)\n",
    "default of an argument of that name": (
        "from torch import exp\ndef f(x, exp=exp): return exp(x)\n"
    ),
    "lambda in a default": (
        "from torch import exp\ndef f(x, key=lambda exp: exp): return exp(x)\n"
    ),
    "metaclass": "from torch import exp\nclass f(metaclass=exp(y)):\n    exp = 1\n",
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_variable_is_only_itself(name: str) -> None:
    """A name that a function binds is not taken for an import of the same name."""
    assert "torch.exp" not in source("import torch\n" + LOCAL[name]).names_used("f")


@pytest.mark.parametrize("name", IMPORTED)
def test_a_name_that_is_bound_elsewhere_is_still_the_import(name: str) -> None:
    assert "torch.exp" in source("import torch\n" + IMPORTED[name]).names_used("f")


@pytest.mark.parametrize(
    ("lines", "counted"),
    [
        ("class C:\n    MINE\n    THEIRS\ndef f(x): return C().mine()\n", False),
        ("class C:\n    MINE\n    THEIRS\ndef f(x): return C().theirs()\n", True),
        (
            "class C:\n    def mine(self): return self.theirs()\n    THEIRS\n"
            "def f(x): return C().mine()\n",
            True,
        ),
        ("class C:\n    def __call__(self): return torch.exp(y)\ndef f(x): return C()()\n", True),
        ("class C:\n    made = torch.exp(y)\ndef f(x): return C\n", True),
        ("class B:\n    THEIRS\nclass C(B): pass\ndef f(x): return C()\n", False),
        ("class B:\n    THEIRS\nclass C(B): pass\ndef f(x): return C().theirs()\n", True),
        ("class C(object):\n    THEIRS\ndef f(x): return C()\n", False),
        ("from abc import ABC\nclass C(ABC):\n    THEIRS\ndef f(x): return C()\n", False),
        ("class C(FUNCTION):\n    FORWARD\ndef f(x): return C.apply(x)\n", True),
        ("class B(FUNCTION):\n    FORWARD\nclass C(B): pass\ndef f(x): return C.apply(x)\n", True),
        ("class B:\n    FORWARD\nclass f(B, FUNCTION): pass\n", True),
        ("class C(C):\n    THEIRS\ndef f(x): return C()\n", True),
        (
            "def late(c): return c.theirs()\nclass C:\n    THEIRS\ndef f(x): return late(C())\n",
            True,
        ),
    ],
)
def test_of_a_class_that_is_used_only_what_is_called_counts(lines: str, counted: bool) -> None:
    """Methods that autograd calls count, of the class and its bases, and all of a class that is
    asked about.
    """
    parts = {
        "MINE": "def mine(self): return 1",
        "THEIRS": "def theirs(self): return torch.exp(y)",
        "FORWARD": "def forward(ctx, x): return torch.exp(x)",
        "FUNCTION": "torch.autograd.Function",
    }
    text = lines
    for name, part in parts.items():
        text = text.replace(name, part)
    assert ("torch.exp" in source(f"import torch\n{text}").names_used("f")) is counted


@pytest.mark.parametrize(
    ("lines", "counted"),
    [
        ('WAYS = {"mine": mine, "theirs": theirs}\ndef f(x): return WAYS["mine"](x)\n', False),
        ('WAYS = {"mine": mine, "theirs": theirs}\ndef f(x): return WAYS["theirs"](x)\n', True),
        ('WAYS = {"mine": mine, "theirs": theirs}\ndef f(x, way): return WAYS[way](x)\n', True),
        (
            'WAYS = {"mine": mine, "theirs": theirs}\ndef f(x): return list(WAYS.values())[0](x)\n',
            True,
        ),
        ('WAYS = {"mine": mine, **{"mine": theirs}}\ndef f(x): return WAYS["other"](x)\n', True),
        (
            'WAYS = {"mine": lambda x: WAYS["mine"](x), "theirs": theirs}\n'
            'def f(x): return WAYS["mine"](x)\n',
            False,
        ),
        (
            'WAYS = {"mine": mine}\n'
            'def f(x):\n    WAYS = {"mine": theirs}\n    return WAYS["mine"](x)\n',
            True,
        ),
    ],
)
def test_of_a_table_only_what_is_asked_for_counts(lines: str, counted: bool) -> None:
    text = f"import torch\ndef mine(x): return x\ndef theirs(x): return torch.exp(x)\n{lines}"
    assert ("torch.exp" in source(text).names_used("f")) is counted


def test_bases_in_bases_are_looked_at_once() -> None:
    """Otherwise thirty classes of ten bases each would take for ever."""
    bases = [", ".join(f"C{k}" for k in range(number + 1, number + 11)) for number in range(30)]
    classes = "".join(
        f"class C{number}({names}):\n    def theirs(self): return exp(y)\n"
        for number, names in enumerate(bases)
    )
    ends = "".join(f"class C{number}: pass\n" for number in range(30, 41))
    assert "exp" not in source(f"{classes}{ends}def f(x): return C0()\n").names_used("f")


# ---------------------------------------------------------------------------------- same definition

STUB = (
    "def f(x: Tensor, *, n: int = 2) -> Tensor:\n"
    '    """Twice x."""\n'
    "    raise NotImplementedError\n"
)
SAME = {
    "itself": STUB,
    "another docstring": STUB.replace("Twice x.", "Mine."),
    "no docstring": STUB.replace('    """Twice x."""\n', ""),
    "comments": "# mine\n" + STUB.replace("    raise", "    # to do\n    raise") + "# end\n",
    "layout": STUB.replace(
        "(x: Tensor, *, n: int = 2)", "(\n    x: Tensor,\n    *,\n    n: int = 2,\n)"
    ),
    "no annotations": "def f(x, *, n=2):\n    raise NotImplementedError\n",
    "other annotations": STUB.replace("Tensor", "torch.Tensor"),
    "something else beside it": "import math\n" + STUB + "def g(): return 1\n",
}
CHANGED = {
    "a body": STUB.replace("raise NotImplementedError", "return 2 * x"),
    "a message": STUB.replace("NotImplementedError", "NotImplementedError('later')"),
    "a statement before": STUB.replace("    raise", "    print(x)\n    raise"),
    "another default": STUB.replace("= 2", "= 3"),
    "another argument": STUB.replace("(x:", "(y:"),
    "a decorator": "@cached\n" + STUB,
    "another kind": "class f:\n    pass\n",
    "gone": "def g(): pass\n",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_a_definition_is_the_same_whatever_it_looks_like(text: str) -> None:
    assert source(text).same_definition(source(STUB), "f")
    assert source(STUB).same_definition(source(text), "f")


@pytest.mark.parametrize("text", CHANGED.values(), ids=CHANGED)
def test_a_definition_that_does_something_else_is_another(text: str) -> None:
    assert not source(text).same_definition(source(STUB), "f")


def test_docstrings_of_methods_do_not_count_either() -> None:
    left = source(
        'class C:\n    """A."""\n    def f(self) -> int:\n        """B."""\n        return 1\n'
    )
    assert left.same_definition(source("class C:\n    def f(self):\n        return 1\n"), "C")


def test_comparing_changes_neither_file() -> None:
    """A check may still ask for names after a comparison with the stub."""
    text = 'def f(x: int):\n    """Doc."""\n    return x.exp()\n'
    mine = source(text)
    before = mine.names_used("f")
    mine.same_definition(source(STUB), "f")
    assert mine.names_used("f") == before


# -------------------------------------------------------------------------------- lines and anchors


def test_an_anchor_is_the_only_return_if_every_call_ends_there() -> None:
    assert FILE.anchor("direct") == line_of("return s(x)")
    assert source("def f(x):\n    with g():\n        return x\n").anchor("f") == 3
    inside = "def f(x):\n    def g():\n        return 1\n    return g\n"
    assert source(inside).anchor("f") == 4


@pytest.mark.parametrize(
    "body", ["if x:\n        return x\n    return 0", "if x:\n        return x", "print(x)"]
)
def test_an_anchor_is_the_first_line_if_a_call_may_end_elsewhere(body: str) -> None:
    file = source(f"\ndef f(x):\n    {body}\n")
    assert file.anchor("f") == 2
    assert file.return_lines("f") == {n for n in (4, 5) if "return" in file.line(n)}


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("Twice", "class Twice"),
        ("LIMIT", "LIMIT: float"),
        ("Twice.jvp", "class Twice"),
        ("nowhere", None),
        ("nowhere.backward", None),
    ],
)
def test_an_anchor_of_anything_else_is_its_first_line(path: str, line: str | None) -> None:
    """A missing method's is that of its class."""
    assert FILE.anchor(path) == (line and line_of(line))


@pytest.mark.parametrize("number", [None, 0, -1, -2, -3, 10_000])
def test_a_line_is_shown_without_indentation_and_is_empty_if_it_is_not_there(
    number: int | None,
) -> None:
    assert FILE.line(line_of("return F.softplus(x)")) == "return F.softplus(x)"
    assert FILE.line(number) == ""


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028"], ids=ascii)
def test_lines_are_counted_as_python_counts_them(separator: str) -> None:
    """A form feed or a Unicode line separator does not end a line."""
    file = source(f"# a{separator}b\ndef f(x):\n    return x\n")
    assert file.line(file.anchor("f")) == "return x"


def test_the_worker_counts_lines_in_the_same_way(remote: Callable[..., RemoteStudent]) -> None:
    """So a stub below a form feed is still recognized."""
    student = remote("# a\fb\ndef f(x):\n    raise NotImplementedError\n")
    with pytest.raises(StudentCodeError) as caught:
        student.f(1)
    assert (caught.value.line, caught.value.raised_here) == (3, True)


# ------------------------------------------------------------------------------------- hostile text

HOSTILE = {
    "no Python": "def f(x)\n    return x\n",
    "an indentation error": "def f(x):\nreturn x\n",
    "a NUL": "x = 1\0\n",
    "a surrogate": "x = '\ud800'\n",
    "deep parentheses": "x = " + "(" * 5000 + ")" * 5000,
    "a deep expression": "x = " + "-" * 100_000 + "1",
    "too many digits": "x = " + "9" * 5000,
    "empty": "",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_text_that_is_no_python_defines_nothing(name: str) -> None:
    file = source(HOSTILE[name])
    assert file.definitions == {}
    assert file.imports == {}
    assert file.names_used("f") == {}
    assert file.anchor("f") is None
    assert not file.same_definition(source(STUB), "f")


LONG = {
    "a long sum": "return g" + " + 0" * 1500,
    "a long chain": "return g" + ".T" * 1500,
    "many branches": (
        "if g == 0: pass\n" + "".join(f"    elif g == {k}: pass\n" for k in range(1, 1500))
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_a_definition_that_python_compiles_can_be_compared(name: str) -> None:
    """An expression may be very long, and must not cause a grader fault."""
    text = f"def f(x):\n    {LONG[name]}\n"
    compile(text, "lesson.py", "exec")
    file = source(text)
    assert not file.same_definition(source(STUB), "f")
    assert file.unreadable or "g" in file.names_used("f")


def test_an_entry_of_a_dictionary_is_found_by_its_key() -> None:
    text = 'A: dict[str, bool] = {\n    "a": True,\n    "b": False,\n}\nB = {"a": 1}\nC = 2\n'
    source = Source(text, "a.py")
    assert source.entry("A", ["b", "nothing"]) == 3
    assert source.entry("B", ["a"]) == 5
    assert source.entry("A", ["a", "b"]) is None
    assert source.entry("A", ["c"]) is None
    assert source.entry("C", ["a"]) is None


# ------------------------------------------------------------------------------------------- scopes


ROOT = find_course()
ODDITIES = """
import math

def matches(command, *rest, key=None, **more):
    match command:
        case [first, *others]: return first, others
        case {"go": where, **options}: return where, options
        case str() as text if (length := len(text)): return length
        case _: pass

def catches(path):
    try:
        with open(path) as stream, open(path) as (one, two): pass
    except OSError as error: print(error)
    else: import os.path, sys as system
    try: pass
    except* ValueError as group: print(group)
    del path

def counts():
    global TOTAL
    TOTAL = found = 0
    def more():
        nonlocal found
        found += 1
        inner = [step for step in range(3) if (last := step)]
        flat = [own for own in inner for own, other in [(1, 2)]]
        return flat, lambda argument: (argument, (kept := 1))
    for turn, (left, *right) in []: pass
    return more

class Holder(dict, metaclass=type):
    size: int = 3
    unset: float
    from math import pi as half
    def method(self, /, only): self.size = only
    class Within: depth = 1

async def waits(things):
    async for thing in things:
        async with thing as held: yield held, {name async for name in thing}
"""


def by_python(table: symtable.SymbolTable) -> Iterator[tuple[str, int, set[str]]]:
    """Return name, line and bindings of each scope according to the compiler, except for class
    bodies.
    """
    for inner in table.get_children():
        names = {
            one.get_name()
            for one in inner.get_symbols()
            if (one.is_parameter() or one.is_assigned() or one.is_imported() or one.is_namespace())
            and not (one.is_declared_global() or one.is_nonlocal())
        }
        yield inner.get_name(), inner.get_lineno(), names
        yield from by_python(inner)


class WithoutInlining(ast.NodeTransformer):
    """Turn list, set and dict comprehensions into generators, which bind the same names.

    Since Python 3.12 the compiler inlines comprehensions: it lists their names with those of the
    function around them.
    """

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.ListComp(elt, generators) | ast.SetComp(elt, generators):
                return ast.GeneratorExp(elt, generators)
            case ast.DictComp(key, value, generators):
                return ast.GeneratorExp(ast.Tuple([key, value], ast.Load()), generators)
        return node


def compared(text: str) -> list[tuple[str, set[str], set[str]]]:
    """Return, for each scope alone on its line, its name and bindings: according to us and to
    Python.
    """
    text = ast.unparse(ast.parse(text))  # in which a comprehension is on one line
    generators = ast.unparse(WithoutInlining().visit(ast.parse(text)))
    theirs = [
        ((name, line), names)
        for name, line, names in by_python(symtable.symtable(generators, "lesson.py", "exec"))
    ]
    places = [place for place, _ in theirs]
    bound = {place: names for place, names in theirs if places.count(place) == 1}
    found = []
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, (*DEFINING, ast.Lambda))
            and (place := (getattr(node, "name", "lambda"), node.lineno)) in bound
        ):
            imports = imports_in([] if isinstance(node, ast.Lambda) else node.body)
            found.append((place[0], {*bound_names(node), *imports}, bound[place]))
    return found


def test_every_way_to_bind_a_name_is_known() -> None:
    scopes = compared(ODDITIES)
    assert len(scopes) == 9
    assert [(name, ours) for name, ours, _ in scopes] == [
        (name, theirs) for name, _, theirs in scopes
    ]


@pytest.mark.parametrize(
    "folder",
    [
        "grader/judge",
        pytest.param("grader", marks=pytest.mark.proof),
        "solutions",
        "tests/accepted",
        "tests/mistakes",
        "tests/near_misses",
    ],
)
def test_scopes_bind_what_python_says(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    for path in paths:
        cells = read_catalogue(path) if folder.startswith("tests/") else ()
        for text in [cell.source for cell in cells] or [path.read_text("utf-8")]:
            for name, ours, theirs in compared(text):
                assert ours == theirs, f"{name} in {path}"


# ------------------------------------------------------------------------------------- late imports

USES = {
    "by its whole name": "import torch\ndef f(x): return torch.func.jacrev(g)(x)\n",
    "imported alone": "from torch.func import hessian\ndef f(x): return hessian(g)(x)\n",
    "its module imported": "from torch import func\ndef f(x): return func.vjp(g, x)\n",
    "under another name": "import torch.func as F\ndef f(x): return F.grad(g)(x)\n",
    "inside a function": "def f(x):\n    from functorch import jacfwd\n    return jacfwd(g)(x)\n",
    "an optimizer": "from torch import optim\ndef f(x): return optim.SGD([x], lr=0.1)\n",
    "an optimizer, by its name": "from torch.optim import Adam\ndef f(x): return Adam([x])\n",
    "a checkpoint": (
        "from torch.utils.checkpoint import checkpoint\ndef f(x): return checkpoint(g, x)\n"
    ),
    "saved tensors that may be written to": (
        "from torch.autograd import graph\n"
        "def f(x): return graph.allow_mutation_on_saved_tensors()\n"
    ),
    "forward mode": (
        "import torch.autograd.forward_ad as fwAD\ndef f(x): return fwAD.make_dual(x, x)\n"
    ),
}
USES_NONE = {
    "nothing of the kind": "import torch\ndef f(x): return torch.autograd.grad(x.sum(), x)\n",
    "in a docstring": 'import torch\ndef f(x):\n    """Without torch.func.grad."""\n    return x\n',
    "in a comment": "import torch\ndef f(x): return x  # torch.func.grad(g) would do\n",
    "a name of the student's": "def f(func, x): return func.grad(x)\n",
    "another optimizer": "def f(optim, x): return optim.SGD([x])\n",
    "imported and not used": "from torch.func import grad\ndef f(x): return x\n",
    "what needs no import": (
        "import torch\n"
        "def f(x): return torch.func.vmap(g)(x) + torch.func.functional_call(g, {}, x)\n"
    ),
    "no Python": "def f(x: torch.func.grad(\n",
}


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_a_use_of_late_imports_is_found(text: str) -> None:
    assert source(text).late_imports


@pytest.mark.parametrize("text", USES_NONE.values(), ids=USES_NONE)
def test_other_code_needs_no_late_imports(text: str) -> None:
    assert not source(text).late_imports
