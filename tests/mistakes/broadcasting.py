"""broadcasting: wrong answers. A cell shows the definitions that differ from the solution."""

# %% sum_to_size_used
# torch's own sum_to_size does it.
def sum_to(gradient, shape):
    return gradient.sum_to_size(shape)


# %% sum_to_size_used
# Scale has sum_to_size in backward, reached by a name.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return (
            getattr(grad_output * matrix, "sum_to_size")(row.shape),
            getattr(grad_output * row, "sum_to_size")(matrix.shape),
        )


# %% autograd_used
# Autograd differentiates expand.
def sum_to(gradient, shape):
    leaf = torch.zeros(shape, dtype=gradient.dtype, requires_grad=True)
    return torch.autograd.grad(leaf.expand_as(gradient), leaf, gradient)[0]


# %% autograd_used
# backward computes the layer again and asks autograd.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = (one.detach().requires_grad_() for one in ctx.saved_tensors)
        b = torch.zeros(w.shape[0], dtype=w.dtype, requires_grad=True)
        with torch.enable_grad():
            y = x @ w.T + b
        found = torch.autograd.grad(y, (x, w, b), grad_output)
        return tuple(g if n else None for g, n in zip(found, ctx.needs_input_grad))


# %% autograd_used
# vjp of einsum.
def einsum_gradients(equation, a, b, gradient):
    _, back = torch.func.vjp(lambda a, b: torch.einsum(equation, a, b), a, b)
    return back(gradient)


# %% nothing_summed
# The gradient keeps the broadcast shape.
def sum_to(gradient, shape):
    return gradient


# %% size_one_forgotten
# Only leading dimensions are summed.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    return gradient


# %% size_one_forgotten
# The number of dimensions is all that is compared.
def sum_to(gradient, shape):
    extra = gradient.dim() - len(shape)
    return gradient.sum(tuple(range(extra))) if extra else gradient


# %% leading_forgotten
# Only dimensions of size 1 are summed, counted from the right.
def sum_to(gradient, shape):
    for dim in range(1, len(shape) + 1):
        if shape[-dim] == 1:
            gradient = gradient.sum(-dim, keepdim=True)
    return gradient


# %% leading_forgotten
# A dimension that shape lacks is skipped.
def sum_to(gradient, shape):
    offset = gradient.dim() - len(shape)
    ones = [k + offset for k, size in enumerate(shape) if size == 1]
    return gradient.sum(ones, keepdim=True) if ones else gradient


# %% keepdim_forgotten
# Dimensions of size 1 disappear.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.sum(dims) if dims else gradient


# %% keepdim_forgotten
# From the last dimension on, without keepdim.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    for dim in reversed(range(gradient.dim())):
        if dim < lacking or shape[dim - lacking] == 1:
            gradient = gradient.sum(dim)
    return gradient


# %% lacking_dimensions_kept
# keepdim everywhere: dimensions that shape lacks stay as ones.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    for dim in range(gradient.dim()):
        if dim < lacking or shape[dim - lacking] == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% first_dimension_only
# The sum always runs over dimension 0.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    if 1 in tuple(shape):
        gradient = gradient.sum(0, keepdim=True)
    return gradient


# %% first_dimension_only
# sum(0), whatever the shape is.
def sum_to(gradient, shape):
    return gradient.sum(0)


# %% matched_from_the_left
# Shapes are aligned at their first dimension, and the last ones are summed.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(-1)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% mean_in_place_of_sum
# The repetitions are averaged.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.mean(dims, keepdim=True).reshape(shape) if dims else gradient


# %% one_repetition_taken
# The first of the repetitions is taken.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient[0]
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.narrow(dim, 0, 1)
    return gradient


# %% everything_summed
# One number is left, spread over shape.
def sum_to(gradient, shape):
    if tuple(gradient.shape) == tuple(shape):
        return gradient
    return gradient.sum().expand(shape)


# %% empty_list_of_dimensions
# sum([]) sums over all dimensions.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.sum(dims, keepdim=True).expand([1] * lacking + [*shape]).reshape(shape)


