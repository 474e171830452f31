"""second_derivative: other right answers.

A cell shows the definitions that differ from the solution.
"""

# %% backward_on_a_copy
# backward(create_graph=True) on a leaf of one's own, whose .grad is cleared between the passes.
def gradient_of(y, x):
    x.grad = None
    if y.requires_grad:
        y.backward(torch.ones_like(y), create_graph=True, inputs=[x])
    return torch.zeros_like(x) if x.grad is None else x.grad


def second_derivative(f, x):
    own = x.detach().clone().requires_grad_(True)
    return gradient_of(gradient_of(f(own), own), own).detach()


def nth_derivative(f, x, n):
    if not n >= 0:
        raise ValueError
    own = x.detach().clone().requires_grad_(True)
    result = f(own)
    while n:
        result, n = gradient_of(result, own), n - 1
    return result.detach()


def hessian(f, x):
    own = x.detach().clone().requires_grad_(True)
    gradient = gradient_of(f(own), own)
    matrix = own.new_zeros(len(x), len(x)).detach()
    for row in range(len(x)):
        matrix[row] = gradient_of(gradient[row], own).detach()
    return matrix


def gradient_penalty(f, x):
    own = x.detach().clone().requires_grad_(True)
    f(own).sum().backward(create_graph=True, inputs=[own])
    return torch.mean(torch.square(torch.linalg.vector_norm(own.grad, dim=-1) - 1.0))


# %% batched_rows
# All rows of a Hessian at once: is_grads_batched, and vmap of a vector-Jacobian product.
def hessian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    rows = torch.eye(len(x), dtype=x.dtype)
    (matrix,) = torch.autograd.grad(gradient, x, rows, is_grads_batched=True, allow_unused=True)
    return torch.zeros_like(rows) if matrix is None else matrix


# %% comparison_below
# A function that nobody calls compares with torch's own, which it imports under names that the
# file uses for others.
from torch.autograd import grad


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(2):
        (y,) = (
            grad(y.sum(), x, create_graph=True, allow_unused=True) if y.requires_grad else (None,)
        )
        y = torch.zeros_like(x) if y is None else y
    return y


def compare(f, x):
    from torch.func import grad

    return grad(grad(f))(x) - second_derivative(f, x)


# %% derivative_as_a_function
# d maps a function to its derivative; reduce applies it n times.
from functools import reduce


def d(f):
    def derivative(x):
        y = f(x)
        if y.grad_fn is None and y is not x:
            return torch.zeros_like(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)
        return torch.zeros_like(x) if g is None else g

    return derivative


def second_derivative(f, x):
    return d(d(f))(x.detach().requires_grad_())


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    return reduce(lambda g, _: d(g), range(n), f)(x.detach().requires_grad_())


def hessian(f, x):
    x = x.detach().requires_grad_()
    return torch.stack([d(lambda t, i=i: d(f)(t)[i])(x) for i in range(x.numel())])


def gradient_penalty(f, x):
    return (d(f)(x.detach().requires_grad_()).norm(p=2, dim=1) - 1).square().mean()


# %% diagonal_of_the_hessian
# An elementwise function's second derivatives are its Hessian's diagonal.
def hessian(f, x):
    with torch.enable_grad():
        x = x.clone().detach()
        x.requires_grad = True
        (gradient,) = torch.autograd.grad(outputs=f(x), inputs=x, create_graph=True)
        matrix = torch.zeros(x.numel(), x.numel(), dtype=x.dtype)
        for i, g in enumerate(gradient):
            if g.requires_grad:
                (row,) = torch.autograd.grad(g, x, retain_graph=True, allow_unused=True)
                if row is not None:
                    matrix[i] = row
    return matrix


def second_derivative(f, x):
    if x.numel() == 0:
        return torch.zeros_like(x)
    return hessian(lambda flat: f(flat).sum(), x.reshape(-1)).diagonal().reshape(x.shape)


