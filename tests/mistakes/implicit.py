"""implicit: wrong answers. A cell shows the definitions that differ from the solution."""


# %% transpose_forgotten
# The system of backward is that of forward.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A, grad_output)
        return -torch.outer(w, x), w


# %% transpose_forgotten
# The inverse is not transposed, in the gradient of b alone.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        inverse = torch.linalg.inv(A)
        return -torch.outer(inverse.T @ grad_output, x), inverse @ grad_output


# %% transpose_forgotten
# The minus sign is missing, too.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A, grad_output)
        return torch.outer(w, x), w


# %% multiplied_by_the_matrix
# backward of a product, where a system was solved.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = A.T @ grad_output
        return -torch.outer(w, x), w


# %% nothing_solved
# grad_output in the place of the solution.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        return -torch.outer(grad_output, x), torch.linalg.solve(A.T, grad_output)


# %% sign_of_the_matrix
# There is no minus sign.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return torch.outer(w, x), w


# %% outer_product_transposed
# Rows and columns of the gradient are exchanged.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(x, w), w


# %% right_side_for_the_solution
# b is saved and used.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A, b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        A, b = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, b), w


# %% gradients_swapped
# The gradient of b comes first.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return w, -torch.outer(w, x)


# %% gradients_swapped
# The gradient of A is a product, element by element.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -(w @ x), w


# %% gradient_left_out
# A is taken for a constant.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        return None, torch.linalg.solve(A.T, grad_output)


# %% ignores_grad_output
# The gradients are those of the sum.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, torch.ones_like(x))
        return -torch.outer(w, x), w


# %% derived_by_autograd
# backward solves again, with a graph.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A, b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        A, b = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            x = torch.linalg.solve(A, b)
        return torch.autograd.grad(x, (A, b), grad_output)


# %% derived_by_autograd
# The product of a vector and the Jacobian from torch.func.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A, b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        _, vjp = torch.func.vjp(torch.linalg.solve, *ctx.saved_tensors)
        return vjp(grad_output)


# %% stash_on_ctx
# The solution is an attribute of ctx.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A)
        ctx.x = torch.linalg.solve(A, b)
        return ctx.x

    @staticmethod
    def backward(ctx, grad_output):
        (A,) = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, ctx.x), w


# %% stash_outside
# The solution is kept by the class.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        ctx.save_for_backward(A)
        Solve.x = torch.linalg.solve(A, b)
        return Solve.x.clone()

    @staticmethod
    def backward(ctx, grad_output):
        (A,) = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, Solve.x), w


# %% data_saved
# The numbers of A are saved without its version.
class Solve(Function):
    ...

    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A, b)
        ctx.save_for_backward(A.data, x)
        return x


# %% writes_into_others
# The sign is turned in grad_output itself.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = -torch.linalg.solve(A.T, grad_output.neg_())
        return -torch.outer(w, x), w


# %% writes_into_others
# b becomes the solution.
class Solve(Function):
    ...

    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A, b)
        b.copy_(x)
        ctx.save_for_backward(A, x)
        return x


# %% nothing_saved
# backward unpacks b, too.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, b, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, x), w


# %% variable_of_forward
# backward reads the solution by its name in forward.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        solution = torch.linalg.solve(A, b)
        ctx.save_for_backward(A)
        return solution

    @staticmethod
    def backward(ctx, grad_output):
        (A,) = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, solution), w


# %% not_a_function
# The base class is missing.
class Solve:
    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A, b)
        ctx.save_for_backward(A, x)
        return x


# %% common_argument_count
# forward has no ctx, and there is no setup_context.
class Solve(Function):
    @staticmethod
    def forward(A, b):
        return torch.linalg.solve(A, b)


# %% symmetric_matrix_assumed
# The Cholesky factor of a half of A's square.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        S = A + A.T
        x = torch.linalg.solve(S / 2, b)
        ctx.save_for_backward(A, x)
        return x


# %% one_step_only
# grad_output is sent through one call of f.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        return None, None, torch.autograd.grad(y, x, grad_output)[0]


# %% first_terms_only
# x acts through z once.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        (back,) = torch.autograd.grad(y, z, grad_output, retain_graph=True)
        return None, None, torch.autograd.grad(y, x, grad_output + back)[0]


