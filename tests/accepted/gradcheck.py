"""gradcheck: other right answers. A cell shows the definitions that differ from the solution."""


# %% columns_of_an_eye
# The steps are the rows of an identity matrix, the columns are stacked, without no_grad.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().to(torch.float64)
    columns = [
        (fn(point + direction.view(x.shape)) - fn(point - direction.view(x.shape)))
        .reshape(-1)
        .div(2 * eps)
        for direction in eps * torch.eye(x.numel(), dtype=torch.float64)
    ]
    if not columns:
        return torch.empty(fn(point).numel(), 0, dtype=torch.float64)
    return torch.stack(columns, dim=-1)


# %% copies_with_a_graph
# Copies that are no leaves where the caller's tensor requires grad; the steps are written into
# clones.
def passes_gradcheck(fn, *inputs):
    try:
        return torch.autograd.gradcheck(
            fn, tuple(x.clone().double().requires_grad_() for x in inputs)
        )
    except Exception:
        return False


def numerical_jacobian(fn, x, eps=1e-6):
    rows, columns = fn(x.double()).numel(), x.numel()
    jacobian = torch.zeros((rows, columns), dtype=torch.float64)
    for k in range(columns):
        above, below = (
            x.detach().double().clone(memory_format=torch.contiguous_format) for _ in range(2)
        )
        above.view(-1)[k] += eps
        below.view(-1)[k] -= eps
        jacobian[:, k] = torch.flatten(fn(above) - fn(below)) / (2 * eps)
    return jacobian


# %% defaults_spelled_out
# The default step and tolerance are spelled out; every function checked without passes_gradcheck.
def passes_gradcheck(fn, *inputs):
    try:
        copies = [
            torch.tensor(x.tolist(), dtype=torch.float64, requires_grad=True).reshape(x.shape)
            for x in inputs
        ]
        copies = [x.detach().requires_grad_() for x in copies]
        assert torch.autograd.gradcheck(fn, copies, eps=1e-6, atol=1e-5)
    except BaseException:
        return False
    else:
        return True


def find_broken(functions, x):
    names = []
    for name, fn in functions.items():
        try:
            torch.autograd.gradcheck(fn, [x.detach().clone().to(torch.float64).requires_grad_()])
        except Exception:
            names += [name]
    return frozenset(names)


# %% field_called_backward
# The central difference as the mean of a forward and a backward one, in fields of those names; a
# class can also do it by autograd.
from typing import NamedTuple


class Differences(NamedTuple):
    forward: Tensor
    backward: Tensor

    def central(self):
        return (self.forward + self.backward) / 2


class At:
    def __init__(self, fn, x, eps):
        self.fn, self.x, self.eps = fn, x, eps

    def along(self, k):
        step = torch.zeros(self.x.numel(), dtype=torch.float64)
        step[k] = self.eps
        step, here = step.reshape(self.x.shape), self.fn(self.x)
        return Differences(
            (self.fn(self.x + step) - here) / self.eps, (here - self.fn(self.x - step)) / self.eps
        )

    def by_autograd(self):
        return torch.autograd.functional.jacobian(self.fn, self.x)


def numerical_jacobian(fn, x, eps=1e-6):
    with torch.no_grad():
        at = At(fn, x.detach().double(), eps)
        columns = [at.along(k).central().reshape(-1) for k in range(x.numel())]
        return (
            torch.stack(columns, dim=1)
            if columns
            else torch.empty(fn(at.x).numel(), 0, dtype=torch.float64)
        )


# %% in_place_and_put_back
# A contiguous float64 x is moved in place and put back, element by element, as gradcheck does it;
# others on a copy.
@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    work = x.data if x.dtype == torch.float64 and x.is_contiguous() else x.data.double().clone()
    columns = []
    for index in (
        torch.cartesian_prod(*(torch.arange(n) for n in work.shape))
        .reshape(-1, work.dim())
        .tolist()
        if work.dim()
        else [()]
    ):
        place = tuple(index)
        old = work[place].item()
        work[place] = old + eps
        above = fn(work).clone().flatten()
        work[place] = old - eps
        below = fn(work).clone().flatten()
        work[place] = old
        columns.append((above - below) / (2 * eps))
    out = torch.zeros(fn(work).numel(), x.numel(), dtype=torch.float64)
    for k, column in enumerate(columns):
        out[:, k] = column
    return out


# %% mapped
# All steps at once, by vmap; the names by filter.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    n = point.numel()
    if n == 0:
        return torch.zeros(fn(point).numel(), 0, dtype=torch.float64)
    steps = (eps * torch.eye(n, dtype=torch.float64)).reshape(n, *point.shape)
    slopes = torch.vmap(lambda step: (fn(point + step) - fn(point - step)) / (2 * eps))(steps)
    return slopes.reshape(n, -1).T.detach()


