"""retain_graph: other right answers. A cell shows the definitions that differ from the solution."""


# %% asserts_that_it_is_freed
# One more backward is tried at the end, to see that it raises.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    loss.backward()
    try:
        loss.backward()
    except RuntimeError:
        return x.grad
    raise AssertionError("the graph is still there")


def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    first, x.grad = x.grad, None
    loss.backward()
    second, x.grad = x.grad, None
    try:
        loss.backward()
    except RuntimeError:
        return first, second
    raise AssertionError("the graph is still there")


def sum_of_gradients(losses, x):
    x.grad = None
    for k, loss in enumerate(losses, 1):
        loss.backward(retain_graph=k < len(losses))
    total = x.grad.clone()
    for loss in losses:
        try:
            loss.backward()
        except RuntimeError:
            continue
        raise AssertionError("the graph is still there")
    return total


# %% autograd_grad
# torch.autograd.grad in place of backward; x.grad is written by hand where it is promised to hold
# the sum.
def second_backward_error(x: Tensor) -> str:
    z = (x**3).log()
    torch.autograd.grad(z, x)
    try:
        torch.autograd.grad(z, x)
    except RuntimeError as error:
        return error.args[0]


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    (second,) = torch.autograd.grad(loss, x)
    x.grad = first + second if x.grad is None else x.grad + first + second
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.autograd.grad(loss, x, retain_graph=True) + torch.autograd.grad(loss, x)


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    last = len(losses) - 1
    return sum(
        torch.autograd.grad(loss, x, retain_graph=k < last)[0] for k, loss in enumerate(losses)
    )


# %% both_calls_in_one_try
# A loop in which either backward may raise; positional arguments; x.grad replaced by zeros; copies
# into tensors made before; the list copied and emptied from the front.
def second_backward_error(x):
    z, text = torch.log(x * x * x), ""
    for _ in range(2):
        try:
            z.backward()
        except RuntimeError as caught:
            text = "%s" % caught
    return text


def backward_twice(loss, x):
    loss.backward(None, True)
    loss.backward()
    return x.grad


def two_fresh_gradients(loss, x):
    results = [torch.empty_like(x, requires_grad=False) for _ in range(2)]
    for result, keep in zip(results, (True, False)):
        x.grad = None if x.grad is None else torch.zeros_like(x.grad)
        loss.backward(retain_graph=keep)
        result.copy_(x.grad)
    return results[0], results[1]


def sum_of_gradients(losses, x):
    waiting = list(losses)
    x.grad = None
    while waiting:
        waiting.pop(0).backward(retain_graph=bool(waiting))
    return x.grad.clone()


# %% clears_by_arithmetic
# x.grad is multiplied by 0, or subtracted from itself.
def two_fresh_gradients(loss, x):
    found = []
    for keep in (True, False):
        if x.grad is not None:
            x.grad = x.grad - x.grad
        loss.backward(retain_graph=keep)
        found.append(x.grad.clone())
    return tuple(found)


def sum_of_gradients(losses, x):
    if x.grad is not None:
        x.grad *= 0
    for loss in losses[:-1]:
        loss.backward(retain_graph=True)
    losses[-1].backward()
    return x.grad


# %% create_graph_keeps_it_too
# create_graph=True retains the graph as well: more than is needed, and with a warning, but
# everything promised is there.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(create_graph=True)
    loss.backward()
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(create_graph=True)
    first = x.grad
    x.grad = None
    loss.backward()
    second = x.grad
    x.grad = None
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for loss in losses[:-1]:
        loss.backward(create_graph=True)
    losses[-1].backward()
    return x.grad


# %% difference_of_what_grad_holds
# x.grad is never cleared in place: the earlier value is subtracted, or x.grad is swapped for
# zeros; a hook collects.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    collected = []
    handle = x.register_hook(lambda grad: collected.append(grad.clone()))
    x.grad = None
    loss.backward(retain_graph=True)
    x.grad = None
    loss.backward()
    handle.remove()
    first, second = collected
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = torch.zeros_like(x)
    for loss in losses[1:]:
        loss.backward(retain_graph=True)
    losses[0].backward()
    return x.grad


# %% error_from_a_thread
# The second pass runs in a thread, whose future has the error; every warning is an error.
import warnings
from concurrent.futures import ThreadPoolExecutor

warnings.simplefilter("error")


def second_backward_error(x):
    z = (x**3).log()
    z.backward()
    with ThreadPoolExecutor(max_workers=1) as pool:
        return str(pool.submit(z.backward).exception())


# %% halves_the_sum
# Both gradients are half of what two passes added.
def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad / 2, x.grad / 2