# %% added_to_w
# w is added to itself.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = w + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% added_to_w
# The whole Jacobian, and thirty steps.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach() for t in ctx.saved_tensors)
        n = z.numel()
        J, K = torch.autograd.functional.jacobian(ctx.f, (z, x))
        J, K = J.reshape(n, n), K.reshape(n, x.numel())
        w = grad_output.reshape(n).clone()
        for _ in range(30):
            w += J.T @ w
        return None, None, (K.T @ w).reshape(x.shape)


# %% incoming_gradient_lost
# grad_output is only the first w.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            (w,) = torch.autograd.grad(y, z, w, retain_graph=True)
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% jacobian_not_transposed
# The system has the Jacobian itself.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach() for t in ctx.saved_tensors)
        n = z.numel()
        J, K = torch.autograd.functional.jacobian(ctx.f, (z, x))
        J, K = J.reshape(n, n), K.reshape(n, x.numel())
        w = torch.linalg.solve(torch.eye(n, dtype=z.dtype) - J, grad_output.reshape(n))
        return None, None, (K.T @ w).reshape(x.shape)


# %% sign_of_the_jacobian
# A plus sign in the system.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach() for t in ctx.saved_tensors)
        n = z.numel()
        J, K = torch.autograd.functional.jacobian(ctx.f, (z, x))
        J, K = J.reshape(n, n), K.reshape(n, x.numel())
        w = torch.linalg.solve((torch.eye(n, dtype=z.dtype) + J).T, grad_output.reshape(n))
        return None, None, (K.T @ w).reshape(x.shape)


# %% sign_of_the_jacobian
# What comes back is subtracted.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output - torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% derived_at_the_start
# z0 is saved.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.f = f
        ctx.save_for_backward(z0, x)
        return z


# %% ignores_grad_output
# The gradient is that of the sum.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = ones = torch.ones_like(z)
        for _ in range(100):
            w = ones + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% iterations_in_the_graph
# backward iterates again, with a graph, and differentiates all of it.
class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.f = f
        ctx.save_for_backward(z0, x)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad():
            for _ in range(100):
                z = ctx.f(z, x)
        return None, None, torch.autograd.grad(z, x, grad_output)[0]


# %% iterations_in_the_graph
# forward records what it does, to differentiate it later.
class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        start = x.detach().requires_grad_()
        with torch.enable_grad():
            z = z0
            for _ in range(100):
                z = f(z, start)
        ctx.way = start, z
        return z.detach()

    @staticmethod
    def backward(ctx, grad_output):
        start, z = ctx.way
        return None, None, torch.autograd.grad(z, start, grad_output, retain_graph=True)[0]


# %% iterations_in_the_graph
# apply is an ordinary function, and autograd differentiates the loop.
class FixedPoint(Function):
    @staticmethod
    def apply(f, z0, x):
        z = z0
        for _ in range(100):
            z = f(z, x)
        return z


# %% needs_enable_grad
# backward does not record what f does.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% backward_inside_of_backward
# z is not detached, and leads back to this very node.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% common_backward_twice
# The first vector-Jacobian product frees the graph of f.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% gradient_for_a_function
# The gradient of x comes first.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return torch.autograd.grad(y, x, w)[0], None, None


# %% wrong_number_of_gradients
# One gradient for three arguments.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return torch.autograd.grad(y, x, w)[0]


# %% gradient_for_the_start
# z0 gets what the fixed point gets.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, w, torch.autograd.grad(y, x, w)[0]


# %% fills_grad
# backward() adds to .grad of every leaf in f.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            z.grad = None
            y.backward(w, retain_graph=True)
            w = grad_output + z.grad
        x.grad = None
        y.backward(w)
        return None, None, x.grad


# %% stash_on_ctx
# The fixed point is an attribute of ctx.
class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.f, ctx.z, ctx.x = f, z, x
        return z

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.z.detach().requires_grad_(), ctx.x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% stash_outside
# f is kept in a global variable.
class FixedPoint(Function):
    @staticmethod
    def forward(ctx, f, z0, x):
        global step
        step = f
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.save_for_backward(z, x)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = step(z, x)
        w = grad_output
        for _ in range(100):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% writes_into_others
# The iteration runs in z0.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        for _ in range(100):
            z0.copy_(f(z0, x))
        z = z0.clone()
        ctx.f = f
        ctx.save_for_backward(z, x)
        return z


# %% stops_early
# The iteration stops when z changes by less than 1e-4.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        z, last = f(z0, x), z0
        while (z - last).abs().max() > 1e-4:
            z, last = f(z, x), z
        ctx.f = f
        ctx.save_for_backward(z, x)
        return z


