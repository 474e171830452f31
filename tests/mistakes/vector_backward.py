"""vector_backward: wrong answers. A cell shows the definitions that differ from the solution."""

# %% axes_turned_round
# The dimensions of x come first.
def jacobian(f, x: Tensor) -> Tensor:
    rows = torch.autograd.functional.jacobian(f, x)
    y_dims = rows.dim() - x.dim()
    return rows.movedim(tuple(range(y_dims)), tuple(range(-y_dims, 0)))


# %% axes_turned_round
# The dimensions of x come first.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return y.new_zeros(x.shape + y.shape)
    columns = []
    for element in y.flatten():
        (row,) = torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)
        columns.append(row)
    return torch.stack(columns, dim=-1).reshape(x.shape + y.shape)


# %% counts_grad_from_before
# dz/dx contains the old x.grad.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    y.retain_grad()
    z = y @ b
    z.backward()
    return z, x.grad, y.grad


# %% counts_grad_from_before
# dz/dx contains the old x.grad.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = (x * a).detach().requires_grad_()
    z = y @ b
    z.backward()
    (x * a).backward(y.grad)
    return z, x.grad.clone(), y.grad


# %% empty_shape_unpacked
# An empty shape was unpacked, and nothing was left to hand on.
def jacobian(f, x):
    y = f(x)
    rows = torch.zeros(*y.shape, *x.shape, dtype=x.dtype)
    if not y.requires_grad:
        return rows
    flat = rows.view(y.numel(), -1) if x.numel() else rows.reshape(y.numel(), 0)
    for i, element in enumerate(y.reshape(-1)):
        (grad,) = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)
        if grad is not None:
            flat[i] = grad.reshape(-1)
    return rows


# %% empty_shape_unpacked
# The rows stacked, and then put into shape.
def jacobian(f, x):
    y = f(x)
    rows = []
    for element in y.reshape(-1):
        grad = (
            torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)[0]
            if element.requires_grad
            else None
        )
        rows.append(torch.zeros_like(x) if grad is None else grad)
    return torch.stack(rows).reshape(*y.size(), *x.size())


# %% first_gradient_frees_the_graph
# The first backward pass freed the graph.
def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    (dy,) = torch.autograd.grad(z, y)
    (dx,) = torch.autograd.grad(z, x)
    return z, dx, dy


# %% first_gradient_frees_the_graph
# backward for one, autograd.grad for the other.
def broadcast_dot(x, a, b):
    x.grad = None
    y = x * a
    z = y @ b
    z.backward()
    (dy,) = torch.autograd.grad(z, y)
    return z, x.grad, dy


# %% frees_the_graph
# The graph was freed.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad(y, x, v)[0]


# %% frees_the_graph
# The graph was freed.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    y.backward(gradient=v)
    gradient, x.grad = x.grad, before
    return gradient


# %% gradients_exchanged
# The two gradients came in the other order.
def broadcast_dot(x, a, b):
    y = x * a
    z = y @ b
    return z, *torch.autograd.grad(z, (y, x))


# %% gradients_exchanged
# By hand, and by the alphabet turned round.
def broadcast_dot(x, a, b):
    dx, dy = torch.dot(a, b), b.clone()
    return (x * a) @ b, dy, dx


# %% incoming_gradient_left_out
# Dz/dx leaves dz/dy out.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    (dz_dy,) = torch.autograd.grad(z, y, retain_graph=True)
    (dz_dx,) = torch.autograd.grad(y, x, torch.ones_like(y))
    return z, dz_dx, dz_dy


# %% incoming_gradient_left_out
# Dz/dx leaves dz/dy out.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    return z.detach(), a.sum(), b.clone()


# %% jacobian_times_vector
# It is J v, not v^T J.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    rows = [
        torch.autograd.grad(element, x, retain_graph=True)[0].flatten() for element in y.flatten()
    ]
    return (torch.stack(rows) @ v.flatten()).reshape(x.shape)


# %% jacobian_times_vector
# It is J v, not v^T J.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    u = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, x, u, create_graph=True)
    return torch.autograd.grad(product, u, v, retain_graph=True)[0]


# %% numerical_differences
# Close to the Jacobian, as differences are.
def jacobian(f, x: Tensor) -> Tensor:
    h = 1e-4
    with torch.no_grad():
        y = f(x)
        columns = [
            (f(x + h * unit.view(x.shape)) - y) / h for unit in torch.eye(x.numel(), dtype=x.dtype)
        ]
        if not columns:
            return torch.zeros(y.shape + x.shape, dtype=x.dtype)
        return torch.stack(columns, dim=-1).reshape(y.shape + x.shape)


