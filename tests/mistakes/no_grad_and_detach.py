"""no_grad_and_detach: wrong answers. A cell shows the definitions that differ from the solution."""

# %% another_distance
# Another distance than the mean square.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online - target.detach()) ** 2).sum()


# %% another_distance
# Another distance than the mean square.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return torch.nn.functional.l1_loss(online, target.detach())


# %% copy_stays_connected
# A copy is still in the graph.
def cut(y: Tensor) -> Tensor:
    return y.clone()


# %% copy_stays_connected
# A copy is still in the graph.
def cut(y: Tensor) -> Tensor:
    with torch.no_grad():
        zero = torch.zeros_like(y)
    return y + zero


# %% counts_grad_from_before
# What x.grad held before is in the result.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% counts_grad_from_before
# What x.grad held before is in the result.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().clone().requires_grad_(True)
    z = second(w)
    w.grad = None
    z.backward()
    torch.autograd.backward([y], [w.grad])
    return x.grad.clone(), w.grad.clone()


# %% cut_and_made_a_leaf
# Cut, and then a new leaf was made.
def cut(y: Tensor) -> Tensor:
    return y.detach().requires_grad_()


# %% cut_and_made_a_leaf
# Cut, and then a new leaf was made.
def cut(y: Tensor) -> Tensor:
    return torch.nn.Parameter(y.detach().clone())


# %% detached_in_place
# The tensor itself was taken out of its graph.
def cut(y: Tensor) -> Tensor:
    return y.detach_()


# %% detached_in_place
# The tensor itself was taken out of its graph.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    target.detach_()
    return ((online - target) ** 2).mean()


# %% detached_in_place
# The tensor itself was taken out of its graph.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach_().clone().requires_grad_()
    second(w).backward()
    x.grad = None
    y.backward(w.grad)
    return x.grad, w.grad


# %% error_swallowed
# What f raises is swallowed.
def predict(f, x: Tensor) -> Tensor:
    with torch.no_grad():
        try:
            return f(x)
        except Exception:
            return None


# %% error_swallowed
# What f raises is swallowed.
def predict(f, x: Tensor) -> Tensor:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    result = None
    try:
        result = f(x)
    finally:
        torch.set_grad_enabled(before)
        return result


# %% common_flag_of_a_result
# requires_grad of a computed tensor can't be changed.
def cut(y: Tensor) -> Tensor:
    return y.requires_grad_(False)


# %% common_flag_of_a_result
# requires_grad of a computed tensor can't be changed.
def predict(f, x: Tensor) -> Tensor:
    y = f(x)
    y.requires_grad = False
    return y


# %% grad_is_none_at_first
# x.grad is None before the first backward.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    x.grad.zero_()
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    y.backward(w.grad)
    return x.grad, w.grad


# %% graph_dropped_afterwards
# The graph was built and then thrown away.
def predict(f, x: Tensor) -> Tensor:
    return f(x).detach()


# %% graph_dropped_afterwards
# The graph was built and then thrown away.
def predict(f, x: Tensor) -> Tensor:
    y = f(x)
    with torch.no_grad():
        return y.clone()


# %% common_numpy_array
# The result is not a tensor any more.
def cut(y: Tensor) -> Tensor:
    return y.detach().numpy()


# %% common_wrong_type
# The result is not a tensor any more.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online - target.detach()) ** 2).mean().item()


# %% loss_made_a_leaf
# The loss is a new tensor, without a past.
def bootstrap_loss(online, target):
    loss = ((online - target.detach()) ** 2).mean()
    return torch.tensor(loss.item(), dtype=online.dtype, requires_grad=True)


# %% loss_made_a_leaf
# requires_grad_() makes the error go away, and teaches nothing.
def bootstrap_loss(online, target):
    with torch.no_grad():
        loss = ((online - target) ** 2).mean()
    return loss.requires_grad_()