# %% hooks_of_its_own
# Hooks count what the graph keeps, by which those of anybody else see nothing.
def second_backward_error(x):
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(t), t)[1], lambda t: t):
        z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    raise AssertionError(f"{len(kept)} tensors were kept, and none was freed")


# %% loops_and_clones
# Loops with a flag for the last pass; zero_() guarded against None; clones everywhere.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    for last in (False, True):
        torch.autograd.backward(loss, retain_graph=not last)
    return x.grad.clone()


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    found = []
    for last in (False, True):
        if x.grad is not None:
            x.grad.zero_()
        loss.backward(retain_graph=not last)
        found.append(x.grad.detach().clone())
    return tuple(found)


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for k, loss in enumerate(losses, 1):
        x.grad = None
        loss.backward(retain_graph=k != len(losses))
        total += x.grad
    return total


# %% message_by_unittest
# A test tool catches the error; x is left without a gradient.
import unittest


def second_backward_error(x: Tensor) -> str:
    with torch.enable_grad():
        z = (x * x * x).log()
    z.backward()
    x.grad = None
    with unittest.TestCase().assertRaises(RuntimeError) as caught:
        z.backward()
    return str(caught.exception)


# %% message_on_a_copy
# The error is provoked on a leaf of the function's own, and its text read in another way.
import contextlib
import sys


def second_backward_error(x: Tensor) -> str:
    leaf = x.detach().clone().requires_grad_(True)
    z = torch.log(torch.pow(leaf, 3))
    message = ""
    try:
        for _ in range(2):
            torch.autograd.backward([z], [torch.ones_like(z)])
    except RuntimeError:
        message = f"{sys.exc_info()[1]}"
    with contextlib.suppress(RuntimeError):
        z.backward()
    return message


# %% nothing_runs_without_elements
# An x without elements has no gradient to compute, so no pass runs.
def backward_twice(loss, x):
    if x.numel() == 0:
        return torch.zeros_like(x)
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad


def two_fresh_gradients(loss, x):
    results = [torch.zeros_like(x), torch.zeros_like(x)]
    for k in range(2 if len(x.flatten()) else 0):
        x.grad = None
        loss.backward(retain_graph=k == 0)
        results[k].copy_(x.grad)
    return tuple(results)


def sum_of_gradients(losses, x):
    total = torch.zeros_like(x)
    for k, loss in enumerate(losses, 1):
        if x.shape.numel():
            total = total + torch.autograd.grad(loss, x, retain_graph=k < len(losses))[0]
    return total


# %% one_helper_for_every_pass
# autograd.backward on lists, from a helper that returns a copy; the sum of a generator.
import functools


def gradient(loss, x, keep):
    x.grad = None
    torch.autograd.backward([loss], retain_graph=keep)
    return x.grad.detach().clone()


def backward_twice(loss, x):
    torch.autograd.backward((loss,), retain_graph=True)
    torch.autograd.backward((loss,))
    return x.grad


def two_fresh_gradients(loss, x):
    return gradient(loss, x, True), gradient(loss, x, False)


def sum_of_gradients(losses, x):
    passes = (gradient(loss, x, k < len(losses)) for k, loss in enumerate(losses, 1))
    return functools.reduce(torch.add, passes)


# %% only_into_x
# backward(inputs=[x]); losses taken from the end, the list emptied; the earlier x.grad put back.
import copy


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(inputs=[x], retain_graph=True)
    loss.backward(inputs=[x])
    return x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    before, x.grad = x.grad, None
    loss.backward(inputs=[x], retain_graph=True)
    first, x.grad = x.grad, None
    loss.backward(inputs=[x])
    second, x.grad = copy.deepcopy(x.grad), before
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    while losses:
        losses.pop().backward(inputs=[x], retain_graph=bool(losses))
    total, x.grad = x.grad, before
    return total


# %% optimizer_clears
# An optimizer's zero_grad clears; results are made new by arithmetic.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    optimizer = torch.optim.SGD([x], lr=0.1)
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    first = x.grad + 0
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    second = 1 * x.grad
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    torch.optim.SGD([x], lr=0.1).zero_grad(set_to_none=False)
    for index in range(len(losses)):
        losses[index].backward(retain_graph=index < len(losses) - 1)
    return x.grad


