"""broadcasting: other right answers. A cell shows the definitions that differ from the solution."""

# %% one_dimension_at_a_time
# Leading dimensions are summed while there are too many, then those of size 1.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for dim, size in enumerate(shape):
        if size == 1 and gradient.shape[dim] != 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% recursive
# One dimension is summed, the rest by a call of itself.
def sum_to(gradient, shape):
    shape = tuple(shape)
    if tuple(gradient.shape) == shape:
        return gradient
    if gradient.dim() > len(shape):
        return sum_to(gradient.sum(0), shape)
    dim = next(k for k, size in enumerate(shape) if size != gradient.shape[k])
    return sum_to(gradient.sum(dim, keepdim=True), shape)


# %% numpy_sums
# NumPy adds the elements, also in the backwards.
import numpy as np


def sum_to(gradient, shape):
    numbers = gradient.detach().numpy()
    padded = (1,) * (numbers.ndim - len(shape)) + tuple(shape)
    axes = tuple(k for k, (have, want) in enumerate(zip(numbers.shape, padded)) if want == 1)
    return torch.from_numpy(np.asarray(numbers.sum(axis=axes, keepdims=True)).reshape(shape))


class Affine(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        x, w, b = (one.detach().numpy() for one in (x, w, b))
        return torch.from_numpy(np.asarray(x @ w.T + b))

    @staticmethod
    def backward(ctx, grad_output):
        x, w = (one.detach().numpy() for one in ctx.saved_tensors)
        g = grad_output.numpy()
        needs = ctx.needs_input_grad
        rows = g.reshape(-1, w.shape[0])
        return (
            torch.from_numpy(np.asarray(g @ w)) if needs[0] else None,
            torch.from_numpy(rows.T @ x.reshape(-1, w.shape[1])) if needs[1] else None,
            torch.from_numpy(rows.sum(0)) if needs[2] else None,
        )


# %% elements_one_by_one
# Each element is added where it came from; the dtype is that of gradient.
import numpy as np


def sum_to(gradient, shape):
    result = gradient.new_zeros(tuple(shape))
    lacking = gradient.dim() - len(shape)
    for place in np.ndindex(*gradient.shape):
        own = tuple(0 if size == 1 else k for k, size in zip(place[lacking:], shape))
        result[own] += gradient[place]
    return result


# %% setup_context
# Both Functions in the other style; sum_to is not used.
class Scale(Function):
    @staticmethod
    def forward(row, matrix):
        return row * matrix

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        for_row = (grad_output * matrix).sum(0, keepdim=row.dim() == 2)
        for_matrix = grad_output * row
        if matrix.shape[1] == 1:
            for_matrix = for_matrix.sum(1, keepdim=True)
        if matrix.shape[0] == 1:
            for_matrix = for_matrix.sum(0, keepdim=True)
        return for_row, for_matrix


class Affine(Function):
    @staticmethod
    def forward(x, w, b):
        return torch.nn.functional.linear(x, w, b)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, b = inputs
        ctx.save_for_backward(x, w, b)

    @staticmethod
    def backward(ctx, grad_output):
        x, w, b = ctx.saved_tensors
        for_x = for_w = for_b = None
        batch = tuple(range(x.dim() - 1))
        if ctx.needs_input_grad[0]:
            for_x = torch.matmul(grad_output, w)
        if ctx.needs_input_grad[1]:
            for_w = torch.tensordot(grad_output, x, dims=(batch, batch))
        if ctx.needs_input_grad[2]:
            for_b = grad_output.sum(batch) if batch else grad_output.clone()
        return for_x, for_w, for_b


# %% einsum_everywhere
# einsum names the dimensions that are summed.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        whole = torch.einsum("ij,ij->j", grad_output, matrix.expand_as(grad_output))
        if row.shape[-1] == 1 and grad_output.shape[-1] > 1:
            whole = whole.sum().reshape(1)
        own = grad_output * row
        for dim in (0, 1):
            if matrix.shape[dim] == 1:
                own = own.sum(dim, keepdim=True)
        return whole.view_as(row), own


class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        x_needs, w_needs, b_needs = ctx.needs_input_grad
        return (
            torch.einsum("...o,oi->...i", grad_output, w) if x_needs else None,
            torch.einsum("...o,...i->oi", grad_output, x) if w_needs else None,
            torch.einsum("...o->o", grad_output) if b_needs else None,
        )


# %% outer_products
# Each example gives an outer product; sum_to adds them up.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        result = [None, None, None]
        if needs[0]:
            result[0] = (grad_output.unsqueeze(-1) * w).sum(-2)
        if needs[1]:
            result[1] = sum_to(grad_output.unsqueeze(-1) * x.unsqueeze(-2), w.shape)
        if needs[2]:
            ones = grad_output.new_ones(grad_output.numel() // w.shape[0])
            result[2] = ones @ grad_output.reshape(len(ones), -1)
        return tuple(result)


# %% ones_for_summed_letters
# einsum gets ones for letters that are summed alone.
def einsum_gradients(equation, a, b, gradient):
    left, result = equation.split("->")
    first, second = left.split(",")
    size = dict(zip(first + second, [*a.shape, *b.shape]))

    def back(own, other, tensor):
        lost = [c for c in own if c not in result + other]
        ones = [torch.ones(size[c], dtype=tensor.dtype) for c in lost]
        return torch.einsum(",".join([result, other, *lost]) + "->" + own, gradient, tensor, *ones)

    return back(first, second, b), back(second, first, a)


# %% every_letter_written_out
# All products of one large table, then sums over the letters that an operand lacks.
def einsum_gradients(equation, a, b, gradient):
    operands, result = equation.replace(" ", "").split("->")
    names = operands.split(",")
    every = sorted(set(operands) - {","})
    size = {}
    for letters, tensor in zip(names, (a, b)):
        size.update(zip(letters, tensor.shape))

    def spread(letters, tensor):
        order = sorted(range(len(letters)), key=lambda k: letters[k])
        tensor = tensor.permute(order) if order else tensor
        return tensor.reshape([size[c] if c in letters else 1 for c in every])

    def gathered(letters, table):
        table = table.expand([size[c] for c in every])
        lost = [k for k, c in enumerate(every) if c not in letters]
        table = table.sum(lost) if lost else table
        left = [c for c in every if c in letters]
        return table.permute([left.index(c) for c in letters]) if letters else table

    g = spread(result, gradient)
    return gathered(names[0], g * spread(names[1], b)), gathered(names[1], g * spread(names[0], a))


# %% gradients_that_nobody_needs
# Scale returns None for an input that does not require grad; b is saved as well.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        for_row = for_matrix = None
        if ctx.needs_input_grad[0]:
            for_row = sum_to(grad_output * matrix, row.shape)
        if ctx.needs_input_grad[1]:
            for_matrix = sum_to(grad_output * row, matrix.shape)
        return for_row, for_matrix


class Affine(Function):
    ...

    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x.clone(), w.clone(), b)
        return torch.addmm(b, x.reshape(-1, x.shape[-1]), w.t()).reshape(*x.shape[:-1], len(b))

    @staticmethod
    def backward(ctx, grad_output):
        x, w, _ = ctx.saved_tensors
        gradients = []
        flat = grad_output.flatten(end_dim=-2) if grad_output.dim() > 1 else grad_output[None]
        if ctx.needs_input_grad[0]:
            gradients.append((flat @ w).reshape(x.shape))
        else:
            gradients.append(None)
        gradients.append(
            flat.transpose(0, 1) @ x.reshape(len(flat), -1) if ctx.needs_input_grad[1] else None
        )
        gradients.append(flat.sum(0) if ctx.needs_input_grad[2] else None)
        return tuple(gradients)


# %% requires_grad_of_saved_tensors
# What was saved still requires grad where the input did.
class Affine(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w, b)
        return torch.nn.functional.linear(x, w, b)

    @staticmethod
    def backward(ctx, grad_output):
        x, w, b = ctx.saved_tensors
        g = grad_output.reshape(-1, len(b))
        return (
            grad_output @ w if x.requires_grad else None,
            g.T @ x.reshape(-1, x.shape[-1]) if w.requires_grad else None,
            g.sum(0) if b.requires_grad else None,
        )


# %% only_what_is_needed_is_saved
# None is saved for a tensor that backward will not use; sizes are attributes of ctx.
class Affine(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        x_needs, w_needs, _ = ctx.needs_input_grad
        ctx.save_for_backward(x if w_needs else None, w if x_needs else None)
        ctx.sizes = w.shape
        return x.matmul(w.t()).add(b)

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        m, n = ctx.sizes
        g = grad_output.reshape(-1, m)
        return (
            None if w is None else grad_output.matmul(w),
            None if x is None else g.t().mm(x.reshape(-1, n)),
            g.sum(0) if ctx.needs_input_grad[2] else None,
        )


# %% sum_to_accepts_more
# sum_to has a third argument, and takes a tensor in place of its shape; the classes use both.
def sum_to(gradient, shape, times=None):
    if times is not None:
        gradient = gradient * times
    shape = getattr(shape, "shape", shape)
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.sum(dims, keepdim=True).reshape(shape) if dims else gradient


class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return sum_to(grad_output, row.shape, matrix), sum_to(grad_output * row, matrix)


class Affine(Function):
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w, b)
        return torch.nn.functional.linear(x, w, b)

    @staticmethod
    def backward(ctx, grad_output):
        x, w, b = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            sum_to(grad_output[..., None], shape=w, times=x[..., None, :]) if needs[1] else None,
            sum_to(gradient=grad_output, shape=b.shape) if needs[2] else None,
        )