# %% empty_list_of_dimensions
# The leading dimensions are none, and nothing is left for the others.
def sum_to(gradient, shape):
    gradient = gradient.sum(tuple(range(gradient.dim() - len(shape))))
    for k, size in enumerate(shape):
        if size == 1 and gradient.shape[k] != 1:
            gradient = gradient.sum(k, keepdim=True)
    return gradient


# %% empty_list_of_dimensions
# A list of both, with keepdim, where one element is left.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    result = gradient.sum(dims, keepdim=True)
    return result[(0,) * lacking]


# %% empty_list_of_dimensions
# The same, and one element can't be reshaped.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    return gradient.sum(dims, keepdim=True).reshape(shape)


# %% empty_list_of_dimensions
# Without a size of 1, the second sum has no dimensions.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    if lacking > 0:
        gradient = gradient.sum(tuple(range(lacking)))
    return gradient.sum(tuple(k for k, size in enumerate(shape) if size == 1), keepdim=True)


# %% numbers_of_dimensions_shift
# After the first sum, the other dimensions have other numbers.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    for dim in range(lacking):
        gradient = gradient.sum(dim)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% size_zero_not_summed
# A dimension is summed only where it is larger than 1.
def sum_to(gradient, shape):
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    for dim, size in enumerate(shape):
        if size == 1 and gradient.shape[dim] > 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% ones_before_leading
# Dimensions of size 1 are summed before the leading ones, whose number is not added.
def sum_to(gradient, shape):
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim, keepdim=True)
    while gradient.dim() > len(shape):
        gradient = gradient.sum(0)
    return gradient


# %% writes_into_gradient
# The rows are added up in the first one.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    for _ in range(lacking):
        for other in gradient[1:]:
            gradient[0] += other
        gradient = gradient[0] if len(gradient) else gradient.sum(0)
    for dim, size in enumerate(shape):
        if size == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient


# %% common_wrong_dtype
# The sum is written into a tensor of the default dtype.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    result = torch.zeros(tuple(shape))
    result += gradient.sum(dims, keepdim=True).reshape(shape) if dims else gradient
    return result


# %% not_summed_by_backward
# The products are returned as they are.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return grad_output * matrix, grad_output * row


# %% not_summed_by_backward
# The row's gradient keeps a leading dimension of size 1.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        for_matrix = grad_output * row
        for dim in (0, 1):
            if matrix.shape[dim] == 1:
                for_matrix = for_matrix.sum(dim, keepdim=True)
        return (grad_output * matrix).sum(0, keepdim=True), for_matrix


# %% not_summed_by_backward
# A row (1,) is taken for a row (1, 1).
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        for_row = (grad_output * matrix).sum(0, keepdim=row.shape[0] == 1)
        return for_row, sum_to(grad_output * row, matrix.shape)


# %% common_grad_output_overwritten
# The product is written into grad_output.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        for_matrix = sum_to(grad_output * row, matrix.shape)
        return sum_to(grad_output.mul_(matrix), row.shape), for_matrix


# %% not_summed_by_backward
# The column's gradient has the shape of the result.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return sum_to(grad_output * matrix, row.shape), grad_output * row


# %% not_summed_by_backward
# The bias gets the gradient of the result.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            grad_output.reshape(-1, len(w)).T @ x.reshape(-1, x.shape[-1]) if needs[1] else None,
            grad_output if needs[2] else None,
        )


# %% bias_summed_over_one_dimension
# The bias gradient is summed over the first batch dimension only.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            grad_output.reshape(-1, len(w)).T @ x.reshape(-1, x.shape[-1]) if needs[1] else None,
            grad_output.sum(0) if needs[2] else None,
        )


# %% bias_summed_over_one_dimension
# The same, with a case of its own for a vector x.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        for_b = None
        if needs[2]:
            for_b = grad_output.sum(0) if grad_output.dim() > 1 else grad_output
        return (
            grad_output @ w if needs[0] else None,
            grad_output.reshape(-1, len(w)).T @ x.reshape(-1, x.shape[-1]) if needs[1] else None,
            for_b,
        )


