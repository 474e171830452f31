"""second_derivative: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% accumulated_in_grad
# No .grad: the first derivative is added to the second in so many words.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return first
    return first + torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% common_no_return
# backward() is what is returned.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return first.sum().backward()


# %% create_graph_missing
# f is called under no_grad, and what has no graph counts as constant.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    with torch.no_grad():
        y = f(x)
    if not y.requires_grad:
        return torch.zeros_like(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% create_graph_missing
# f is called under no_grad, so the value has no graph.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    with torch.no_grad():
        y = f(x)
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% finite_differences
# A small number is added to the norm.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return (g.norm(dim=1) + 1e-4 - 1).pow(2).mean()


# %% finite_differences
# Exact differentiation, and a small number added to it.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0] + 1e-4


# %% past_cut_off
# The gradient has its past; it is x that is replaced in each round.
def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError(n)
    x = x.detach().requires_grad_()
    y = f(x)
    for _ in range(n):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        x = x.detach().requires_grad_()
    return y


# %% past_cut_off
# The first gradient is asked with respect to an x that f was not called with.
def second_derivative(f, x):
    y = f(x.detach().requires_grad_())
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% rows_free_the_graph
# One derivative of the other, and the graph that the second needs is freed by retain_graph=False;
# there are no rows.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True, retain_graph=False)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% rows_pile_up
# No backward() and no .grad: the rows are added up in a variable of the function's own.
def hessian(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    rows, total = [], torch.zeros_like(x)
    for element in gradient:
        if element.requires_grad:
            total = total + torch.autograd.grad(element, x, retain_graph=True, materialize_grads=True)[0]
        rows.append(total)
    return torch.stack(rows)


# %% tuple_of_gradients
# A comma after the value that is returned.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]
    return (((gradient.norm(dim=1) - 1) ** 2).mean(),)


# %% tuple_of_gradients
# The rows are to be collected in a tuple.
def hessian(f, x):
    x = x.detach().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0]
    rows = ()
    for element in gradient:
        rows.append(torch.autograd.grad(element, x, retain_graph=True)[0])
    return torch.stack(rows)


# %% writes_to_grad
# Without backward(): x.grad is only emptied.
def second_derivative(f, x):
    x.grad = None
    z = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(z).sum(), z, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), z, materialize_grads=True)[0]


# %% x_must_require_grad
# f gets an x that requires grad, and the gradient is asked with respect to another tensor.
def second_derivative(f, x):
    x = x.detach().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x.detach(), create_graph=True)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


# %% too_much_at_the_root
# Norms below 0.1 are raised to 0.1.
def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    norms = gradient.square().sum(dim=1).clamp(min=0.01).sqrt()
    return (norms - 1).square().mean()
