"""forward_mode: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% table_of_slopes
# One method makes every result, from the slopes of its operands.
class Dual:
    def __init__(self, value, tangent=0.0):
        self.value, self.tangent = float(value), float(tangent)

    def _of(self, value, *pairs):
        return type(self)(value, sum(slope * one.tangent for slope, one in pairs))

    def __add__(self, other):
        o = other if isinstance(other, Dual) else Dual(other)
        return self._of(self.value + o.value, (1, self), (1, o))

    __radd__ = __add__

    def __mul__(self, other):
        o = other if isinstance(other, Dual) else Dual(other)
        return self._of(self.value * o.value, (o.value, self), (self.value, o))

    __rmul__ = __mul__

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return (-self) + other

    def __pow__(self, n):
        if n == 0:
            return self._of(1.0)
        return self._of(self.value**n, (n * self.value ** (n - 1), self))

    def __truediv__(self, other):
        return self * (other**-1)

    def __rtruediv__(self, other):
        return other * self**-1

    def _number(self, other):
        return other.value if isinstance(other, Dual) else other

    def __lt__(self, other):
        return self.value < self._number(other)

    def __le__(self, other):
        return self.value <= self._number(other)

    def __gt__(self, other):
        return not self <= other

    def __ge__(self, other):
        return not self < other

    def exp(self):
        e = math.exp(self.value)
        return self._of(e, (e, self))

    def log(self):
        return self._of(math.log(self.value), (1 / self.value, self))

    def sin(self):
        return self._of(math.sin(self.value), (math.cos(self.value), self))


# %% total_ordering
# Two of the comparisons make the others.
import functools


@functools.total_ordering
class Dual:
    __slots__ = ("tangent", "value")

    def __init__(self, value, tangent=0.0):
        self.value, self.tangent = value, tangent

    def __add__(self, other):
        match other:
            case Dual(value=value, tangent=tangent):
                return Dual(self.value + value, self.tangent + tangent)
            case _:
                return Dual(self.value + other, self.tangent)

    __radd__ = __add__

    def __neg__(self):
        return Dual(-self.value, -self.tangent)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -(self - other)

    def __mul__(self, other):
        match other:
            case Dual(value=value, tangent=tangent):
                return Dual(self.value * value, self.tangent * value + self.value * tangent)
            case _:
                return Dual(self.value * other, self.tangent * other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value / other, self.tangent / other)
        top = self.tangent * other.value - self.value * other.tangent
        return Dual(self.value / other.value, top / other.value**2)

    def __rtruediv__(self, other):
        return Dual(other / self.value, -other * self.tangent / self.value**2)

    def __pow__(self, n):
        slope = n * self.value ** (n - 1) if n != 0 else 0
        return Dual(self.value**n, slope * self.tangent)

    def __eq__(self, other):
        return self.value == getattr(other, "value", other)

    def __lt__(self, other):
        return self.value < getattr(other, "value", other)

    def exp(self):
        return Dual(math.exp(self.value), math.exp(self.value) * self.tangent)

    def log(self):
        return Dual(math.log(self.value), self.tangent / self.value)

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value) * self.tangent)


# %% jvp_with_attributes
# The parts by their names, and a level that is left in the end.
def jvp(f, x, v):
    forward_ad.enter_dual_level()
    try:
        result = forward_ad.unpack_dual(f(forward_ad.make_dual(x.detach(), v)))
        if result.tangent is None:
            return result.primal.detach() * 0
        return result.tangent.clone()
    finally:
        forward_ad.exit_dual_level()


# %% products_in_cube
# Products for powers, the formula in one place, jvp by backward.
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        x = ctx.saved_tensors[0]
        return x.square() * (3 * grad_output)

    @staticmethod
    def jvp(ctx, x_tangent):
        return Cube.backward(ctx, x_tangent)

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x.movedim(in_dims[0], 0)), 0


# %% input_and_output_saved
# The gradient from both: what jvp saves is not what backward saves.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return 3 * x * x * grad_output if ctx.needs_input_grad[0] else None

    @staticmethod
    def vmap(info, in_dims, x):
        return x**3, in_dims[0]


# %% dot_product
# (gradient · v) is differentiated with respect to u.
def jvp_by_two_backwards(f, x, v):
    with torch.enable_grad():
        x = x.clone().detach().requires_grad_(True)
        y = f(x)
        if y.grad_fn is None:
            return torch.zeros_like(y).detach()
        u = torch.ones_like(y).detach().requires_grad_(True)
        g = torch.autograd.grad(y, x, grad_outputs=u, create_graph=True, allow_unused=True)[0]
        if g is None:
            return torch.zeros_like(y).detach()
        return torch.autograd.grad((g * v).sum(), u, allow_unused=True, materialize_grads=True)[0]


# %% transforms_composed
# torch.func does both derivatives.
def hessian_vector(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


# %% reverse_over_forward
# The other order: the gradient of the directional derivative.
def hessian_vector(f, x, v):
    return torch.func.grad(lambda x: torch.func.jvp(f, (x,), (v,))[1])(x)


# %% reverse_over_forward_ad
# The same by forward_ad.
def hessian_vector(f, x, v):
    x = x.detach().clone().requires_grad_()
    with forward_ad.dual_level():
        slope = forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent
        if slope is None or not slope.requires_grad:
            return torch.zeros_like(x)
        (found,) = torch.autograd.grad(slope, x, allow_unused=True, materialize_grads=True)
    return found


# %% wrapped_in_a_function
# vmap of a function of one sample.
def per_sample_gradients(loss, parameters, xs, ys):
    def of_all(parameters, x, y):
        return loss(*parameters, x, y)

    return torch.vmap(torch.func.grad(of_all), in_dims=(None, 0, 0))(tuple(parameters), xs, ys)


# %% rows_of_a_jacobian
# The losses of all samples, and their Jacobian, as a list.
def per_sample_gradients(loss, parameters, xs, ys):
    def losses(*parameters):
        return torch.func.vmap(lambda x, y: loss(*parameters, x, y))(xs, ys)

    return list(torch.func.jacrev(losses, argnums=tuple(range(len(parameters))))(*parameters))


# %% samples_mapped_one_by_one
# vmap as a loop, along any dimension.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def vmap(info, in_dims, x):
        samples = [Cube.apply(one) for one in x.unbind(in_dims[0])]
        return torch.stack(samples), 0


# %% a_pass_for_each_loss
# The losses of all samples at once, and a backward pass for each.
def per_sample_gradients(loss, parameters, xs, ys):
    leaves = [one.detach().requires_grad_() for one in parameters]
    losses = torch.func.vmap(loss, (None,) * len(leaves) + (0, 0))(*leaves, xs, ys)
    rows = [torch.autograd.grad(one, leaves, retain_graph=True) for one in losses]
    return tuple(torch.stack(found) for found in zip(*rows))
