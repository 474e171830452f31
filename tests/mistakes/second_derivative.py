"""second_derivative: wrong answers. A cell shows the definitions that differ from the solution."""


# %% accumulated_in_grad
# The second backward adds to the first derivative in .grad.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    f(x).sum().backward(create_graph=True)
    if x.grad.requires_grad:
        x.grad.sum().backward()
    return x.grad


# %% accumulated_in_grad
# A loop of backward passes that never clears .grad.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        y.backward(torch.ones_like(y), create_graph=True)
        y = x.grad
    return y


# %% another_norm
# The root is missing.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (((gradient**2).sum(dim=1) - 1) ** 2).mean()


# %% another_norm
# The 1-norm.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.abs().sum(dim=1) - 1) ** 2).mean()


# %% column_meets_a_vector
# Ones of shape (batch,) times a column give a matrix.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    weighted = f(x) * x.new_ones(len(x))
    (gradient,) = torch.autograd.grad(weighted.sum(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% common_empty_input
# Element by element: for an empty x there is nothing to stack.
def second_derivative(f, x):
    seconds = []
    for number in x.detach().reshape(-1):
        number = number.clone().requires_grad_()
        seconds.append(differentiable_gradient(differentiable_gradient(f(number), number), number))
    return torch.stack(seconds).reshape(x.shape)


# %% common_empty_input
# Number by number: for an empty x there is nothing to stack.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    results = []
    for number in x.detach().reshape(-1):
        number = number.clone().requires_grad_()
        y = f(number)
        for _ in range(n):
            y = differentiable_gradient(y, number)
        results.append(y)
    return torch.stack(results).reshape(x.shape)


# %% common_flag_of_a_result
# The flag is set on the caller's x, which has to be a leaf for that.
def hessian(f, x):
    x.requires_grad = True
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    return torch.stack(
        [torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True)[0] for g in gradient]
    )


# %% common_no_return
# The last line has no return.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    differentiable_gradient(first, x)


# %% common_other_exception
# AssertionError where ValueError is promised.
def nth_derivative(f, x, n):
    assert n >= 0, "n must not be negative"
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% common_returned_exception
# return stands where raise should.
def nth_derivative(f, x, n):
    if n < 0:
        return ValueError(f"there is no derivative of order {n}")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% common_wrong_dtype
# The matrix is created in torch's default dtype.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    matrix = torch.zeros(len(x), len(x))
    for i in range(len(x)):
        matrix[i] = differentiable_gradient(gradient[i], x).detach()
    return matrix


# %% common_wrong_dtype
# x is rebuilt from a list, in torch's default dtype.
def second_derivative(f, x):
    x = torch.tensor(x.tolist(), requires_grad=True)
    return differentiable_gradient(differentiable_gradient(f(x), x), x)


# %% common_wrong_dtype
# The norms are summed in float64.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.double().norm(dim=1) - 1) ** 2).mean()


# %% common_wrong_shape
# The sum of the second derivatives.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    return differentiable_gradient(first, x).sum()


# %% constant_derivative_raises
# Right wherever f bends; a line's constant gradient has no graph.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second


# %% constant_derivative_raises
# The loop continues after a derivative has become constant.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().clone().requires_grad_(True)
    result = f(x)
    for _ in range(n):
        result = torch.autograd.grad(
            result, x, grad_outputs=torch.ones_like(result), create_graph=True
        )[0]
    return result


# %% constant_for_zeros
# The loop ends at a constant derivative, which is returned for every higher order.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            break
        y = differentiable_gradient(y, x)
    return y


# %% constant_for_zeros
# The slope of a line is returned as its second derivative.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return first
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% constant_gradient_costs_nothing
# Zero for a gradient that does not require grad, as in the other functions.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not gradient.requires_grad:
        return torch.zeros((), dtype=x.dtype)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% create_graph_missing
# requires_grad_() to silence the error, allow_unused to silence the next.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x)
    first.requires_grad_()
    (second,) = torch.autograd.grad(first.sum(), x, allow_unused=True)
    return torch.zeros_like(x) if second is None else second


# %% create_graph_missing
# A new leaf of the gradient's values, and zeros for what is not connected.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, retain_graph=True)[0].clone().requires_grad_(True)
    rows = [
        torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True)[0] for g in gradient
    ]
    return torch.stack(rows)


# %% create_graph_missing
# retain_graph for create_graph, and zeros wherever a gradient has no graph.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        (y,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    return y