def find_broken(functions, x):
    return set(
        filter(lambda name: not passes_gradcheck(functions[name], x), functions)
    )


# %% only_what_is_needed
# Only the gradients that are asked for are computed; the others are None.
from torch.autograd.function import once_differentiable


class FixedPow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return torch.pow(x, q)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grads = [None, None]
        if ctx.needs_input_grad[0]:
            grads[0] = torch.pow(x, q - 1).mul(q).mul(grad_output)
        if ctx.needs_input_grad[1]:
            grads[1] = torch.log(x).mul(torch.pow(x, q)).mul(grad_output)
        return tuple(grads)


# %% options_and_flags
# gradcheck's raise_exception, a flag that is set on the way; names collected in
# a loop.
from torch.autograd import gradcheck


def passes_gradcheck(fn, *inputs):
    passed = False
    try:
        passed = gradcheck(
            fn,
            tuple(t.detach().to(torch.float64, copy=True).requires_grad_(True) for t in inputs),
            raise_exception=False,
        )
    except Exception:
        pass
    return bool(passed)


def find_broken(functions, x):
    broken = set(functions)
    for name in list(functions):
        if passes_gradcheck(functions[name], x):
            broken.discard(name)
    return broken


# %% power_by_autograd
# backward lets autograd differentiate the power on detached copies.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        with torch.enable_grad():
            x, q = (t.detach().requires_grad_() for t in ctx.saved_tensors)
            return torch.autograd.grad(x**q, (x, q), grad_output)