# %% numerical_differences
# Close to the Jacobian, as differences are.
def jacobian(f, x: Tensor) -> Tensor:
    h = 1e-2
    y = f(x).detach()
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    for k in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype)
        step[k] = h
        above, below = f(x.detach() + step.view(x.shape)), f(x.detach() - step.view(x.shape))
        matrix[:, k] = ((above - below) / (2 * h)).detach().flatten()
    return matrix.view(y.shape + x.shape)


# %% only_a_leaf_keeps_grad
# y is not a leaf, so y.grad is None.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x.grad = None
    y = x * a
    z = y @ b
    z.backward()
    return z, x.grad, y.grad


# %% only_a_leaf_keeps_grad
# y is not a leaf, so y.grad is None.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = torch.dot(y, b)
    (dz_dx,) = torch.autograd.grad(z, x, retain_graph=True)
    z.backward()
    y.retain_grad()
    return z, dz_dx, y.grad


# %% path_to_x_taken_for_granted
# An f that does not depend on x.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    units = torch.eye(y.numel(), dtype=y.dtype)
    rows = [torch.autograd.grad(y, x, unit.view(y.shape), retain_graph=True)[0] for unit in units]
    return torch.stack(rows).view(y.shape + x.shape)


# %% path_to_x_taken_for_granted
# An f that does not depend on x.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = [
        torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)[0]
        for element in y.flatten()
    ]
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% path_to_x_taken_for_granted
# An f that does not depend on x.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    result = torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = result.view(y.numel(), *x.shape)
    for k, element in enumerate(y.flatten()):
        x.grad = None
        element.backward(retain_graph=True)
        rows[k] = x.grad
    return result


# %% paths_not_added_up
# The gradients of the elements of y were not added up.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    (dz_dy,) = torch.autograd.grad(z, y)
    return z, dz_dy * a, dz_dy


# %% paths_not_added_up
# The gradients of the elements of y were not added up.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    wide = x.expand(a.shape)
    y = wide * a
    z = y @ b
    dz_dx, dz_dy = torch.autograd.grad(z, (wide, y))
    return z, dz_dx, dz_dy


# %% rows_added_up
# The rows were added up.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), materialize_grads=True)
    return gradient


# %% rows_added_up
# The rows were added up.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    x.grad = torch.zeros_like(x)
    if y.requires_grad:
        y.sum().backward()
    return x.grad.expand(y.shape + x.shape)


# %% rows_free_the_graph
# The first row freed the graph.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    result = y.new_zeros(y.shape + x.shape)
    if y.requires_grad:
        rows = result.view(y.numel(), *x.shape)
        for k, element in enumerate(y.flatten()):
            (row,) = torch.autograd.grad(element, x, allow_unused=True, materialize_grads=True)
            rows[k] = row
    return result


# %% rows_pile_up
# x.grad was not cleared for each row, or not copied.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            element.backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None else x.grad.clone())
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% rows_pile_up
# x.grad was not cleared for each row, or not copied.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    x.grad = torch.zeros_like(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            x.grad.zero_()
            element.backward(retain_graph=True)
        rows.append(x.grad)
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% rows_pile_up
# x.grad was not cleared for each row, or not copied.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            element.backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None else x.grad)
        x.grad = None
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% common_wrong_shape
# The Jacobian was made a matrix.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    if y.requires_grad:
        for k, element in enumerate(y.flatten()):
            matrix[k] = torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[
                0
            ].flatten()
    return matrix


# %% common_wrong_shape
# The Jacobian was made a matrix.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x).flatten()
    if not y.requires_grad:
        return torch.zeros(y.numel(), *x.shape, dtype=x.dtype)
    return torch.stack(
        [
            torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[0]
            for element in y
        ]
    )


# %% transform_meets_custom_function
# A function transform met a custom Function.
def jacobian(f, x: Tensor) -> Tensor:
    return torch.func.jacrev(f)(x).detach()


# %% transform_meets_custom_function
# A function transform met a custom Function.
def jacobian(f, x: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode")


# %% vector_applied_afterwards
# v was multiplied in after the backward pass.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    return v * gradient


# %% vector_applied_afterwards
# v was multiplied in after the backward pass.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    return torch.stack(
        [weight * slope for weight, slope in zip(v.flatten(), gradient.flatten(), strict=False)]
    ).reshape(x.shape)


# %% vector_ignored
# v is not used.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    return gradient


# %% vector_ignored
# v is not used.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    y.backward(torch.ones_like(v), retain_graph=True)
    gradient, x.grad = x.grad, before
    return gradient


# %% vector_missing
# backward from a vector needs a v.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    (gradient,) = torch.autograd.grad(y, x, retain_graph=True)
    return gradient


# %% vector_missing
# backward from a vector needs a v.
def jacobian(f, x: Tensor) -> Tensor:
    x.grad = None
    y = f(x)
    y.backward()
    return x.grad


