"""tiny_autograd, rules that ask the student's Values about small expressions and compare the
numbers with what a mistake gives.
"""

import ast
import contextlib
import math
import re
from functools import partial

from grader.authoring import (
    StudentCodeError,
    chain,
    fetch,
    has_facts,
    is_number,
    methods,
    phrase,
    rule,
    value_rule,
)

STRAIGHT = ("s = a * b; root = s * c", "s = a * b; root = c * s")
SHARED = {"a": 2.0, "b": 3.0, "c": 5.0}
LATE = ("t = a * b; u = t * c; root = t + u", "t = a * b; u = t * c; root = u + t")
"""Two results of t, added up in either order: a's derivative is b (1 + c) = 18."""


def computed(student, text, leaves):
    """Return the student's Values of all names."""
    values = {name: student.Value(number) for name, number in leaves.items()}
    for name, formula in (line.split(" = ") for line in text.split("; ")):
        values[name] = eval(formula, {}, values)
    return values


def ask(student, text, *roots, given=(), **leaves):
    """Return the last step's number and the grads of the leaves after backward from the roots,
    before which grads may be given; NaN for what is not a number, None where it raises.
    """
    with contextlib.suppress(StudentCodeError):
        values = computed(student, text, leaves)
        for name, grad in dict(given).items():
            values[name].grad = grad
        for root in roots or ("root",):
            values[root].backward()
        data, found = fetch([values[[*values][-1]].data, {one: values[one].grad for one in leaves}])
        numbers = {one: float(grad) if is_number(grad) else math.nan for one, grad in found.items()}
        return data, numbers
    return None


def grads(student, text, *roots, **asked):
    """Return the grads of the leaves, nothing where it raises."""
    return (ask(student, text, *roots, **asked) or (None, {}))[1]


def is_near(left, right):
    """Return whether two numbers are equal up to rounding; nothing is near to None or NaN."""
    return is_number(left) and math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def all_near(found, **wanted):
    """Return whether grads are near to those that are wanted."""
    return all(is_near(found.get(name), number) for name, number in wanted.items())


def single_steps_right(student):
    """Return whether a sum and a product alone have right gradients."""
    sums, products = (grads(student, f"root = a {sign} b", a=2.0, b=3.0) for sign in "+*")
    return all_near(sums, a=1.0, b=1.0) and all_near(products, a=3.0, b=2.0)


def shown(text, leaves):
    """Return an expression and its numbers."""
    numbers = ", ".join(f"{name} = {number:g}" for name, number in leaves.items())
    return {"asked": text, "numbers": numbers}


def gradient_rule(recognize):
    """Return a rule for a wrong gradient of an expression."""

    def wrong_gradient(failure, student):
        return recognize(failure, student) if {"got", "lines"} <= set(failure.facts) else None

    return value_rule(wrong_gradient)


def shared_rule(recognize, **fixed):
    """Return a rule for a wrong gradient where some name is used more than once."""

    def wrong_where_shared(failure, student):
        lines = failure.facts["lines"]
        words = re.findall(r"\w+", " ".join(lines.steps.values()))
        shares = any(words.count(name) > 1 for name in lines.names)
        return recognize(student, **fixed) if shares else None

    return gradient_rule(wrong_where_shared)


@rule
def data_is_a_variable(failure, student):
    """Value has no attribute of a name to which its __init__ assigns as to a variable."""
    error = failure.error
    match = error and re.search(r"'Value' object has no attribute '(\w+)'", error.message)
    nodes = [node for one in methods(student, "__init__", of=["Value"]) for node in ast.walk(one)]
    targets = [(target_of(node), node) for node in nodes]
    for target, node in targets if match else ():
        if isinstance(target, ast.Name) and target.id == match[1]:
            return {"name": match[1], "line": node.lineno}
    return None


