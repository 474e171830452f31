"""finite_difference: wrong answers. A cell shows the definitions that differ from the solution."""

# %% divides_by_h
# Two steps, divided by one.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h) - f(x - h)) / h


# %% divides_by_h
# Two steps, divided by one.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    rows = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape) * h
    slopes = torch.tensor([float((f(x + row) - f(x - row)).div(h)) for row in rows], dtype=x.dtype)
    return slopes.reshape(x.shape)


# %% divides_by_h
# The sum of the forward and the backward difference where their mean is meant.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    here = f(x)
    return (f(x + h) - here) / h + (here - f(x - h)) / h


# %% f_gets_a_number
# f was asked at something that is not a tensor.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    at = x.item()
    return torch.tensor((f(at + h) - f(at)) / h, dtype=x.dtype)


# %% f_gets_a_number
# f was asked at something that is not a tensor.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    flat = x.numpy().copy().ravel()
    slopes = torch.zeros_like(x).reshape(-1)
    for k in range(x.numel()):
        up, down = flat.copy(), flat.copy()
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)


# %% flat_gradient
# The gradient came back flat.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    rows = torch.eye(x.numel(), dtype=x.dtype) * h
    slopes = [(f(x + row.reshape(x.shape)) - f(x - row.reshape(x.shape))) / (2 * h) for row in rows]
    return torch.stack(slopes) if slopes else torch.zeros_like(x)


# %% flattened_by_memory
# A slice of a larger tensor has no flat view.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    flat, slopes = x.view(-1), torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        up, down = flat.clone(), flat.clone()
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up.view(x.shape)) - f(down.view(x.shape))) / (2 * h)
    return slopes.view(x.shape)


# %% flattened_by_memory
# deepcopy keeps the strides of a slice, so reshape copies, and f never sees the step.
from copy import deepcopy


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    moved = deepcopy(x)
    flat = moved.reshape(-1)
    for k in range(x.numel()):
        start = flat[k].item()
        flat[k] = start + h
        up = f(moved).item()
        flat[k] = start - h
        down = f(moved).item()
        flat[k] = start
        slopes[k] = (up - down) / (2 * h)
    return slopes.reshape(x.shape)


# %% float32_on_the_way
# Float64 became float32 on the way.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    ahead = torch.tensor(x.item() + h)
    return (f(ahead) - f(x)) / h


# %% float32_on_the_way
# Only the result became float32.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return torch.tensor(((f(x + h) - f(x - h)) / (2 * h)).item())


# %% float32_on_the_way
# Float64 became float32 on the way.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel())
    for k in range(x.numel()):
        step = torch.eye(x.numel(), dtype=x.dtype)[k].reshape(x.shape) * h
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes.reshape(x.shape)


# %% one_sided
# The step goes to one side only.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x) - f(x - h)) / h


# %% one_sided
# The step goes to one side only.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    here, slopes = f(x), []
    for k in range(x.numel()):
        ahead = x.flatten().clone()
        ahead[k] = ahead[k] + h
        slopes.append((f(ahead.reshape(x.shape)) - here) / h)
    return torch.stack(slopes).reshape(x.shape) if slopes else x.clone()


# %% other_points
# A difference, but not the forward one.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x) - f(x - h)) / h


# %% other_points
# A difference, but not the forward one.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h) - f(x - h)) / (2 * h)


# %% several_at_once
# More than one element of x was moved at once.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    return (f(x + h) - f(x - h)).expand(x.shape) / (2 * h)


# %% several_at_once
# More than one element of x was moved at once.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    if x.dim() == 0:
        return (f(x + h) - f(x - h)) / (2 * h)
    slopes = torch.zeros_like(x)
    for k in range(len(x)):
        up, down = x.clone(), x.clone()
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up) - f(down)) / (2 * h)
    return slopes


