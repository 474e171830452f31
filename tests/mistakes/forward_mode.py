"""forward_mode: wrong answers. A cell shows the definitions that differ from the solution."""


# %% product_of_tangents
# The tangent of a product is taken for the product of the tangents.
class Dual:
    ...

    def __mul__(self, other):
        other = as_dual(other)
        return Dual(self.value * other.value, self.tangent * other.tangent)

    __rmul__ = __mul__


# %% product_of_tangents
# The same, while numbers only scale.
class Dual:
    ...

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.tangent * other)
        return Dual(self.value * other.value, self.tangent * other.tangent)

    __rmul__ = __mul__


# %% half_of_the_product_rule
# Only the first factor is differentiated.
class Dual:
    ...

    def __mul__(self, other):
        other = as_dual(other)
        return Dual(self.value * other.value, self.tangent * other.value)

    __rmul__ = __mul__


# %% half_of_the_product_rule
# Only the second factor is differentiated.
class Dual:
    ...

    def __mul__(self, other):
        other = as_dual(other)
        return Dual(self.value * other.value, self.value * other.tangent)

    __rmul__ = __mul__


# %% constant_with_a_tangent
# A constant gets the tangent that x has.
def as_dual(number):
    return number if isinstance(number, Dual) else Dual(number, 1.0)


# %% constant_with_a_tangent
# The default is that of a variable.
class Dual:
    ...

    def __init__(self, value, tangent=1.0):
        self.value = value
        self.tangent = tangent


# %% compared_by_tangents
# Pairs are compared: where the values are equal, the tangents decide.
class Dual:
    ...

    def _pair(self):
        return self.value, self.tangent

    def __lt__(self, other):
        return self._pair() < as_dual(other)._pair()

    def __le__(self, other):
        return self._pair() <= as_dual(other)._pair()

    def __gt__(self, other):
        return self._pair() > as_dual(other)._pair()

    def __ge__(self, other):
        return self._pair() >= as_dual(other)._pair()


# %% equal_values_differ
# What functools.total_ordering makes of __lt__ where there is no __eq__.
class Dual:
    ...

    def __le__(self, other):
        return self < other or self is other

    def __gt__(self, other):
        return not self <= other

    def __ge__(self, other):
        return not self < other


# %% power_by_logarithm
# exp(n log x) for every exponent.
class Dual:
    ...

    def __pow__(self, exponent):
        value = math.exp(exponent * math.log(self.value))
        return Dual(value, exponent * value / self.value * self.tangent)


# %% compared_by_tangents
# Only the tangents are compared.
class Dual:
    ...

    def __lt__(self, other):
        return self.tangent < as_dual(other).tangent

    def __gt__(self, other):
        return self.tangent > as_dual(other).tangent


# %% quotient_rule
# The sum for the difference.
class Dual:
    ...

    def __truediv__(self, other):
        other = as_dual(other)
        top = self.tangent * other.value + self.value * other.tangent
        return Dual(self.value / other.value, top / other.value**2)


# %% quotient_rule
# The denominator is not squared.
class Dual:
    ...

    def __truediv__(self, other):
        other = as_dual(other)
        top = self.tangent * other.value - self.value * other.tangent
        return Dual(self.value / other.value, top / other.value)


# %% quotient_rule
# The quotient of the tangents.
class Dual:
    ...

    def __truediv__(self, other):
        other = as_dual(other)
        if other.tangent == 0:
            return Dual(self.value / other.value, self.tangent / other.value)
        return Dual(self.value / other.value, self.tangent / other.tangent)


# %% power_rule
# The exponent is not lowered.
class Dual:
    ...

    def __pow__(self, exponent):
        value = self.value**exponent
        return Dual(value, exponent * value * self.tangent)


# %% power_rule
# The factor n is missing.
class Dual:
    ...

    def __pow__(self, exponent):
        slope = self.value ** (exponent - 1) if exponent else 0.0
        return Dual(self.value**exponent, slope * self.tangent)


# %% power_rule
# The rule for exp: only right for positive bases, as the derivative of n**x.
class Dual:
    ...

    def __pow__(self, exponent):
        slope = exponent * self.value ** (exponent - 1) if exponent else 0.0
        return Dual(self.value**exponent, slope)


# %% inner_tangent_missing
# The derivative of exp, without the tangent of what is inside.
class Dual:
    ...

    def exp(self):
        value = math.exp(self.value)
        return Dual(value, value)