@rule
def plain_number_not_taken(failure, student):
    """An error about an int or a float in an operation that works for two Values."""
    error = failure.error
    if error is None or not re.search("'(int|float)'", error.message):
        return None
    refused = re.match(r"unsupported operand type\(s\) for ([-+*/]):", error.message)
    alone = re.search(r"\[root = \S+ [-+*/] \S+\]$", str(error))
    if not refused and not (alone and failure.raised("AttributeError")):
        return None
    signs = refused[1] if refused else "+-*/"
    works = all(ask(student, f"root = a {sign} b", a=2.0, b=4.0) for sign in signs)
    advice = phrase(
        "Turn each int or float into a Value. For `3 - a`, Python calls a.__rsub__(3), so + - * /"
        " also need their reflected methods."
    )
    if re.search("'(int|float)' and 'Value'", error.message):
        method = method_of(f"3 {signs} a")
        if method not in student.source.text:
            advice = phrase(
                "For `3 {sign} a`, Python calls a.{method}(3). Value has no {method}: define it.",
                **{"sign": signs, "method": method},
            )
    return {"raised": str(error), "advice": advice} if works else None


@rule
def returns_its_input(failure, student):
    """A check saw that an operation returned one of its operands."""
    formula = failure.facts.get("formula")
    return None if formula is None else method_line(student, formula)


def nodes_of_backward(student):
    return [node for one in methods(student, "backward", of=["Value"]) for node in ast.walk(one)]


def line_of_backward(student, fits):
    """Return the first line in Value.backward that fits, else its header."""
    nodes = nodes_of_backward(student)
    fitting = [node for node in nodes if fits(node)]
    return {"line": (fitting or nodes)[0].lineno} if nodes else {}


def target_of(node):
    """Return what a statement assigns or adds to; None for other nodes."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        return node.targets[0] if isinstance(node, ast.Assign) else node.target
    return None


def is_update(node):
    """Return whether a statement sets some grad to what is no constant."""
    sets = getattr(target_of(node), "attr", "") == "grad"
    return sets and not isinstance(node.value, ast.Constant)


def is_seed(node):
    """Return whether a statement sets some grad to a constant."""
    return getattr(target_of(node), "attr", "") == "grad" and not is_update(node)


def is_loop(node):
    return isinstance(node, ast.For)


def names_in(node):
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def passes_on(node):
    """Return whether a statement sets some grad or adds to it, or sets an entry of a container to
    what is computed from more than the entry.
    """
    target = target_of(node)
    if isinstance(target, ast.Subscript):
        return not names_in(node.value) <= names_in(target)
    return is_update(node) or (is_seed(node) and isinstance(node, ast.AugAssign))


def replaces(node):
    """Return whether a statement assigns a gradient, and what was there is not in it."""
    if not isinstance(node, ast.Assign) or not passes_on(node):
        return False
    target, value = node.targets[0], ast.unparse(node.value)
    held = [ast.unparse(target), f"{ast.unparse(getattr(target, 'value', target))}.get("]
    return bool(re.search(r"\*|\.grad\b", value)) and not any(one in value for one in held)


def is_local(node):
    """Return whether a statement passes on something without a grad in it."""
    return passes_on(node) and ".grad" not in ast.unparse(node.value)


def places_in(function):
    """Return the statements that pass a gradient on in loops and inner functions; what is deepest
    inside comes first.
    """
    kinds = ast.For | ast.While | ast.FunctionDef
    inner = [node for node in ast.walk(function) if isinstance(node, kinds) and node != function]
    return [node for block in reversed(inner) for node in ast.walk(block) if passes_on(node)]


def line_that_passes_on(student, operation, fits):
    """Return the line that passes a gradient on and fits, in the method of an operation or in
    backward; else the header of the one that passes gradients on.
    """
    found = methods(student, method_of(operation), of=["Value"])
    found += methods(student, "backward", of=["Value"])
    places = [(function, node) for function in found for node in places_in(function)]
    fitting = [node.lineno for _, node in places if fits(node)]
    headers = [function.lineno for function, _ in places] + [one.lineno for one in found[::-1]]
    return {"line": (fitting or headers)[0]} if found else {}


@gradient_rule
def root_without_gradient(failure, student):
    """Zeros one step away from the root, and right gradients once the root's grad is set; or no 1
    is in backward.
    """
    asked = partial(grads, student, "root = a * b", a=2.0, b=3.0)
    if not all_near(asked(), a=0.0, b=0.0):
        return None
    nodes = nodes_of_backward(student)
    ones = [node for node in nodes if getattr(node, "value", None) == 1]
    calls_more = asked(given={"root": 1.0}) == {"a": 3.0, "b": 2.0}
    sets = any(is_update(node) or is_seed(node) for node in nodes)
    return line_of_backward(student, is_seed) if calls_more or (sets and not ones) else None


@gradient_rule
def root_gradient_is_not_one(failure, student):
    """All gradients are one number times what they should be, however long the way is."""
    found = grads(student, "root = a * b", a=2.0, b=3.0)
    factor = found.get("a", 0.0) / 3.0
    if not factor or is_near(factor, 1.0) or not all_near(found, b=2.0 * factor):
        return None
    for text in STRAIGHT:
        right = {"a": 15.0 * factor, "b": 10.0 * factor, "c": 6.0 * factor}
        if not all_near(grads(student, text, **SHARED), **right):
            return None
    return {"factor": factor, "got": found["a"], **line_of_backward(student, is_seed)}


ALONE = "a + b, a * b, -a, a - b, a / b, a ** 3, a.exp(), a.log(), a.tanh()".split(", ")
ALIKE = ("0", "1", "-d", "1 + d", "d * y", "d * x", "o")
"""What comes instead of a derivative d if backward is wrong; y is the result, x the operand, o the
derivative for the other operand, or d itself if there is none.
"""


def single_operations(failure, student, operations, **leaves):
    """Return operation, leaf, gradient, true gradient and result, for operations alone that have
    a right result.
    """
    found = []
    for operation in operations:
        seen, right = (
            ask(one, f"root = {operation}", **leaves) for one in (student, failure.reference)
        )
        if seen and right and is_near(seen[0], right[0]):
            used = [name for name in leaves if re.search(rf"\b{name}\b", operation)]
            found += [(operation, name, seen[1][name], right[1][name], seen[0]) for name in used]
    return found


def is_unlinked(student):
    """Return whether neither an attribute nor zero_grad leads from a result to its operands."""
    leaves = {"a": 1.7, "b": 0.6}
    values = computed(student, "root = a * b", leaves)
    links = student.observe("links", values, values["root"])["pairs"]
    return not links and left_by_zero_grad(student, "a * b", leaves) != []


def leaves_function_out(student, operation):
    """Return whether an operation's method defines a function and does not use it."""
    nodes = [
        node
        for one in methods(student, method_of(operation), of=["Value"])
        for part in one.body
        for node in ast.walk(part)
    ]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    return bool(defined - read)