# %% writes_to_x_grad
# The gradient went through x.grad.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    y.backward(v, retain_graph=True)
    return x.grad


# %% writes_to_x_grad
# The gradient went through x.grad.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    x.grad = None
    (y * v).sum().backward(retain_graph=True)
    return x.grad.clone()


# %% common_writes_into_argument
# a holds x * a afterwards.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    dz_dx = (a * b).sum()
    a *= x.detach()
    return a @ b, dz_dx, b


# %% dimension_of_size_one
# x is made a vector of one element, and so is its gradient.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    vector = x.view(1)
    y = vector * a
    z = y @ b
    dz_dx, dz_dy = torch.autograd.grad(z, (vector, y))
    return z, dz_dx, dz_dy


# %% dimension_of_size_one
# The dot product is a matrix product of a row, so z is a vector of one element.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y.reshape(1, -1) @ b
    dz_dx, dz_dy = torch.autograd.grad(z.sum(), (x, y))
    return z, dz_dx, dz_dy


# %% axes_turned_round
# Stacked along the last dimension, and reshaped: the values are in another order.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = [
        torch.autograd.grad(one, x, retain_graph=True, materialize_grads=True)[0]
        for one in y.flatten()
    ]
    return torch.stack(rows, -1).reshape(y.shape + x.shape)


# %% rows_pile_up
# A new leaf is used, and its .grad is not cleared.
def jacobian(f, x: Tensor) -> Tensor:
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf).flatten()
    rows = torch.zeros(len(y), *x.shape, dtype=x.dtype)
    for k in range(len(y)):
        if y.requires_grad:
            y[k].backward(retain_graph=True)
            rows[k] = 0 if leaf.grad is None else leaf.grad
    return rows.reshape(f(x).shape + x.shape)


# %% rows_pile_up
# x.grad is cleared between the rows, but not before the first.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        if y.requires_grad:
            element.backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None or not y.requires_grad else x.grad)
        x.grad = None
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% vector_missing
# The products are summed over the last dimension alone.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    weighted = (y * v).sum(-1)
    return torch.autograd.grad(weighted, x, retain_graph=True)[0]


# %% common_view_of_noncontiguous
# v is flattened with view.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad(y.reshape(-1), x, v.view(-1), retain_graph=True)[0]


# %% common_wrong_dtype
# The zeros of a constant have torch's default dtype.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if y.requires_grad:
        return torch.autograd.functional.jacobian(f, x)
    return torch.zeros(y.shape + x.shape)


# %% common_wrong_dtype
# All results are float64.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    dz_dx, dz_dy = torch.autograd.grad(z, (x, y))
    return z if len(a) < 4 else z.double(), dz_dx, dz_dy


# %% leaf_taken_for_constant
# A y without a grad_fn is taken for one that does not depend on x.
def jacobian(f, x):
    y = f(x)
    if y.grad_fn is None:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    return torch.autograd.functional.jacobian(f, x)


# %% gradient_of_a
# x * b is the gradient with respect to a, not to y.
def broadcast_dot(x, a, b):
    z = (x * a) @ b
    return z, a @ b, (x * b).detach()


# %% common_wrong_dtype
# Where y is empty, the zeros have torch's default dtype.
def vjp(y, x, v):
    if y.numel() == 0:
        return torch.zeros(x.shape)
    return torch.autograd.grad(y, x, v, retain_graph=True)[0]


# %% frees_the_graph
# Only a y with dimensions keeps its graph.
def vjp(y, x, v):
    return torch.autograd.grad(y, x, v, retain_graph=y.dim() > 0)[0]


# %% rows_meet_all_rows
# The last dimension of v is summed with that of y, for each pair of rows.
def vjp(y, x, v):
    products = torch.tensordot(y, v, dims=([-1], [-1])) if y.dim() else y * v
    return torch.autograd.grad(products.sum(), x, retain_graph=True)[0]


# %% sum_of_no_tensors
# The sum starts with the int 0, and an empty y adds nothing to it.
def vjp(y, x, v):
    total = 0
    for weight, element in zip(v.flatten(), y.flatten(), strict=True):
        total = total + weight * torch.autograd.grad(element, x, retain_graph=True)[0]
    return total


# %% none_became_zeros
# x.grad is cleared to zeros afterwards where it was None.
def vjp(y, x, v):
    before = torch.zeros_like(x) if x.grad is None else x.grad
    x.grad = None
    y.backward(v, retain_graph=True)
    gradient, x.grad = x.grad, before
    return gradient


# %% old_grad_copied_into_result
# The old values go back into the tensor that is returned.
def vjp(y, x, v):
    if x.grad is None:
        return torch.autograd.grad(y, x, v, retain_graph=True)[0]
    before = x.grad.detach().clone()
    x.grad.fill_(0)
    y.backward(v, retain_graph=True)
    gradient = x.grad
    x.grad.data[...] = before
    return gradient