# %% inner_tangent_missing
# The derivatives of log and sin, without the tangent of what is inside.
class Dual:
    ...

    def log(self):
        return Dual(math.log(self.value), 1 / self.value)

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value))


# %% function_of_the_tangent
# exp of both parts.
class Dual:
    ...

    def exp(self):
        return Dual(math.exp(self.value), math.exp(self.tangent))


# %% function_of_the_tangent
# The derivative at the tangent.
class Dual:
    ...

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.tangent))


# %% sign_of_sine
# The derivative of the cosine has a minus, that of the sine has none.
class Dual:
    ...

    def sin(self):
        return Dual(math.sin(self.value), -math.cos(self.value) * self.tangent)


# %% plain_number_not_taken
# Each operand is taken for a Dual.
def as_dual(number):
    return number


# %% plain_number_not_taken
# Only products take plain numbers.
class Dual:
    ...

    def __add__(self, other):
        return Dual(self.value + other.value, self.tangent + other.tangent)

    __radd__ = __add__


# %% reflected_the_wrong_way
# 3 - a is computed as a - 3.
class Dual:
    ...

    def __rsub__(self, other):
        return self - other


# %% reflected_the_wrong_way
# 3 / a is computed as a / 3.
class Dual:
    ...

    def __rtruediv__(self, other):
        return self / other


# %% result_is_no_dual
# The product of the values alone.
class Dual:
    ...

    def __mul__(self, other):
        return self.value * as_dual(other).value

    __rmul__ = __mul__


# %% operand_changed
# Sums are made in place.
class Dual:
    ...

    def __add__(self, other):
        other = as_dual(other)
        self.value += other.value
        self.tangent += other.tangent
        return self

    __radd__ = __add__


# %% operand_changed
# += has a method of its own, which changes the number.
class Dual:
    ...

    def __iadd__(self, other):
        total = self + other
        self.value, self.tangent = total.value, total.tangent
        return self


# %% dual_uses_torch
# torch computes exp, log and sin.
class Dual:
    ...

    def exp(self):
        value = float(torch.exp(torch.tensor(self.value, dtype=torch.float64)))
        return Dual(value, value * self.tangent)


# %% dual_uses_torch
# Every Dual is a tensor of forward mode.
class Dual:
    ...

    def __mul__(self, other):
        other = as_dual(other)
        with forward_ad.dual_level():
            a, b = (
                forward_ad.make_dual(
                    torch.tensor(float(one.value), dtype=torch.float64),
                    torch.tensor(float(one.tangent), dtype=torch.float64),
                )
                for one in (self, other)
            )
            value, tangent = forward_ad.unpack_dual(a * b)
        return Dual(float(value), float(tangent))

    __rmul__ = __mul__


# %% transposed
# A gradient: v times J, not J times v.
def jvp(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    return torch.autograd.grad(y, x, v.reshape(y.shape))[0]


# %% transposed
# One backward pass.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    (gradient,) = torch.autograd.grad(y, x, v.reshape(y.shape), materialize_grads=True)
    return gradient


# %% tangent_may_be_none
# Where f does not depend on x, there is no tangent.
def jvp(f, x, v):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent


# %% tangent_may_be_none
# The gradient of a linear function has no tangent.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = torch.autograd.grad(f(dual), dual)
        return forward_ad.unpack_dual(gradient).tangent


# %% unpacked_after_the_level
# The level is left before the tangent is read.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
    return forward_ad.unpack_dual(y).tangent


# %% unpacked_after_the_level
# The same, and no tangent counts as zero.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
    tangent = forward_ad.unpack_dual(y).tangent
    return torch.zeros_like(y) if tangent is None else tangent


# %% outside_of_a_level
# No level at all.
def jvp(f, x, v):
    y = f(forward_ad.make_dual(x, v))
    value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros_like(value) if tangent is None else tangent


# %% level_never_left
# The level is entered and not left.
def jvp(f, x, v):
    forward_ad.enter_dual_level()
    y = f(forward_ad.make_dual(x, v))
    value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros_like(value) if tangent is None else tangent


# %% level_never_left
# The level is left unless f raises.
def jvp(f, x, v):
    forward_ad.enter_dual_level()
    y = f(forward_ad.make_dual(x, v))
    value, tangent = forward_ad.unpack_dual(y)
    forward_ad.exit_dual_level()
    return torch.zeros_like(value) if tangent is None else tangent


# %% common_wrong_dtype
# Zeros of another dtype.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
        value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros(value.shape, dtype=torch.float16) if tangent is None else tangent


# %% common_wrong_shape
# A number.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = torch.autograd.grad(f(dual), dual)
        tangent = forward_ad.unpack_dual(gradient).tangent
    return torch.tensor(0.0) if tangent is None else tangent


# %% value_for_tangent
# The first of the two parts.
def jvp(f, x, v):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, v)))[0]