# %% double_backward_trick
# Hessian-vector products through a dummy vector, column by column.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True, materialize_grads=True)
    columns = []
    for unit in torch.eye(len(x), dtype=x.dtype):
        product = (gradient * unit).sum()
        if product.requires_grad:
            (column,) = torch.autograd.grad(product, x, retain_graph=True, allow_unused=True)
        else:
            column = None
        columns.append(torch.zeros_like(x) if column is None else column)
    return torch.stack(columns, dim=1)


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    v = torch.ones_like(y, requires_grad=True)
    (first,) = torch.autograd.grad(y, x, v, create_graph=True)
    (second,) = torch.autograd.grad(first, x, torch.ones_like(x), allow_unused=True)
    return torch.zeros_like(x) if second is None else second


# %% element_by_element
# Loops over elements and rows, each differentiated by itself.
def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    g = torch.autograd.grad(y, x, create_graph=True, allow_unused=True)[0]
    return torch.zeros_like(x) if g is None else g


def nth_of_a_number(f, number, n):
    number = number.detach().clone().requires_grad_()
    y = f(number)
    for _ in range(n):
        y = slope(y, number)
    return y


def second_derivative(f, x):
    result = torch.empty_like(x, requires_grad=False)
    for index in (
        torch.cartesian_prod(*[torch.arange(n) for n in x.shape]).reshape(-1, x.dim())
        if x.dim() and x.numel()
        else []
    ):
        where = tuple(index.tolist())
        result[where] = nth_of_a_number(f, x[where], 2).detach()
    return nth_of_a_number(f, x, 2) if x.dim() == 0 else result


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("the order of a derivative is not negative")
    if x.numel() == 0:
        return x.detach().clone()
    return torch.stack([nth_of_a_number(f, number, n) for number in x.reshape(-1)]).reshape(x.shape)


def hessian(f, x):
    x = x.detach().clone().requires_grad_()
    gradient = slope(f(x), x)
    return torch.stack(
        [torch.stack([slope(gradient[i], x)[j] for j in range(len(x))]) for i in range(len(x))]
    )


def gradient_penalty(f, x):
    total = 0.0
    for row in x.detach().split(1):
        row = row.clone().requires_grad_()
        gradient = torch.autograd.grad(f(row).squeeze(), row, create_graph=True)[0]
        total = total + (gradient.pow(2).sum().sqrt() - 1) ** 2
    return total / x.shape[0]


# %% forward_mode [torch>=2.13]
# Dual numbers for the second differentiation: forward over reverse.
import torch.autograd.forward_ad as forward


def pushed(function, x, direction):
    """The derivative of function at x along a direction."""
    with forward.dual_level():
        tangent = forward.unpack_dual(function(forward.make_dual(x, direction))).tangent
    return torch.zeros_like(x) if tangent is None else tangent


def gradient_function(f):
    def gradient(x):
        if not x.requires_grad:
            x = x.requires_grad_()
        return torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    return gradient


def second_derivative(f, x):
    x = x.detach()
    return pushed(gradient_function(f), x, torch.ones_like(x)).detach()


def hessian(f, x):
    x = x.detach()
    return torch.stack(
        [pushed(gradient_function(f), x, unit) for unit in torch.eye(len(x), dtype=x.dtype)]
    ).detach()


# %% generator_of_orders
# A generator yields f(x), f'(x), f''(x) and so on; the Hessian differentiates the unbound x.
import itertools


def derivatives(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    while True:
        yield y
        if y.requires_grad:
            (y,) = torch.autograd.grad([y.sum()], [x], create_graph=True, materialize_grads=True)
        else:
            y = torch.zeros_like(x)


def second_derivative(f, x):
    _, _, second = itertools.islice(derivatives(f, x), 3)
    return second


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n < 0")
    return next(itertools.islice(derivatives(f, x), n, None))


def hessian(f, x):
    parts = x.detach().requires_grad_().unbind()
    y = f(torch.stack(parts))

    def partial(value, part):
        if not value.requires_grad:
            return torch.zeros_like(part)
        (g,) = torch.autograd.grad(value, part, create_graph=True, materialize_grads=True)
        return g

    firsts = [partial(y, part) for part in parts]
    entries = [partial(first, part) for first, part in itertools.product(firsts, parts)]
    return torch.stack(entries).reshape(len(parts), len(parts)).detach()


def gradient_penalty(f, x):
    _, gradient = itertools.islice(derivatives(f, x), 2)
    return torch.mean((torch.norm(gradient, dim=1) - 1) ** 2)


# %% gradients_of_a_critic_put_back
# By backward, with .grad of a module's parameters kept and put back. A function has none.
import contextlib


@contextlib.contextmanager
def gradients_kept(f):
    parameters = list(f.parameters()) if hasattr(f, "parameters") else []
    before = [parameter.grad for parameter in parameters]
    for parameter in parameters:
        parameter.grad = None
    try:
        yield
    finally:
        for parameter, gradient in zip(parameters, before, strict=True):
            parameter.grad = gradient


def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    x.grad = None
    y.sum().backward(create_graph=True, inputs=[x])
    gradient, x.grad = x.grad, None
    return torch.zeros_like(x) if gradient is None else gradient


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"order {n} of {f.__qualname__}")
    with gradients_kept(f):
        x = x.detach().clone().requires_grad_()
        y = f(x)
        for _ in range(n):
            y = slope(y, x)
        return y


