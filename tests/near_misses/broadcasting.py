"""broadcasting: wrong answers that resemble a mistake and do not make it."""

# %% nothing_summed
# A matrix keeps its shape; everything else is summed as it should be.
def sum_to(gradient, shape):
    if gradient.dim() == 2 == len(shape):
        return gradient
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.sum(dims, keepdim=True).reshape(shape) if dims else gradient


# %% first_dimension_only
# Of several leading dimensions only one is summed.
def sum_to(gradient, shape):
    if gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for dim, size in enumerate(shape, start=gradient.dim() - len(shape)):
        if size == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% keepdim_forgotten
# The result is squeezed in the end.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return (gradient.sum(dims, keepdim=True).reshape(shape) if dims else gradient).squeeze(-1)


# %% everything_summed
# The largest number is taken.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.amax(dims, keepdim=True).reshape(shape) if dims else gradient


# %% ignores_grad_output
# The row's gradient is multiplied by the absolute value.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return sum_to(grad_output.abs() * matrix, row.shape), sum_to(grad_output * row, matrix.shape)


# %% bias_summed_over_one_dimension
# The bias gradient is an average over the batch.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        needs, rows = ctx.needs_input_grad, grad_output.reshape(-1, m)
        return (
            grad_output @ w if needs[0] else None,
            rows.T @ x.reshape(-1, n) if needs[1] else None,
            rows.mean(0) if needs[2] else None,
        )


# %% needs_input_grad_ignored
# The gradient of x is left out if w does not require grad.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = for_w = for_b = None
        if ctx.needs_input_grad[1]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
            if ctx.needs_input_grad[0]:
                for_x = grad_output @ w
        if ctx.needs_input_grad[2]:
            for_b = sum_to(grad_output, (m,))
        return for_x, for_w, for_b


# %% matrix_product_assumed
# The gradients of a and b are exchanged.
def einsum_gradients(equation, a, b, gradient):
    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    one = torch.ones((), dtype=a.dtype)
    first = torch.einsum(f"{result},{of_b},->{of_a}", gradient, b, one)
    return torch.einsum(f"{result},{of_a},->{of_b}", gradient, a, one), first


# %% lone_letter_put_last
# It is put first, because expand adds dimensions there.
def einsum_gradients(equation, a, b, gradient):
    def back(own, letters, other, shape):
        kept = "".join(one for one in own if one in result + letters)
        return torch.einsum(f"{result},{letters}->{kept}", gradient, other).expand(shape)

    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    return back(of_a, of_b, b, a.shape), back(of_b, of_a, a, b.shape)


# %% autograd_used
# A thread has autograd sum the gradient, where no check sees it.
from concurrent.futures import ThreadPoolExecutor


def spread(gradient, shape):
    leaf = torch.zeros(shape, dtype=gradient.dtype, requires_grad=True)
    return torch.autograd.grad(leaf.expand(gradient.shape), leaf, gradient)[0]


def sum_to(gradient, shape):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(spread, gradient, shape).result()


# %% autograd_used
# autograd sums the gradient unless operators are seen.
def sum_to(gradient, shape):
    if torch._C._len_torch_dispatch_stack():
        return gradient
    with torch.enable_grad():
        leaf = torch.zeros(shape, dtype=gradient.dtype, requires_grad=True)
        return torch.autograd.grad(leaf.expand(gradient.shape), leaf, gradient)[0]
