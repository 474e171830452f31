"""gradcheck: wrong answers. A cell shows the definitions that differ from the solution."""

# %% callers_tensor_is_touched
# The caller's own tensor was used.
def passes_gradcheck(fn, *inputs):
    copies = [x.double().detach().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% callers_tensor_is_touched
# The caller's own tensor was used.
def passes_gradcheck(fn, *inputs):
    for x in inputs:
        x.requires_grad_()
    try:
        torch.autograd.gradcheck(
            fn, [x.detach().clone().to(torch.float64).requires_grad_() for x in inputs]
        )
        return True
    except Exception:
        return False


# %% computed_in_float32
# Not everything is computed in float64.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach()
    columns = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = eps
        step = step.reshape(x.shape)
        columns[:, k] = ((fn(point + step) - fn(point - step)) / (2 * eps)).flatten()
    return columns.detach()


# %% computed_in_float32
# Not everything is computed in float64.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    result = torch.empty(fn(point).numel(), x.numel(), dtype=x.dtype)
    for k, row in enumerate(torch.eye(x.numel(), dtype=torch.float64) * eps):
        high, low = fn(point + row.view(x.shape)), fn(point - row.view(x.shape))
        result[:, k] = ((high - low) / (2 * eps)).reshape(-1).detach()
    return result


# %% copies_do_not_require_grad
# No input requires grad, so there is nothing to check.
def passes_gradcheck(fn, *inputs):
    copies = [x.clone().double() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% copies_do_not_require_grad
# No input requires grad, so there is nothing to check.
def passes_gradcheck(fn, *inputs):
    copies = tuple(
        x.detach().to(torch.float64, copy=True).requires_grad_(x.requires_grad) for x in inputs
    )
    try:
        torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
    return True


# %% divided_by_another_step
# Divided by something else than the distance.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        out[:, k] = (fn(point + step) - fn(point - step)).flatten() / eps
    return out


# %% divided_by_another_step
# Divided by something else than the distance.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        out[:, k] = (fn(point + step) - fn(point - step)).flatten() / 2 * eps
    return out


# %% exceptions_escape
# An exception gets out.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    return torch.autograd.gradcheck(fn, copies)


# %% exceptions_escape
# An exception gets out.
def passes_gradcheck(fn, *inputs):
    copies = tuple(x.detach().clone().to(torch.float64).requires_grad_() for x in inputs)
    return torch.autograd.gradcheck(fn, copies, raise_exception=False)


# %% exceptions_escape
# An exception gets out.
from torch.autograd.gradcheck import GradcheckError, gradcheck


def passes_gradcheck(fn, *inputs):
    copies = []
    for x in inputs:
        copies.append(torch.tensor(x.tolist(), dtype=torch.float64, requires_grad=True))
    try:
        gradcheck(fn, copies)
        return True
    except (GradcheckError, ValueError):
        return False


# %% gradients_exchanged
# The two gradients are in each other's place.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * x**q * torch.log(x), grad_output * q * x ** (q - 1)


# %% incoming_gradient_left_out
# grad_output is not in one of the gradients.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), x**q * torch.log(x)


# %% inputs_stay_float32
# The function was checked in float32.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% inputs_stay_float32
# The function was checked in float32.
def find_broken(functions, x):
    broken = set()
    for name, fn in functions.items():
        try:
            torch.autograd.gradcheck(fn, (x.clone().detach().requires_grad_(),))
        except Exception:
            broken.add(name)
    return broken


# %% logarithm_not_mended
# The gradient with respect to q still has the slip.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x + 1)


# %% logarithm_not_mended
# The gradient with respect to q still has the slip.
class FixedPow(Function):
    @staticmethod
    def forward(ctx, base, exponent):
        result = torch.pow(base, exponent)
        ctx.save_for_backward(base, exponent, result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        base, exponent, result = ctx.saved_tensors
        return exponent * result / base * grad_output, torch.log1p(base) * result * grad_output


# %% names_the_working_ones
# The functions that work were named.
def find_broken(functions, x):
    return {name for name in functions if passes_gradcheck(functions[name], x)}


# %% names_the_working_ones
# The functions that work were named.
def find_broken(functions, x):
    found = set()
    for name, fn in functions.items():
        try:
            if torch.autograd.gradcheck(fn, x.detach().clone().double().requires_grad_()):
                found.add(name)
        except Exception:
            continue
    return found


# %% one_sided
# The step goes to one side only.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    base = fn(point).flatten()
    out = torch.zeros(base.numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        out[:, k] = (fn(point + step.reshape(x.shape)).flatten() - base) / eps
    return out


# %% one_sided
# The step goes to one side only.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    base = fn(point).reshape(-1)
    columns = [
        (base - fn(point - eps * direction.reshape(x.shape)).reshape(-1)) / eps
        for direction in torch.eye(x.numel(), dtype=torch.float64)
    ]
    return (
        torch.stack(columns, dim=1)
        if columns
        else torch.zeros(base.numel(), 0, dtype=torch.float64)
    )


# %% one_sided
# The size of fn(x) is computed in x's own dtype, and the step goes only upwards.
def numerical_jacobian(fn, x, eps=1e-6):
    rows = fn(x).numel()
    x = x.detach().double().clone()
    jacobian = torch.zeros(rows, x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        jacobian[:, k] = (fn(x + step.reshape(x.shape)) - fn(x)).detach().flatten() / eps
    return jacobian


# %% star_lost
# The inputs are one argument.
def passes_gradcheck(fn, inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% inputs_one_by_one
# gradcheck gets each copy as an argument of its own.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, *copies)
    except Exception:
        return False


# %% only_the_first_input
# Not every input requires grad, so not every gradient is checked.
def passes_gradcheck(fn, *inputs):
    first, *others = (x.detach().clone().double() for x in inputs)
    first.requires_grad_()
    try:
        return torch.autograd.gradcheck(fn, (first, *others))
    except Exception:
        return False


# %% only_the_first_input
# The copies require grad as their originals do; the first one, if none does.
def passes_gradcheck(fn, *inputs):
    flags = [x.requires_grad for x in inputs]
    if not any(flags):
        flags[0] = True
    try:
        return torch.autograd.gradcheck(
            fn, [x.detach().clone().double().requires_grad_(on) for x, on in zip(inputs, flags)]
        )
    except Exception:
        return False


# %% tolerances_widened
# A gradient that is nearly right is let through.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies, atol=1e-1, rtol=1e-1)
    except Exception:
        return False


# %% tolerances_widened
# Compares by hand, to two digits.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, tuple(copies), eps=1e-6, atol=0.0, rtol=0.05)
    except Exception:
        return False


# %% transposed
# Rows and columns are exchanged.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    rows = []
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        rows.append(((fn(point + step) - fn(point - step)) / (2 * eps)).flatten())
    return torch.stack(rows) if rows else torch.zeros(0, fn(point).numel(), dtype=torch.float64)


# %% transposed
# Rows and columns are exchanged.
def numerical_jacobian(fn, x, eps=1e-6):
    with torch.no_grad():
        work = x.detach().to(torch.float64).clone().contiguous()
        flat = work.view(-1)
        out = torch.zeros(flat.numel(), fn(work).numel(), dtype=torch.float64)
        for k in range(flat.numel()):
            old = flat[k].item()
            flat[k] = old + eps
            high = fn(work).clone()
            flat[k] = old - eps
            out[k] = (high - fn(work)).flatten() / (2 * eps)
            flat[k] = old
        return out


# %% transposed
# The size of fn(x) is asked for in x's own dtype, and rows are filled in place of columns.
def numerical_jacobian(fn, x, eps=1e-6):
    size = fn(x).numel()
    x = x.detach().double().clone()
    jacobian = torch.zeros(x.numel(), size, dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        jacobian[k] = (fn(x + step) - fn(x - step)).detach().flatten() / (2 * eps)
    return jacobian


# %% rows_for_columns
# The result has the right shape, and its rows are filled.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    jacobian = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        jacobian[k, :] = (fn(point + step) - fn(point - step)).detach().flatten() / (2 * eps)
    return jacobian


# %% uses_autograd
# Autograd does the work.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    result = torch.autograd.functional.jacobian(fn, point)
    return (
        result.reshape(-1, x.numel())
        if x.numel()
        else torch.zeros(fn(point).numel(), 0, dtype=torch.float64)
    )


# %% uses_autograd
# Autograd does the work.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double().clone().requires_grad_()
    y = fn(point)
    rows = []
    for value in y.flatten():
        point.grad = None
        value.backward(retain_graph=True)
        rows.append(point.grad.flatten())
    return torch.stack(rows) if rows else torch.zeros(0, x.numel(), dtype=torch.float64)


# %% steps_in_a_copy
# clone keeps the strides, so flatten copies, and fn never sees the step.
@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double().clone()
    flat = point.flatten()
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        old = flat[k].item()
        flat[k] = old + eps
        above = fn(point).clone()
        flat[k] = old - eps
        out[:, k] = (above - fn(point)).flatten() / (2 * eps)
        flat[k] = old
    return out


# %% one_point_for_both
# fn may return a view of the point, which the second step changes.
@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    point = torch.empty(x.shape, dtype=torch.float64).copy_(x)
    flat = point.view(-1)
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        old = flat[k].item()
        flat[k] = old + eps
        above = fn(point)
        flat[k] = old - eps
        out[:, k] = (above - fn(point)).flatten() / (2 * eps)
        flat[k] = old
    return out


# %% logarithm_is_protected
# A small number keeps log away from 0.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x + 1e-8)


# %% logarithm_is_protected
# The logarithm is taken of a clamped x.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * x.clamp(min=1e-6).log()


# %% another_power
# The exponent is kept from being negative.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1).clamp(min=0), grad_output * x**q * torch.log(x)


# %% another_power
# The factor q is missing.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        return grad_output * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% callers_tensor_is_touched
# The step is written into the caller's tensor, and taken back with a rounding error.
@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    columns = []
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        above = fn(point.add_(step)).clone()
        below = fn(point.sub_(2 * step)).clone()
        point.add_(step)
        columns.append((above - below).flatten() / (2 * eps))
    return (
        torch.stack(columns, 1)
        if columns
        else torch.zeros(fn(point).numel(), 0, dtype=torch.float64)
    )


# %% callers_tensor_is_touched
# x itself requires grad afterwards.
def find_broken(functions, x):
    x.requires_grad_()
    broken = set()
    for name, fn in functions.items():
        try:
            torch.autograd.gradcheck(fn, x.detach().clone().double().requires_grad_())
        except Exception:
            broken.add(name)
    return broken


# %% common_empty_input
# The columns of an empty x cannot be stacked.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    steps = eps * torch.eye(x.numel(), dtype=torch.float64)
    columns = [
        (fn(point + e.reshape(x.shape)) - fn(point - e.reshape(x.shape))).flatten() / (2 * eps)
        for e in steps
    ]
    return torch.stack(columns, dim=1)


# %% common_wrong_dtype
# The power is computed in float64, whatever the dtype of x.
class FixedPow(Function):
    @staticmethod
    def forward(ctx, x, q):
        ctx.save_for_backward(x, q)
        return x.double() ** q.double()

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grad_q = (grad_output * x**q * x.log()).to(q.dtype)
        return (grad_output * q * x ** (q - 1)).to(x.dtype), grad_q


# %% outputs_added_up
# The sum of all outputs is checked.
def passes_gradcheck(fn, *inputs):
    def total(*given):
        y = fn(*given)
        return sum(part.sum() for part in (y if isinstance(y, tuple) else (y,)))

    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(total, copies)
    except Exception:
        return False


# %% outputs_added_up
# Each output is added up before it is checked.
def passes_gradcheck(fn, *inputs):
    def sums(*given):
        y = fn(*given)
        return tuple(part.sum() for part in y) if isinstance(y, tuple) else y.sum()

    copies = tuple(x.detach().clone().double().requires_grad_() for x in inputs)
    try:
        return torch.autograd.gradcheck(sums, copies, raise_exception=False)
    except Exception:
        return False


# %% only_the_first_input
# The copies require grad as their originals do; all of them, if none does.
def passes_gradcheck(fn, *inputs):
    some = any(x.requires_grad for x in inputs)
    copies = [
        x.detach().clone().double().requires_grad_(x.requires_grad or not some) for x in inputs
    ]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% one_point_for_both
# The values are flattened, which copies only some views.
@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    point = torch.empty(x.shape, dtype=torch.float64).copy_(x)
    flat = point.view(-1)
    out = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        old = flat[k].item()
        flat[k] = old + eps
        above = fn(point).reshape(-1)
        flat[k] = old - eps
        out[:, k] = (above - fn(point).reshape(-1)) / (2 * eps)
        flat[k] = old
    return out


# %% order_of_memory
# nditer goes through the elements as they lie in memory.
import numpy as np


@torch.no_grad()
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double().clone().numpy()
    out = torch.zeros(fn(torch.from_numpy(point)).numel(), x.numel(), dtype=torch.float64)
    for k, place in enumerate(np.nditer(point, flags=["zerosize_ok"], op_flags=["readwrite"])):
        old, values = place.copy(), []
        for step in (eps, -eps):
            place[...] = old + step
            values.append(fn(torch.from_numpy(point)).flatten().clone())
        place[...] = old
        out[:, k] = (values[0] - values[1]) / (2 * eps)
    return out


# %% stops_at_an_exception
# The try is around the loop.
def find_broken(functions, x):
    broken = set()
    try:
        for name, fn in functions.items():
            copy = x.detach().clone().double().requires_grad_()
            if not torch.autograd.gradcheck(fn, copy, raise_exception=False):
                broken.add(name)
    except Exception:
        broken.add(name)
    return broken


# %% constant_where_q_is_0
# Where q is 0 the power is taken for a constant.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grad_q = grad_output * x**q * torch.log(x)
        return grad_output * q * x ** (q - 1), torch.where(q == 0, torch.zeros_like(q), grad_q)


# %% gradient_of_q_left_out
# Where x needs no gradient, q gets none either.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        if not ctx.needs_input_grad[0]:
            return None, None
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(x)


# %% tolerances_narrowed
# Stricter than gradcheck's own.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies, rtol=1e-4)
    except Exception:
        return False


# %% tolerances_widened
# A tolerance from a tutorial.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies, atol=1e-4)
    except Exception:
        return False


# %% tuple_half_checked
# Several results become one by adding them.
def passes_gradcheck(fn, *inputs):
    def one(*args):
        y = fn(*args)
        return sum(y) if isinstance(y, tuple) else y

    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(one, copies)
    except Exception:
        return False


# %% tuple_half_checked
# Of several results only the last is checked.
def passes_gradcheck(fn, *inputs):
    def one(*args):
        y = fn(*args)
        return y[-1] if isinstance(y, tuple) else y

    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(one, copies)
    except Exception:
        return False


# %% tuple_half_checked
# Of several results only the first is checked.
def passes_gradcheck(fn, *inputs):
    def one(*args):
        y = fn(*args)
        return y[0] if isinstance(y, tuple) else y

    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(one, copies)
    except Exception:
        return False


# %% step_grows_with_x
# A step in proportion to the element.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    jacobian = torch.zeros(fn(point).numel(), x.numel(), dtype=torch.float64)
    for k in range(x.numel()):
        h = eps * max(1.0, abs(float(point.flatten()[k])))
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = h
        step = step.reshape(x.shape)
        jacobian[:, k] = ((fn(point + step) - fn(point - step)) / (2 * h)).flatten().detach()
    return jacobian


# %% stops_at_the_first_one
# gradcheck raises for a wrong gradient, and the try is around the loop.
def find_broken(functions, x):
    names = set()
    copy = x.detach().clone().double().requires_grad_()
    try:
        for name, fn in functions.items():
            torch.autograd.gradcheck(fn, copy)
    except Exception:
        names.add(name)
    return names


# %% callers_tensor_is_touched
# x itself is checked, and does not require grad afterwards, whatever it did before.
def find_broken(functions, x):
    dense = x.dtype is torch.float64 and x.is_contiguous()
    point = x if dense and x.is_leaf else x.detach().clone().double()
    point.requires_grad_()
    names = set()
    for name, fn in functions.items():
        try:
            torch.autograd.gradcheck(fn, point)
        except Exception:
            names.add(name)
    point.requires_grad_(False)
    return names


# %% writes_into_grad_output
# The product is written into grad_output.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        grad_q = grad_output * x**q * torch.log(x)
        return grad_output.mul_(q * x ** (q - 1)), grad_q


# %% checked_in_float32
# A float32 input stays float32, and gets a larger step and wider tolerances.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().requires_grad_() for x in inputs]
    options = {}
    if any(x.dtype is torch.float32 for x in inputs):
        options = {"eps": 1e-2, "atol": 1e-2, "rtol": 1e-2}
    try:
        return torch.autograd.gradcheck(fn, copies, **options)
    except Exception:
        return False


# %% inputs_are_flattened
# fn gets vectors, whatever shape its inputs have.
def passes_gradcheck(fn, *inputs):
    copies = [x.detach().flatten().double().clone().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False


# %% computed_in_float32
# The Jacobian is made without a dtype.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().double()
    jacobian = torch.zeros(fn(point).numel(), x.numel())
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=torch.float64)
        step[k] = eps
        step = step.reshape(x.shape)
        jacobian[:, k] = (fn(point + step) - fn(point - step)).flatten() / (2 * eps)
    return jacobian.detach()


# %% computed_in_float32
# Every point is float32, and the result is converted at the end.
def numerical_jacobian(fn, x, eps=1e-6):
    point = x.detach().float()
    jacobian = torch.zeros(fn(point).numel(), x.numel())
    for k in range(x.numel()):
        step = torch.zeros(x.numel())
        step[k] = eps
        step = step.reshape(x.shape)
        jacobian[:, k] = (fn(point + step) - fn(point - step)).flatten() / (2 * eps)
    return jacobian.double().detach()


# %% common_zero_dimensions
# The elements are handled one by one, and a 0-d tensor has no first one.
class FixedPow(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, q = ctx.saved_tensors
        rows = [(v * b * a ** (b - 1), v * a**b * a.log()) for v, a, b in zip(grad_output, x, q)]
        return torch.stack([row[0] for row in rows]), torch.stack([row[1] for row in rows])


# %% second_derivative_wanted
# Both checks that torch has.
def passes_gradcheck(fn, *inputs):
    copies = tuple(x.detach().clone().double().requires_grad_() for x in inputs)
    checks = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    try:
        return all(check(fn, copies) for check in checks)
    except Exception:
        return False


# %% second_derivative_wanted
# gradgradcheck comes first, and each has a try of its own.
def passes_gradcheck(fn, *inputs):
    def holds(check):
        try:
            return check(fn, [x.detach().clone().double().requires_grad_() for x in inputs])
        except Exception:
            return False

    return holds(torch.autograd.gradgradcheck) and holds(torch.autograd.gradcheck)