def second_derivative(f, x):
    return nth_derivative(f, x, 2)


# %% leftover_import
# An import that is left over from comparing, and a variable of the same name.
from torch.autograd.functional import hessian
from torch.func import grad


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if grad.requires_grad:
        (grad,) = torch.autograd.grad(grad.sum(), x, materialize_grads=True)
        return grad
    return torch.zeros_like(x)


def hessian(f, x):
    x = x.detach().requires_grad_()
    grad = torch.autograd.grad(f(x), x, create_graph=True)[0]
    if not grad.requires_grad:
        return x.new_zeros(len(x), len(x))
    return torch.stack(
        [torch.autograd.grad(e, x, retain_graph=True, materialize_grads=True)[0] for e in grad]
    )


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)
    return y


# %% never_constant
# Adds 0 * x, so that every derivative has x in its graph.
def slope(y, x):
    return torch.autograd.grad((y + 0 * x).sum(), x, create_graph=True)[0]


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    return slope(slope(f(x), x), x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("negative order")
    x = x.detach().requires_grad_()
    result = f(x)
    for _ in range(n):
        result = slope(result, x)
    return result


def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0] + 0 * x
    matrix = []
    for g in gradient.unbind():
        matrix.append(torch.autograd.grad(g, x, retain_graph=True)[0])
    return torch.stack(matrix)


# %% per_sample_jacobian
# Each row's f by itself, with one backward pass through the whole batch for each.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    norms = []
    for i in range(y.shape[0]):
        gradient = torch.autograd.grad(y[i], x, retain_graph=True, create_graph=True)[0]
        norms.append(torch.linalg.norm(gradient[i]))
    return torch.nn.functional.mse_loss(torch.stack(norms), torch.ones(len(norms), dtype=x.dtype))


# %% product_with_each_direction
# Recursion over orders, f itself for n = 0, and one vector-Jacobian product a row of the unit
# matrix.
def product(y, x, v):
    g = None
    if y.requires_grad:
        (g,) = torch.autograd.grad(y, x, v, create_graph=True, allow_unused=True)
    return torch.zeros_like(x) if g is None else g


def second_derivative(f, x):
    return nth_derivative(f, x, 2)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("no derivative of a negative order")
    if n == 0:
        return f(x)
    own = x.detach().clone().requires_grad_(True)

    def order(k):
        return f(own) if k == 0 else product(order(k - 1), own, torch.ones_like(own))

    return order(n).detach()


def hessian(f, x):
    own = x.detach().clone().requires_grad_(True)
    y = f(own)
    g = product(y, own, torch.ones_like(y))
    result = own.new_zeros(len(own), len(own))
    for i, direction in enumerate(torch.eye(len(own), dtype=own.dtype)):
        result[i] = product(g, own, direction).detach()
    return result


def gradient_penalty(f, x):
    own = x.detach().clone().requires_grad_(True)
    y = f(own)
    norms = torch.linalg.vector_norm(product(y, own, torch.ones_like(y)), dim=-1)
    return torch.nn.functional.mse_loss(norms, torch.ones_like(norms))


