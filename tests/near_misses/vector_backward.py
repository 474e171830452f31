"""vector_backward: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% empty_shape_unpacked
# It is the shape of y alone that is unpacked, so x may have any shape.
def jacobian(f, x):
    y = f(x)
    out = torch.zeros(y.shape + x.shape, dtype=x.dtype).reshape(y.numel(), -1)
    if not y.requires_grad:
        return out.reshape(y.shape + x.shape)
    for k in range(y.numel()):
        v = torch.zeros(*y.shape, dtype=y.dtype)
        v.view(-1)[k] = 1
        (g,) = torch.autograd.grad(y, x, v, retain_graph=True, allow_unused=True)
        if g is not None:
            out[k] = g.reshape(-1)
    return out.reshape(y.shape + x.shape)


# %% numerical_differences
# A Jacobian of exact rows, in float32.
def jacobian(f, x):
    y = f(x)
    J = torch.zeros(y.numel(), x.numel())
    for i, e in enumerate(y.flatten()):
        if e.requires_grad:
            (g,) = torch.autograd.grad(e, x, retain_graph=True, allow_unused=True)
            if g is not None:
                J[i] = g.flatten()
    return J.reshape(y.shape + x.shape)


# %% numerical_differences
# All rows are right, and are then rounded to four decimals.
def jacobian(f, x):
    y = f(x)
    out = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    if y.requires_grad:
        for k in range(y.numel()):
            (g,) = torch.autograd.grad(y.reshape(-1)[k], x, retain_graph=True, allow_unused=True)
            if g is not None:
                out[k] = g.reshape(-1)
    return torch.round(out, decimals=4).reshape(y.shape + x.shape)


# %% numerical_differences
# v goes through a list and comes back as float32; the product is close, and has half the digits.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    weights = torch.tensor(v.tolist()).reshape(v.shape)
    return torch.autograd.grad(y, x, weights, retain_graph=True)[0]


# %% only_a_leaf_keeps_grad
# It is the .grad of b that is read, where that of y is meant.
def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    (dx,) = torch.autograd.grad(z, x)
    return z, dx, b.grad


# %% only_a_leaf_keeps_grad
# y keeps its gradient; what is returned is what retain_grad() returned, which is None.
def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    dy = y.retain_grad()
    (g,) = torch.autograd.grad(z, x)
    return z, g, dy


# %% rows_added_up
# The row of an output that doesn't depend on x is missing.
def jacobian(f, x):
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape)
    return torch.stack([torch.autograd.grad(e, x, retain_graph=True, allow_unused=True)[0] for e in y.flatten()]).reshape(y.shape + x.shape)


# %% rows_added_up
# The rows are one tensor, x.grad, to which each backward adds; each of them begins with a single
# element.
def jacobian(f, x):
    y = f(x)
    x.grad = None
    rows = []
    for k in range(y.numel()):
        y.reshape(-1)[k].backward(retain_graph=True)
        rows.append(x.grad)
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% rows_pile_up
# The vector that picks a row is never cleared, so that it picks those before as well; x.grad has
# no part in it.
def jacobian(f, x):
    y = f(x)
    v = torch.zeros(y.numel(), dtype=y.dtype)
    rows = []
    for k in range(y.numel()):
        v[k] = 1
        rows.append(torch.autograd.grad(y, x, v.reshape(y.shape).clone(), retain_graph=True)[0])
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% rows_pile_up
# The vector always picks the last row; x.grad has no part in it.
def jacobian(f, x):
    y = f(x)
    rows = []
    for _ in range(y.numel()):
        v = torch.zeros(y.numel(), dtype=y.dtype)
        v[-1] = 1
        rows.append(torch.autograd.grad(y, x, v.reshape(y.shape), retain_graph=True)[0])
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% vector_ignored
# v is used for its signs, and what has a sign of 1 counts as 1.
def vjp(y, x, v):
    return torch.autograd.grad(y, x, torch.sign(v), retain_graph=True)[0]


# %% writes_to_x_grad
# autograd.grad hands the gradient back; x.grad is cleared before, for no reason.
def vjp(y, x, v):
    x.grad = None
    return torch.autograd.grad(y, x, v, retain_graph=True)[0]


# %% writes_to_x_grad
# autograd.grad hands the gradient back, and a copy of it is stored in x.grad.
def vjp(y, x, v):
    (g,) = torch.autograd.grad(y, x, v, retain_graph=True)
    x.grad = g.clone()
    return g


# %% common_writes_into_argument
# Nothing is written to, but x no longer requires grad.
def vjp(y, x, v):
    (g,) = torch.autograd.grad(y, x, v, retain_graph=True)
    x.requires_grad_(False)
    return g


# %% common_writes_into_argument
# v is normalized in NumPy's memory, which does not count as a write to autograd; no line of the
# function changes v by its own name.
def vjp(y, x, v):
    numbers = v.numpy()
    (g,) = torch.autograd.grad(y, x, v.clone(), retain_graph=True)
    numbers.fill(0)
    return g


# %% common_writes_into_argument
# x is detached in place, and gets the derivatives as a tensor without a graph.
def jacobian(f, x):
    result = torch.autograd.functional.jacobian(f, x)
    x.detach_()
    return result


# %% common_writes_into_argument
# x no longer requires grad.
def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    dx, dy = torch.autograd.grad(z, (x, y))
    x.requires_grad = False
    return z.detach(), dx, dy


# %% path_to_x_taken_for_granted
# An f that returns x itself is taken for one that does not depend on x.
def jacobian(f, x):
    y = f(x)
    if y.grad_fn is None:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    return torch.autograd.functional.jacobian(f, x)


# %% conjugate_missing
# A central difference in the real direction: the derivative, with few digits.
def complex_derivative(g, z):
    with torch.no_grad():
        return (g(z + 1e-6) - g(z - 1e-6)) / 2e-6


# %% slopes_averaged
# The formula with one half for both parts: right, but the sum is over all elements.
def complex_derivative(g, z):
    w = g(z)
    (real,) = torch.autograd.grad(w.real.sum(), z, retain_graph=True)
    return real.conj().sum().expand_as(z)
