"""no_grad_and_detach: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% detached_in_place
# y never required grad: first ran with recording off.
def split_backward(x, first, second):
    with torch.no_grad():
        y = first(x)
    w = y.detach().requires_grad_()
    z = second(w)
    x.grad = None
    z.backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% detached_in_place
# It is z that does not require grad: second ran with recording off.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    with torch.no_grad():
        z = second(w)
    x.grad = None
    z.backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% detached_in_place
# y keeps its graph; the second stage begins at w, cut once more.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    z = second(w)
    x.grad = None
    z.backward()
    w.detach().backward(w.grad)
    return x.grad, w.grad


# %% grad_is_none_at_first
# w.grad, and not x.grad, is to be zeroed before the first backward.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    x.grad = None
    y = first(x)
    w = y.detach().requires_grad_()
    w.grad.zero_()
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% nothing_learns
# The differences lose their mean before they are squared.
def bootstrap_loss(online, target):
    d = online - target.detach()
    return (d - d.mean()).pow(2).mean()


# %% nothing_learns
# Only what is below the target counts.
def bootstrap_loss(online, target):
    return torch.relu(target.detach() - online).pow(2).mean()


# %% ones_for_the_gradient
# The gradient is cut to the range from -1 to 1 on its way.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    return torch.autograd.grad(y, x, w.grad.clamp(-1, 1))[0], w.grad


# %% ones_for_the_gradient
# Only the sign of the gradient goes on.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    return torch.autograd.grad(y, x, torch.sign(w.grad))[0], w.grad


# %% stops_at_the_cut
# The second stage runs, but leaves no gradient at x, where it is then read.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    torch.autograd.grad(y, x, w.grad)
    return x.grad, w.grad


# %% stops_at_the_cut
# Both stages run, on a copy of x.
def split_backward(x, first, second):
    leaf = x.detach().clone().requires_grad_()
    y = first(leaf)
    w = y.detach().requires_grad_()
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% stops_at_the_cut
# x.grad is set to None before it is returned.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    y.backward(w.grad)
    gx = x.grad
    x.grad = None
    w2 = w.grad
    return x.grad, w2


# %% target_not_cut
# The fourth power, with the target in the graph.
def bootstrap_loss(online, target):
    return ((online - target) ** 4).mean()


# %% target_not_cut
# One of the two factors of the square is detached.
def bootstrap_loss(online, target):
    d = online - target
    return (d * d.detach()).mean()


# %% target_not_cut
# target is cut in the distance; a term beside it lifts target, and not towards online.
def bootstrap_loss(online, target):
    return ((online - target.detach()) ** 2).mean() + 0.001 * (target - target.detach()).sum()


# %% mode_stays_off_after_an_error
# The except is reached, and switches recording on for a caller who had it off.
def predict(f, x: Tensor) -> Tensor:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        result = f(x)
    except Exception:
        torch.set_grad_enabled(True)
        raise
    torch.set_grad_enabled(before)
    return result