# %% create_graph_missing
# retain_graph where create_graph is needed.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x).sum()
    (first,) = torch.autograd.grad(y, x, retain_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second


# %% create_graph_missing
# backward() without create_graph, then the gradient of x.grad: what C17 does.
def hessian(f, x):
    x = x.clone().detach().requires_grad_(True)
    f(x).backward()
    rows = []
    for k in range(len(x)):
        rows.append(torch.autograd.grad(x.grad[k], x, retain_graph=True)[0])
    return torch.stack(rows)


# %% create_graph_missing
# allow_unused makes None of what is not connected.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = torch.autograd.grad(f(x).sum(), x)[0].requires_grad_()
    return torch.autograd.grad(first.sum(), x, allow_unused=True)[0]


# %% create_graph_missing
# The gradient was copied into a new tensor, and lost its past.
def second_derivative(f, x):
    x = x.detach().clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x)
    first = torch.tensor(first.tolist(), dtype=x.dtype, requires_grad=True)
    return torch.autograd.grad(first.sum(), x)[0]


# %% create_graph_missing
# requires_grad_() against the error about grad_fn.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x = x.detach().clone().requires_grad_()
    y = f(x)
    for _ in range(n):
        y = torch.autograd.grad(y.sum(), x, retain_graph=True)[0].requires_grad_()
    return y


# %% create_graph_missing
# A clone of the gradient that requires grad, against the error about grad_fn.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x).sum(), x)
    g = g.clone().requires_grad_()
    (h,) = torch.autograd.grad(g.sum(), x)
    return h


# %% create_graph_once
# create_graph for the first derivative only.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must be 0 or more")
    x = x.detach().requires_grad_()
    result = f(x)
    for k in range(n):
        (result,) = torch.autograd.grad(
            result.sum(), x, create_graph=(k == 0), materialize_grads=True
        )
    return result


# %% create_graph_once
# The second gradient has no graph, and what has no graph counts as constant.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must be 0 or more")
    x = x.detach().requires_grad_()
    y = f(x)
    for k in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        (y,) = torch.autograd.grad(
            y.sum(), x, create_graph=k < 1, retain_graph=True, materialize_grads=True
        )
    return y


# %% detaches_the_callers_x
# detach_() in place of detach().
def second_derivative(f, x):
    x = x.detach_().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(x), x), x)


# %% detaches_the_callers_x
# detach_() in place of detach(), for a batch.
def gradient_penalty(f, x):
    x = x.detach_().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% diagonal_only
# d²f/dx_i² for every i, and nothing else.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    matrix = torch.zeros(len(x), len(x), dtype=x.dtype)
    for i in range(len(x)):
        matrix[i, i] = differentiable_gradient(gradient[i], x)[i]
    return matrix


# %% diagonal_only
# The diagonal as a vector.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return torch.stack([differentiable_gradient(gradient[i], x)[i] for i in range(len(x))])


# %% finite_differences
# The difference of differences, with a step.
def second_derivative(f, x):
    x = x.detach()
    h = 1e-3
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


# %% finite_differences
# Half by autograd, half by differences.
def hessian(f, x):
    def gradient(point):
        point = point.detach().requires_grad_()
        return differentiable_gradient(f(point), point).detach()

    columns = []
    for k in range(len(x)):
        step = torch.zeros_like(x)
        step[k] = 1e-5
        columns.append((gradient(x.detach() + step) - gradient(x.detach() - step)) / 2e-5)
    return torch.stack(columns)


# %% finite_differences
# The first derivative is exact, the second a central difference of it.
def second_derivative(f, x):
    def gradient(point):
        point = point.detach().requires_grad_()
        return torch.autograd.grad(f(point).sum(), point)[0]

    h = 1e-5
    return (gradient(x.detach() + h) - gradient(x.detach() - h)) / (2 * h)


# %% finite_differences
# Each gradient is a central difference of values of f, in the graph of the parameters.
def gradient_penalty(f, x):
    columns = []
    for k in range(x.shape[1]):
        step = torch.zeros_like(x)
        step[:, k] = 1e-4
        columns.append((f(x.detach() + step) - f(x.detach() - step)).reshape(-1) / 2e-4)
    return ((torch.stack(columns, dim=1).norm(dim=1) - 1) ** 2).mean()