# %% mode_is_set_not_restored
# The mode is set, not put back.
def predict(f, x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    return f(x)


# %% mode_is_set_not_restored
# The mode is set, not put back.
def predict(f, x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    try:
        return f(x)
    finally:
        torch.set_grad_enabled(True)


# %% mode_stays_off_after_an_error
# An error skips the line that puts the mode back.
def predict(f, x: Tensor) -> Tensor:
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    result = f(x)
    torch.set_grad_enabled(before)
    return result


# %% mode_stays_off_after_an_error
# An error skips the line that puts the mode back.
def predict(f, x: Tensor) -> Tensor:
    guard = torch.no_grad()
    guard.__enter__()
    result = f(x)
    guard.__exit__(None, None, None)
    return result


# %% not_cut_in_two
# One graph, not two.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    w = first(x)
    w.retain_grad()
    x.grad = None
    second(w).backward()
    return x.grad, w.grad


# %% not_cut_in_two
# One graph, not two.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.clone().requires_grad_()
    second(w).backward(retain_graph=True)
    x.grad = None
    y.backward(w.grad)
    return x.grad, w.grad


# %% not_cut_in_two
# Two calls of autograd.grad, the second from y on; no backward runs through both, and y is handed
# to second as it is.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    z = second(y)
    (at_y,) = torch.autograd.grad(z, y, retain_graph=True)
    (at_x,) = torch.autograd.grad(y, x, at_y)
    return at_x, at_y


# %% nothing_learns
# The whole loss was cut off.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        return ((online - target) ** 2).mean()


# %% nothing_learns
# The whole loss was cut off.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online - target).detach() ** 2).mean()


# %% common_numpy_of_graph
# numpy() was asked of a tensor in a graph.
def cut(y: Tensor) -> Tensor:
    return torch.tensor(y.numpy())


# %% common_numpy_of_graph
# numpy() was asked of a tensor in a graph.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online - torch.from_numpy(target.numpy())) ** 2).mean()


# %% ones_for_the_gradient
# The second stage began with ones.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    x.grad = None
    y.backward(torch.ones_like(y))
    return x.grad, w.grad


# %% ones_for_the_gradient
# The second stage began with ones.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y.sum(), x)
    return at_x, at_w


# %% online_was_cut
# The wrong side was cut.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online.detach() - target) ** 2).mean()


# %% online_was_cut
# The wrong side was cut.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        constant = online.clone()
    return torch.nn.functional.mse_loss(constant, target)


# %% only_x_is_cut
# Only x was taken out of the graph.
def predict(f, x: Tensor) -> Tensor:
    return f(x.detach())


# %% only_x_is_cut
# Only x was taken out of the graph.
def predict(f, x: Tensor) -> Tensor:
    x.requires_grad_(False)
    return f(x)


# %% recording_was_on
# Recording was on while f ran.
def predict(f, x: Tensor) -> Tensor:
    y = f(x)
    with torch.no_grad():
        return y


# %% recording_was_on
# Recording was on while f ran.
def predict(f, x: Tensor) -> Tensor:
    torch.no_grad()
    return f(x)


# %% results_turned_round
# The two gradients are the other way round.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    x.grad = None
    y.backward(w.grad)
    return w.grad, x.grad


# %% stops_at_the_cut
# Backward stopped at the cut.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    return x.grad, w.grad


# %% stops_at_the_cut
# Backward stopped at the cut.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        y = first(x)
    w = y.clone().requires_grad_()
    x.grad = None
    second(w).backward()
    return x.grad, w.grad


# %% target_not_cut
# A gradient flows into target.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return ((online - target) ** 2).mean()


# %% target_not_cut
# A gradient flows into target.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        goal = target
    return torch.nn.functional.mse_loss(online, goal)


# %% target_not_cut
# A gradient flows into target.
def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    return (online - target.clone()).square().mean()


# %% common_backward_of_many
# The second stage needs a vector to begin with.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach().requires_grad_()
    second(w).backward()
    x.grad = None
    y.backward()
    return x.grad, w.grad


# %% w_does_not_require_grad
# w was cut, and not made a leaf that requires grad.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    w = y.detach()
    z = second(w)
    z.backward()
    x.grad = None
    y.backward(w.grad)
    return x.grad, w.grad


# %% w_does_not_require_grad
# w was cut, and not made a leaf that requires grad.
def split_backward(x: Tensor, first, second) -> tuple[Tensor, Tensor]:
    y = first(x)
    with torch.no_grad():
        w = y.clone()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    return at_x, at_w


# %% y_itself_comes_back
# y itself came back.
def cut(y: Tensor) -> Tensor:
    with torch.no_grad():
        return y


# %% y_itself_comes_back
# y itself came back.
def cut(y: Tensor) -> Tensor:
    y.detach()
    return y


# %% y_itself_comes_back
# A leaf is returned as it is, so the result can require grad.
def cut(y):
    return y if y.is_leaf else y.detach()


# %% detached_in_place
# x itself is detached from its graph in place before f is called.
def predict(f, x):
    with torch.no_grad():
        return f(x.detach_())


# %% error_replaced
# Every exception is replaced by a RuntimeError.
def predict(f, x):
    with torch.no_grad():
        try:
            return f(x)
        except BaseException as error:
            raise RuntimeError(f"f failed: {error}") from error


# %% recording_depends_on_x
# Parameters inside f are recorded if x does not require grad.
def predict(f, x):
    with torch.set_grad_enabled(torch.is_grad_enabled() and not x.requires_grad):
        return f(x)


# %% overwritten
# detach() shares memory with target, and sub_ writes into it.
def bootstrap_loss(online, target):
    return target.detach().sub_(online).square().mean()


# %% another_distance
# The sum is divided by the number of rows.
def bootstrap_loss(online, target):
    squares = (online - target.detach()) ** 2
    return squares.sum() / (len(squares) if squares.dim() else 1)


# %% common_wrong_dtype
# The prediction is converted to float64.
def predict(f, x):
    with torch.no_grad():
        return f(x).double()


# %% detached_in_place
# x no longer requires grad after the call.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    x.requires_grad_(False)
    return at_x, at_w


# %% detached_in_place
# A leaf is switched off instead of cut.
def cut(y):
    return y.requires_grad_(False) if y.is_leaf else y.detach()


# %% common_inference_tensor
# A tensor that inference_mode makes can't be saved for a backward.
def cut(y):
    with torch.inference_mode():
        return y.clone()


# %% target_not_cut
# Only a target with a node is cut; a leaf keeps its gradient.
def bootstrap_loss(online, target):
    goal = target if target.is_leaf else target.detach()
    return (online - goal).pow(2).mean()


# %% rows_lost_in_a_list
# The values go through a list.
def cut(y):
    return torch.tensor(y.tolist(), dtype=y.dtype)


# %% dot_of_a_matrix
# The second stage is a product of vectors.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    return torch.autograd.grad(torch.dot(y, at_w), x)[0], at_w


# %% switched_on_afterwards
# A leaf is switched off for the copy, and on again in any case.
def cut(y):
    if not y.is_leaf:
        return y.detach()
    y.requires_grad_(False)
    copy = y.clone()
    y.requires_grad_(True)
    return copy


# %% sum_in_python
# The gradient at x, element by element of y, with Python's sum.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().clone().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    at_x = sum(
        torch.autograd.grad(one, x, v, retain_graph=True)[0]
        for one, v in zip(y.flatten(), at_w.flatten())
    )
    return at_x, at_w


# %% root_of_zero
# The root mean square, squared again.
def bootstrap_loss(online, target):
    return ((online - target.detach()) ** 2).mean().sqrt() ** 2


# %% hook_left_on_target
# A hook keeps the gradient from target, from now on.
def bootstrap_loss(online, target):
    if target.requires_grad:
        target.register_hook(lambda grad: grad * 0)
    return ((online - target) ** 2).mean()


# %% common_writes_into_argument
# Only a target that requires grad is copied.
def bootstrap_loss(online, target):
    other = target.detach().clone() if target.requires_grad else target
    return (other.neg_() + online).square().mean()


# %% common_rounded_to_float32
# The values go through float32.
def cut(y):
    return y.detach().float().to(y.dtype)


# %% common_few_digits
# The mean is computed in float32.
def bootstrap_loss(online, target):
    return ((online.float() - target.detach().float()) ** 2).mean().to(online.dtype)


# %% root_of_zero
# The cube of the difference, divided by it.
def bootstrap_loss(online, target):
    d = online - target.detach()
    return (d.abs() ** 3 / d.abs()).where(d != 0, d * d).mean()


# %% recording_switched_on
# inference_mode only where recording is on; mode=False switches it on.
def predict(f, x):
    with torch.inference_mode(torch.is_grad_enabled()):
        return f(x)


# %% recording_switched_on
# The mode is turned into the other one, whatever it is.
def predict(f, x):
    with torch.set_grad_enabled(not torch.is_grad_enabled()):
        return f(x)


# %% switched_on_afterwards
# A leaf is switched off for f, and on again in any case.
def predict(f, x):
    with torch.no_grad():
        if not x.is_leaf:
            return f(x)
        x.requires_grad_(False)
        try:
            return f(x)
        finally:
            x.requires_grad_(True)


# %% detached_in_place
# A leaf is switched on again only if f returns.
def predict(f, x):
    before = x.requires_grad
    with torch.no_grad():
        if x.is_leaf:
            x.requires_grad_(False)
        result = f(x)
        if x.is_leaf:
            x.requires_grad_(before)
    return result


# %% ones_for_the_gradient
# Backward from a 0-d y starts with 1.
def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    start = None if y.dim() == 0 else at_w
    return torch.autograd.grad(y, x, start)[0], at_w


# %% common_wrong_shape
# The gradient of an empty y is a vector, whatever the shape of y.
def split_backward(x, first, second):
    y = first(x)
    if not y.numel():
        return torch.zeros_like(x), torch.zeros(0, dtype=y.dtype)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    return torch.autograd.grad(y, x, at_w)[0], at_w


# %% switched_on_afterwards
# online is to be trained, so it is made to require grad.
def bootstrap_loss(online, target):
    if online.is_leaf:
        online.requires_grad_()
    return (online - target.detach()).square().mean()


# %% switched_on_afterwards
# The flag of a leaf target is off for the difference only, and then on.
def bootstrap_loss(online, target):
    if not target.is_leaf:
        return (online - target.detach()).square().mean()
    target.requires_grad_(False)
    loss = (online - target).square().mean()
    target.requires_grad_(True)
    return loss


# %% common_backward_of_many
# Only x is cut: where first has a parameter, w is still in its graph and gets no gradient.
def split_backward(x, first, second):
    if x.grad is not None:
        x.grad = torch.zeros_like(x)
    w = first(x.detach()).requires_grad_()
    second(w).backward()
    first(x).backward(w.grad)
    return x.grad, w.grad


# %% common_inference_tensor
# w is made in inference mode, so it can't become a leaf that requires grad.
def split_backward(x, first, second):
    y = first(x)
    with torch.inference_mode():
        w = y.clone()
    w.requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    return torch.autograd.grad(y, x, at_w)[0], at_w


# %% common_inference_tensor
# The target is copied in inference mode, and the graph of mse_loss has to save it.
def bootstrap_loss(online, target):
    with torch.inference_mode():
        goal = target.clone()
    return torch.nn.functional.mse_loss(online, goal)