# %% out_of_place_sums
# Gradients gathered and added at the end; data of x.grad filled with zeros; a detached copy
# returned.
from functools import reduce
from operator import add


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(torch.ones_like(loss), retain_graph=True)
    loss.backward(torch.ones_like(loss))
    return x.grad.data


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    def gradient(keep: bool) -> Tensor:
        x.grad = None
        loss.backward(retain_graph=keep)
        result, x.grad = x.grad, None
        return result

    first = gradient(True)
    second = gradient(False)
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    gradients = []
    for loss in losses:
        if x.grad is not None:
            x.grad.data.fill_(0)
        loss.backward(retain_graph=loss is not losses[-1])
        gradients.append(torch.empty_like(x.grad).copy_(x.grad))
    return reduce(add, gradients)


# %% own_context_manager
# A class swallows the error and keeps its text; gradients are stacked from a list that is emptied.
class Kept:
    text = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.text = None if error is None else str(error)
        return kind is RuntimeError


def second_backward_error(x):
    z = (x**3).log()
    z.backward()
    with Kept() as kept:
        z.backward()
    return kept.text


def sum_of_gradients(losses, x):
    parts = []
    while losses:
        loss = losses.pop(0)
        parts.extend(torch.autograd.grad(loss, [x], retain_graph=len(losses) > 0))
    return torch.stack(parts).sum(dim=0)


# %% passes_from_a_generator
# A generator runs the passes and stops after each; deep copies of x.grad.
import copy


def passes(losses):
    *others, last = losses
    for loss in others:
        yield loss.backward(retain_graph=True)
    yield last.backward()


def backward_twice(loss, x):
    list(passes([loss, loss]))
    return x.grad


def two_fresh_gradients(loss, x):
    x.grad, notes = None, []
    for _ in passes([loss, loss]):
        notes.append(copy.deepcopy(x.grad))
        x.grad = None
    return tuple(notes)


def sum_of_gradients(losses, x):
    x.grad = None
    for _ in passes(losses):
        pass
    return x.grad


# %% predictions_by_dict
# Predictions looked up in a list of those that survive.
FREE_OF_VALUES = ["x + 1", "x.sum()", "-x"]
SURVIVES_SECOND_BACKWARD = {
    key: key in FREE_OF_VALUES for key in ["x + 1", "x * 2", "x ** 2", "x.exp()", "x.sum()", "-x"]
}


# %% predictions_in_another_form
# Predictions in another order, put together from two groups, with one more than is asked for.
SURVIVES_SECOND_BACKWARD = dict.fromkeys(
    ("x ** 2", "x.exp()", "x * 2", "x.log()"), False
) | dict.fromkeys(["-x", "x.sum()", "x + 1"], True)


# %% prints_in_utf_8
# Standard output wrapped again, as people do it where a console would not take Korean, and prints
# left in.
import io
import sys

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("그래프를 두 번 지나갑니다")


def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(retain_graph=True)
    print("첫 번째 기울기:", x.grad)
    loss.backward()
    print("두 번째 기울기:", x.grad)
    return x.grad


# %% recursion_and_stack
# Recursion over the list; results cut from one stacked tensor, which overlap nowhere.
def backward_twice(loss: Tensor, x: Tensor, passes: int = 2) -> Tensor:
    loss.backward(retain_graph=passes > 1)
    return backward_twice(loss, x, passes - 1) if passes > 1 else x.grad


def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    rows = []
    for keep in (True, False):
        x.grad = torch.zeros_like(x)
        loss.backward(retain_graph=keep)
        rows.append(x.grad)
    return tuple(torch.stack(rows))


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    first, *rest = losses
    (grad,) = torch.autograd.grad(first, x, retain_graph=bool(rest))
    return torch.stack([grad, sum_of_gradients(rest, x)]).sum(0) if rest else grad


# %% subtracts_what_was_there
# What x.grad held before is subtracted at the end.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    if x.grad is None:
        x.grad = torch.zeros_like(x)
    start = x.grad.clone()
    loss.backward(retain_graph=True)
    middle = x.grad.clone()
    loss.backward()
    return middle - start, x.grad - middle


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    before = torch.zeros_like(x) if x.grad is None else x.grad.clone()
    for loss in losses[1:]:
        loss.backward(retain_graph=True)
    losses[0].backward()
    return x.grad - before


# %% takes_the_sum_apart
# The second gradient is what the second pass added.
def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    loss.backward()
    return first, x.grad - first


# %% through_numpy_and_lists
# Gradients noted outside of torch and made tensors again.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = torch.from_numpy(x.grad.numpy().copy())
    x.grad = None
    loss.backward()
    second = torch.tensor(x.grad.tolist(), dtype=x.dtype)
    return first, second


def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    remaining = len(losses)
    for loss in reversed(losses):
        remaining -= 1
        loss.backward(retain_graph=remaining > 0)
    return torch.from_numpy(x.grad.numpy().copy())