# %% a_tool_does_the_work
# torch.func.jvp.
def jvp(f, x, v):
    return torch.func.jvp(f, (x,), (v,))[1]


# %% a_tool_does_the_work
# torch.autograd.functional.jvp does it by two backward passes.
def jvp_by_two_backwards(f, x, v):
    return torch.autograd.functional.jvp(f, x, v)[1]


# %% forward_mode_not_used
# Two backward passes here as well.
def jvp(f, x, v):
    return jvp_by_two_backwards(f, x, v)


# %% forward_mode_not_used
# Reverse over reverse.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(gradient, x, v, materialize_grads=True)[0]


# %% forward_mode_not_used
# Reverse over reverse, of a call inside of a level that nothing uses.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        y = f(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(gradient, x, v, materialize_grads=True)[0]


# %% forward_mode_used
# Forward mode here as well.
def jvp_by_two_backwards(f, x, v):
    return jvp(f, x, v)


# %% matrix_is_built
# The whole Hessian.
def hessian_vector(f, x, v):
    H = torch.func.hessian(f)(x.detach()).reshape(x.numel(), x.numel())
    return (H @ v.flatten()).reshape(x.shape)


# %% matrix_is_built
# The whole Jacobian, a backward pass for each row.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    rows = [
        torch.autograd.grad(one, x, retain_graph=True, materialize_grads=True)[0].flatten()
        for one in y.flatten()
    ]
    if not rows:
        return torch.zeros_like(y)
    return (torch.stack(rows) @ v.flatten()).reshape(y.shape)


# %% row_by_row
# No matrix, and a backward pass for each row.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    result = torch.zeros_like(y).detach()
    for place, one in enumerate(y.flatten()):
        row = torch.autograd.grad(one, x, retain_graph=True, materialize_grads=True)[0]
        result.view(-1)[place] = (row * v).sum()
    return result


# %% f_called_again
# One call for each element of x.
def jvp(f, x, v):
    total = None
    for place in range(max(1, x.numel())):
        unit = torch.zeros_like(v)
        if x.numel():
            unit.view(-1)[place] = v.flatten()[place]
        with forward_ad.dual_level():
            value, tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x, unit)))
        part = torch.zeros_like(value) if tangent is None else tangent
        total = part if total is None else total + part
    return total


# %% f_called_again
# A call for the value, one for the derivative.
def hessian_vector(f, x, v):
    f(x)
    gradient = torch.func.grad(f)
    return torch.func.jvp(gradient, (x.detach(),), (v,))[1]


# %% create_graph_missing
# The first gradient has no graph.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    u = torch.zeros_like(y, requires_grad=True)
    (gradient,) = torch.autograd.grad(y, x, u, materialize_grads=True)
    return torch.autograd.grad(gradient, u, v)[0]


# %% u_requires_no_grad
# The incoming gradient is a constant.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    u = torch.ones_like(y)
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True, materialize_grads=True)
    return torch.autograd.grad(gradient, u, v)[0]


# %% second_pass_at_x
# The second pass goes to x instead of u.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    u = torch.ones_like(y).requires_grad_()
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros_like(y)
    return torch.autograd.grad(gradient, x, v, materialize_grads=True)[0]


# %% constant_raises
# No check whether f(x) has a graph.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    u = torch.zeros_like(y, requires_grad=True)
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True)
    return torch.autograd.grad(gradient, u, v)[0]


# %% gradient_times_v
# The derivative of f in the direction v.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v))
        return forward_ad.unpack_dual(y).tangent


# %% gradient_times_v
# The gradient, element by element.
def hessian_vector(f, x, v):
    return torch.func.grad(f)(x.detach()) * v


# %% cut_between
# The gradient is detached before the forward mode.
def hessian_vector(f, x, v):
    def gradient(x):
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(f(leaf), leaf)[0]

    with forward_ad.dual_level():
        value, tangent = forward_ad.unpack_dual(gradient(forward_ad.make_dual(x, v)))
    return torch.zeros_like(value) if tangent is None else tangent


# %% diagonal_only
# The sum of the Hessian's rows, times v.
def hessian_vector(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x.detach(),), (torch.ones_like(v),))[1] * v


# %% no_setup_context
# The other style: forward gets ctx.
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return x_tangent * 3 * x**2


