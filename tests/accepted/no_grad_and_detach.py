"""no_grad_and_detach: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% autograd_functional
# vjp of autograd.functional makes the leaf; a decorator switches the recording off.
@torch.no_grad()
def predict(f, x: Tensor) -> Tensor:
    return f(x)


@torch.no_grad()
def cut(y: Tensor) -> Tensor:
    return y.clone()


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    _, at_w = torch.autograd.functional.vjp(second, y)
    _, at_x = torch.autograd.functional.vjp(first, x, at_w)
    return at_x, at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    difference = online - cut(target)
    return torch.mean(difference * difference)


# %% autograd_grad
# torch.autograd.grad in both stages, so that no .grad is touched; the mode by hand, with finally.
def predict(f, x: Tensor) -> Tensor:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        return f(x)
    finally:
        torch.set_grad_enabled(before)


def cut(y: Tensor) -> Tensor:
    return y.data


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().clone().requires_grad_(True)
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(outputs=y, inputs=x, grad_outputs=at_w)
    return at_x, at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return (online - target.data).pow(2).sum() / online.numel()


# %% context_by_hand
# __enter__ and __exit__ called by hand, torch.where for a cut, torch.dist for the loss.
def predict(f, x):
    ctx = torch.no_grad()
    ctx.__enter__()
    try:
        r = f(x)
    finally:
        ctx.__exit__(None, None, None)
    return r


def cut(y):
    return torch.zeros_like(y).where(torch.zeros_like(y, dtype=torch.bool), y.detach())


def split_backward(x, first, second):
    y = first(x)
    leaf = y.detach()
    leaf.requires_grad_()
    z = second(leaf)
    gw = torch.autograd.grad(outputs=z, inputs=leaf)[0]
    before = 0 if x.grad is None else x.grad.clone()
    y.backward(gw)
    gx = x.grad - before
    return gx, gw


def bootstrap_loss(online, target):
    fixed = target.detach()
    fixed.requires_grad_(False)
    return torch.dist(online, fixed, p=2) ** 2 / online.numel()


# %% functional_tools
# torch.func and torch.autograd.functional: their own leaves, no .grad anywhere.
def predict(f, x: Tensor) -> Tensor:
    return torch.inference_mode()(f)(x)


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y, pull_back = torch.func.vjp(first, x.detach())
    at_w = torch.func.grad(second)(y.detach())
    return pull_back(at_w)[0], at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.nn.MSELoss()(online, target.detach())


# %% functions_of_ones_own
# Custom Functions: one that stops gradients, with no backward to speak of, and a loss with a
# backward of its own.
class Stop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        result = y.clone()
        ctx.mark_non_differentiable(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return None


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, online, target):
        difference = online - target
        ctx.save_for_backward(difference)
        return (difference**2).mean()

    @staticmethod
    def backward(ctx, grad_output):
        (difference,) = ctx.saved_tensors
        return grad_output * 2 * difference / difference.numel(), None


def cut(y: Tensor) -> Tensor:
    return Stop.apply(y)


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return Loss.apply(online, target)


# %% generators_and_loops
# Element by element, with zeros where target had its gradient; stage two row by row.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = torch.zeros_like(y.detach()).add(y.detach()).requires_grad_()
    second(w).backward()
    total = torch.zeros_like(x, requires_grad=False)
    for value, weight in zip(y.flatten(), w.grad.flatten(), strict=True):
        (row,) = torch.autograd.grad(value, x, retain_graph=True)
        total = total + weight * row
    return total, w.grad


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    total = 0.0
    for a, b in zip(online.reshape(-1), target.reshape(-1), strict=True):
        total = total + (a - b.detach()) ** 2
    return total / online.numel()


# %% optimizer_and_named_results
# An optimizer clears x.grad; the results have names; a class holds the mode.
from typing import NamedTuple


class Gradients(NamedTuple):
    at_x: Tensor
    at_w: Tensor


class Recording:
    def __init__(self, on):
        self.on = on

    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch._C._set_grad_enabled(self.on)

    def __exit__(self, *what):
        torch._C._set_grad_enabled(self.before)


def predict(f, x: Tensor) -> Tensor:
    with Recording(False):
        return f(x)


def cut(y: Tensor) -> Tensor:
    with Recording(False):
        return 1 * y


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.data
    w.requires_grad = True
    second(w).backward()
    torch.optim.SGD([x], lr=1.0).zero_grad()
    y.backward(w.grad)
    return Gradients(x.grad.clone(), w.grad.clone())


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    fixed = target.detach().requires_grad_(False)
    return torch.linalg.vector_norm(online - fixed) ** 2 / online.numel()


# %% previous_grad_put_back
# What x.grad held is subtracted, or put back afterwards; the recursion into predict; no_grad as
# an object.
from contextlib import ExitStack


def predict(f, x: Tensor) -> Tensor:
    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        return f(x)


def cut(y: Tensor) -> Tensor:
    return predict(lambda t: t * 1, y)


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    held = x.grad
    x.grad = None
    y = first(x)
    w = cut(y).requires_grad_()
    w.retain_grad()
    second(w).backward()
    y.backward(gradient=w.grad, retain_graph=True)
    found, x.grad = x.grad, held
    return found, w.grad


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        goal = target.clone()
    return ((goal - online) ** 2).mean()


# %% surrogate_loss
# The second stage as the gradient of a scalar, (y * gradient).sum(); hooks carry the gradient at
# w.
def predict(f, x: Tensor) -> Tensor:
    with torch.inference_mode():
        return f(x)


def cut(y: Tensor) -> Tensor:
    result = torch.empty_like(y, requires_grad=False)
    with torch.no_grad():
        result.copy_(y)
    return result


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = torch.empty_like(y).copy_(y.detach()).requires_grad_()
    caught = []
    handle = w.register_hook(caught.append)
    second(w).backward()
    handle.remove()
    before = None if x.grad is None else x.grad.clone()
    (y * caught[0]).sum().backward()
    return (x.grad if before is None else x.grad - before), caught[0]


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.stack(
        [(a - b) ** 2 for a, b in zip(online.flatten(), cut(target).flatten(), strict=True)]
    ).mean()


# %% through_numpy
# By way of NumPy and of torch.tensor; the leaf is a Parameter; x is copied, so its .grad is
# nobody's business.
def predict(f, x: Tensor) -> Tensor:
    with torch.set_grad_enabled(False):
        result = f(x.detach())
    return result


def cut(y: Tensor) -> Tensor:
    return torch.from_numpy(y.detach().numpy().copy())


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    own = x.detach().clone().requires_grad_()
    y = first(own)
    w = torch.nn.Parameter(y.detach())
    torch.autograd.backward(second(w))
    torch.autograd.backward(y, w.grad)
    return own.grad, w.grad


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    goal = torch.tensor(target.tolist(), dtype=target.dtype)
    return torch.nn.functional.mse_loss(input=online, target=goal)


# %% with_warnings
# torch.tensor of a tensor, which warns and works; one leaf in a list; results that still hang in
# a graph.
def predict(f, x: Tensor) -> Tensor:
    with torch.no_grad():
        y = f(x)
        return y.detach()


def cut(y: Tensor) -> Tensor:
    return torch.tensor(y)


def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = torch.tensor(y, requires_grad=True)
    (at_w,) = torch.autograd.grad([second(w)], [w], create_graph=True)
    (at_x,) = torch.autograd.grad([y], [x], [at_w], create_graph=True)
    return at_x, at_w


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.mean(torch.square(online - torch.tensor(target)))


# %% decorated_and_weighted_sum
# no_grad as a decorator of f; inputs= keeps the first stage at w; the second stage is the gradient
# of a weighted sum.
from torch import nn


def predict(f, x):
    return torch.no_grad()(f)(x)


@torch.no_grad()
def cut(y):
    return y.clone()


def split_backward(x, first, second):
    y = first(x)
    w = cut(y)
    w.requires_grad = True
    second(w).backward(inputs=[w])
    return torch.autograd.grad((y * w.grad).sum(), x)[0], w.grad


def bootstrap_loss(online, target):
    return nn.functional.mse_loss(online, cut(target))


# %% finally_restores
# finally puts back the grad mode and the old x.grad.
def predict(f, x):
    was_on = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        return f(x)
    finally:
        torch.set_grad_enabled(was_on)


def cut(y):
    copy = torch.empty_like(y)
    copy.copy_(y.detach())
    return copy


def split_backward(x, first, second):
    old, x.grad = x.grad, None
    try:
        y = first(x)
        w = y.detach().clone().requires_grad_()
        second(w).backward(inputs=[w])
        y.backward(w.grad, inputs=[x])
        return x.grad, w.grad
    finally:
        x.grad = old


def bootstrap_loss(online, target):
    difference = online - cut(target)
    return torch.mean(difference * difference)


# %% list_of_stages
# inference_mode; the stages stand in a list, and autograd.grad goes through it in reverse.
def predict(f, x):
    with torch.inference_mode():
        result = f(x)
    return result


def cut(y):
    return torch.from_numpy(y.detach().numpy().copy())


def split_backward(x, first, second):
    stages, start = [], x
    for f in (first, second):
        result = f(start)
        stages.append((result, start))
        start = cut(result).requires_grad_()
    gradients, incoming = [], None
    for result, start in reversed(stages):
        (incoming,) = torch.autograd.grad(result, start, incoming)
        gradients.append(incoming)
    return tuple(reversed(gradients))


def bootstrap_loss(online, target):
    constant = target.detach()
    return (online - constant).pow(2).sum() / constant.numel()


# %% stop_gradient_function
# A context manager class around f; a Function whose result is not differentiable is the cut.
class Unrecorded:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    def __exit__(self, *exc_info):
        torch.set_grad_enabled(self.before)
        return False


class StopGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, y):
        result = y.clone()
        ctx.mark_non_differentiable(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        return None


def predict(f, x):
    with Unrecorded():
        return f(x)


def cut(y):
    return StopGradient.apply(y)


def split_backward(x, first, second):
    y = first(x)
    w = StopGradient.apply(y).requires_grad_(True)
    [at_w] = torch.autograd.grad(outputs=[second(w)], inputs=[w])
    [at_x] = torch.autograd.grad(outputs=[y], inputs=[x], grad_outputs=[at_w])
    return at_x, at_w


def bootstrap_loss(online, target):
    return torch.square(torch.sub(online, StopGradient.apply(target))).mean()


# %% first_runs_twice
# first is called without a graph for w, and once more for the second stage.
# A target that needs no cut stays.
def split_backward(x, first, second):
    with torch.no_grad():
        w = first(x)
    w = w.detach().clone().requires_grad_()
    second(w).backward()
    x.grad = None
    first(x).backward(w.grad)
    return x.grad, w.grad


def bootstrap_loss(online, target):
    if target.requires_grad:
        target = target.detach()
    return torch.nn.functional.mse_loss(online, target)


# %% restores_where_exceptions_come
# except Exception restores the mode; copies are compared with y; an expanded square; w has the
# dtype of x.
def predict(f, x):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        result = f(x)
    except Exception:
        torch.set_grad_enabled(before)
        raise
    torch.set_grad_enabled(before)
    return result


def cut(y):
    copy = y.detach().clone()
    assert torch.equal(copy, y)
    return copy


def split_backward(x, first, second):
    y = first(x)
    w = torch.zeros(y.shape, dtype=x.dtype).copy_(y.detach()).requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w.to(y.dtype))
    return at_x, at_w


def bootstrap_loss(online, target):
    target = target.detach()
    return (online**2 - 2 * online * target + target**2).mean()


# %% one_no_grad_for_all_calls
# The object that remembers the mode is made once; a copy with other values would be an error; zeros
# for an empty y.
SILENT = torch.no_grad()


def predict(f, x):
    with SILENT:
        return f(x)


def cut(y):
    copy = torch.empty_like(y, requires_grad=False).copy_(y.detach())
    if not torch.all(copy == y):
        raise RuntimeError("not the same values")
    return copy


def split_backward(x, first, second):
    y = first(x)
    if not y.numel():
        return torch.zeros_like(x), x.new_zeros(y.shape)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    return torch.autograd.grad(y, x, at_w)[0], at_w


# %% in_a_generator
# f runs in a generator; y is freed at the end.
def predict(f, x):
    def values():
        with torch.no_grad():
            yield f(x)

    return list(values())[0]


def split_backward(x, first, second):
    y = first(x)
    w = y.detach().clone().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    y.detach_()
    return at_x, at_w


# %% off_anyway
# Recording that is off stays off; a leaf y is used as it is.
def predict(f, x):
    if not torch.is_grad_enabled():
        return f(x)
    with torch.no_grad():
        return f(x)


def split_backward(x, first, second):
    y = first(x)
    w = y if y.is_leaf else y.detach().requires_grad_()
    x.grad = None
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% switched_off_twice
# What f returns is switched off once more.
def predict(f, x):
    with torch.no_grad():
        return f(x).requires_grad_(False)


# %% target_in_inference_mode
# A graph does not save what is subtracted, so a copy from inference mode is right here.
def bootstrap_loss(online, target):
    with torch.inference_mode():
        goal = target.clone()
    return (online - goal).square().mean()