# %% not_summed_by_backward
# The weight gets one matrix for each place of the first batch dimensions.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        g, rows = (t if t.dim() > 1 else t.unsqueeze(0) for t in (grad_output, x))
        return (
            grad_output @ w if needs[0] else None,
            g.transpose(-1, -2) @ rows if needs[1] else None,
            g.sum([*range(g.dim() - 1)]) if needs[2] else None,
        )


# %% matrix_only
# x is taken to be a matrix.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            grad_output.T @ x if needs[1] else None,
            grad_output.sum(0) if needs[2] else None,
        )


# %% vector_forgotten
# There is always a batch dimension to flatten.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            grad_output.flatten(0, -2).T @ x.flatten(0, -2) if needs[1] else None,
            grad_output.flatten(0, -2).sum(0) if needs[2] else None,
        )


# %% vector_forgotten
# tensordot over the batch dimensions, a sum over them: for a vector, that sums over all.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        batch = [*range(x.dim() - 1)]
        return (
            grad_output @ w if needs[0] else None,
            torch.tensordot(grad_output, x, (batch, batch)) if needs[1] else None,
            grad_output.sum(batch) if needs[2] else None,
        )


# %% common_view_of_noncontiguous
# view in place of reshape, for the batch dimensions of x.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            grad_output.reshape(-1, len(w)).T @ x.view(-1, x.shape[-1]) if needs[1] else None,
            sum_to(grad_output, (len(w),)) if needs[2] else None,
        )


# %% weight_gradient_transposed
# The factors of the weight gradient are exchanged.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (
            grad_output @ w if needs[0] else None,
            x.reshape(-1, x.shape[-1]).T @ grad_output.reshape(-1, len(w)) if needs[1] else None,
            sum_to(grad_output, (len(w),)) if needs[2] else None,
        )


# %% needs_input_grad_ignored
# All three gradients are computed.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        return grad_output @ w, for_w, sum_to(grad_output, (m,))


# %% needs_input_grad_ignored
# The bias, which is cheap, is not asked for.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = grad_output @ w if ctx.needs_input_grad[0] else None
        for_w = None
        if ctx.needs_input_grad[1]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        return for_x, for_w, sum_to(grad_output, (m,))


# %% computed_and_thrown_away
# Everything is computed, and then None replaces what is not needed.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        found = grad_output @ w, for_w, sum_to(grad_output, (m,))
        return tuple(g if n else None for g, n in zip(found, ctx.needs_input_grad))


# %% other_index_asked
# ctx is counted as the first argument.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = for_w = for_b = None
        if ctx.needs_input_grad[1]:
            for_x = grad_output @ w
        if ctx.needs_input_grad[2]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        if ctx.needs_input_grad[3]:
            for_b = sum_to(grad_output, (m,))
        return for_x, for_w, for_b


# %% needed_gradient_left_out
# The indices of x and w are exchanged.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = for_w = for_b = None
        if ctx.needs_input_grad[1]:
            for_x = grad_output @ w
        if ctx.needs_input_grad[0]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        if ctx.needs_input_grad[2]:
            for_b = sum_to(grad_output, (m,))
        return for_x, for_w, for_b


# %% ignores_grad_output
# The derivative alone, summed.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        ones = torch.ones_like(grad_output)
        return sum_to(ones * matrix, row.shape), sum_to(ones * row, matrix.shape)


# %% ignores_grad_output
# The bias gradient counts the rows.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        needs, ones = ctx.needs_input_grad, torch.ones_like(grad_output)
        return (
            grad_output @ w if needs[0] else None,
            grad_output.reshape(-1, m).T @ x.reshape(-1, n) if needs[1] else None,
            sum_to(ones, (m,)) if needs[2] else None,
        )


# %% gradients_swapped
# The gradients are returned in the other order.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return sum_to(grad_output * row, matrix.shape), sum_to(grad_output * matrix, row.shape)


