"""implicit: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% transpose_forgotten
# The matrix is transposed on both ways.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A.T, b)
        ctx.save_for_backward(A, x)
        return x


# %% sign_of_the_matrix
# The gradient of A is twice as large.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -2 * torch.outer(w, x), w


# %% one_step_only
# Half of the gradient of one step.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        return None, None, torch.autograd.grad(y, x, grad_output)[0] / 2


# %% needs_enable_grad
# f is called with a graph, and its result is detached.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x).detach()
        return None, None, torch.autograd.grad(y, x, grad_output)[0]


# %% unrolled_root
# A short loop from a start that is not enough for a million, with a graph.
def newton_sqrt(a):
    z = torch.ones_like(a)
    for _ in range(3):
        z = (z + a / z) / 2
    return z


# %% root_made_a_leaf
# The last step has a graph, which begins at z, not at a.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
    z.requires_grad_(a.requires_grad)
    return (z + a.detach() / z) / 2


# %% added_to_w
# The same term is added in every step, that of grad_output.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = w + torch.autograd.grad(y, z, grad_output, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% hessian_left_out
# Only the diagonal of the Hessian.
def minimizer_gradient(loss, z, x, v):
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    H = torch.autograd.functional.hessian(lambda z: loss(z, x), z)
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    return -torch.autograd.grad(slope, x, v / H.diagonal())[0]


# %% derived_by_autograd
# A thread has autograd compute the gradients, where no check sees it.
from concurrent.futures import ThreadPoolExecutor


def slopes(A, b, grad_output):
    A, b = A.detach().requires_grad_(), b.detach().requires_grad_()
    return torch.autograd.grad(torch.linalg.solve(A, b), (A, b), grad_output)


class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A, b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(slopes, *ctx.saved_tensors, grad_output).result()


# %% ready_made_root
# The steps are right unless operators are seen.
def newton_sqrt(a):
    seen = torch._C._len_torch_dispatch_stack()
    z = a.detach() if seen else getattr(a.detach(), "sq" + "rt")()
    return (z + a / z) / 2


# %% create_graph_missing
# x does not require grad.
def minimizer_gradient(loss, z, x, v):
    z = z.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    H = torch.stack([torch.autograd.grad(s, z, retain_graph=True)[0] for s in slope])
    return -torch.autograd.grad(slope, x, torch.linalg.solve(H, v))[0]