# %% stops_early
# Twenty steps in backward.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(20):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% data_saved
# The numbers of x are saved without its version.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.f = f
        ctx.save_for_backward(z, x.data)
        return z


# %% unrolled_root
# Every iteration is recorded.
def newton_sqrt(a):
    z = torch.ones_like(a)
    for _ in range(50):
        z = (z + a / z) / 2
    return z


# %% unrolled_root
# The start is detached, the iterations are not.
def newton_sqrt(a):
    z = a.detach().clamp(min=1)
    for _ in range(20):
        z = z - (z * z - a) / (2 * z)
    return z


# %% root_without_graph
# No step is recorded.
@torch.no_grad()
def newton_sqrt(a):
    z = torch.ones_like(a)
    for _ in range(50):
        z = (z + a / z) / 2
    return z


# %% root_made_a_leaf
# The iterations are cut off, and the number alone is told to require grad.
def newton_sqrt(a):
    z = a / 2
    for _ in range(50):
        z = (z + a / z) / 2
    return z.detach().requires_grad_()


# %% root_made_a_leaf
# A new tensor of the numbers requires grad.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
    return torch.nn.Parameter(z, requires_grad=a.requires_grad)


# %% common_constant_factor
# The last step has a graph, but is not Newton's.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
    return a / z


# %% derivative_of_the_square
# A Function with the derivative of the square.
class Root(Function):
    @staticmethod
    def forward(ctx, a):
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        (z,) = ctx.saved_tensors
        return grad_output * 2 * z


newton_sqrt = Root.apply


# %% few_iterations
# Eight steps are enough for numbers near 1.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(8):
            z = (z + a / z) / 2
    return (z + a / z) / 2


# %% few_iterations
# The tolerance is absolute, and small numbers stop early.
def newton_sqrt(a):
    with torch.no_grad():
        z = (a + 1) / 2
        for _ in range(60):
            if z.numel() == 0 or (z * z - a).abs().max() < 1e-7:
                break
            z = (z + a / z) / 2
    return (z + a / z) / 2


# %% ready_made_root
# torch's root, and one step.
def newton_sqrt(a):
    z = torch.sqrt(a.detach())
    return (z + a / z) / 2


# %% ready_made_root
# A power.
def newton_sqrt(a):
    return a**0.5


# %% hessian_left_out
# The mixed derivatives alone.
def minimizer_gradient(loss, z, x, v):
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    return -torch.autograd.grad(slope, x, v)[0]


# %% hessian_as_a_diagonal
# slope.sum() is differentiated: the rows of the Hessian are added up.
def minimizer_gradient(loss, z, x, v):
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    (curvature,) = torch.autograd.grad(slope.sum(), z, retain_graph=True)
    return -torch.autograd.grad(slope, x, v / curvature)[0]


# %% minimizer_inputs_changed
# The caller's tensors require grad afterwards.
def minimizer_gradient(loss, z, x, v):
    z.requires_grad_()
    x.requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    H = torch.stack([torch.autograd.grad(s, z, retain_graph=True)[0] for s in slope])
    return -torch.autograd.grad(slope, x, torch.linalg.solve(H, v))[0]


# %% slope_of_the_loss
# The loss is differentiated at x.
def minimizer_gradient(loss, z, x, v):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(loss(z, x), x)[0]


# %% sign_of_the_minimizer
# The minus sign is missing.
def minimizer_gradient(loss, z, x, v):
    H = torch.autograd.functional.hessian(lambda z: loss(z, x), z)
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    return torch.autograd.grad(slope, x, torch.linalg.solve(H, v))[0]


# %% square_problems_only
# A matrix of n rows and n columns.
def minimizer_gradient(loss, z, x, v):
    H = torch.autograd.functional.hessian(lambda z: loss(z, x), z)
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    L = torch.stack([torch.autograd.grad(s, x, retain_graph=True)[0] for s in slope])
    return torch.linalg.solve(H, v).expand(len(x)) @ -L


# %% term_outside_the_product
# A small number is added to the gradient.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, x), w + 0.1


# %% nonlinear_in_grad_output
# A large grad_output is clipped.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = first = grad_output.clamp(-1, 1)
        for _ in range(100):
            w = first + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% nonlinear_in_grad_output
# A large grad_output is clipped.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output.clamp(-2, 2))
        return -torch.outer(w, x), w