# %% recursion
# The derivative as a function of functions, applied n times.
def derivative_of(f):
    def derivative(x):
        y = f(x)
        if not y.requires_grad:
            return torch.zeros_like(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True, allow_unused=True)
        return torch.zeros_like(x) if g is None else g

    return derivative


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"expected n >= 0, got {n}")
    if n == 0:
        return f(x)
    if n > 1:
        return nth_derivative(derivative_of(f), x, n - 1)
    return derivative_of(f)(x.detach().requires_grad_())


def second_derivative(f, x):
    return nth_derivative(f, x, 2)


def hessian(f, x):
    x = x.detach().requires_grad_()
    return torch.stack(
        [derivative_of(lambda x, i=i: derivative_of(f)(x)[i])(x) for i in range(len(x))]
    )


# %% retained_grad
# A clone that retains its .grad, with inputs= to keep everybody else's as it is.
@torch.enable_grad()
def second_derivative(f, x):
    z = x.clone().requires_grad_()
    z.retain_grad()
    f(z).sum().backward(create_graph=True, inputs=[z])
    first = z.grad
    z.grad = None
    if first.requires_grad:
        first.sum().backward(inputs=[z])
    return torch.zeros_like(z) if z.grad is None else z.grad


@torch.enable_grad()
def gradient_penalty(f, x):
    z = x.clone().requires_grad_()
    z.retain_grad()
    y = f(z).flatten()
    y.backward(torch.ones_like(y), create_graph=True, inputs=[z])
    return ((torch.sqrt((z.grad**2).sum(dim=1) + 1e-8) - 1) ** 2).mean()


# %% reverse_over_forward
# The first differentiation in forward mode, the second in reverse. The zeros of forward mode have
# no memory.
from torch.autograd import forward_ad


def pushed(f, x, direction):
    """The derivative of f at x along a direction."""
    with forward_ad.dual_level():
        primal, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, direction)))
    return torch.zeros_like(primal) if tangent is None else tangent


def gradient_of(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, materialize_grads=True)[0]


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    return gradient_of(pushed(f, x, torch.ones_like(x)), x)


def hessian(f, x):
    x = x.detach().requires_grad_()
    directions = torch.eye(len(x), dtype=x.dtype)
    return torch.stack([gradient_of(pushed(f, x, one), x) for one in directions], dim=1)


# %% rows_one_at_a_time
# f gets the flattened x, or one row at a time; x.grad comes back as a copy.
def second_derivative(f, x):
    held = x.grad.clone() if x.is_leaf and x.grad is not None else None
    flat = x.detach().flatten().requires_grad_()
    (first,) = torch.autograd.grad(f(flat).sum(), flat, create_graph=True)
    second = torch.zeros_like(flat)
    if first.requires_grad:
        (second,) = torch.autograd.grad(first.sum(), flat, materialize_grads=True)
    if x.is_leaf:
        x.grad = held
    return second.reshape(x.shape)


def gradient_penalty(f, x):
    penalties = []
    for row in x.detach().split(1):
        row.requires_grad_()
        (gradient,) = torch.autograd.grad(f(row).sum(), row, create_graph=True)
        penalties.append((gradient.norm() - 1) ** 2)
    return torch.stack(penalties).mean()


# %% small_number_under_the_root
# A millionth under the root keeps the norm's derivative finite where a gradient is zero.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.pow(2).sum(1) + 1e-6).sqrt() - 1).pow(2).mean()


# %% tape
# A class holds its own copy of x; the Hessian's rows come in one batch.
class Tape:
    def __init__(self, x):
        self.x = torch.empty_like(x, requires_grad=True)
        with torch.no_grad():
            self.x.copy_(x)

    def grad(self, y, v=None, batched=False):
        v = torch.ones_like(y) if v is None else v
        shape = v.shape[:1] + self.x.shape if batched else self.x.shape
        grad = None
        if y.requires_grad:
            (grad,) = torch.autograd.grad(
                y, self.x, v, create_graph=True, allow_unused=True, is_grads_batched=batched
            )
        return self.x.new_zeros(shape) if grad is None else grad

    def order(self, f, n):
        return f(self.x) if n == 0 else self.grad(self.order(f, n - 1))


def second_derivative(f, x):
    return Tape(x).order(f, 2)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"n is {n}, and should be 0 or more")
    return Tape(x).order(f, n)


