"""Rules about mistakes in torch.autograd.Functions and in functions that differentiate, by the
names that ``diagnosis.toml`` gives with ``rule = "…"``; and what lessons' own rules read in the
student's file.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from grader.core.errors import CourseError, Facts
from grader.judge.diagnosis import Failure, Rule, is_function_class
from grader.judge.remote.session import Student
from grader.worker.wire.compat import CUT_OFF


def methods(
    student: Student, *names: str, of: Collection[str] | None = None
) -> list[ast.FunctionDef]:
    """Return the functions and methods of these names, or only those in classes ``of`` a name."""
    nodes = student.source.nodes
    if of is not None:
        classes = [one for one in nodes if isinstance(one, ast.ClassDef) and one.name in of]
        nodes = [node for one in classes for node in one.body]
    return [one for one in nodes if isinstance(one, ast.FunctionDef) and one.name in names]


def ends_in_return(found: list[ast.FunctionDef]) -> bool:
    """Return whether the last line of one of them returns something, None by name included."""
    last = [method.body[-1] for method in found]
    return any(isinstance(line, ast.Return) and line.value is not None for line in last)


def class_behind(failure: Failure, student: Student) -> str | None:
    """Return the class that a failure is about; for a function, the one that it uses."""
    definitions = student.source.definitions
    if "function" in failure.facts:
        return str(failure.facts["function"]).partition(".")[0]
    if isinstance(definitions.get(failure.about), ast.ClassDef):
        return failure.about
    used = [name.partition(".")[0] for name in student.source.names_used(failure.about)]
    return next((name for name in used if isinstance(definitions.get(name), ast.ClassDef)), None)


def not_a_function(failure: Failure, student: Student) -> Facts | None:
    """The class exists, and the class of its node does not."""
    texts = ("Module.apply()", "attribute 'apply'", "forward()")
    name = class_behind(failure, student)
    unrelated = failure.error and not any(failure.raised(text) for text in texts)
    if unrelated and name != failure.about:
        return None  # a function may raise by itself
    return None if name is None or is_function_class(student, name) else {"function": name}


def styles_mixed(failure: Failure, student: Student) -> Facts | None:
    """Python says that arguments don't fit; a method has the parameters of the other style."""
    texts = ("positional argument", "missing a required argument")
    if not failure.error or not any(failure.raised("TypeError", text) for text in texts):
        return None
    of, said = [failure.about], failure.error.message
    if "backward()" in said:
        name, other = "backward", 1
    elif "forward()" in said or "setup_context()" in said or "required argument" in said:
        # how many arguments forward has in the other style
        name, other = "forward", 2 if methods(student, "setup_context", of=of) else 1
    else:
        return None
    mixed = any(len(method.args.args) == other for method in methods(student, name, of=of))
    return {"said": said} if mixed else None


def nothing_saved(failure: Failure, student: Student) -> Facts | None:
    """saved_tensors is empty, or an attribute of ctx is missing."""
    if failure.error is None:
        return None
    said = failure.error.message
    # ctx.saved_tensor is a typing error
    if "Backward' object has no attribute" in said and "attribute 'save" not in said:
        return {"said": said, "line": failure.error.line}
    texts = ("tuple index out of range", "expected 1, got 0")
    return _from_saved(failure, student, texts)


def other_number_saved(failure: Failure, student: Student) -> Facts | None:
    """saved_tensors holds another number of tensors than are unpacked."""
    return _from_saved(failure, student, ("values to unpack",))


def _from_saved(failure: Failure, student: Student, texts: Sequence[str]) -> Facts | None:
    """Recognize one of these messages if it is about saved tensors, not about a shape."""
    error = failure.error
    if error is None or not any(text in error.message for text in texts):
        return None
    saved = "saved" in student.source.text.splitlines()[(error.line or 0) - 1]
    return {"said": error.message, "line": error.line} if saved else None


def variable_of_forward(failure: Failure, student: Student) -> Facts | None:
    """A NameError about a name that only forward has."""
    if not failure.error or not failure.raised("NameError", "is not defined"):
        return None
    found = methods(student, "forward", "setup_context")
    inside = [node for method in found for node in ast.walk(method)]
    own = {one.arg for one in inside if isinstance(one, ast.arg)}
    own |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    known = own.intersection(failure.error.message.split("'")[1:2])
    return {"said": failure.error.message, "line": failure.error.line} if known else None


def tuple_not_unpacked(failure: Failure, student: Student) -> Facts | None:
    """A TypeError about a tuple, and saved_tensors is used without being unpacked or indexed."""
    texts = ("tuple", "can be converted to an index")
    if not failure.error or not any(failure.raised("TypeError", text) for text in texts):
        return None
    if any(method.args.vararg for method in methods(student, "backward")):
        return None  # *grads is a tuple too
    nodes = student.source.nodes
    saved = {node for node in nodes if getattr(node, "attr", "") == "saved_tensors"}
    unpacked = {
        node.value
        for node in nodes
        if isinstance(node, ast.Subscript | ast.Starred)
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List))
    }
    found = {"said": failure.error.message, "line": failure.error.line}
    return found if saved - unpacked else None


def create_graph_missing(failure: Failure, student: Student) -> Facts | None:
    """A gradient has no graph where it is differentiated: an earlier call of torch.autograd.grad
    gave it, and none has create_graph.
    """
    if failure.error is None or not failure.raised(CUT_OFF):
        return None
    nodes = (node for one in methods(student, failure.about) for node in ast.walk(one))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    calls = [one for one in calls if ast.unparse(one.func).split(".")[-1] == "grad"]
    if any(len(one.args) > 4 or {"create_graph", None} & set(keywords(one)) for one in calls):
        return None
    earlier = [one for one in calls if (one.end_lineno or 0) < (failure.error.line or 0)]
    return {"line": earlier[0].lineno} if earlier else None


def keywords(call: ast.Call) -> list[str | None]:
    return [one.arg for one in call.keywords]


def function_rule(*names: str) -> Rule:
    """Return a rule that recognizes what one of these rules does. Raise CourseError for an unknown
    name.
    """
    if unknown := [name for name in names if name not in FUNCTION_RULES]:
        known = ", ".join(FUNCTION_RULES)
        raise CourseError(f"there is no rule {unknown[0]}; choose from: {known}")

    def recognize(failure: Failure, student: Student) -> Facts | None:
        found = (FUNCTION_RULES[name](failure, student) for name in names)
        return next((facts for facts in found if facts is not None), None)

    return recognize


FUNCTION_RULES: dict[str, Rule] = {
    one.__name__: one
    for one in (
        not_a_function, styles_mixed, nothing_saved, other_number_saved, variable_of_forward,
        tuple_not_unpacked, create_graph_missing,
    )
}  # fmt: skip
