"""gradcheck: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% computed_in_float32
# One-sided; the function is asked once in the dtype that came, for its size.
def numerical_jacobian(fn, x, eps=1e-6):
    y0 = fn(x)
    x64 = x.detach().double().clone()
    J = torch.zeros(y0.numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        d = torch.zeros(x.numel(), dtype=torch.float64)
        d[k] = eps
        d = d.reshape(x.shape)
        J[:, k] = (fn(x64 + d).flatten() - fn(x64).flatten()) / eps
    return J.detach()


# %% computed_in_float32
# Transposed; the function is asked once in the dtype that came, for its size.
def numerical_jacobian(fn, x, eps=1e-6):
    y0 = fn(x)
    x64 = x.detach().double().clone()
    J = torch.zeros(x.numel(), y0.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        d = torch.zeros(x.numel(), dtype=torch.float64)
        d[k] = eps
        d = d.reshape(x.shape)
        J[k] = (fn(x64 + d).flatten() - fn(x64 - d).flatten()) / (2 * eps)
    return J.detach()


# %% computed_in_float32
# fn is called once in float32, for the size of its result; the differences are taken in float64
# and divided by half the distance.
def numerical_jacobian(fn, x, eps=1e-6):
    rows = fn(x.detach()).numel()
    point = x.detach().double()
    jacobian = torch.zeros(rows, x.numel(), dtype=torch.float64)
    with torch.no_grad():
        for k in range(x.numel()):
            step = torch.zeros(x.numel(), dtype=torch.float64)
            step[k] = eps
            step = step.reshape(x.shape)
            jacobian[:, k] = (fn(point + step) - fn(point - step)).flatten() / eps
    return jacobian


# %% inputs_stay_float32
# fn is tried in float32; gradcheck gets float64, and tolerances that are too wide.
def passes_gradcheck(fn, *inputs):
    try:
        fn(*(x.detach().clone() for x in inputs))
        copies = [x.detach().clone().double().requires_grad_() for x in inputs]
        return torch.autograd.gradcheck(fn, copies, rtol=0.1)
    except Exception:
        return False


# %% inputs_stay_float32
# Float64 copies; what gradcheck accepts must pass gradgradcheck as well, so a right gradient that
# has no derivative is rejected.
def passes_gradcheck(fn, *inputs):
    copies = tuple(x.detach().clone().double().requires_grad_() for x in inputs)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)
    except Exception:
        return False


# %% computed_in_float32
# float64 stays float64. Only the shape is wrong: there is a dimension too many.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach()
    rows = []
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = eps
        step = step.reshape(x.shape)
        rows.append(((fn(point + step) - fn(point - step)) / (2 * eps)).flatten())
    return torch.stack(rows, dim=1).unsqueeze(0)


# %% names_the_working_ones
# A function that raises is not counted as rejected.
def find_broken(functions, x):
    broken = set()
    for name, fn in functions.items():
        copy = x.detach().clone().double().requires_grad_()
        try:
            torch.autograd.gradcheck(fn, copy)
        except torch.autograd.gradcheck.__globals__["GradcheckError"]:
            broken.add(name)
        except Exception:
            pass
    return broken


# %% tolerances_widened
# Another eps: a right gradient of a function that changes quickly is rejected.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies, eps=1e-5)
    except Exception:
        return False


# %% exceptions_escape
# An input that fn does not use is an error here.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        torch.autograd.grad(sum(y.sum() for y in [fn(*copies)] if not isinstance(y, tuple)), copies) if len(copies) > 1 else None
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% exceptions_escape
# The inputs are moved away from kinks.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().add(1e-5).requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, [x.detach().requires_grad_() for x in copies])
    except Exception:
        return False


# %% transposed
# The elements of x are counted column by column.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.T.shape).T if x.dim() == 2 else step.reshape(x.shape)
        out[:, k] = (fn(point + step) - fn(point - step)).flatten() / (2 * eps)
    return out.detach()


# %% stops_at_an_exception
# A function that raises gets the verdict on the one before it.
def find_broken(functions, x):
    broken, accepted = set(), False
    for name, fn in functions.items():
        point = x.detach().clone().double().requires_grad_()
        try:
            accepted = torch.autograd.gradcheck(fn, (point,), raise_exception=False)
        except Exception:
            pass
        if not accepted:
            broken.add(name)
    return broken


# %% stops_at_an_exception
# x is flattened, so a function that needs its dimensions raises.
def find_broken(functions, x):
    flat = x.detach().flatten().clone()
    return {name for name, fn in functions.items() if not passes_gradcheck(fn, flat)}


# %% names_the_working_ones
# Without broken functions there is no return.
def find_broken(functions, x):
    broken = {name for name, fn in functions.items() if not passes_gradcheck(fn, x)}
    if broken:
        return broken