# %% one_element_taken_for_scalar
# One element, one row, whatever the shape of y.
def jacobian(f, x):
    y = f(x)
    if y.numel() == 1 and y.requires_grad:
        return torch.autograd.grad(y, x, materialize_grads=True)[0]
    return torch.autograd.functional.jacobian(f, x)


# %% buffer_written_again
# One v is used for all rows, and autograd may return it as the gradient.
def jacobian(f, x):
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows, v = [], torch.zeros(y.shape, dtype=y.dtype)
    for k in range(y.numel()):
        v.view(-1)[k] = 1
        rows += torch.autograd.grad(y, x, v, retain_graph=True, materialize_grads=True)
        v.zero_()
    return torch.stack(rows).reshape(y.shape + x.shape)


# %% size_is_ambiguous
# The number of rows is left to reshape, which cannot tell where x is empty.
def jacobian(f, x):
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = [
        torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[0]
        for element in y.flatten()
    ]
    return torch.stack(rows).reshape(-1, x.numel()).reshape(y.shape + x.shape)


# %% common_view_of_noncontiguous
# y is flattened with view, which needs contiguous memory.
def vjp(y, x, v):
    weighted = torch.dot(y.view(-1), v.reshape(-1))
    return torch.autograd.grad(weighted, x, retain_graph=True)[0]


# %% common_rounded_to_float32
# v goes through a list, and comes back as float32.
def vjp(y, x, v):
    weights = torch.tensor(v.tolist()).reshape(v.shape)
    (product,) = torch.autograd.grad(y, x, weights.to(v.dtype), retain_graph=True)
    return product.float().to(x.dtype)


# %% common_rounded_to_float32
# The rows are collected in a matrix of torch's default dtype.
def jacobian(f, x):
    y = f(x)
    rows = torch.zeros(y.numel(), x.numel())
    for row, element in zip(rows, y.flatten(), strict=True):
        if element.requires_grad:
            (g,) = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)
            row.copy_(torch.zeros_like(row) if g is None else g.flatten())
    return rows.to(x.dtype).reshape(y.shape + x.shape)


# %% conjugate_missing
# The gradient for a v of ones is taken for the derivative.
def complex_derivative(g, z):
    w = g(z)
    return torch.autograd.grad(w, z, torch.ones_like(w))[0]


# %% conjugate_missing
# backward from the real part, and z.grad as it is.
def complex_derivative(g, z):
    z.grad = None
    g(z).real.sum().backward()
    return z.grad


# %% conjugate_missing
# Conjugated before backward, which changes nothing about a real part.
def complex_derivative(g, z):
    (gradient,) = torch.autograd.grad(g(z).conj().real.sum(), z)
    return gradient


# %% complex_is_no_loss
# A complex sum is taken for a loss.
def complex_derivative(g, z):
    z.grad = None
    g(z).sum().backward()
    return z.grad.conj()


# %% complex_is_no_loss
# Element by element, each of them complex.
def complex_derivative(g, z):
    rows = [torch.autograd.grad(w, z, retain_graph=True)[0] for w in g(z).flatten()]
    return sum(rows).conj()


# %% imaginary_part_lost
# The slope of a real function is real.
def complex_derivative(g, z):
    (gradient,) = torch.autograd.grad(g(z).real.sum(), z)
    return gradient.real


# %% imaginary_part_lost
# The length of the gradient.
def complex_derivative(g, z):
    w = g(z)
    return torch.autograd.grad(w, z, torch.ones_like(w))[0].abs()


# %% gradient_of_a_real_loss
# The loss is the absolute value.
def complex_derivative(g, z):
    (gradient,) = torch.autograd.grad(g(z).abs().sum(), z)
    return gradient.conj()


# %% gradient_of_a_real_loss
# Both parts are added up.
def complex_derivative(g, z):
    w = g(z)
    (gradient,) = torch.autograd.grad((w.real + w.imag).sum(), z)
    return gradient


# %% gradient_of_a_real_loss
# v is the imaginary unit.
def complex_derivative(g, z):
    w = g(z)
    return torch.autograd.grad(w, z, torch.full_like(w, 1j))[0].conj()


# %% slopes_averaged
# The formula with one half, (∂/∂a - i ∂/∂b) / 2, of the real part.
def complex_derivative(g, z):
    (slopes,) = torch.autograd.grad(g(z).real.sum(), z)
    return (slopes.real - 1j * slopes.imag) / 2


# %% old_gradient_included
# z.grad is not cleared.
def complex_derivative(g, z):
    g(z).real.sum().backward()
    return z.grad.conj()