# %% grad_is_cleared
# x.grad is set to None to begin with, though torch.autograd.grad does not need it.
def hessian(f, x):
    if x.is_leaf:
        x.requires_grad_()
        x.grad = None
    else:
        x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    rows = [
        torch.autograd.grad(one, x, retain_graph=True, materialize_grads=True)[0]
        for one in gradient
    ]
    return torch.stack(rows)


# %% grad_is_cleared
# An optimizer clears x.grad, and x is put aside as a copy afterwards.
def gradient_penalty(f, x):
    if x.grad is not None:
        torch.optim.SGD([x]).zero_grad(set_to_none=False)
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% graph_that_misses_x
# Asks whether the first derivative requires grad, not whether x is in its graph.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second


# %% graph_that_misses_x
# Asks whether the gradient has a grad_fn, not whether x is in its graph.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0]
    if gradient.grad_fn is None and not gradient.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    return torch.stack([torch.autograd.grad(g, x, retain_graph=True)[0] for g in gradient])


# %% graph_that_misses_x
# allow_unused makes None of a gradient that does not depend on x.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, allow_unused=True)[0]


# %% graph_that_misses_x
# The second derivative requires grad because of a tensor inside f, and does not depend on x.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    result = f(x)
    for _ in range(n):
        if not result.requires_grad:
            return torch.zeros_like(x)
        (result,) = torch.autograd.grad(result.sum(), x, create_graph=True)
    return result.detach()


# %% mean_for_sum
# mean() makes a scalar too, and divides.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x).mean(), x)
    return differentiable_gradient(first.mean(), x)


# %% mean_for_sum
# mean() for the function, sum for the derivatives.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative.mean(), x)
    return derivative


# %% mean_of_the_critic
# The gradient of the mean, as in a loss.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).mean(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% negative_order_accepted
# range(n) is empty for a negative n.
def nth_derivative(f, x, n):
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% norm_of_the_wrong_elements
# norm() without a dimension: one norm of all rows together.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(2) - 1) ** 2).mean()


# %% norm_of_the_wrong_elements
# A norm for each feature in place of each row.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(2, dim=0) - 1) ** 2).mean()


# %% one_derivative_short
# The first derivative is returned.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    y = f(x).sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    return gradient


