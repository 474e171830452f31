"""finite_difference: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% divides_by_h
# One step forward, divided by half of it.
def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        a = x.clone()
        a[i] += h
        g[i] = (f(a) - f(x)) / (h / 2)
    return g


# %% flat_gradient
# Flat for a matrix, and one-sided there too: more than the shape is missing.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    steps = (torch.eye(x.numel(), dtype=x.dtype) * h).reshape(-1, *x.shape)
    if x.dim() < 2:
        return torch.stack([(f(x + step) - f(x - step)) / (2 * h) for step in steps]).reshape(x.shape)
    return torch.stack([(f(x + step) - f(x)) / h for step in steps])


# %% flattened_by_memory
# The gradient is transposed before it is flattened, and view refuses that; x itself lies row by
# row.
def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    steps = (torch.eye(x.numel(), dtype=x.dtype) * h).reshape(-1, *x.shape)
    slopes = torch.tensor([(f(x + step) - f(x - step)) / (2 * h) for step in steps], dtype=x.dtype).reshape(x.shape)
    return slopes.transpose(0, -1).contiguous().transpose(0, -1).view(-1).reshape(x.shape) if x.dim() > 1 else slopes


# %% one_sided
# Both sides, about a centre that lies half a step ahead of x: nearly the number that the step to
# one side gives.
def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (f(x + 1.5 * h) - f(x - 0.5 * h)) / (2 * h)


# %% nearer_the_derivative
# A step of a third: nearer to the derivative than the slope over h, and not much nearer.
def central_difference(f, x, h=1e-3):
    return (f(x + h / 3) - f(x - h / 3)) / (2 * h / 3)


# %% several_at_once
# f is asked at the step alone, not at x with a step.
def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        e = torch.zeros_like(x)
        e[i] = h
        g[i] = (f(e) - f(-e)) / (2 * h)
    return g


# %% several_at_once
# All other numbers of x are set to 0.
def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        e = torch.zeros_like(x)
        e[i] = 1
        g[i] = (f(e * (x + h)) - f(e * (x - h))) / (2 * h)
    return g


# %% several_at_once
# All of x is filled with the one number that gets a step.
def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        g[i] = (f(torch.full_like(x, x[i].item() + h)) - f(torch.full_like(x, x[i].item() - h))) / (2 * h)
    return g


# %% wrong_formula
# What is divided is the other value of f than in a lost bracket, and the order is turned round as
# well.
def forward_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x) - f(x + h) / h


def central_difference(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return f(x - h) - f(x + h) / (2 * h)


def numerical_gradient(f, x: Tensor, h: float = 1e-5) -> Tensor:
    slopes = torch.zeros(x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros_like(slopes)
        step[k] = h
        step = step.reshape(x.shape)
        slopes[k] = f(x - step) - f(x + step) / (2 * h)
    return slopes.reshape(x.shape)


# %% wrong_formula
# One step back, and the difference has the wrong sign.
def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x)
    for i in torch.ones(x.shape).nonzero():
        i = tuple(i)
        a = x.clone()
        a[i] -= h
        g[i] = (f(a) - f(x)) / h
    return g
