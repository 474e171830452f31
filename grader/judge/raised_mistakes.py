"""Rules for exceptions of Python or torch whose message shows the mistake, in any lesson."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from grader.core.i18n import phrase
from grader.judge.diagnosis import Failure, Mistake
from grader.judge.remote.session import Student

MAX_MESSAGE = 2000
"""How many characters of an exception's text are searched: some patterns take the square of it."""
CALL = r"(?<![\w.<>])(?P<call>[\w.<>]+\(\)"
"""The beginning of a pattern: a function's name and its brackets."""
GOT_AND_WANTED = ("got", "wanted")
SUMMED = "The gradient has too few elements. Look for a sum, a mean or an index that reduces it."
BROADCAST = "The gradient has too many elements. Sum over the dimensions that were broadcast."
REARRANGED = "The number of elements is right. Look for a transpose or a reshape."


def raised(
    id: str,
    title: str,
    explanation: str,
    patterns: Sequence[str],
    more: Callable[[dict[str, Any]], dict[str, Any]] = lambda facts: facts,
) -> Mistake:
    """Make a mistake that is recognized by an exception's text. The named groups of the pattern
    that matches are its facts; ``more`` may add some.
    """

    def rule(failure: Failure, student: Student) -> dict[str, Any] | None:
        if failure.error is None:
            return None
        said = str(failure.error)[:MAX_MESSAGE]
        found = (re.search(pattern, said) for pattern in patterns)
        return next((more(match.groupdict()) for match in found if match), None)

    return Mistake(id, (), title, explanation, rule)


def with_advice(facts: dict[str, Any]) -> dict[str, Any]:
    """Add to the shapes of a gradient and its input what may have gone wrong."""
    got, wanted = (math.prod(map(int, re.findall(r"\d+", facts[name]))) for name in GOT_AND_WANTED)
    advice = SUMMED if got < wanted else BROADCAST if got > wanted else REARRANGED
    return {**facts, "advice": phrase(advice)}