# %% not_saved_for_forward
# jvp finds nothing that was saved.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)


# %% not_saved_for_forward
# jvp takes the first tensor by its place.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def jvp(ctx, x_tangent):
        x = ctx.saved_tensors[0]
        return x_tangent * 3 * x**2


# %% not_saved_for_backward
# backward finds nothing that was saved.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)


# %% no_jvp
# The class has no jvp.
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x), in_dims[0]


# %% tangent_not_used
# The derivative, whatever the tangent is.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return 3 * x**2


# %% grad_output_not_used
# The derivative, whatever the incoming gradient is.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2


# %% tangent_overwritten
# The tangent itself is multiplied.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return x_tangent.mul_(3 * x**2)


# %% value_in_jvp
# x³ times the tangent.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return x_tangent**3


# %% derived_by_a_tool
# Autograd inside backward.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(x**3, x, grad_output)[0]


# %% derived_by_a_tool
# torch.func inside jvp.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return torch.func.vjp(lambda x: x**3, x)[1](x_tangent)[0]


# %% stash_on_ctx
# The input is an attribute of ctx.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        (ctx.x,) = inputs

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 3 * ctx.x**2

    @staticmethod
    def jvp(ctx, x_tangent):
        return x_tangent * 3 * ctx.x**2


# %% stash_on_ctx
# Only jvp uses the attribute.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        (ctx.x,) = inputs

    @staticmethod
    def jvp(ctx, x_tangent):
        return x_tangent * 3 * ctx.x**2


# %% saves_the_slope
# 3 x² is saved, which is neither the input nor the output.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        slope = 3 * x**2
        ctx.save_for_backward(slope)
        ctx.save_for_forward(slope)

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope

    @staticmethod
    def jvp(ctx, x_tangent):
        (slope,) = ctx.saved_tensors
        return x_tangent * slope


# %% saves_the_slope
# backward detaches what was saved.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x.detach() ** 2


# %% inputs_are_a_tuple
# inputs is taken for x.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs)
        ctx.save_for_forward(inputs)


# %% samples_added_up
# The gradient of the sum of all losses.
def per_sample_gradients(loss, parameters, xs, ys):
    leaves = [one.detach().requires_grad_() for one in parameters]
    total = sum(loss(*leaves, x, y) for x, y in zip(xs, ys))
    return torch.autograd.grad(total, leaves)


# %% samples_added_up
# The losses are mapped, and their mean is differentiated.
def per_sample_gradients(loss, parameters, xs, ys):
    in_dims = (None,) * len(parameters) + (0, 0)

    def mean(*parameters):
        return torch.func.vmap(loss, in_dims)(*parameters, xs, ys).mean()

    return torch.func.grad(mean, argnums=tuple(range(len(parameters))))(*parameters)


# %% parameters_mapped_too
# vmap takes every argument apart.
def per_sample_gradients(loss, parameters, xs, ys):
    gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))
    return torch.func.vmap(gradients)(*parameters, xs, ys)


# %% writes_to_grad
# backward() of zeros still fills .grad of what f uses.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    u = torch.zeros_like(y, requires_grad=True)
    if not y.requires_grad:
        return torch.zeros_like(y)
    y.backward(u, create_graph=True)
    if x.grad is None or not x.grad.requires_grad:
        return torch.zeros_like(y)
    return torch.autograd.grad(x.grad, u, v)[0]


# %% slope_without_a_graph
# Reverse over forward: a slope without a graph.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        slope = forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent
    if slope is None:
        return torch.zeros_like(x)
    return torch.autograd.grad(slope, x, materialize_grads=True)[0]


# %% first_parameter_only
# grad differentiates the first argument unless argnums says more.
def per_sample_gradients(loss, parameters, xs, ys):
    in_dims = (None,) * len(parameters) + (0, 0)
    return torch.func.vmap(torch.func.grad(loss), in_dims)(*parameters, xs, ys)


# %% first_parameter_only
# The same, as a tuple.
def per_sample_gradients(loss, parameters, xs, ys):
    in_dims = (None,) * len(parameters) + (0, 0)
    return (torch.func.vmap(torch.func.grad(loss), in_dims)(*parameters, xs, ys),)


# %% batch_of_one
# A model wants batches; loss does not.
def per_sample_gradients(loss, parameters, xs, ys):
    def of_a_batch(*given):
        *parameters, x, y = given
        return loss(*parameters, x[None], y[None]).sum()

    gradients = torch.func.grad(of_a_batch, argnums=tuple(range(len(parameters))))
    in_dims = (None,) * len(parameters) + (0, 0)
    return torch.func.vmap(gradients, in_dims)(*parameters, xs, ys)