# %% several_at_once
# Elements of one value move together, also in a dense tensor.
def numerical_gradient(f, x, h=1e-5):
    slopes = []
    for value in x.flatten().tolist():
        chosen = x == value
        ahead, behind = x.where(~chosen, x + h), x.where(~chosen, x - h)
        slopes.append((f(ahead) - f(behind)) / (2 * h))
    return torch.stack(slopes).reshape(x.shape) if slopes else torch.empty_like(x)


# %% step_is_not_h
# The step is not h.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    step = 1e-3
    return (f(x + step) - f(x)) / step


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h / 2) - f(x - h / 2)) / h


# %% step_is_not_h
# The step is not h.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    h = h * max(1.0, float(x.abs().max())) if x.numel() else h
    rows = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape) * h
    slopes = torch.tensor([float(f(x + row) - f(x - row)) / (2 * h) for row in rows], dtype=x.dtype)
    return slopes.reshape(x.shape)


# %% steps_pile_up
# Earlier steps were never taken back.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    up, down = x.reshape(-1).clone(), x.reshape(-1).clone()
    slopes = torch.zeros_like(up)
    for k in range(x.numel()):
        up[k] += h
        down[k] -= h
        slopes[k] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)


# %% steps_pile_up
# Earlier steps were never taken back.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    moved = x.reshape(-1).clone()
    slopes = torch.zeros_like(moved)
    for k in range(x.numel()):
        moved[k] += h
        up = f(moved.reshape(x.shape))
        moved[k] -= 2 * h
        slopes[k] = (up - f(moved.reshape(x.shape))) / (2 * h)
    return slopes.reshape(x.shape)


# %% uses_autograd
# Autograd did the work.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    x = x.detach().clone().requires_grad_()
    f(x).backward()
    return x.grad


# %% uses_autograd
# Autograd did the work.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    return torch.func.jacfwd(f)(x)


# %% writes_into_x
# A step that is added in place and subtracted again does not give x back.
import itertools


def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros_like(x)
    for at in itertools.product(*map(range, x.shape)):
        x[at] += h
        up = f(x).item()
        x[at] -= 2 * h
        slopes[at] = (up - f(x).item()) / (2 * h)
        x[at] += h
    return slopes


# %% writes_into_x
# x was written to.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    before = f(x).item()
    x += h
    return (f(x) - before) / h


# %% writes_into_x
# x was written to.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    up = x.add_(h).clone()
    down = x.sub_(2 * h).clone()
    x.copy_((up + down) / 2)
    return (f(up) - f(down)) / (2 * h)


# %% wrong_formula
# The right values of f, put together wrongly.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x) - f(x + h)) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + h) - f(x - h)) / 2 * h


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = f(x + step) - f(x - step) / (2 * h)
    return slopes.reshape(x.shape)


# %% wrong_formula
# The right values of f, put together wrongly.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x + h) - f(x) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x + h) - f(x - h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    rows = torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape) * h
    return -torch.tensor(
        [float(f(x + row) - f(x - row)) / (2 * h) for row in rows], dtype=x.dtype
    ).reshape(x.shape)


# %% wrong_formula
# A slope is taken for steepness: where f falls, the sign is missing.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return abs(f(x + h) - f(x)) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return abs(f(x + h) - f(x - h)) / (2 * h)


# %% wrong_formula
# The value to come back to is a view, so the step down starts from the step up and ends at x; and
# one-sided, the wrong way round.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x) - f(x + h)) / h


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    flat, gradient = x.clone().reshape(-1), torch.zeros(x.numel(), dtype=x.dtype)
    for i in range(flat.numel()):
        here = flat[i]
        flat[i] = here + h
        up = f(flat.reshape(x.shape))
        flat[i] = here - h
        down = f(flat.reshape(x.shape))
        flat[i] = here
        gradient[i] = (up - down) / (2 * h)
    return gradient.reshape(x.shape)