# %% one_derivative_short
# One turn of the loop too few.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(1, n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% one_derivative_more
# One turn of the loop too many.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n must not be negative")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n + 1):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% ones_of_the_wrong_shape
# One 1 for each row, whatever shape f(x) has.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    ones = torch.ones(x.shape[0], dtype=x.dtype)
    (gradient,) = torch.autograd.grad(f(x), x, grad_outputs=ones, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% order_zero
# The first derivative is taken before the loop begins.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("negative order")
    x = x.detach().requires_grad_()
    if n == 0:
        return x
    derivative = differentiable_gradient(f(x), x)
    for _ in range(n - 1):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% order_zero
# The first derivative is taken before the loop begins, so n = 0 gives it too.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("negative order")
    x = x.detach().requires_grad_()
    derivative = differentiable_gradient(f(x), x)
    for _ in range(1, n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% outer_product_of_gradients
# The outer product of the gradient with itself.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x)
    return torch.outer(gradient, gradient)


# %% past_cut_off
# The gradient is copied into a new tensor.
def second_derivative(f, x):
    x = x.detach().clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    first = torch.tensor(first.tolist(), dtype=x.dtype, requires_grad=True)
    return torch.autograd.grad(first.sum(), x)[0]


# %% past_cut_off
# detach() after create_graph=True, and zeros for what is not connected.
def hessian(f, x):
    x = x.detach().requires_grad_()
    g = torch.autograd.grad(f(x), x, create_graph=True)[0].detach().requires_grad_()
    return torch.stack(
        [torch.autograd.grad(e, x, retain_graph=True, materialize_grads=True)[0] for e in g]
    )


# %% past_cut_off
# detach() in the loop, and zeros wherever a derivative does not require grad.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        y = torch.autograd.grad(y.sum(), x, create_graph=True, materialize_grads=True)[0].detach()
    return y


# %% past_cut_off
# create_graph=True, then detach(): the second differentiation raises.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0].detach()
    return torch.stack(
        [torch.autograd.grad(element, x, retain_graph=True)[0] for element in gradient]
    )


# %% penalty_cut_off
# The right value, from a gradient without a graph.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, retain_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% penalty_cut_off
# The graph is there, and lost when the rows' penalties are collected.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    penalties = [(row.norm().item() - 1) ** 2 for row in gradient]
    return torch.tensor(penalties, dtype=x.dtype).mean()


# %% penalty_cut_off
# The norms have no graph, and requires_grad_() makes a leaf of the penalty.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x)
    return ((gradient.norm(dim=1) - 1) ** 2).mean().requires_grad_()


# %% penalty_cut_off
# The gradient is recorded only if the caller's x requires grad.
def gradient_penalty(f, x):
    leaf = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=x.requires_grad)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% row_sums
# The elementwise trick on a function that is not elementwise.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return differentiable_gradient(gradient.sum(), x)


# %% row_sums
# The sums of the rows, put on the diagonal.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return torch.diag(differentiable_gradient(gradient, x))


# %% rows_free_the_graph
# The first row's backward pass frees the graph of the gradient.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not gradient.requires_grad:
        return x.new_zeros(len(x), len(x))
    rows = []
    for element in gradient:
        (row,) = torch.autograd.grad(element, x, materialize_grads=True)
        rows.append(row)
    return torch.stack(rows)


# %% rows_pile_up
# Every row is x.grad, and x.grad is never cleared.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    rows = []
    for element in gradient:
        if element.requires_grad:
            element.backward(retain_graph=True)
        rows.append(x.grad if x.grad is not None else torch.zeros_like(x))
    return torch.stack(rows)


# %% rows_pile_up
# The rows are copied, but x.grad is never cleared, not even of the gradient.
def hessian(f, x):
    x = x.detach().requires_grad_()
    f(x).backward(create_graph=True)
    gradient = x.grad
    rows = []
    for k in range(len(x)):
        if gradient.requires_grad:
            gradient[k].backward(retain_graph=True)
        rows.append(x.grad.detach().clone())
    return torch.stack(rows)


# %% sum_in_each_row
# Each row is the gradient of the gradient's sum.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return torch.stack([differentiable_gradient(gradient.sum(), x) for _ in x])


# %% sum_in_each_row
# One row for all of the matrix.
def hessian(f, x):
    matrix, x = x.new_zeros(len(x), len(x)), x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True, materialize_grads=True)
    if gradient.requires_grad:
        matrix[:] = torch.autograd.grad(gradient.sum(), x, materialize_grads=True)[0]
    return matrix


# %% rows_put_together_wrongly
# The sum over the rows.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).sum()


# %% rows_put_together_wrongly
# The mean is taken before the square.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1).mean() - 1) ** 2


# %% square_of_the_first
# (dy/dx)² is not d²y/dx².
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x)
    return first**2


# %% squeezes_the_batch_away
# squeeze() makes (batch, 1) to (batch,), and (1, 1) to ().
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    total = 0
    y = f(x).squeeze()
    for k, row in enumerate(y):
        (gradient,) = torch.autograd.grad(row, x, create_graph=True)
        total = total + (gradient[k].norm() - 1) ** 2
    return total / len(x)


# %% target_forgotten
# The squared norms, without their distance from 1.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1) ** 2).mean()


# %% target_forgotten
# The norm is squared, not its distance from 1.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1) ** 2 - 1).mean()


# %% target_forgotten
# The distance is not squared.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (gradient.norm(dim=1) - 1).abs().mean()


# %% too_much_at_the_root
# Ten times as much under the root as is allowed.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (((gradient**2).sum(dim=1) + 1e-5).sqrt() - 1).square().mean()


# %% too_much_at_the_root
# A thousandth is added to each norm.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    norms = torch.linalg.vector_norm(gradient, dim=1) + 1e-3
    return torch.mean((norms - 1) ** 2)


# %% tuple_of_gradients
# The tuple is used as if it were its tensor.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    second = torch.autograd.grad(first.sum(), x)
    return second


# %% tuple_of_gradients
# The last gradient is returned as the tuple that it came in.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)


# %% tuple_of_gradients
# The tuple is handed to torch as a tensor.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    rows = [torch.autograd.grad(g, x, retain_graph=True, materialize_grads=True) for g in gradient]
    return torch.stack(rows)


# %% uses_the_judges_tool
# torch.func does it all.
def hessian(f, x):
    return torch.func.hessian(f)(x.detach())


# %% uses_the_judges_tool
# The same by another name, which only the call stack shows.
def hessian(f, x):
    tools = __import__("torch.autograd.functional", fromlist=["hessian"])
    return getattr(tools, "hess" + "ian")(f, x.detach())


