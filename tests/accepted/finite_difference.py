"""finite_difference: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% class_that_compares
# A class holds f and h; another method of it compares with autograd, and a function below imports
# what the file calls its own.
import itertools


class Slope:
    def __init__(self, f, h):
        self.f, self.h = f, h

    def grad(self, x):
        x = x.detach().clone()
        out = torch.empty_like(x)
        for place in itertools.product(*map(range, x.shape)):
            step = torch.zeros_like(x)
            step[place] = self.h
            out[place] = (self.f(x + step) - self.f(x - step)) / (2 * self.h)
        return out

    def error(self, x):
        x = x.detach().requires_grad_()
        return (self.grad(x) - torch.autograd.grad(self.f(x), x)[0]).abs().max()


def numerical_gradient(f, x, h=1e-5):
    with torch.no_grad():
        return Slope(f, h).grad(x)


def compare(f, x):
    from torch.func import grad as numerical_gradient

    return numerical_gradient(f)(x)


# %% value_put_back
# One copy is moved, and put back by its saved value; f's values leave it as numbers.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    x = x.clone(memory_format=torch.contiguous_format)
    gradient = torch.zeros_like(x)
    flat, slopes = x.view(-1), gradient.view(-1)
    for k in range(flat.numel()):
        start = flat[k].item()
        flat[k] = start + h
        up = f(x).item()
        flat[k] = start - h
        down = f(x).item()
        flat[k] = start
        slopes[k] = (up - down) / (2 * h)
    return gradient


# %% functions_of_each_other
# One function for all: the central difference along a line through x, with the others made of it.
def slope(f, low: Tensor, high: Tensor, distance: float) -> Tensor:
    return (f(high) - f(low)) / distance


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return slope(f, x, x + h, h)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return slope(f, x - h, x + h, h + h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    zero = x.new_zeros(())
    directions = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
    parts = [central_difference(lambda t, e=e: f(x + t * e), zero, h) for e in directions]
    return torch.stack(parts).reshape(x.shape) if parts else torch.zeros_like(x)


# %% gradient_of_torch
# torch.gradient differentiates the samples; partial derivatives come from a generator of pairs.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    samples = torch.stack([f(x - h), f(x), f(x + h)])
    return torch.gradient(samples, spacing=h)[0][1]


def pairs(x: Tensor, h: float):
    for k in range(x.numel()):
        flat = x.flatten()
        high, low = flat.clone(), flat.clone()
        high[k] += h
        low[k] -= h
        yield high.view(x.shape), low.view(x.shape)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if not x.dim():
        return central_difference(f, x, h)
    return torch.tensor(
        [(f(high) - f(low)).item() / (2 * h) for high, low in pairs(x, h)], dtype=x.dtype
    ).reshape(x.shape)


# %% in_double
# Everything is computed in float64 and rounded once, at the end.
import itertools


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    wide = x.double()
    return ((f(wide + h) - f(wide)) / h).to(x.dtype)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    wide = x.double()
    return ((f(wide + h) - f(wide - h)) / (2 * h)).to(x.dtype)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    wide = x.to(torch.float64, copy=True)
    slopes = torch.empty(x.shape, dtype=x.dtype)
    for index in itertools.product(*map(range, x.shape)):
        up, down = wide.clone(), wide.clone()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes


# %% mapped
# All elements at once with vmap; the scalars as a batch of two.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    here, ahead = torch.vmap(f)(torch.stack([x, x + h]))
    return (ahead - here) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return torch.diff(torch.vmap(f)(torch.stack([x - h, x + h])))[0] / (2 * h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if x.numel() == 0:
        return torch.zeros_like(x)
    steps = h * torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
    return ((torch.vmap(f)(x + steps) - torch.vmap(f)(x - steps)) / (2 * h)).reshape(x.shape)


# %% mean_of_both_sides
# The central difference as the mean of a forward and a backward one; steps by one_hot, where,
# scatter and index_put.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    here = f(x)
    ahead = (f(x + h) - here) / h
    behind = (here - f(x - h)) / h
    return (ahead + behind) / 2


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    numbers = torch.arange(x.numel()).reshape(x.shape)
    gradient = torch.zeros_like(x)
    for k in range(x.numel()):
        here = numbers == k
        up, down = torch.where(here, x + h, x), torch.where(here, x - h, x)
        gradient = torch.where(here, (f(up) - f(down)) / (2 * h), gradient)
    return gradient


# %% one_function_for_all
# One function that knows every way, the exact one too, of which the three that were asked for are
# two.
def derivative(f, x: Tensor, h: float, kind: str) -> Tensor:
    if kind == "forward":
        return (f(x + h) - f(x)) / h
    if kind == "central":
        return (f(x + h) - f(x - h)) / (2 * h)
    leaf = x.detach().clone().requires_grad_()  # to compare with, at the bottom of the file
    return torch.autograd.grad(f(leaf), leaf)[0]


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return derivative(f, x, h, "forward")


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return derivative(f, x, h, "central")


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    result = torch.empty_like(x)
    for index in torch.ones(x.shape).nonzero().tolist():
        place = tuple(index)

        def along(value, place=place):
            moved = x.clone()
            moved[place] = value
            return f(moved)

        result[place] = derivative(along, x[place], h, "central")
    return result


# %% recursive
# Recursion over the first dimension; a 0-d tensor is the end of it.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if x.dim() == 0:
        return 0.5 * (f(x + h) - f(x - h)) / h

    def with_row(k, row):
        return torch.cat([x[:k], row.unsqueeze(0), x[k + 1 :]])

    rows = [
        numerical_gradient(lambda row, k=k: f(with_row(k, row)), x[k], h) for k in range(len(x))
    ]
    return torch.stack(rows) if rows else torch.zeros_like(x)


# %% tensors_for_numbers
# h as a tensor, h under no_grad and inference_mode, an x that is made a leaf for nothing; a
# result that shares its memory.
@torch.no_grad()
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    h = torch.as_tensor(h, dtype=x.dtype)
    return f(x + h).sub(f(x)).div(h)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    with torch.inference_mode():
        return (f(x + h) - f(x - h)).mul(0.5).div(h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    x = x.detach().clone().requires_grad_()
    columns = []
    for k in range(x.numel()):
        step = (
            torch.nn.functional.one_hot(torch.tensor(k), x.numel()).to(x.dtype).mul(h).view(x.shape)
        )
        columns.append((f(torch.add(x, step)) - f(torch.sub(x, step))) / (2 * h))
    return torch.stack(columns).view(x.shape) if columns else x


# %% through_numpy
# NumPy walks the indices and holds the numbers; f still gets tensors.
import numpy as np


def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    ahead = torch.from_numpy(np.array(x.numpy() + x.numpy().dtype.type(h)))
    return torch.as_tensor((f(ahead).item() - f(x).item()) / h, dtype=x.dtype)


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    up, down = (f(torch.tensor(x.item() + s, dtype=x.dtype)).item() for s in (h, -h))
    return torch.tensor((up - down) / (2 * h), dtype=x.dtype)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    start = x.numpy()
    out = np.empty_like(start)
    for index in np.ndindex(*start.shape):
        values = []
        for sign in (1, -1):
            moved = start.copy()
            moved[index] += sign * h
            values.append(f(torch.from_numpy(moved)).item())
        out[index] = (values[0] - values[1]) / (2 * h)
    return torch.from_numpy(out)


# %% function_of_one_number
# Each entry is the central difference of f along one element; NumPy counts the indices.
import numpy as np


def numerical_gradient(f, x, h=1e-5):
    result = torch.full(x.shape, float("nan"), dtype=x.dtype)
    for where in np.ndindex(*x.shape):

        def along(t, where=where):
            moved = x.detach().clone()
            moved[where] = t
            return f(moved)

        result[where] = central_difference(along, x.detach()[where].clone(), h)
    return result


# %% masks
# A mask says which element moves; the slopes are collected as numbers.
def numerical_gradient(f, x, h=1e-5):
    numbers = torch.arange(x.numel()).reshape(x.shape)

    def value(k, distance):
        return f(torch.where(numbers == k, x.detach() + distance, x.detach())).item()

    slopes = [(value(k, h) - value(k, -h)) / (2 * h) for k in range(x.numel())]
    return torch.tensor(slopes, dtype=x.dtype).reshape(x.shape)


# %% restored_on_a_copy
# One private copy is moved and moved back; rounding may leave a last digit.
def numerical_gradient(f, x, h=1e-5):
    moved = x.detach().clone(memory_format=torch.contiguous_format)
    flat, slopes = moved.view(-1), torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        flat[k] += h
        above = f(moved.clone())
        flat[k] -= 2 * h
        below = f(moved.clone())
        flat[k] += h
        slopes[k] = (above - below) / (2 * h)
    return slopes.reshape(x.shape)


# %% run_between_the_points
# The run is the distance of the points, b - a.
def slope(f, a, b):
    return (f(b) - f(a)) / (b - a)


def forward_difference(f, x, h=1e-3):
    return slope(f, x, x + h)


def central_difference(f, x, h=1e-3):
    return slope(f, x - h, x + h)


def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        low, high = x.flatten().clone(), x.flatten().clone()
        low[k] -= h
        high[k] += h
        slopes[k] = (f(high.reshape(x.shape)) - f(low.reshape(x.shape))) / (high[k] - low[k])
    return slopes.reshape(x.shape)


# %% a_step_that_moves_x
# Where x + h rounds to x, a larger step is taken.
def forward_difference(f, x, h=1e-3):
    while x + h == x:
        h *= 10
    return (f(x + h) - f(x)) / h


# %% flat_views
# The clone of a sliced or an expanded x is contiguous, and so is zeros_like.
def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros_like(x)
    for k in range(x.numel()):
        up, down = x.clone(), x.clone()
        up.view(-1)[k] += h
        down.view(-1)[k] -= h
        slopes.view(-1)[k] = (f(up) - f(down)) / (2 * h)
    return slopes


# %% order_of_memory
# nditer goes through the elements of a clone as they lie in memory.
import numpy as np


def numerical_gradient(f, x, h=1e-5):
    point, slopes = x.clone().numpy(), []
    for place in np.nditer(point, flags=["zerosize_ok"], op_flags=["readwrite"]):
        value, values = place.copy(), []
        for step in (h, -h):
            place[...] = value + step
            values.append(f(torch.from_numpy(point)).item())
        place[...] = value
        slopes.append((values[0] - values[1]) / (2 * h))
    return torch.tensor(slopes, dtype=x.dtype).reshape(x.shape)


# %% moved_in_place
# x itself is moved, and gets its old value back; f's values leave it as numbers.
import itertools


def central_difference(f, x, h=1e-3):
    start = x.item()
    above, below = f(x.fill_(start + h)).item(), f(x.fill_(start - h)).item()
    x.fill_(start)
    return torch.tensor((above - below) / (2 * h), dtype=x.dtype)


def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros_like(x)
    for at in itertools.product(*map(range, x.shape)):
        start = x[at].item()
        x[at] = start + h
        above = f(x).item()
        x[at] = start - h
        slopes[at] = (above - f(x).item()) / (2 * h)
        x[at] = start
    return slopes