# %% zero_dims
# A 0-d tensor has one element and no dimension.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.shape, dtype=x.dtype)
    if x.dim() > 1:
        flat = x.flatten()
        return numerical_gradient(lambda t: f(t.reshape(x.shape)), flat, h).reshape(x.shape)
    for k in range(len(x)):
        step = torch.zeros_like(slopes)
        step[k] = h
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes


# %% zero_dims
# A 0-d tensor has one element and no dimension.
import itertools


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.shape, dtype=x.dtype)
    for first in range(x.shape[0]):
        for rest in itertools.product(*(range(n) for n in x.shape[1:])):
            up, down = x.clone(), x.clone()
            up[(first, *rest)] += h
            down[(first, *rest)] -= h
            slopes[(first, *rest)] = (f(up) - f(down)) / (2 * h)
    return slopes


# %% step_is_not_h
# In float32 the step is at least 0.01, whatever h is.
def forward_difference(f, x, h=1e-3):
    if x.dtype == torch.float32:
        h = max(h, 1e-2)
    return (f(x + h) - f(x)) / h


# %% step_is_not_h
# In float32 the step is at least 0.01, whatever h is.
def numerical_gradient(f, x, h=1e-5):
    if x.dtype == torch.float32:
        h = max(h, 1e-2)
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes.reshape(x.shape)


# %% common_empty_input
# torch.stack has nothing to stack where x is empty.
def numerical_gradient(f, x, h=1e-5):
    steps = h * torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
    slopes = [(f(x + step) - f(x - step)) / (2 * h) for step in steps]
    return torch.stack(slopes).reshape(x.shape)


# %% step_is_not_h
# The step grows with x, but only beyond 10.
def central_difference(f, x, h=1e-3):
    h = h * max(1.0, abs(float(x)) / 10)
    return (f(x + h) - f(x - h)) / (2 * h)


# %% float32_on_the_way
# A list without numbers becomes a float32 tensor.
def numerical_gradient(f, x, h=1e-5):
    steps = h * torch.eye(x.numel(), dtype=x.dtype).reshape(x.numel(), *x.shape)
    slopes = [(f(x + step) - f(x - step)) / (2 * h) for step in steps]
    return torch.tensor(slopes).reshape(x.shape)


# %% common_wrong_dtype
# The step is a float64 tensor of one element, and so is the result.
def forward_difference(f, x, h=1e-3):
    wide = x.double()
    return (f(wide + h) - f(wide)) / h


# %% uses_autograd
# The differences are right, but autograd is asked first whether f has a gradient at all.
def numerical_gradient(f, x, h=1e-5):
    own = x.detach().clone().requires_grad_()
    exact = torch.autograd.grad(f(own), own)[0]
    slopes = torch.zeros_like(exact).contiguous()
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        step = step.reshape(x.shape)
        slopes.view(-1)[k] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes


# %% one_point_for_both
# Both points are written into one tensor, which f may return.
def forward_difference(f, x, h=1e-3):
    point = x.clone()
    start = f(point)
    point += h
    return (f(point) - start) / h


def central_difference(f, x, h=1e-3):
    point = x.clone()
    above = f(point.add_(h))
    return (above - f(point.copy_(x - h))) / (2 * h)


# %% one_point_for_both
# Both points of an element are written into one copy of x.
def numerical_gradient(f, x, h=1e-5):
    point = x.detach().clone(memory_format=torch.contiguous_format)
    flat, slopes = point.view(-1), torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        value = flat[k].item()
        flat[k] = value + h
        above = f(point)
        flat[k] = value - h
        slopes[k] = (above - f(point)) / (2 * h)
        flat[k] = value
    return slopes.reshape(x.shape)


# %% one_point_for_both
# x is moved in place and put back; what f returned may be a view of it.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros_like(x)
    for index in torch.cartesian_prod(*(torch.arange(n) for n in (1, *x.shape, 1))):
        at = tuple(index[1:-1].tolist())
        start = x[at].item()
        x[at] = start + h
        up = f(x)
        x[at] = start - h
        down = f(x)
        x[at] = start
        slopes[at] = (up - down) / (2 * h)
    return slopes