@value_rule
def nothing_recorded(failure, student):
    """All gradients are 0, and nothing leads from a result to its operands."""
    if not {"got", "below"} & set(failure.facts):
        return None
    for sign in "+*":
        if not all_near(grads(student, f"root = a {sign} b", a=1.7, b=0.6), a=0.0, b=0.0):
            return None
    return method_line(student, "a + b") if is_unlinked(student) else None


@gradient_rule
def wrong_for_every_operation(failure, student):
    """The gradients of single operations are all 0, or wrong in the same way, or none is right."""
    point = {"a": 1.7, "b": 0.6}
    operations = [one for one in ALONE if not signs_in_method(student, one)]
    found = single_operations(failure, student, operations, **point)
    wrong = [one for one in found if one[1] == "a" and not is_near(one[2], one[3])]
    if len(wrong) < 2:
        return None

    right = {(operation, leaf): d for operation, leaf, _, d, _ in found}

    def alike(formula):
        return all(
            is_near(got, eval(formula, {"d": d, "x": point[leaf], "y": y, "o": o}))
            for operation, leaf, got, d, y in found
            for o in [right.get((operation, "b" if leaf == "a" else "a"), d)]
        )

    none_right = len(wrong) > 2 and not any(is_near(got, d) for _, _, got, d, _ in found)
    inside = [node for one in methods(student, "backward", of=["Value"]) for node in places_in(one)]
    if not alike("0") and not (inside and (none_right or any(map(alike, ALIKE)))):
        return None
    if alike("0") and all(leaves_function_out(student, operation) for operation, *_ in wrong):
        return None
    (one, _, first, first_truth, _), (other, _, second, second_truth, _) = wrong[:2]
    facts = {"one": one, "first": first, "first_truth": first_truth}
    facts |= {"other": other, "second": second, "second_truth": second_truth}
    header = methods(student, "backward", of=["Value"])
    return facts | ({"line": header[0].lineno} if header else {})