RAISED: tuple[Mistake, ...] = (
    raised(
        "common_no_graph",
        "The result has no graph",
        "autograd was asked for a gradient of a tensor that has no graph. Something on the way"
        " cuts it, such as detach, .data, item, a comparison, a new tensor made from the numbers,"
        " no_grad, or an input that does not require grad.",
        ["does not require grad and does not have a grad_fn"],
    ),
    raised(
        "common_backward_twice",
        "The graph was freed before it was used again",
        "The first backward frees the tensors that the graph saved, and a second one needs them."
        " Pass retain_graph=True to the first call, or compute the result once more.",
        ["Trying to backward through the graph a second time"],
    ),
    raised(
        "common_backward_of_many",
        "backward from several elements needs a gradient",
        "Without a gradient argument, or with None, backward starts with 1, so the result must be"
        " a single number. This result has several or no elements. Pass a gradient of its shape, or"
        " reduce it to one number.",
        ["grad can be implicitly created only for scalar outputs"],
    ),
    raised(
        "common_inplace_on_leaf",
        "A leaf that requires grad is changed in place",
        "While torch records, a leaf that requires grad can't be changed in place. Compute a new"
        " tensor instead. Only the update of a parameter belongs under torch.no_grad().",
        ["a leaf Variable that requires grad is being used in an in-place operation"],
    ),
    raised(
        "common_inplace_on_saved",
        "A saved tensor is changed in place",
        "An operation saved this tensor for its backward, and the code changed it afterwards. Work"
        " out of place, or on a clone.",
        ["has been modified by an inplace operation"],
    ),
    raised(
        "common_unused_input",
        "The result does not depend on an input",
        "The graph of the result does not reach a tensor whose gradient was asked for. Compute the"
        " result from that tensor itself, not from a copy; or pass allow_unused=True, which gives"
        " None.",
        ["appears to not have been used in the graph"],
    ),
    raised(
        "common_none_used",
        "None is used as a value",
        "A value here is None. A function without a return gives None. .grad is None before any"
        " backward, and on a tensor that is not a leaf and does not retain its gradient.",
        [
            "'NoneType' object",
            r"operand type\(s\) for .*'NoneType'",
            r"invalid combination of arguments - got \([^)]*NoneType",
        ],
    ),
    raised(
        "common_many_as_one",
        "Only a tensor of one element converts to a number",
        "item(), float(), int() and the functions of math take a tensor of exactly one element."
        " This one has several, or none. Keep it a tensor, or reduce it first.",
        ["cannot be converted to Scalar", "only one element tensors can be converted"],
    ),
    raised(
        "common_truth_of_tensor",
        "A condition is not a single True or False",
        "`if`, `while`, `and`, `or`, `in` and max() need a single True or False. This tensor has"
        " one value for each element. Use torch.where, a mask, or any() and all().",
        ["Boolean value of Tensor with (?:more than one|no) value"],
    ),
    raised(
        "common_view_of_noncontiguous",
        "view needs contiguous memory",
        "view only reinterprets memory, and this tensor's elements do not lie in the order that"
        " the new shape needs. Use reshape, which copies if necessary.",
        ["view size is not compatible with input tensor's size and stride"],
    ),
    raised(
        "common_zero_dimensions",
        "A tensor without dimensions is indexed or iterated",
        "The tensor is a single number: its shape is (), so it has no first element and no"
        " dimension 0. Use operations that work for any shape, without an index.",
        [
            "0-d tensor",
            "0-dim tensor",
            "tensor has no dimensions",
            "too many indices for tensor of dimension 0",
        ],
    ),
    raised(
        "common_retains_nothing",
        "retain_grad on a tensor that does not require grad",
        "This tensor does not require grad, so backward computes no gradient for it. Compute it"
        " with recording on, from a tensor that requires grad.",
        ["can't retain_grad on Tensor that has requires_grad=False"],
    ),
    raised(
        "common_integers_have_no_gradient",
        "An integer or bool tensor can't require grad",
        "Only floating point and complex tensors can require grad. Give the tensor a floating point"
        " dtype; torch.tensor(2) is an integer, torch.tensor(2.0) is not.",
        ["floating point(?: and complex)? dtype can require gradients"],
    ),
    raised(
        "common_dtypes_mixed",
        "Two tensors have different dtypes",
        "The operation needs two tensors of the same dtype. Look for a tensor that is created"
        " without a dtype, or converted, and give it the dtype of the input.",
        [
            "to have the same dtype",
            "expected scalar type",
            "Found dtype",
            "source and destination dtypes match",
        ],
    ),
    raised(
        "common_sizes_differ",
        "Two shapes do not fit together",
        "The operation combines two tensors whose shapes don't fit together and can't be"
        " broadcast. Print both shapes before this line.",
        [r"The size of tensor a \(", "shapes cannot be multiplied", "inconsistent tensor size"],
    ),
    raised(
        "common_name_before_value",
        "{name} has no value yet",
        "{name} is used before anything is assigned to it. Check the spelling. If it is assigned"
        " only inside an if or a loop, assign it before.",
        [r"cannot access local variable '(?P<name>\w+)'", r"name '(?P<name>\w+)' is not defined"],
    ),
    raised(
        "common_gradient_count",
        "backward returns the wrong number of gradients",
        "backward has to return one value for each argument of forward except ctx, in their order:"
        " {wanted} here, and it returned {got}. Return None for an argument that needs no"
        " gradient.",
        [r"incorrect number of gradients \(expected (?P<wanted>\d+), got (?P<got>\d+)\)"],
    ),
    raised(
        "common_gradient_shape",
        "A gradient does not have its input's shape",
        "backward returned a gradient of shape {got}, and the input has {wanted}. {advice}",
        [
            r"invalid gradient at index \d+ - got (?P<got>\[.*?\])"
            r" but expected shape compatible with (?P<wanted>\[.*?\])"
        ],
        with_advice,
    ),
    raised(
        "common_empty_input",
        "A tensor or list without elements is not handled",
        "A maximum, a first element or a stack needs at least one element, and here there is"
        " none. Use operations that also work without elements, or return the empty result first.",
        [
            "Expected reduction dim to be specified for input.numel\\(\\) == 0",
            "expects a non-empty TensorList",
            "expected a non-empty list of Tensors",
            r"index -?\d+ is out of bounds for dimension \d+ with size 0",
            r"(?:iterable argument|arg) is (?:an )?empty",
            r"reduce\(\) of empty",
        ],
    ),
    raised(
        "common_size_of_nothing",
        "-1 has no meaning for a tensor without elements",
        "The tensor has no elements, so torch can't compute the size that -1 stands for. Write all"
        " sizes as numbers.",
        ["because the unspecified dimension size -1 can be any value"],
    ),
    raised(
        "common_flag_of_a_result",
        "requires_grad of a result is changed",
        "You can change requires_grad only on a leaf. This tensor was computed, so it is not a"
        " leaf. Call detach() on it, and use the tensor that detach() returns.",
        ["you can only change requires_grad flags of leaf variables"],
    ),
    raised(
        "common_numpy_of_graph",
        "NumPy is asked for a tensor that requires grad",
        "NumPy records no graph, so torch converts only tensors that do not require grad. Use"
        " torch's own functions, or call detach() first if no gradient is needed.",
        ["call numpy\\(\\) on Tensor that requires grad"],
    ),
    raised(
        "common_inference_tensor",
        "A tensor from inference mode is used in a graph",
        "Outside inference_mode(), a tensor made in it cannot be saved in a graph, require grad, or"
        " be changed in place. Use torch.no_grad() or detach() instead.",
        ["[Ii]nference tensor"],
    ),
    raised(
        "common_copy_of_result",
        "A tensor with a graph is copied by deepcopy",
        "deepcopy takes only tensors without a graph. Use detach().clone(), or clone() to stay in"
        " the graph.",
        ["Only Tensors created explicitly by the user"],
    ),
    raised(
        "common_too_many_levels",
        "The recursion is too deep",
        "A function calls itself, directly or through others, and Python allows about 1,000"
        " levels. Check that these calls end. If they go too deep, keep a list of what is still to"
        " do, and work in a loop.",
        ["maximum recursion depth exceeded"],
    ),
    raised(
        "common_overflow_of_floats",
        "A result is too large for a Python float",
        "math.exp, math.pow and **, for example, raise OverflowError where the result is too"
        " large for a float. Use a formula without such a number. For tensors, use torch's own"
        " functions, which return inf there.",
        ["math range error", "Numerical result out of range"],
    ),
    raised(
        "common_argument_count",
        "A call does not fit the function's parameters",
        "Python said: {call}. Compare the call with the definition.",
        [
            rf"{CALL} takes .*positional arguments? but .* (?:was|were) given)",
            rf"{CALL} missing \d+ required positional arguments?: .*)",
            rf"{CALL} got an unexpected keyword argument .*)",
        ],
    ),
)
