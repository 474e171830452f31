"""implicit: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% factorized_once
# forward keeps the factors of A, and backward uses them again.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        LU, pivots = torch.linalg.lu_factor(A)
        x = torch.linalg.lu_solve(LU, pivots, b.unsqueeze(1)).squeeze(1)
        ctx.save_for_backward(LU, pivots, x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        LU, pivots, x = ctx.saved_tensors
        w = torch.linalg.lu_solve(LU, pivots, grad_output.unsqueeze(1), adjoint=True).squeeze(1)
        return -w.unsqueeze(1) * x, w


# %% inverse
# The inverse is computed once, and only the gradients that are asked for.
class Solve(Function):
    @staticmethod
    def forward(A, b):
        return A.inverse() @ b

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = A.inverse().T @ grad_output
        grad_A = grad_b = None
        if ctx.needs_input_grad[0]:
            grad_A = torch.einsum("i,j->ij", -w, x)
        if ctx.needs_input_grad[1]:
            grad_b = w
        return grad_A, grad_b


# %% solves_for_x_again
# A and b are saved, and backward solves for x, too; row vectors need no transpose.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A, b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        A, b = ctx.saved_tensors
        x = torch.linalg.solve(A, b)
        w = torch.linalg.solve(A, grad_output[None], left=False)[0]
        return -(x[:, None] * w[None, :]).T, w


# %% numpy_solves
# NumPy solves on both ways.
import numpy as np


class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        x = torch.from_numpy(np.linalg.solve(A.detach().numpy(), b.detach().numpy()))
        ctx.save_for_backward(A, x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.from_numpy(np.linalg.solve(A.numpy().T, grad_output.numpy()))
        return torch.from_numpy(-np.outer(w.numpy(), x.numpy())), w


# %% apply_inside_backward
# backward calls Solve.apply, so it can be differentiated.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = Solve.apply(A.mT, grad_output)
        return -w[:, None] @ x[None], w


# %% until_it_rests
# Both iterations stop when nothing changes any more; f is called with a graph each time.
class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        ctx.f = f
        z, last = f(z0, x), z0
        while (z - last).abs().max() > 1e-10 * (1 + z.abs().max()) and not torch.equal(z, last):
            z, last = f(z, x), z
        ctx.save_for_backward(x, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, z = ctx.saved_tensors
        w = total = grad_output
        for _ in range(60):
            at = z.detach().requires_grad_()
            with torch.enable_grad():
                out = ctx.f(at, x.detach())
            (w,) = torch.autograd.grad(out, at, w)
            total = total + w
        at = x.detach().requires_grad_()
        with torch.enable_grad():
            out = ctx.f(z.detach(), at)
        out.backward(total, inputs=[at])
        return None, None, at.grad


# %% jacobian_and_solve
# The whole Jacobian of f at the fixed point, and a linear system; zeros for z0.
class FixedPoint(Function):
    @staticmethod
    def forward(f, z0, x):
        z = z0
        for _ in range(80):
            z = f(z, x)
        return z

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.f, z0, x = inputs
        ctx.save_for_backward(output, x)

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        n = z.numel()
        z, x = z.detach(), x.detach()
        Jz, Jx = torch.autograd.functional.jacobian(ctx.f, (z, x))
        A = torch.eye(n, dtype=z.dtype) - Jz.reshape(n, n)
        w = torch.linalg.solve(A.T, grad_output.reshape(n))
        return None, torch.zeros_like(z), (w @ Jx.reshape(n, -1)).reshape(x.shape)


# %% torch_func
# vjp of f at the fixed point; a recursive iteration.
def iterate(step, z, times):
    return z if times == 0 else iterate(step, step(z), times - 1)


class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        ctx.f = f
        z = iterate(lambda z: f(z, x), z0, 70)
        ctx.save_for_backward(z, x)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        _, vjp = torch.func.vjp(ctx.f, z.detach(), x.detach())
        w = iterate(lambda w: grad_output + vjp(w)[0], grad_output, 70)
        return None, None, vjp(w)[1]


# %% x_with_its_graph
# backward calls f with the saved x itself.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        with torch.enable_grad():
            z = z.detach().requires_grad_()
            y = ctx.f(z, x)
        w = torch.zeros_like(z)
        for _ in range(100):
            (step,) = torch.autograd.grad(y, z, w, retain_graph=True)
            w = step + grad_output
        (grad_x,) = torch.autograd.grad(y, x, w)
        return None, None, grad_x


# %% by_fixed_point
# The root is a fixed point.
def newton_sqrt(a):
    return FixedPoint.apply(lambda z, a: 0.5 * (z + a / z), torch.ones_like(a), a)


# %% by_a_function
# A Function of its own.
class Root(Function):
    @staticmethod
    def forward(ctx, a):
        z = (a + 1) / 2
        for _ in range(40):
            z = z - (z * z - a) / (2 * z)
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output / (2 * z)


newton_sqrt = Root.apply


# %% until_it_stops_falling
# The iteration stops when the root no longer falls; one step with a graph comes last.
def newton_sqrt(a):
    fixed = a.detach()
    z = fixed.clamp(min=1)
    while z.numel():
        new = (z + fixed / z) / 2
        if (new >= z).all():
            break
        z = new
    return z - (z**2 - a) / (2 * z)


# %% start_of_the_right_size
# A power of 2 near the root needs few steps.
def newton_sqrt(a):
    _, exponent = torch.frexp(a.detach())
    z = (2.0 ** (exponent // 2)).to(a.dtype)
    for _ in range(7):
        z = (z + a.detach() / z) / 2
    return (z + a / z) / 2


# %% element_by_element
# Python numbers find the roots, and a term with the value 0 carries the gradient.
def newton_sqrt(a):
    roots = []
    for number in a.detach().flatten().tolist():
        z = max(number, 1.0)
        for _ in range(60):
            z = 0.5 * (z + number / z)
        roots.append(z)
    z = torch.tensor(roots, dtype=a.dtype).reshape(a.shape)
    return z + (a - a.detach()) / (2 * z)


# %% double_backward
# The Hessian from functional, the mixed derivative by a vector-Jacobian product.
def minimizer_gradient(loss, z, x, v):
    H = torch.autograd.functional.hessian(lambda z: loss(z, x.detach()), z.detach())
    w = torch.linalg.inv(H) @ v
    x, z = x.detach().requires_grad_(), z.detach().requires_grad_()
    (g,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    return torch.autograd.grad(-(g @ w), x)[0]


# %% whole_jacobian
# dz/dx as a matrix.
def minimizer_gradient(loss, z, x, v):
    slope = torch.func.grad(loss)
    H = torch.func.jacrev(slope)(z, x)
    mixed = torch.func.jacrev(slope, argnums=1)(z, x)
    return v @ -torch.linalg.solve(H, mixed)


# %% until_the_step_is_small
# The norm of a step says when to stop; .data has no graph, and z changes in place.
def newton_sqrt(a):
    fixed = a.data
    z = torch.ones_like(fixed)
    for _ in range(60):
        step = (z - fixed / z) / 2
        z -= step
        if torch.linalg.norm(step) < 1e-14:
            break
    return z + (a - fixed) / (2 * z.data)


# %% not_detached
# backward differentiates with respect to z itself, which has a graph, and looks at f once more.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        assert (ctx.f(z, x) - z).abs().max() < 1e-3
        x = x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(80):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]