# %% same_factor_in_both
# Each input gets its own values as the factor.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return sum_to(grad_output * row, row.shape), sum_to(grad_output * matrix, matrix.shape)


# %% gradient_of_another_shape
# The row's gradient is summed over the columns.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return (grad_output * matrix).sum(1), sum_to(grad_output * row, matrix.shape)


# %% gradient_of_another_shape
# A row is a vector, so its gradient is one.
class Scale(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        row, matrix = ctx.saved_tensors
        return (grad_output * matrix).sum(0), sum_to(grad_output * row, matrix.shape)


# %% gradient_of_another_shape
# The weight itself is transposed where x gets its gradient, and the bias gets one number.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        return grad_output @ w, for_w, grad_output.sum()


# %% wrong_number_of_gradients
# The bias has no derivative, it is thought.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        return grad_output @ w, grad_output.reshape(-1, m).T @ x.reshape(-1, n)


# %% stash_on_ctx
# Tensors are attributes of ctx.
class Scale(Function):
    @staticmethod
    def forward(ctx, row, matrix):
        ctx.row, ctx.matrix = row, matrix
        return row * matrix

    @staticmethod
    def backward(ctx, grad_output):
        return (
            sum_to(grad_output * ctx.matrix, ctx.row.shape),
            sum_to(grad_output * ctx.row, ctx.matrix.shape),
        )


# %% data_saved
# x.data is saved, which autograd does not watch.
class Affine(Function):
    ...

    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x.data, w.data)
        return x @ w.T + b


# %% nothing_saved
# forward saves nothing.
class Scale(Function):
    ...

    @staticmethod
    def forward(ctx, row, matrix):
        return row * matrix


# %% nothing_saved
# b is unpacked, but was not saved.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w, b = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        return grad_output @ w, grad_output.reshape(-1, m).T @ x.reshape(-1, n), sum_to(grad_output, b.shape)


# %% not_a_function
# The base class is missing.
class Scale:
    @staticmethod
    def forward(ctx, row, matrix):
        ctx.save_for_backward(row, matrix)
        return row * matrix


# %% weight_not_transposed
# forward multiplies by w.
class Affine(Function):
    ...

    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w + b


# %% letters_that_nothing_else_has
# The equation is turned round, whatever its letters are.
def einsum_gradients(equation, a, b, gradient):
    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    return (
        torch.einsum(f"{result},{of_b}->{of_a}", gradient, b),
        torch.einsum(f"{result},{of_a}->{of_b}", gradient, a),
    )


# %% lone_letter_put_last
# A letter that was summed alone gets the last dimension.
def einsum_gradients(equation, a, b, gradient):
    def back(own, letters, other, shape):
        kept = "".join(one for one in own if one in result + letters)
        found = torch.einsum(f"{result},{letters}->{kept}", gradient, other)
        while found.dim() < len(shape):
            found = found.unsqueeze(-1)
        return found.expand(shape)

    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    return back(of_a, of_b, b, a.shape), back(of_b, of_a, a, b.shape)


# %% repeated_letters_not_spread
# A letter that was summed alone stays a dimension of size 1.
def einsum_gradients(equation, a, b, gradient):
    def back(own, letters, other):
        kept = "".join(one for one in own if one in result + letters)
        found = torch.einsum(f"{result},{letters}->{kept}", gradient, other)
        return found.reshape([n if c in kept else 1 for c, n in zip(own, shapes[own])])

    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    shapes = {of_a: a.shape, of_b: b.shape}
    return back(of_a, of_b, b), back(of_b, of_a, a)


# %% matrix_product_assumed
# Both gradients are those of a product of matrices.
def einsum_gradients(equation, a, b, gradient):
    return gradient @ b.T, a.T @ gradient


# %% letters_sorted
# A set loses the order of the letters, and sorting makes another one.
def einsum_gradients(equation, a, b, gradient):
    def back(own, letters, other, shape):
        kept = "".join(sorted(set(own) & set(result + letters)))
        found = torch.einsum(f"{result},{letters}->{kept}", gradient, other)
        for dim, letter in enumerate(own):
            if letter not in kept:
                found = found.unsqueeze(dim)
        return found.expand(shape) if kept != own else found

    operands, result = equation.split("->")
    of_a, of_b = operands.split(",")
    return back(of_a, of_b, b, a.shape), back(of_b, of_a, a, b.shape)


