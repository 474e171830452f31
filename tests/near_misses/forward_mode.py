"""forward_mode: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% product_of_tangents
# Both terms are multiplied, not added.
class Dual:
    ...

    def __mul__(self, other):
        other = as_dual(other)
        tangent = self.tangent * other.value * self.value * other.tangent
        return Dual(self.value * other.value, tangent)

    __rmul__ = __mul__


# %% inner_tangent_missing
# The tangent is added to the derivative.
class Dual:
    ...

    def exp(self):
        value = math.exp(self.value)
        return Dual(value, value + self.tangent)


# %% transposed
# J times ones.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, torch.ones_like(v)))
        value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros_like(value) if tangent is None else tangent


# %% tangent_may_be_none
# Nothing is returned.
def jvp(f, x, v):
    with forward_ad.dual_level():
        forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent


# %% equal_values_differ
# A comparison that returns a Dual.
class Dual:
    ...

    def __lt__(self, other):
        return Dual(self.value < as_dual(other).value)


# %% unpacked_after_the_level
# Zeros for every tangent.
def jvp(f, x, v):
    with forward_ad.dual_level():
        value = forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).primal
    return torch.zeros_like(value)


# %% tangent_not_used
# The tangent is added.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return 3 * x**2 + x_tangent


# %% not_saved_for_forward
# What jvp unpacks is not what was saved.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        x, y = ctx.saved_tensors
        return x_tangent * 3 * x**2


# %% create_graph_missing
# f is called under no_grad.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    with torch.no_grad():
        y = f(x)
    u = torch.zeros_like(y, requires_grad=True)
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True)
    return torch.autograd.grad(gradient, u, v)[0]


# %% gradient_times_v
# The gradient at x + v.
def hessian_vector(f, x, v):
    return torch.func.grad(f)((x + v).detach())


# %% averaged_over_samples
# Twice the gradient.
def per_sample_gradients(loss, parameters, xs, ys):
    gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))
    in_dims = (None,) * len(parameters) + (0, 0)
    found = torch.func.vmap(gradients, in_dims)(*parameters, xs, ys)
    return tuple(2 * one for one in found)


# %% no_setup_context
# The dimension is not returned.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x)


# %% no_setup_context
# torch writes the rule.
class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return x_tangent * 3 * x**2


# %% tangent_may_be_none
# Zeros like x, although f(x) has another shape.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
        tangent = forward_ad.unpack_dual(y).tangent
    return torch.zeros_like(x) if tangent is None else tangent