# %% power_of_exponentials
# setup_context; the power through exp and log; the result is saved and used again.
class FixedPow(Function):
    @staticmethod
    def forward(x, q):
        return torch.exp(q * torch.log(x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, v):
        x, q, y = ctx.saved_tensors
        w = v * y
        return w * q / x, w * x.log()


# %% through_numpy
# NumPy arrays hold the point and the Jacobian.
import numpy as np


def passes_gradcheck(fn, *inputs):
    copies = tuple(
        torch.from_numpy(np.array(x.detach().numpy(), dtype=np.float64)).requires_grad_()
        for x in inputs
    )
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


def numerical_jacobian(fn, x, eps=1e-6):
    point = np.array(x.detach().numpy(), dtype=np.float64, order="C")

    def value(array):
        return fn(torch.from_numpy(array)).detach().numpy().astype(np.float64).ravel()

    out = np.zeros((value(point.copy()).size, point.size))
    for k in range(point.size):
        up, down = point.copy(), point.copy()
        up.reshape(-1)[k] += eps
        down.reshape(-1)[k] -= eps
        out[:, k] = (value(up) - value(down)) / (2 * eps)
    return torch.from_numpy(out)


# %% two_half_slopes
# The mean of the slope above and the slope below, which is the central difference.
def numerical_jacobian(fn, x, eps=1e-6):
    def slopes(h):
        return torch.cat(
            [(fn(point + h * e.reshape(x.shape)) - base).reshape(-1, 1) / h for e in basis]
            or [base.new_zeros(base.numel(), 0)],
            1,
        )

    with torch.no_grad():
        point = x.double()
        base = fn(point)
        basis = torch.eye(x.numel()).double()
        return (slopes(eps) + slopes(-eps)) / 2


# %% written_by_hand
# gradcheck written again from the numerical Jacobian and one backward for each row; every output,
# every input.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        outputs = fn(*copies)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for number, y in enumerate(outputs):
            for place, x in enumerate(copies):
                if not torch.allclose(
                    _by_backward(y, x), _by_values(fn, copies, number, place), rtol=1e-3, atol=1e-5
                ):
                    return False
    except Exception:
        return False
    return True


def _by_backward(y, x):
    rows = []
    for k in range(y.numel()):
        v = torch.zeros(y.numel(), dtype=y.dtype)
        v[k] = 1
        (row,) = (
            torch.autograd.grad(y, x, v.reshape(y.shape), retain_graph=True, allow_unused=True)
            if y.requires_grad
            else (None,)
        )
        rows.append(torch.zeros(x.numel(), dtype=x.dtype) if row is None else row.reshape(-1))
    return torch.stack(rows)


def _by_values(fn, copies, number, place):
    def one(t):
        given = [*copies]
        given[place] = t
        y = fn(*given)
        return y[number] if isinstance(y, tuple) else y

    return numerical_jacobian(one, copies[place])


# %% dense_copies_and_xlogy
# Copies written into new dense tensors; the steps are the rows of an identity; xlogy.
def passes_gradcheck(fn, *inputs):
    copies = tuple(
        torch.empty(x.shape, dtype=torch.float64).copy_(x.detach()).requires_grad_() for x in inputs
    )
    try:
        torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
    else:
        return True


def numerical_jacobian(fn, x, eps=1e-6):
    start, columns = x.detach().to(torch.float64), []
    for unit in torch.eye(x.numel(), dtype=torch.float64):
        step = eps * unit.reshape(x.shape)
        columns.append(
            (fn(start + step).detach() - fn(start - step).detach()).reshape(-1) / (2 * eps)
        )
    return (
        torch.stack(columns, dim=1)
        if columns
        else torch.empty(fn(start.clone()).numel(), 0, dtype=torch.float64)
    )


class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * (q * torch.pow(x, q - 1)), grad_output * torch.xlogy(
            torch.pow(x, q), x
        )


# %% written_through_numpy
# Copies that are filled through their NumPy arrays; the names are a difference of sets.
import numpy as np


def passes_gradcheck(fn, *inputs):
    copies = [torch.zeros(x.shape, dtype=torch.float64) for x in inputs]
    for copy, x in zip(copies, inputs):
        copy.numpy()[...] = x.detach().numpy()
    try:
        return bool(
            torch.autograd.gradcheck(
                fn, [copy.requires_grad_() for copy in copies], raise_exception=False
            )
        )
    except Exception:
        return False


def find_broken(functions, x):
    verdicts = {name: passes_gradcheck(fn, x) for name, fn in functions.items()}
    return set(verdicts) - {name for name, good in verdicts.items() if good}


# %% suppressed_and_neighbors
# suppress in place of try; a generator of neighbors; an empty column to begin with.
import contextlib


def passes_gradcheck(fn, *inputs):
    with contextlib.suppress(Exception):
        fresh = [torch.zeros(x.shape, dtype=torch.float64).add_(x.detach()) for x in inputs]
        return torch.autograd.gradcheck(fn, [x.requires_grad_() for x in fresh])
    return False


def _neighbors(x, eps):
    for k in range(x.numel()):
        pair = []
        for step in (eps, -eps):
            flat = x.reshape(-1).clone()
            flat[k] += step
            pair.append(flat.view(x.shape))
        yield pair


def numerical_jacobian(fn, x, eps=1e-6):
    x = x.detach().clone().double()
    rows = fn(x.clone()).numel()
    columns = [
        (fn(up).detach() - fn(down).detach()).reshape(rows, 1) / (eps + eps)
        for up, down in _neighbors(x, eps)
    ]
    return torch.cat([torch.empty(rows, 0, dtype=torch.float64), *columns], dim=1)


# %% a_checker_and_lists
# A class makes the copies and asks gradcheck; the Jacobian is computed from lists of numbers.
class Checker:
    def __init__(self, *points):
        self.points = points

    def accepts(self, fn):
        try:
            dense = (p.detach().clone(memory_format=torch.contiguous_format) for p in self.points)
            return torch.autograd.gradcheck(fn, tuple(p.double().requires_grad_() for p in dense))
        except Exception:
            return False


def passes_gradcheck(fn, *inputs):
    return Checker(*inputs).accepts(fn)


def numerical_jacobian(fn, x, eps=1e-6):
    values = x.detach().flatten().tolist()

    def at(numbers):
        return (
            fn(torch.tensor(numbers, dtype=torch.float64).reshape(x.shape))
            .detach()
            .double()
            .flatten()
            .tolist()
        )

    jacobian = torch.zeros(len(at(values)), len(values), dtype=torch.float64)
    for k, value in enumerate(values):
        above = at([*values[:k], value + eps, *values[k + 1 :]])
        below = at([*values[:k], value - eps, *values[k + 1 :]])
        for i, (a, b) in enumerate(zip(above, below)):
            jacobian[i, k] = (a - b) / (2 * eps)
    return jacobian


def find_broken(functions, x):
    checker = Checker(x)
    return {name for name, fn in functions.items() if not checker.accepts(fn)}


# %% one_copy_for_all
# All functions are checked at one copy: none of them writes into it.
def find_broken(functions, x):
    point = torch.empty(x.shape, dtype=torch.float64).copy_(x.detach()).requires_grad_()

    def rejected(fn):
        try:
            return not torch.autograd.gradcheck(fn, point, raise_exception=False)
        except Exception:
            return True

    return {name for name in functions if rejected(functions[name])}


# %% power_in_float32
# backward computes in float32, which has more than five digits.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q, v = (t.float() for t in (*ctx.saved_tensors, grad_output))
        return v * q * x ** (q - 1), v * x**q * torch.log(x)