# %% vector_without_v
# f(x) is differentiated as it is, with as many elements as x has.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = torch.autograd.grad(f(x), x, create_graph=True)[0]
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first, x)[0]


# %% vector_without_v
# f(x).backward() for a whole batch.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    f(x).backward(create_graph=True)
    return ((x.grad.norm(dim=1) - 1) ** 2).mean()


# %% writes_to_grad
# backward on the caller's own x, and its .grad cleared afterwards.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n < 0")
    x.requires_grad_(True)
    y = f(x)
    for _ in range(n):
        if not y.requires_grad:
            return torch.zeros_like(x)
        x.grad = None
        y.sum().backward(create_graph=True)
        y = x.grad if x.grad is not None else torch.zeros_like(x)
    x.grad = None
    return y


# %% writes_to_grad
# backward on the caller's own x, whose .grad is zeroed first.
def gradient_penalty(f, x):
    x.requires_grad_()
    if x.grad is not None:
        x.grad = torch.zeros_like(x.grad)
    before = x.grad
    f(x).sum().backward(create_graph=True)
    gradient = x.grad if before is None else x.grad - before
    return (gradient.norm(dim=1) - 1).pow(2).mean()


# %% writes_to_grad
# backward() on a copy of x also reaches the parameters inside f.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    f(x).sum().backward(create_graph=True)
    return ((x.grad.norm(dim=1) - 1) ** 2).mean()


# %% writes_to_grad
# .grad of x is set aside and put back, that of the parameters inside f is not.
def second_derivative(f, x):
    if not x.requires_grad:
        x = x.detach().requires_grad_()
    before, x.grad = x.grad, None
    f(x).sum().backward(create_graph=True)
    first, x.grad = x.grad, before
    return (
        torch.zeros_like(first)
        if not first.requires_grad
        else differentiable_gradient(first.sum(), x)
    )


# %% x_must_require_grad
# Takes it for granted that x requires grad.
def second_derivative(f, x):
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    (second,) = torch.autograd.grad(first.sum(), x, materialize_grads=True)
    return second


# %% x_must_require_grad
# A detached copy does not require grad.
def gradient_penalty(f, x):
    x = x.detach().clone()
    y = f(x)
    gradient = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
    return ((gradient.norm(2, dim=1) - 1) ** 2).mean()


# %% x_must_require_grad
# A detached x, and zeros for what has no graph.
def second_derivative(f, x):
    x = x.detach()
    y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x, materialize_grads=True)[0]


# %% zeros_unlike_x
# torch.zeros of x's shape, in torch's default dtype.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    first = differentiable_gradient(f(x), x)
    if not first.requires_grad:
        return torch.zeros(x.shape)
    return differentiable_gradient(first, x)


# %% zeros_unlike_x
# A single zero where a matrix of them is promised.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    if not gradient.requires_grad:
        return torch.tensor(0.0)
    return torch.stack([differentiable_gradient(element, x) for element in gradient])


# %% requires_grad_switched_off
# The flag is set for the computation, and then cleared, whatever it was before.
def second_derivative(f, x):
    x.requires_grad_()
    (slope,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not slope.requires_grad:
        result = torch.zeros_like(x)
    else:
        (result,) = torch.autograd.grad(slope.sum(), x, allow_unused=True, materialize_grads=True)
    if x.is_leaf:
        x.requires_grad_(False)
    return result.detach()


# %% writes_to_grad
# backward() on a result of the caller's also reaches the leaf that it was computed from.
def second_derivative(f, x):
    if x.is_leaf:
        x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True, materialize_grads=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    if x.is_leaf:
        return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]
    x.retain_grad()
    first.sum().backward()
    return x.grad


# %% zeros_one_order_early
# Looks for a constant derivative after each differentiation, the last one included.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n has to be 0 or more")
    x = x.detach().requires_grad_()
    derivative = f(x)
    for _ in range(n):
        (derivative,) = torch.autograd.grad(
            derivative.sum(), x, create_graph=True, materialize_grads=True
        )
        if not derivative.requires_grad:
            return torch.zeros_like(x)
    return derivative