# %% common_wrong_sign
# The value has the other sign.
class Scale(Function):
    ...

    @staticmethod
    def forward(ctx, row, matrix):
        ctx.save_for_backward(row, matrix)
        return -row * matrix


# %% common_rounded_to_float32
# The sum is computed in float32.
def sum_to(gradient, shape):
    lacking = gradient.dim() - len(shape)
    dims = [k for k in range(gradient.dim()) if k < lacking or shape[k - lacking] == 1]
    if not dims:
        return gradient
    return gradient.float().sum(dims, keepdim=True).reshape(shape).to(gradient.dtype)


# %% stash_outside
# The row of the last call is kept in the class.
class Scale(Function):
    row = None

    @staticmethod
    def forward(ctx, row, matrix):
        Scale.row = row.clone()
        ctx.save_for_backward(matrix)
        return row * matrix

    @staticmethod
    def backward(ctx, grad_output):
        (matrix,) = ctx.saved_tensors
        row = Scale.row
        return sum_to(grad_output * matrix, row.shape), sum_to(grad_output * row, matrix.shape)


# %% common_argument_count
# forward has no ctx, and there is no setup_context.
class Affine(Function):
    ...

    @staticmethod
    def forward(x, w, b):
        return x @ w.T + b


# %% sum_to_size_used
# A compiled text names it.
TEXT = "def f(g: Tensor, s: List[int]):\n    return g.sum_to" "_size(s)\n"
UNIT = torch.jit.CompilationUnit(TEXT)


def sum_to(gradient, shape):
    return UNIT.f(gradient, list(shape))


# %% weight_transposed_in_backward
# w is transposed as in forward.
class Affine(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = for_w = for_b = None
        if ctx.needs_input_grad[0]:
            for_x = grad_output @ w.T
        if ctx.needs_input_grad[1]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        if ctx.needs_input_grad[2]:
            for_b = sum_to(grad_output, (m,))
        return for_x, for_w, for_b


# %% size_one_forgotten
# A reshape at the end, which raises.
def sum_to(gradient, shape):
    lead = gradient.dim() - len(shape)
    if lead:
        gradient = gradient.sum(list(range(lead)))
    return gradient.reshape(tuple(shape))


# %% leading_forgotten
# A reshape at the end, which raises; dimensions of size 1 are counted from the left.
def sum_to(gradient, shape):
    for d, n in enumerate(shape):
        if n == 1:
            gradient = gradient.sum(d, keepdim=True)
    return gradient.reshape(tuple(shape))


# %% numbers_of_dimensions_shift
# One list of all dimensions, one sum for each, and a reshape.
def sum_to(gradient, shape):
    lead = gradient.dim() - len(shape)
    dims = list(range(lead)) + [lead + i for i, n in enumerate(shape) if n == 1]
    for d in dims:
        gradient = gradient.sum(d)
    return gradient.reshape(tuple(shape))


# %% bias_left_out
# forward forgets b.
class Affine(Function):
    ...
    @staticmethod
    def forward(ctx, x, w, b):
        ctx.save_for_backward(x, w)
        return x @ w.T


# %% einsum_gradients_swapped
# The gradient of b comes first.
def einsum_gradients(equation, a, b, gradient):
    def gradient_of(own, shape, letters, other):
        kept = "".join(one for one in own if one in result + letters)
        found = torch.einsum(f"{result},{letters}->{kept}", gradient, other)
        for dim, letter in enumerate(own):
            if letter not in kept:
                found = found.unsqueeze(dim)
        return found.expand(shape)

    inputs, result = equation.split("->")
    of_a, of_b = inputs.split(",")
    return (
        gradient_of(of_b, b.shape, of_a, a),
        gradient_of(of_a, a.shape, of_b, b),
    )