# %% one_point_for_both
# x is moved in place and put back.
def central_difference(f, x, h=1e-3):
    before = x.clone()
    x += h
    above = f(x)
    x -= 2 * h
    below = f(x)
    x.copy_(before)
    return (above - below) / (2 * h)


# %% one_point_for_both
# The forward step is made in x itself and taken back.
def forward_difference(f, x, h=1e-3):
    below, before = f(x), x.clone()
    x += h
    above = f(x)
    x.copy_(before)
    return (above - below) / h


# %% wrong_formula
# The default step stands in the run.
def central_difference(f, x, h=1e-3):
    return (f(x + h) - f(x - h)) / 2e-3


def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros_like(slopes)
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = (f(x + step) - f(x - step)) / 2e-5
    return slopes.reshape(x.shape)


# %% result_of_f_is_changed
# f(x) is negated in place, and f may return x itself.
def forward_difference(f, x, h=1e-3):
    ahead = f(x + h)
    return f(x).neg_().add_(ahead) / h


# %% both_points_in_one_call
# f gets both points in one tensor.
def central_difference(f, x, h=1e-3):
    low, high = f(torch.stack([x - h, x + h]))
    return (high - low) / (2 * h)


# %% both_points_in_one_call
# Both points in one tensor, for the forward difference.
def forward_difference(f, x, h=1e-3):
    return torch.diff(f(torch.stack([x, x + h])))[0] / h


# %% nearer_the_derivative
# The slopes over h and over h / 2 are put together so that the larger error cancels.
def central_difference(f, x, h=1e-3):
    def slope(step):
        return (f(x + step) - f(x - step)) / (2 * step)

    return (4 * slope(h / 2) - slope(h)) / 3


# %% nearer_the_derivative
# Autograd has the derivative itself.
def forward_difference(f, x, h=1e-3):
    y = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(y), y)[0]


# %% nearer_the_derivative
# Two forward differences, the smaller one twice, less the other; and four points to each element.
def forward_difference(f, x, h=1e-3):
    d = lambda s: (f(x + s) - f(x)) / s
    return 2 * d(h / 2) - d(h)


def numerical_gradient(f, x, h=1e-5):
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros_like(slopes)
        step[k] = h
        step = step.reshape(x.shape)
        far, near = f(x + 2 * step) - f(x - 2 * step), f(x + step) - f(x - step)
        slopes[k] = (8 * near - far) / (12 * h)
    return slopes.reshape(x.shape)


# %% step_is_not_h
# The step of each element grows with it.
def numerical_gradient(f, x, h=1e-5):
    flat, slopes = x.reshape(-1), []
    for k in range(flat.numel()):
        step = h * max(1.0, abs(flat[k].item()))
        above, below = flat.clone(), flat.clone()
        above[k] += step
        below[k] -= step
        slopes.append((f(above.reshape(x.shape)) - f(below.reshape(x.shape))) / (2 * step))
    return torch.stack(slopes).reshape(x.shape) if slopes else torch.zeros_like(x)


# %% float32_on_the_way
# The whole computation is in float32, and the result is converted back.
def numerical_gradient(f, x, h=1e-5):
    narrow = x.float()
    slopes = torch.zeros(x.numel())
    for k in range(x.numel()):
        step = torch.zeros(x.numel())
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = (f(narrow + step) - f(narrow - step)) / (2 * h)
    return slopes.reshape(x.shape).to(x.dtype)


# %% two_names_for_one_tensor
# Two names for a copy of x.
def numerical_gradient(f, x, h=1e-5):
    x = x.detach().clone()
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        up = x
        down = x
        up.view(-1)[i] += h
        down.view(-1)[i] -= h
        grad.view(-1)[i] = (f(up) - f(down)) / (2 * h)
    return grad