# %% zeros_taken_for_constant
# A derivative that is 0 at x ends the loop.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("n has to be 0 or more")
    leaf = x.detach().requires_grad_()
    result = f(leaf)
    for _ in range(n):
        if not result.requires_grad or not result.any():
            return torch.zeros_like(x, requires_grad=False)
        result, *_ = torch.autograd.grad(
            result.sum(), leaf, create_graph=True, materialize_grads=True
        )
    return result.detach()


# %% zeros_taken_for_constant
# The row of a first derivative that is 0 at x stays zeros.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    matrix = x.new_zeros(len(x), len(x))
    for i, element in enumerate(gradient):
        if gradient.requires_grad and element != 0:
            (matrix[i],) = torch.autograd.grad(
                element, x, retain_graph=True, materialize_grads=True
            )
    return matrix


# %% zeros_taken_for_constant
# f counts as linear where all slopes are equal.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not slope.requires_grad or (x.numel() > 1 and slope.min() == slope.max()):
        return torch.zeros_like(x)
    return torch.autograd.grad(slope.sum(), x, materialize_grads=True)[0]


# %% zeros_taken_for_constant
# The slope of a single element is always the same everywhere.
def is_constant(slope):
    return not slope.requires_grad or bool((slope == slope.flatten()[:1]).all())


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if is_constant(slope):
        return torch.zeros_like(x)
    return torch.autograd.grad(slope.sum(), x, materialize_grads=True)[0]


# %% rows_instead_of_batches
# f gets each row by itself, without the dimension of the batch.
def gradient_penalty(f, x):
    penalties = []
    for row in x.detach().clone():
        row = row.requires_grad_() if row.is_leaf else row.clone().requires_grad_()
        (g,) = torch.autograd.grad(f(row).sum(), row, create_graph=True)
        penalties.append((g.norm() - 1).square())
    return torch.stack(penalties).mean()


# %% flag_switched_back_too_early
# The flag is set for the first differentiation, and set back before the second.
def second_derivative(f, x):
    flag = x.requires_grad
    x.requires_grad_(True)
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    x.requires_grad_(flag)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% flag_switched_back_too_early
# The gradient restores the flag itself, and is differentiated afterwards.
def gradient(f, x):
    flag, x.requires_grad = x.requires_grad, True
    try:
        return torch.autograd.grad(f(x), x, create_graph=True)[0]
    finally:
        x.requires_grad = flag


def hessian(f, x):
    x = x.detach() if not x.is_leaf else x
    g = gradient(f, x)
    if not g.requires_grad:
        return torch.zeros(len(x), len(x), dtype=x.dtype)
    return torch.stack(
        [torch.autograd.grad(e, x, retain_graph=True, materialize_grads=True)[0] for e in g]
    )


# %% common_rounded_to_float32
# x becomes float32 for the computation, and the result gets x's dtype.
def second_derivative(f, x):
    leaf = x.detach().float().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(leaf), leaf), leaf).to(x.dtype)


# %% common_rounded_to_float32
# The result goes through a tensor of torch's default dtype.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    leaf = x.detach().requires_grad_()
    derivative = f(leaf)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, leaf)
    result = torch.empty(x.shape)
    result.copy_(derivative.detach())
    return result.to(x.dtype)


# %% common_rounded_to_float32
# The rows are collected in a matrix of torch's default dtype.
def hessian(f, x):
    leaf = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(leaf), leaf)
    matrix = torch.zeros(len(x), len(x))
    for i, element in enumerate(gradient):
        matrix[i] = differentiable_gradient(element, leaf).detach()
    return matrix.to(x.dtype)


# %% uses_the_judges_tool
# torch.func.grad, applied n times.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)

    def derivative_of(g):
        return torch.func.grad(lambda x: g(x).sum())

    for _ in range(n):
        f = derivative_of(f)
    return f(x.detach())


# %% x_must_require_grad
# The gradient is taken at the caller's x, which does not always require grad.
def gradient_penalty(f, x):
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return ((gradient.norm(dim=1) - 1) ** 2).mean()


# %% common_flag_of_a_result
# The flag is set on the caller's x, for every order.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x.requires_grad = True
    derivative = f(x)
    for _ in range(n):
        derivative = differentiable_gradient(derivative, x)
    return derivative


# %% x_must_require_grad
# Every order is differentiated at the caller's x.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    y = f(x)
    for _ in range(n):
        y = differentiable_gradient(y, x)
    return y


# %% rows_not_stacked
# The rows stay in a list.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = differentiable_gradient(f(x), x)
    return [differentiable_gradient(element, x) for element in gradient]