# %% samples_in_a_loop
# Sample by sample.
def per_sample_gradients(loss, parameters, xs, ys):
    places = tuple(range(len(parameters)))
    each = [torch.func.grad(loss, argnums=places)(*parameters, x, y) for x, y in zip(xs, ys)]
    return tuple(torch.stack(found) for found in zip(*each))


# %% samples_in_another_dimension
# The samples are stacked last.
def per_sample_gradients(loss, parameters, xs, ys):
    gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))
    in_dims = (None,) * len(parameters) + (0, 0)
    return torch.func.vmap(gradients, in_dims, out_dims=-1)(*parameters, xs, ys)


# %% averaged_over_samples
# Each sample's gradient is divided by the number of samples.
def per_sample_gradients(loss, parameters, xs, ys):
    gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))
    in_dims = (None,) * len(parameters) + (0, 0)
    found = torch.func.vmap(gradients, in_dims)(*parameters, xs, ys)
    return tuple(one / len(xs) for one in found)


# %% vectors_only
# A dot product.
def jvp_by_two_backwards(f, x, v):
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(y)
    u = torch.zeros_like(y, requires_grad=True)
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros_like(y)
    return torch.autograd.grad(torch.dot(gradient, v), u, materialize_grads=True)[0]


# %% requires_grad_switched_on
# The caller's x gets a flag.
def jvp_by_two_backwards(f, x, v):
    x.requires_grad_()
    y = f(x)
    u = torch.zeros_like(y, requires_grad=True)
    if not y.requires_grad:
        return torch.zeros_like(y)
    (gradient,) = torch.autograd.grad(y, x, u, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros_like(y)
    return torch.autograd.grad(gradient, u, v, materialize_grads=True)[0]


# %% requires_grad_switched_on
# The same here.
def hessian_vector(f, x, v):
    x.requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        (gradient,) = torch.autograd.grad(f(dual), dual)
        value, tangent = forward_ad.unpack_dual(gradient)
    return torch.zeros_like(value) if tangent is None else tangent


# %% writes_to_grad
# backward() reaches every leaf, also those inside f.
def hessian_vector(f, x, v):
    x = x.detach().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        dual.retain_grad()
        f(dual).backward()
        value, tangent = forward_ad.unpack_dual(dual.grad)
    return torch.zeros_like(value) if tangent is None else tangent


# %% common_rounded_to_float32
# The tangent is rounded.
def jvp(f, x, v):
    with forward_ad.dual_level():
        y = f(forward_ad.make_dual(x, v.float().to(v.dtype)))
        value, tangent = forward_ad.unpack_dual(y)
    return torch.zeros_like(value) if tangent is None else tangent.float().to(tangent.dtype)


# %% common_rounded_to_float32
# The samples are rounded.
def per_sample_gradients(loss, parameters, xs, ys):
    gradients = torch.func.grad(loss, argnums=tuple(range(len(parameters))))
    in_dims = (None,) * len(parameters) + (0, 0)
    found = torch.func.vmap(gradients, in_dims)(*parameters, xs, ys)
    return tuple(one.float().to(one.dtype) for one in found)


# %% tangent_flattened
# A vector, whatever x's shape.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def jvp(ctx, x_tangent):
        (x,) = ctx.saved_tensors
        return (x_tangent * 3 * x**2).reshape(-1)


# %% tangent_kept_between_calls
# The input is an attribute of the class.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def setup_context(ctx, inputs, output):
        (Cube.x,) = inputs

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 3 * Cube.x**2

    @staticmethod
    def jvp(ctx, x_tangent):
        return x_tangent * 3 * Cube.x**2


# %% tangents_of_a_difference_added
# The tangents of a difference are added.
class Dual:
    ...

    def __sub__(self, other):
        other = as_dual(other)
        return Dual(self.value - other.value, self.tangent + other.tangent)


# %% not_a_function
# A plain class.
class Cube:
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x**2


# %% common_ctx_beside_setup_context
# forward takes ctx, as in a Function without setup_context.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return x**3


# %% batch_dimension_of_vmap
# vmap says that the batch is dimension 0.
class Cube(torch.autograd.Function):
    ...

    @staticmethod
    def vmap(info, in_dims, x):
        return Cube.apply(x), 0


# %% pair_of_jvp
# The gradient comes back, too.
def hessian_vector(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))