@gradient_rule
def stops_after_one_step(failure, student):
    """The root's own sources get something, what lies behind them nothing."""
    found = [grads(student, text, **SHARED) for text in STRAIGHT]
    stops = all(all_near(one, a=0.0, c=6.0) for one in found) and single_steps_right(student)
    line = line_of_backward(student, is_loop)
    return {**shown(STRAIGHT[0], SHARED), **line} if stops else None


SIGNS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "**": "pow"}
SIGN_OF = {ast.Add: "+", ast.Sub: "-", ast.USub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def method_of(operation):
    """Return the name of Value's method for an operation."""
    if len(parts := operation.split()) == 3:
        return f"__{'r' * parts[0].isdigit()}{SIGNS[parts[1]]}__"
    return "__neg__" if operation == "-a" else operation[2:-2]


def method_line(student, operation):
    """Return the line of Value's method for an operation, if it has a def of its own."""
    found = methods(student, method_of(operation), of=["Value"])
    return {"line": found[0].lineno} if found else {}


def stands_for_a_value(node):
    """Return whether an expression in a method is an operand itself, or computed from one; what
    belongs to one, such as self.data, is not.
    """
    match node:
        case ast.Name(id="self" | "other"):
            return True
        case ast.UnaryOp(operand=one):
            return stands_for_a_value(one)
        case ast.BinOp(left=one, right=other):
            return stands_for_a_value(one) or stands_for_a_value(other)
        case ast.Call(func=ast.Name(), args=[one]):
            return stands_for_a_value(one)
    return False


def signs_in_method(student, operation):
    """Return the signs of the operations on Values by which a method is written; nothing if it
    computes with numbers, None if it has no def of its own.
    """
    found = methods(student, method_of(operation), of=["Value"])
    nodes = [node for one in found[:1] for node in ast.walk(one) if stands_for_a_value(node)]
    signs = {SIGN_OF[type(node.op)] for node in nodes if type(getattr(node, "op", 0)) in SIGN_OF}
    return signs if found else None


@gradient_rule
def ignores_incoming_gradient(failure, student):
    """The gradient of an operation's operand is the local derivative, also behind a product."""
    leaves = {"a": 2.0, "b": 3.0}
    if not all_near(grads(student, "root = a * b", **leaves), a=3.0, b=2.0):
        return None
    operations = behind(failure, student, ALONE)
    for operation, leaf, got, right, _ in single_operations(failure, student, operations, **leaves):
        asked = f"s = {operation}; root = s * c"
        found = grads(student, asked, **leaves, c=5.0).get(leaf)
        if right and is_near(got, right) and is_near(found, right):
            line = line_that_passes_on(student, operation, is_local)
            names = {**leaves, "c": 5.0}
            used = {name: n for name, n in names.items() if re.search(rf"\b{name}\b", asked)}
            return {**shown(asked, used), "leaf": leaf, "got": found, "right": 5 * right, **line}
    return None


def one_of_two_uses(student, replaced):
    """Return the facts if an operation loses a gradient where both operands are one Value, and a
    later operation replaces the gradient of an earlier one or not.
    """
    for sign, right in (("+", 2.0), ("*", 6.0)):
        operation = f"a {sign} a"
        got = grads(student, f"root = {operation}", a=3.0).get("a")
        if is_near(got, right / 2):
            text = f"t = a {sign} b; root = t {sign} a"
            both = grads(student, text, a=3.0, b=1.0).get("a")
            if is_near(both, right / 2 if replaced else right):
                line = method_line(student, operation)
                if replaced:
                    line = line_that_passes_on(student, operation, replaces)
                return {"operation": operation, "got": got, "right": right, **line}
    if replaced and all(is_near(grads(student, text, **SHARED).get("a"), 15.0) for text in LATE):
        operation = "(a + b) + a"
        got = grads(student, f"root = {operation}", a=3.0, b=1.0).get("a")
        line = line_that_passes_on(student, "a + a", replaces)
        return {"operation": operation, "got": 1.0, "right": 2.0, **line} if got == 1.0 else None
    return None


overwrites_gradients = shared_rule(one_of_two_uses, replaced=True)
keeps_one_of_two_equal_inputs = shared_rule(one_of_two_uses, replaced=False)


@gradient_rule
def quotient_by_itself(failure, student):
    """Half of a / a counts, and both halves of a + a and a * a do."""
    if not re.search(r"\b(\w+) / \1\b", failure.facts["lines"].text):
        return None
    found = (grads(student, f"root = a {sign} a", a=4.0).get("a") for sign in "+*/")
    sums, products, quotients = found
    half = any(is_near(quotients, number) for number in (0.25, -0.25))
    return {} if half and is_near(sums, 2.0) and is_near(products, 8.0) else None


@gradient_rule
def clears_before_backward(failure, student):
    """The last root's gradient alone."""
    if len(failure.facts["roots"]) < 2:
        return None
    both, alone = (
        grads(student, "p = a * b; q = a * c", *roots, **SHARED) for roots in ("pq", "p")
    )
    return {} if all_near(both, a=5.0) and all_near(alone, a=3.0) else None


def late_part(student, matches):
    """Return the facts of the first of two expressions in which a's grad matches."""
    for text in LATE if single_steps_right(student) else ():
        found = grads(student, text, **SHARED).get("a", math.nan)
        if matches(found):
            line = line_of_backward(student, is_loop)
            return {**shown(text, SHARED), "got": found, **line}
    return None


counts_again = shared_rule(late_part, matches=lambda a: a > 18.5 and is_near(a % 3.0, 0.0))
order_not_topological = shared_rule(late_part, matches=lambda a: is_near(a, 3.0))


@gradient_rule
def operation_not_recorded(failure, student):
    """Every gradient of one operation is 0, and those of a sum or a product are right."""
    point = {"a": 1.7, "b": 0.6}
    sums, products = (grads(student, f"root = a {sign} b", **point) for sign in "+*")
    if not (all_near(sums, a=1.0, b=1.0) or all_near(products, a=0.6, b=1.7)):
        return None
    for operation in behind(failure, student, (*ALONE, "3 + a", "3 * a", "3 - a", "3 / a")):
        found = grads(student, f"root = {operation}", **point)
        if found and not any(found.values()):
            return {"operation": operation, **method_line(student, operation)}
    return None


@gradient_rule
def released_too_early(failure, student):
    """The part through t * t alone is passed on."""
    for root in ("v + t * t", "t * t + v"):
        text = f"t = a * b; u = t * c; v = u * c; root = {root}"
        if is_near(grads(student, text, **SHARED).get("a"), 36.0):
            return {**shown(text, SHARED), "got": 36.0}
    return None


@gradient_rule
def equal_taken_for_same(failure, student):
    """Wrong for equal numbers, right for others."""
    text, leaves = "s = a + b; t = c + d; root = s * t", {"a": 1.0, "b": 5.0, "c": 2.0}
    other, equal = (grads(student, text, **leaves, d=d) for d in (5.0, 4.0))
    wrong = equal and all_near(other, a=7.0, c=6.0) and not all_near(equal, a=6.0, c=6.0)
    return {"first": equal["a"], "second": equal["c"]} if wrong else None


@gradient_rule
def zero_contribution_not_counted(failure, student):
    """A second path that adds 0 keeps the gradient from the leaves; one that adds more does not."""
    text = "t = a * b; u = t * c; root = u + t"
    found, more = (grads(student, text, a=2.0, b=3.0, c=c) for c in (0.0, 1.0))
    wrong = all_near(found, a=0.0, b=0.0) and all_near(more, a=6.0, b=4.0)
    return {} if wrong and single_steps_right(student) else None


@rule
def path_by_path(failure, student):
    """Twice the nodes take far more than twice the lines."""
    function = failure.facts.get("function")
    for formula in ("x + x * c", "x * c + x") if "budget" in failure.facts else ():
        found = []
        for count in (6, 12):
            nodes = chain([formula], count, x=student.Value(2.0), c=student.Value(0.5))
            clears = function == "zero_grad"
            found.append(student.observe("lines_run", nodes[-1], clears, 1_000_000))
        few, many = found
        if few and many and many > 20 * few:
            return {"step": f"x = {formula}", "few": f"{few:,}", "many": f"{many:,}"}
    return None


FORMULAS = """
-a       | a | a=1.7       | 1 | a | -a
3 + a    | a | a=1.7       | 3 | 3 + a
3 * a    | a | a=1.7       | 1 | a | 3 * a
a - b    | b | a=1.7 b=0.6 | 1
3 - a    | a | a=1.7       | 1
a + b    | a | a=1.7 b=0.6 | -1 | a | b
a * b    | a | a=1.7 b=0.6 | a | 1 | a * b | -b
a * b    | b | a=1.7 b=0.6 | b | 1 | a * b | -a
a ** 3   | a | a=1.7       | a ** 2 | 3 * a | 3 * a ** 3 | 3 * a ** 4 | 3 * a ** 3 - 1
a ** 3   | a | a=1.7       | a ** 3 * log(a) | 2 * a ** 3 | 2 * a ** 2 | 3
a / b    | a | a=1.7 b=0.6 | b | 1 | a / b | -1 / b
a / b    | b | a=1.7 b=0.6 | a / b ** 2 | -a / b | a / b | -1 / b ** 2 | 1 / b ** 2
a / b    | b | a=1.7 b=0.6 | -a | a | -a * b ** 2
3 / a    | a | a=1.7       | -1 / a ** 2 | 3 / a ** 2 | 1 / a ** 2 | -3 / a | 3 / a | 1 / 3
a.exp()  | a | a=1.7       | a | 1 | a * exp(a) | a * exp(a - 1)
a.log()  | a | a=1.7       | a | 1 / log(a) | log(a) | -1 / a | -1 / a ** 2
a.log()  | a | a=1.7       | 1 / (a + 1e-8) | 1 / (a + 1e-7) | 1 / (a + 1e-6)
a.tanh() | a | a=1.7       | 1 - a ** 2 | 1 - tanh(a) | tanh(a) | 1 + tanh(a) ** 2
a.tanh() | a | a=1.7       | tanh(a) ** 2 | 1 - tanh(tanh(a)) ** 2
a.relu() | a | a=1.7       | a | 0
a.relu() | a | a=-1.7      | 1 | -1 | a
a * b    | a | a=0.0 b=0.6 | 0
a ** 1   | a | a=0.0       | 0
"""
"""Operations, a leaf, where, and wrong derivatives with respect to it that are often written."""


def behind(failure, student, operations):
    """Return the operations that occur in the failed expression, or in a method that does; those
    first whose method computes with numbers: what is wrong there is also wrong in methods that are
    written by it.
    """
    text = failure.facts["lines"].text
    for _ in SIGNS:  # as often as methods can be written by each other
        for operation in operations:
            if sign_of(operation) in text:
                text += "".join(signs_in_method(student, operation) or ())
    signs = {operation: sign_of(operation) for operation in operations}
    found = [one for one, sign in signs.items() if sign in text or (sign == "**" and "/" in text)]
    return sorted(found, key=lambda operation: signs_in_method(student, operation) != set())


def formulas_in(failure, student):
    """Return the rows of FORMULAS whose operation is behind the failed expression."""
    rows = [[part.strip() for part in row.split(" | ")] for row in FORMULAS.strip().splitlines()]
    found = []
    for asked in behind(failure, student, [operation for operation, *_ in rows]):
        for operation, leaf, at, *formulas in rows:
            if operation == asked:
                point = {one: float(number) for one, number in (p.split("=") for p in at.split())}
                found.append((operation, leaf, point, formulas))
    return found


def sign_of(operation):
    return re.search(r"\*\*|[-+*/]|[a-z]{3,}", operation)[0]


@gradient_rule
def wrong_local_derivative(failure, student):
    """One of the formulas that are often written; no formula is to blame for zeros throughout."""
    if not any(grads(student, "root = a + b", a=2.0, b=3.0).values()):
        return None
    for operation, leaf, point, formulas in formulas_in(failure, student):
        seen, right = (
            ask(one, f"root = {operation}", **point) for one in (student, failure.reference)
        )
        if not seen or not is_near(seen[0], right[0]):
            continue
        got, truth = seen[1][leaf], right[1][leaf]
        for formula in formulas if not is_near(got, truth) else ():
            if is_near(got, float(eval(formula, {**vars(math), **point}))):
                facts = {"operation": operation, "leaf": leaf, "formula": formula, "truth": truth}
                return {**shown("", point), **facts, **method_line(student, operation), "got": got}
    return None


@rule
def number_added_under_log(failure, student):
    """What log returns is the logarithm of a slightly larger number."""
    seen = ask(student, "root = a.log()", a=0.001) if "log" in str(failure.inputs) else None
    added = math.exp(seen[0]) - 0.001 if seen else 0.0
    found = {"added": f"{added:.3g}", **method_line(student, "a.log()")}
    return found if 1e-13 < added < 1e-3 else None


@rule
def reflected_the_wrong_way(failure, student):
    """What a - 3 or a / 3 would give."""
    if failure.message != "{name}.data is wrong":
        return None
    turned = [("-", "__rsub__", 1.0, -4.0), ("/", "__rtruediv__", 4 / 3, -1 / 3)]
    for sign, method, *swapped in turned:
        found = [ask(student, f"root = 3 {sign} a", a=a) for a in (4.0, -1.0)]
        numbers = [seen[0] if seen else None for seen in found]
        if all(map(is_near, numbers, swapped)):
            facts = {"asked": f"3 {sign} a", "swapped": f"a {sign} 3", "method": method}
            line = method_line(student, f"3 {sign} a")
            return {**facts, "got": numbers[0], "number": 3, **line}
    return None


grad_becomes_none = has_facts("below", type="NoneType")


def leaves_some(*, backward):
    """Return a rule: some Values below the root are as they were, after a backward or without."""

    @rule
    def recognize(failure, student):
        facts = failure.facts
        if "below" not in facts or facts["backward"] is not backward:
            return None
        after = {name: facts["grads"][name] for name in sorted(facts["below"])}
        left = [name for name, grad in after.items() if grad == facts["filled"][name]]
        cleared = [name for name, grad in after.items() if grad == 0]
        return {"left": ", ".join(left), "cleared": ", ".join(cleared) or "–"} if left else None

    return recognize


def left_by_zero_grad(student, formula, numbers):
    """Return which Values of one operation zero_grad does not clear; None if it raises, or where
    two of them hold the same number and may be mistaken for one.
    """
    with contextlib.suppress(StudentCodeError):
        values = computed(student, f"root = {formula}", numbers)
        if len(set(fetch([value.data for value in values.values()]))) < len(values):
            return None
        for value in values.values():
            value.grad = 1.0
        student.zero_grad(values["root"])
        left = fetch({name: value.grad for name, value in values.items()})
        return [name for name, grad in left.items() if grad == 1.0]
    return None


@rule
def sources_not_kept(failure, student):
    """zero_grad clears what some of the operations alone were computed from, and not all."""
    lines = failure.facts.get("lines")
    if lines is None or "below" not in failure.facts:
        return None
    found, data = {}, lines.data()
    for formula in lines.steps.values():
        used = [name for name in data if re.search(rf"\b{name}\b", formula)]
        numbers = {name: data[name] + data[name] * k / 4 for k, name in enumerate(used)}
        left = left_by_zero_grad(student, formula, numbers)
        if left is not None:
            found[formula] = (numbers, left)
    for formula in ("a + b", "a * b"):
        numbers = {"a": 1.7, "b": 0.6}
        found.setdefault(formula, (numbers, left_by_zero_grad(student, formula, numbers)))
    cleared = [formula for formula, (_, left) in found.items() if left == []]
    for formula, (numbers, left) in found.items() if cleared else ():
        if left:
            facts = {**shown(formula, numbers), "left": ", ".join(left), "other": cleared[0]}
            return {**facts, **method_line(student, formula)}
    return None


clears_not_everything = leaves_some(backward=False)
cleared_before_backward_only = leaves_some(backward=True)


@rule
def clears_too_much(failure, student):
    """Some Values that are not below the root are cleared."""
    facts = failure.facts
    others = facts["grads"].keys() - facts["below"] if "below" in facts else ()
    more = sorted(name for name in others if facts["grads"][name] == 0)
    return {"more": ", ".join(more)} if more else None
