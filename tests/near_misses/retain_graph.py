"""retain_graph: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% builds_a_fresh_graph
# The second backward begins at x.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        x.backward()
    except RuntimeError as error:
        return str(error)


# %% builds_a_fresh_graph
# z is another function.
def second_backward_error(x):
    z = x**2
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)


# %% builds_a_fresh_graph
# z is another function, of a copy of x.
def second_backward_error(x):
    leaf = x.detach().clone().requires_grad_()
    z = leaf.exp()
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)


# %% clears_between_the_passes
# Returns what the first pass left, and keeps both.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    grad = x.grad.clone()
    loss.backward()
    return grad


# %% clears_between_the_passes
# Each gradient takes the place of the one before; nothing is cleared.
def backward_twice(loss, x):
    x.grad = torch.autograd.grad(loss, x, retain_graph=True)[0]
    x.grad = torch.autograd.grad(loss, x)[0]
    return x.grad


# %% clears_between_the_passes
# Both passes are there, and their sum is halved.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    loss.backward()
    x.grad /= 2
    return x.grad


# %% clears_between_the_passes
# The first pass hands its gradient back and stores nothing.
def backward_twice(loss, x):
    torch.autograd.grad(loss, x, retain_graph=True)
    loss.backward()
    return x.grad


# %% copies_one_pass
# A third pass frees the graph.
def two_fresh_gradients(loss, x):
    results = []
    for _ in range(2):
        x.grad = None
        loss.backward(retain_graph=True)
        results.append(x.grad.clone())
    loss.backward()
    return tuple(results)


# %% grad_is_not_stored
# No pass runs at all.
def backward_twice(loss, x):
    return torch.zeros_like(x)


# %% keeps_the_graph_it_should_lose
# Each backward gets a graph of its own, and one more is made.
def second_backward_error(x):
    z = torch.log(x**3)

    def f():
        return torch.log(x**3)

    try:
        f().backward()
        f().backward()
    except RuntimeError as error:
        return str(error)


# %% message_is_typed_in
# The graph is cut off before the first pass.
def second_backward_error(x):
    z = torch.log(x.detach() ** 3)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)


# %% message_is_typed_in
# A name that torch does not have; the text of that error comes back.
def second_backward_error(x):
    try:
        z = torch.lg(x**3)
        z.backward()
        z.backward()
    except Exception as error:
        return str(error)


# %% message_is_typed_in
# Nothing runs and an empty text comes back.
def second_backward_error(x):
    message = ""
    z = torch.log(x**3)
    try:
        torch.autograd.grad
    except RuntimeError as error:
        message = str(error)
    return message


# %% message_is_typed_in
# The text is torch's own, but no second backward runs: what the first one freed is read.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.grad_fn._saved_self
    except RuntimeError as error:
        return str(error)


# %% one_backward_for_all
# One backward of the losses' product.
def sum_of_gradients(losses, x):
    x.grad = None
    torch.stack(losses).prod().backward()
    return x.grad.clone()


# %% one_backward_for_all
# One backward for all losses but the first.
def sum_of_gradients(losses, x):
    x.grad = None
    sum(losses[1:]).backward()
    return x.grad.clone()


# %% one_backward_for_all
# One pass more than there are losses, to free the graph.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=True)
    torch.autograd.grad(losses[0], x)
    return x.grad


# %% only_one_pass
# A third pass, whose gradient is dropped, frees the graph.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    loss.backward(retain_graph=True)
    torch.autograd.grad(loss, x)
    return x.grad


# %% only_the_last_loss
# Returns from inside the loop, after the first loss.
def sum_of_gradients(losses, x):
    x.grad = None
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i < len(losses) - 1)
        return x.grad.clone()


# %% results_are_one_tensor
# One copy is handed out twice.
def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    x.grad = None
    loss.backward()
    g = x.grad.clone()
    return g, g


# %% results_cleared_away
# The first result is copied before the first pass.
def two_fresh_gradients(loss, x):
    x.grad = torch.zeros_like(x)
    first = x.grad.clone()
    loss.backward(retain_graph=True)
    x.grad = None
    loss.backward()
    return first, x.grad.clone()


# %% results_cleared_away
# x.grad is cleared, and the first gradient is taken away from the second as well.
def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad = None
    loss.backward()
    return first, x.grad - first


# %% results_cleared_away
# The first result is x.grad itself, so the difference is zero.
def two_fresh_gradients(loss, x):
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad
    loss.backward()
    return first, x.grad - first


# %% stops_after_one_backward
# The second backward gets a gradient of the wrong shape, and the text of that error comes back.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward(torch.ones(1))
    except RuntimeError as error:
        return str(error)
