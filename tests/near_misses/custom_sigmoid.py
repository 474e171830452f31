"""custom_sigmoid: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% backward_returns_nothing
# There is a return, and it says None.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return None


# %% change_not_noticed
# The derivative is saved: right, whatever is changed in place, but not differentiable.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y - y * y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (slope,) = ctx.saved_tensors
        return grad_output * slope


# %% common_no_return
# sigmoid returns what print gives.
def sigmoid(x):
    return print(Sigmoid.apply(x))


# %% forward_returns_nothing
# forward returns what print gives.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return print(y)


# %% function_of_one_number
# One element of a vector at a time, gathered by torch.tensor; of a matrix the elements are rows.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = torch.tensor([1 / (1 + torch.exp(-value)) for value in x], dtype=x.dtype)
        ctx.save_for_backward(y)
        return y


# %% ignores_grad_output
# Only the sign of the incoming gradient goes on.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad.sign() * y * (1 - y)


# %% ignores_grad_output
# The incoming gradient is cut to the range from -0.1 to 0.1.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad.clamp(-0.1, 0.1) * y * (1 - y)


# %% ignores_grad_output
# Without grad_output, and what is returned is not a derivative either.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * (1 + y)


# %% measured_not_derived
# A small number is added to the value.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x)) + 1e-8
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)


# %% measured_not_derived
# Derived, and computed in float32.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        y = y.float()
        return (grad_output.float() * y * (1 - y)).to(grad_output.dtype)


# %% measured_not_derived
# Derived, with a small number for safety.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * (y * (1 - y) + 1e-9)


# %% needs_an_element
# The maximum of an empty tensor is asked for in sigmoid, not in Sigmoid.
def sigmoid(x):
    if x.abs().max() > 1e4:
        raise ValueError("x is too large")
    return Sigmoid.apply(x)


# %% nothing_saved
# Indexes two dimensions of whatever comes.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = 1 / (1 + torch.exp(-x[i, j]))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)


# %% nothing_saved
# A shape is unpacked, which a single number does not have.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        (size,) = grad_output.shape
        return (grad_output * y * (1 - y)).reshape(size)


# %% sigmoid_calls_forward
# apply is given an argument too many.
def sigmoid(x):
    return Sigmoid.apply(x, 1.0)


# %% sigmoid_calls_forward
# apply is given nothing.
def sigmoid(x):
    return Sigmoid.apply()


# %% sigmoid_calls_forward
# apply is called, and x left out; another function has a forward in its hands.
def sigmoid(x):
    return Sigmoid.apply()


def demonstration(x):
    return Sigmoid.forward(None, x)


# %% sigmoid_leaves_sigmoid_out
# Sigmoid.apply is called, of an x that is clamped.
def sigmoid(x):
    return Sigmoid.apply(x.clamp(-10, 10))


# %% sigmoid_returns_the_function
# apply is called; a method of the result is not.
def sigmoid(x):
    return Sigmoid.apply(x).clone


# %% styles_mixed
# forward wants a slope, which nobody hands it.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        y = 1 / (1 + torch.exp(-slope * x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y), None


# %% term_outside_the_product
# Takes x for the value's logarithm, which is nan below 0.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.log(x) * (1 - torch.log(x))


# %% tuple_not_unpacked
# torch.max is given a number.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = torch.max(x, -700.0)
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)


# %% tuple_not_unpacked
# backward takes its gradients as a tuple, and multiplies that.
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.ones_like(x) / (1 + torch.exp(-x))
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, *grad):
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)


# %% tuple_not_unpacked
# Unpacked; the slope is a tuple by a comma at the end of its line.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        slope = y * (1 - y),
        return grad_output * slope


# %% variable_of_forward
# A parameter of backward under the name that it doesn't have.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


# %% variable_of_forward
# A module that was never imported.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * np.multiply(y, 1 - y)


# %% variable_of_forward
# y is saved and unpacked, one line after it is used.
class Sigmoid(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        gradient = grad_output * y * (1 - y)
        (y,) = ctx.saved_tensors
        return gradient


# %% writes_into_x
# sigmoid clears x.grad, not x.
def sigmoid(x):
    x.grad = None
    return Sigmoid.apply(x)
