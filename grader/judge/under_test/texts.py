"""What the checks of a function under test say, by what they require."""

_TWICE = "x was set to z between two calls, and the {what} of the {call} is wrong"
ONE_INPUT = {
    "value": "{called}(x) is wrong",
    "built in": "line {line} uses {used}, which does the work of {function}",
    "operator": "torch ran {used}, which does the work of {function}",
    "cut": "{called}(x) does not require grad, although x does",
    "gradient": "the gradient for the incoming gradient v is wrong",
    "no node": (
        "the graph has no node of {function}: {function} is not a Function, or apply did not make"
        " the result"
    ),
    "not handed back": (
        "this check multiplies what {function}.backward returns by {a}, so the gradient should be"
        " {a} times as large as without; it is not"
    ),
    "gradcheck": "gradcheck compared your gradient with differences of your forward: they disagree",
    "gradgradcheck": (
        "gradgradcheck compared your second derivative with differences: they disagree"
    ),
    "shape": "the gradient is wrong for this shape",
    "empty": "the gradient is wrong for an empty x",
    "transposed": "the gradient is wrong for a transposed x and a transposed v",
    "expanded": "the gradient is wrong for a v made by expand() from one row",
    "sum": "the gradient of {called}(x).sum() is wrong",
    "extremes": "the gradient is wrong for huge or tiny x",
    "linear": "for {factor} * v the gradient should be {factor} times the gradient for v",
    "balanced": "the gradient for a grad_output v that adds up to 0 is wrong",
    "first": "the gradient of the first call, on x, is wrong after a second call, on z",
    "second": "the gradient of the second call, on z, is wrong",
    "nested": "the gradient of {function} applied to its own result is wrong",
    "after a change": "{called}(x) is wrong after an earlier result for x was changed in place",
    "twice value": _TWICE,
    "twice gradient": _TWICE,
    "input changed": "forward changed x",
    "v changed": (
        "{called}(x) + w passes the same gradient v to both, and backward changed what w gets"
    ),
    "v frozen": "the incoming gradient required grad before backward, and does not afterwards",
    ".grad": "x.grad should be its old value plus the gradient",
    "attributes": "backward uses a tensor in {names}, which did not go through save_for_backward",
    "nothing saved": "no tensor was saved with save_for_backward",
    "written": "{what} was changed in place before backward, and backward used the new values",
    "retained": "the gradient is wrong with retain_graph=True",
    "again": "the second backward through a retained graph is wrong",
    "freed": (
        "backward still gave a gradient after the graph was freed: what it used is not in"
        " saved_tensors"
    ),
    "second derivative cut": (
        "the gradient has no graph back to x: no_grad(), .detach(), .data or NumPy cuts it off, or"
        " what was saved is neither forward's input nor its output"
    ),
    "second derivative": (
        "the first derivative is right, the second is wrong: save every tensor that backward uses,"
        " and do not compute under no_grad()"
    ),
    "flag": "x does not require grad, but after {called}(x) {what} does",
    "values": "{called} changed x",
    "grad": "{called}(x) changed x.grad",
    "retains": "{called}(x) called x.retain_grad(), so backward fills x.grad",
    "mode": "after {called}(x) with an x that requires no grad, grad mode is switched off",
    "mode off": "after {called}(x) under no_grad(), grad mode is switched on",
}
"""What checks of a function of one input x say."""
PLAIN = {"input changed": ONE_INPUT["values"]}
"""What is said otherwise of a function that is not the apply of a class."""

_GRADIENT = "the gradient with respect to {which} is wrong for grad_output v"
_RETAINED = (
    "backward ran twice, first with retain_graph=True; one of the gradients with respect to {which}"
    " is wrong"
)
SEVERAL_INPUTS = ONE_INPUT | {
    "value": "the value of {called} is wrong",
    "cut": "the result of {called} does not require grad, although an input does",
    **dict.fromkeys(("gradient", "shape", "empty", "transposed", "expanded", "sum"), _GRADIENT),
    "no node": (
        "the graph has no node of {function}: it is not a Function, or apply does not compute the"
        " result"
    ),
    "not handed back": (
        "this check multiplies what {function}.backward returns by {a}, so the gradient with"
        " respect to {which} should be {a} times as large as without; it is not"
    ),
    "gradcheck": (
        "gradcheck compared your gradients with finite differences of your forward; they differ"
    ),
    "linear": (
        "for {factor} * v the gradient with respect to {which} should be {factor} times that for v"
    ),
    "balanced": (
        "the gradient with respect to {which} is wrong for a grad_output v that adds up to 0"
    ),
    "first": (
        "after a second call with other numbers, the gradient of the first call with respect to"
        " {which} is wrong"
    ),
    "second": "of two calls, the gradient of the second with respect to {which} is wrong",
    "nested": (
        "applied to its own result, {function} gives a wrong gradient with respect to {which}"
    ),
    "one for all": "with the same tensor x as both inputs, the gradient is wrong",
    "constant": (
        "if the other input does not require grad, the gradient with respect to {which} is wrong"
    ),
    "twice value": (
        "x and {other} were changed in place between two calls, and the value of the {call} is"
        " wrong"
    ),
    "twice gradient": (
        "x and {other} were changed in place between two calls, and the gradient of the {call}"
        " with respect to {which} is wrong"
    ),
    "input changed": "{function} changed the values of {which}",
    "v changed": "{function}.backward changed the values of its grad_output v",
    ".grad": (
        "{which}.grad was {before} before backward; afterwards it should be that plus the gradient"
    ),
    "attributes": "backward needs tensors that are stored in {names}, not with save_for_backward",
    "written": (
        "{what} was changed in place after the call; backward should raise, or use the old {what},"
        " but the gradient with respect to {which} is wrong"
    ),
    "retained": _RETAINED,
    "again": _RETAINED,
    "freed": (
        "backward still worked after the graph was freed, so it used tensors that are not in"
        " ctx.saved_tensors"
    ),
}
"""What checks of a function of several inputs say."""


HANDED_ON = {
    "no class": "{function} is no longer a class",
    "value": (
        "{name}(x) is not what {function}.apply(x) returns (in this check, forward returns {a} * x)"
    ),
    "forward called": (
        "{name} calls forward directly, with a {given} for ctx; only apply connects the result to"
        " the graph"
    ),
    "cut": "{name}(x) does not require grad, although x does: something cuts the graph",
    "gradient": (
        "the gradient is not what {function}.backward returns (in this check, {b} * grad_output)"
    ),
    "other value": "{name}(x) is not what {function}.apply(x) returns",
    "after a change": "{name}(x) is wrong after an earlier result for x was changed in place",
    "second call": "x was changed in place after {name}(x), and a second {name}(x) is wrong",
    "flag": "x does not require grad, but after {name}(x) {what} does",
    "values": "{name} changed x",
    "grad": "{name} changed x.grad",
    "mode": "after {name}(x) with an x that requires no grad, grad mode is switched off",
    "retains": "{name}(x) called x.retain_grad(), so backward fills x.grad",
    "recorded": ("{name}(x) under torch.no_grad() requires grad, and {function}.apply(x) does not"),
}
"""What checks of a function say that hands on what apply returns."""