def hessian(f, x):
    tape = Tape(x)
    return tape.grad(tape.order(f, 1), torch.eye(x.shape[0], dtype=x.dtype), batched=True)


def gradient_penalty(f, x):
    rows = Tape(x).order(f, 1)
    return (torch.linalg.norm(rows, dim=1) - 1).square().sum() / x.shape[0]


# %% the_callers_x
# Works on the caller's x itself, which requires grad from then on; torch.autograd.grad writes to
# no .grad.
def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0]


def second_derivative(f, x):
    x.requires_grad_(True)
    return slope(slope(f(x), x), x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n")
    x.requires_grad_(True)
    y = f(x)
    for _ in range(n):
        y = slope(y, x)
    return y


def hessian(f, x):
    x.requires_grad_(True)
    g = slope(f(x), x)
    return torch.stack([slope(g[i], x) for i in range(g.shape[0])], dim=1)


def gradient_penalty(f, x):
    if not x.requires_grad:
        x.requires_grad_()
    g = slope(f(x), x)
    return (g.norm(2, dim=1) - 1).pow(2).mean()


# %% try_and_zeros
# Tries, and takes "does not require grad" and "not used" for a derivative of zero.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    g = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]
    try:
        return torch.autograd.grad(g, x, grad_outputs=torch.ones_like(g))[0]
    except RuntimeError:
        return torch.zeros_like(x)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(f"n = {n} is negative")
    x = x.detach().requires_grad_()
    y = f(x)
    try:
        for _ in range(n):
            y = torch.autograd.grad(y.sum(), [x], create_graph=True)[0]
    except RuntimeError:
        return torch.zeros_like(x)
    return y


def hessian(f, x):
    x = x.detach().requires_grad_()
    g = torch.autograd.grad(f(x), x, create_graph=True)[0]
    try:
        return torch.stack(
            [torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(x.numel())]
        )
    except RuntimeError:
        return torch.zeros(x.numel(), x.numel(), dtype=x.dtype)


# %% vmapped_rows
# vmap over the rows of the unit matrix, around torch.autograd.grad.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return x.new_zeros(len(x), len(x)).detach()

    def row(v):
        return torch.autograd.grad(gradient, x, v, retain_graph=True, materialize_grads=True)[0]

    return torch.vmap(row)(torch.eye(len(x), dtype=x.dtype))


# %% zero_times_x
# 0 * x is added to f, so that there is always a path to x.
def D(f):
    """the derivative of an elementwise function, as a function"""

    def df(x):
        y = f(x) + 0 * x
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

    return df


def second_derivative(f, x):
    z = x.clone().detach().requires_grad_(True)
    return D(D(f))(z)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("음수 차수는 없습니다")
    z = x.clone().detach().requires_grad_(True)
    g = f
    for _ in range(n):
        g = D(g)
    return g(z)


def hessian(f, x):
    z = x.clone().detach().requires_grad_(True)
    g = D(f)(z) if False else torch.autograd.grad(f(z) + 0 * (z * z).sum(), z, create_graph=True)[0]
    rows = [torch.autograd.grad(g[i], z, retain_graph=True)[0] for i in range(z.shape[0])]
    return torch.stack(rows, dim=0)


def gradient_penalty(f, x):
    z = x.clone().detach().requires_grad_(True)
    out = f(z).reshape(-1)
    g = torch.autograd.grad(
        out, z, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True
    )[0]
    norms = g.pow(2).sum(1).sqrt()
    return (norms - 1).pow(2).mean()


# %% small_number_in_each_square
# A millionth is added to each square, not to their sum.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (((gradient**2 + 1e-6).sum(dim=1).sqrt() - 1) ** 2).mean()


# %% square_multiplied_out
# The square of the difference, multiplied out; the sum of squares by einsum.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    squares = torch.einsum("ij,ij->i", gradient, gradient)
    return (squares - 2 * squares.sqrt() + 1).mean()


# %% vmap_of_torch_func
# torch.func's vmap, which differentiates nothing, around torch.autograd.grad.
def hessian(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    eye = torch.eye(len(x), dtype=x.dtype)
    return torch.func.vmap(lambda v: torch.autograd.grad(gradient, x, v, retain_graph=True, materialize_grads=True)[0])(eye)