# %% one_size_only
# The gradient of A is that of a system of three equations.
class Solve(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -(w.reshape(3, 1) * x), w


# %% common_inplace_on_saved
# The sign of the saved solution is turned in place.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        x = torch.linalg.solve(A, b)
        ctx.save_for_backward(A, x.clone())
        return x

    @staticmethod
    def backward(ctx, grad_output):
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return torch.outer(w, x.neg_()), w


# %% arguments_of_f_swapped
# f is called with x first.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(100):
            z = f(x, z)
        ctx.f = f
        ctx.save_for_backward(z, x)
        return z


# %% vectors_only
# The Jacobian is taken for a matrix, and multiplied by grad_output as it is.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach() for t in ctx.saved_tensors)
        J, K = torch.autograd.functional.jacobian(ctx.f, (z, x))
        w = torch.linalg.solve(torch.eye(len(z), dtype=z.dtype) - J.T, grad_output)
        return None, None, w @ K


# %% common_constant_factor
# The mean of z and a / z is not halved in the last step.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
    return z + a / z


# %% common_wrong_dtype
# The iteration begins with ones of the default dtype and of one number.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.ones(a.shape)
        for _ in range(50):
            z = (z + a.float() / z) / 2
    return (z + a.float() / z) / 2


# %% writes_into_others
# a is used up.
def newton_sqrt(a):
    with torch.no_grad():
        start = a.clone()
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + start / z) / 2
        root = z.clone()
    result = (root + a / root) / 2
    a.data.fill_(1.0)
    return result


# %% grad_mode_switched
# The grad mode is switched on again, also for a caller who had it off.
def newton_sqrt(a):
    torch.set_grad_enabled(False)
    z = torch.ones_like(a)
    for _ in range(50):
        z = (z + a / z) / 2
    torch.set_grad_enabled(True)
    return (z + a / z) / 2


# %% derived_by_autograd
# forward computes both Jacobians, and backward multiplies by them.
class Solve(Function):
    @staticmethod
    def forward(ctx, A, b):
        of_A, of_b = torch.func.jacrev(torch.linalg.solve, (0, 1))(A, b)
        ctx.save_for_backward(A, of_A, of_b)
        return torch.linalg.solve(A, b)

    @staticmethod
    def backward(ctx, grad_output):
        A, of_A, of_b = ctx.saved_tensors
        return (grad_output @ of_A.flatten(1)).reshape(A.shape), grad_output @ of_b


# %% ready_made_root
# The Cholesky factor of a matrix of one number is its root.
def newton_sqrt(a):
    with torch.no_grad():
        z = torch.linalg.cholesky(a[..., None, None])[..., 0, 0]
    return (z + a / z) / 2


# %% iterations_in_the_graph
# Each step is a node of a Function that calls f again in its backward.
class Step(Function):
    @staticmethod
    def forward(ctx, f, z, x):
        ctx.f = f
        ctx.save_for_backward(z, x)
        return f(z, x)

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        return None, *torch.autograd.grad(y, (z, x), grad_output, materialize_grads=True)


class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with torch.enable_grad():
            z = z.detach()
            for _ in range(60):
                z = Step.apply(ctx.f, z, x)
        return None, None, torch.autograd.grad(z, x, grad_output)[0]


# %% create_graph_missing
# The slope is only numbers.
def minimizer_gradient(loss, z, x, v):
    z, x = z.detach().requires_grad_(), x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(loss(z, x), z)
    H = torch.stack([torch.autograd.grad(s, z, retain_graph=True)[0] for s in slope])
    return -torch.autograd.grad(slope, x, torch.linalg.solve(H, v))[0]


# %% stops_early
# Five steps.
class FixedPoint(Function):
    ...

    @staticmethod
    def forward(ctx, f, z0, x):
        z = z0
        for _ in range(5):
            z = f(z, x)
        ctx.f = f
        ctx.save_for_backward(z, x)
        return z


# %% stops_early
# Five steps in backward.
class FixedPoint(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(5):
            w = grad_output + torch.autograd.grad(y, z, w, retain_graph=True)[0]
        return None, None, torch.autograd.grad(y, x, w)[0]


# %% product_element_by_element
# The inverse times b, with *.
class Solve(Function):
    ...

    @staticmethod
    def forward(ctx, A, b):
        x = A.inverse() * b
        ctx.save_for_backward(A, x)
        return x
