"""retain_graph: wrong answers. A cell shows the definitions that differ from the solution."""

# %% a_multiple_survives
# x * 2 is linear, and keeps its factor all the same.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": True,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": True,
    "-x": True,
}


# %% a_multiple_survives
# x * 2 is linear, and keeps its factor all the same.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": True,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": False,
    "-x": True,
}


# %% a_total_does_not_survive
# x.sum() needs the shape of x, not its values.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": False,
    "-x": True,
}


# %% adds_in_place
# The gradients are added into the first one, whose elements may be one number in memory.
def sum_of_gradients(losses, x):
    *others, last = losses
    grads = [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in others]
    grads += torch.autograd.grad(last, x)
    for grad in grads[1:]:
        grads[0] += grad
    return grads[0]


# %% adds_in_place
# The second gradient is added into the first.
def backward_twice(loss, x):
    (both,) = torch.autograd.grad(loss, x, retain_graph=True)
    both += torch.autograd.grad(loss, x)[0]
    x.grad = both if x.grad is None else x.grad + both
    return x.grad


# %% adds_running_totals
# Running totals were added up.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    total = torch.zeros_like(x)
    for k, loss in enumerate(losses):
        loss.backward(retain_graph=k < len(losses) - 1)
        total += x.grad
    return total


# %% averages_the_losses
# It is the mean of the gradients, not their sum.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for k, loss in enumerate(losses):
        (loss / len(losses)).backward(retain_graph=k < len(losses) - 1)
    return x.grad


# %% builds_a_fresh_graph
# The second backward got a new graph.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    z = torch.log(x**3)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    return "no error"


# %% builds_a_fresh_graph
# The second backward got a new graph.
def second_backward_error(x: Tensor) -> str:
    def backward():
        z = torch.log(x**3)
        z.backward()

    backward()
    try:
        backward()
    except RuntimeError as error:
        return str(error)


# %% clears_between_the_passes
# x.grad was cleared between the passes.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(retain_graph=True)
    x.grad.zero_()
    loss.backward()
    return x.grad


# %% clears_between_the_passes
# x.grad was cleared between the passes.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    for keep in (True, False):
        x.grad = None
        loss.backward(retain_graph=keep)
    return x.grad


# %% clears_what_came_before
# What x.grad held before was not counted.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    x.grad = None
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad


# %% clears_what_came_before
# What x.grad held before was not counted.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    (second,) = torch.autograd.grad(loss, x)
    x.grad = first + second
    return x.grad


# %% clears_what_came_before
# What x.grad held before was not counted.
def backward_twice(loss, x):
    before, x.grad = x.grad, None
    loss.backward(retain_graph=True)
    loss.backward()
    both, x.grad = x.grad, before
    return both


# %% common_none_used
# The loss was asked for its .grad.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for k, loss in enumerate(losses):
        loss.backward(retain_graph=k < len(losses) - 1)
        total += loss.grad
    return total


# %% common_none_used
# The loss was asked for its .grad.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    loss.backward(retain_graph=True)
    first = loss.grad.clone()
    loss.backward()
    return first, loss.grad.clone()


# %% common_wrong_dtype
# The result is always float64.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad.double()


# %% common_wrong_dtype
# The copies are always float32.
def two_fresh_gradients(loss, x):
    found = []
    for keep in (True, False):
        x.grad = None
        loss.backward(retain_graph=keep)
        found.append(x.grad.float())
    return found[0], found[1]


# %% common_wrong_dtype
# The total starts as float32 zeros, and += keeps that dtype.
def sum_of_gradients(losses, x):
    total = torch.zeros(x.shape)
    for k, loss in enumerate(losses, 1):
        (grad,) = torch.autograd.grad(loss, x, retain_graph=k < len(losses))
        total += grad
    return total


# %% copies_one_pass
# One pass, handed out twice.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward()
    return x.grad.clone(), x.grad.clone()


# %% counts_grad_from_before
# The result contains the old x.grad.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad.zero_()
    loss.backward()
    return first, x.grad.clone()


# %% counts_grad_from_before
# The result contains the old x.grad.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    for loss in losses[:-1]:
        loss.backward(retain_graph=True)
    losses[-1].backward()
    return x.grad


# %% does_not_catch
# The error is raised on, not caught.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    z.backward()


# %% does_not_catch
# The error is raised on, not caught.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    z.backward()
    return ""


# %% doubles_one_pass
# One pass, doubled.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward()
    return 2 * x.grad


# %% doubles_one_pass
# One pass, doubled.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(gradient=torch.full_like(loss, 2.0))
    return x.grad


# %% doubles_one_pass
# The second pass fails, and its gradient is made up from the first.
def backward_twice(loss, x):
    old, x.grad = x.grad, None
    loss.backward()
    x.grad = once = x.grad.clone()
    try:
        loss.backward()
    except RuntimeError:
        x.grad = 2 * once
    if old is not None:
        x.grad = x.grad + old
    return x.grad


# %% equal_loss_retains
# The position of a loss is found by its value.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=losses.index(loss) + 1 < len(losses))
    return x.grad


# %% equal_loss_retains
# A loss that is among the others retains the graph; in compares values.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=loss in losses[:-1])
    return x.grad


# %% everything_survives
# A second backward does not always work.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": True,
    "x ** 2": True,
    "x.exp()": True,
    "x.sum()": True,
    "-x": True,
}


# %% grad_is_none_at_first
# x.grad is None before the first backward.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad.zero_()
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad.zero_()
    loss.backward()
    return first, x.grad.clone()


# %% grad_is_none_at_first
# x.grad is None before the first backward.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad *= 0
    for loss in losses[:-1]:
        loss.backward(retain_graph=True)
    losses[-1].backward()
    return x.grad


# %% grad_is_not_stored
# The passes never reached x.grad.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    (first,) = torch.autograd.grad(loss, x, retain_graph=True)
    (second,) = torch.autograd.grad(loss, x)
    return first + second


# %% grad_is_not_stored
# The passes never reached x.grad.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    total = torch.zeros_like(x) if x.grad is None else x.grad.clone()
    for keep in (True, False):
        total = total + torch.autograd.grad(loss, x, retain_graph=keep)[0]
    return total


# %% gradient_is_not_returned
# The gradient is in x.grad, and was not returned.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward(retain_graph=True)
    return loss.backward()


# %% gradient_is_not_returned
# The gradient is in x.grad, and was not returned.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    first = loss.backward(retain_graph=True)
    x.grad = None
    second = loss.backward()
    return first, second


# %% gradient_is_not_returned
# The gradient is in x.grad, and was not returned.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for loss in losses[:-1]:
        loss.backward(retain_graph=True)
    losses[-1].backward()


# %% keeps_the_graph_it_should_lose
# The graph was retained, so nothing was raised.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward(retain_graph=True)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    return ""


# %% keeps_the_graph_it_should_lose
# The graph was retained, so nothing was raised.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    torch.autograd.grad(z, x, create_graph=True)
    try:
        torch.autograd.grad(z, x)
    except RuntimeError as error:
        return str(error)


# %% losses_compared_by_value
# The last loss is found by comparing values.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=loss != losses[-1])
    return x.grad


# %% losses_compared_by_value
# The last loss is found by comparing values.
def sum_of_gradients(losses, x):
    total = torch.zeros_like(x)
    for loss in losses:
        last = losses[::-1].index(loss) == 0
        (grad,) = torch.autograd.grad(loss, x, retain_graph=not last)
        total = total + grad
    return total


# %% message_ends_in_a_newline
# The text is cut out of the traceback, which ends in a newline.
import traceback


def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError:
        _, _, text = traceback.format_exc().partition("RuntimeError: ")
        return text


# %% message_ends_in_a_newline
# The text is printed into a string.
import io


def second_backward_error(x):
    z, page = torch.log(x**3), io.StringIO()
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        print(error, file=page)
    return page.getvalue()


# %% message_is_cut
# The message is cut to its first 40 characters.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)[:40]


# %% message_is_cut
# Everything after the first sentence is left out.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    message = ""
    try:
        z.backward()
    except RuntimeError as error:
        message, *_ = error.args[0].split(". ")
    return message


# %% message_is_typed_in
# The message is typed in, not caught.
def second_backward_error(x: Tensor) -> str:
    return (
        "Trying to backward through the graph a second time, "
        "but the buffers have already been freed. "
        "Specify retain_graph=True when calling backward the first time."
    )


# %% message_is_typed_in
# The message is typed in, not caught.
def second_backward_error(x: Tensor) -> str:
    return (
        "Trying to backward through the graph a second time "
        "(or directly access saved tensors after they have already been freed). "
        "Saved intermediate values of the graph are freed when you call "
        ".backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time "
        "or if you need to access saved tensors "
        "after calling backward."
    )


# %% message_is_typed_in
# The start of the message is written in the code, after one backward.
def second_backward_error(x):
    torch.log(x**3).backward()
    return "Trying to backward through the graph a second time"


# %% minus_one_without_elements
# The gradient is copied row by row.
def two_fresh_gradients(loss, x):
    copies = []
    for keep in (True, False):
        x.grad = None
        loss.backward(retain_graph=keep)
        rows = x.grad.reshape(x.shape[0] if x.dim() else 1, -1)
        copies.append(torch.cat([row + 0 for row in rows]).reshape(x.shape))
    return tuple(copies)


# %% no_clearing_between
# The second result still has the first in it.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    loss.backward()
    second = x.grad.clone()
    return first, second


# %% no_clearing_between
# The second result still has the first in it.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad
    loss.backward()
    return first, x.grad


# %% no_retain_graph
# The graph was not kept for the next pass.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward()
    loss.backward()
    return x.grad


# %% no_retain_graph
# The graph was not kept for the next pass.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for k, loss in enumerate(losses):
        loss.backward(retain_graph=k == len(losses) - 1)
    return x.grad


# %% no_retain_graph
# The graph was not kept for the next pass.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    (first,) = torch.autograd.grad(loss, x)
    (second,) = torch.autograd.grad(loss, x, retain_graph=True)
    return first, second


# %% nothing_to_save
# -x is taken for a multiplication by -1.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": True,
    "-x": False,
}


# %% nothing_to_save
# Only the sum survives.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": False,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": True,
    "-x": False,
}


# %% nothing_survives
# A second backward does not always fail.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": False,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": False,
    "x.sum()": False,
    "-x": False,
}


# %% old_gradient_not_in_grad
# The old gradient is added to what is returned, and x.grad is left without it.
def backward_twice(loss, x):
    old, x.grad = x.grad, None
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad if old is None else x.grad + old


# %% one_backward_for_all
# All losses went through one backward.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    sum(losses).backward()
    return x.grad


# %% one_backward_for_all
# All losses went through one backward.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    return torch.autograd.grad(losses, x)[0]


# %% one_loss_raises
# A first and a last loss are taken from the list.
def sum_of_gradients(losses, x):
    x.grad = None
    first, *between, last = losses
    for loss in (first, *between):
        loss.backward(retain_graph=True)
    last.backward()
    return x.grad


# %% one_loss_raises
# Gradients of all losses but the last are stacked, and with one loss there are none.
def sum_of_gradients(losses, x):
    *before, last = losses
    grads = [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in before]
    return torch.stack(grads).sum(0) + torch.autograd.grad(last, x)[0]


# %% one_pass_too_many
# All passes retain the graph, and one more frees it.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=True)
    total = x.grad.clone()
    loss.backward()
    return total


# %% one_pass_too_many
# Both passes retain the graph, and a third frees it.
def two_fresh_gradients(loss, x):
    first, second = (torch.autograd.grad(loss, x, retain_graph=True)[0] for _ in range(2))
    torch.autograd.grad(loss, x)
    return first, second


# %% only_one_pass
# One pass instead of two.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    loss.backward()
    return x.grad


# %% only_the_last_loss
# Only one of the losses is in the result.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    for k, loss in enumerate(losses):
        x.grad = None
        loss.backward(retain_graph=k < len(losses) - 1)
    return x.grad


# %% only_the_last_loss
# Only one of the losses is in the result.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    for k, loss in enumerate(losses):
        (total,) = torch.autograd.grad(loss, x, retain_graph=k + 1 < len(losses))
    return total


# %% power_outside_the_logarithm
# It is the logarithm that is taken to the third power.
def second_backward_error(x):
    z = torch.log(x) ** 3
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)


# %% result_is_grad_itself
# One result is x.grad itself.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad.zero_()
    loss.backward()
    return first, x.grad


# %% result_is_grad_itself
# One result is x.grad itself.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad
    x.grad = None
    loss.backward()
    second = x.grad.view_as(x)
    return first, second


# %% results_are_one_tensor
# Both results are one piece of memory.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad
    x.grad.zero_()
    loss.backward()
    return first, x.grad


# %% results_are_one_tensor
# Both results are one piece of memory.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = torch.zeros_like(x)
    results = []
    for keep in (True, False):
        x.grad.zero_()
        loss.backward(retain_graph=keep)
        results.append(x.grad.detach())
    return results[0], results[1]


# %% results_cleared_away
# The results were zeroed after they were taken.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad
    x.grad.zero_()
    loss.backward()
    second = x.grad
    x.grad.zero_()
    return first, second


# %% results_cleared_away
# The results were zeroed after they were taken.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    x.grad = None
    loss.backward(retain_graph=True)
    first = x.grad.detach()
    x.grad.zero_()
    x.grad = None
    loss.backward()
    return first, x.grad.clone()


# %% retains_every_pass
# The last pass retained the graph as well.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    for _ in range(2):
        loss.backward(retain_graph=True)
    return x.grad


# %% retains_every_pass
# The last pass retained the graph as well.
def sum_of_gradients(losses: list[Tensor], x: Tensor) -> Tensor:
    x.grad = None
    for loss in losses:
        loss.backward(retain_graph=True)
    return x.grad


# %% retains_every_pass
# The last pass retained the graph as well.
def two_fresh_gradients(loss: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    first = torch.autograd.grad(loss, x, create_graph=True)[0]
    second = torch.autograd.grad(loss, x, create_graph=True)[0]
    return first, second


# %% returns_the_exception
# The exception came back, or its type, not only its message.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return error


# %% returns_the_exception
# The exception came back, or its type, not only its message.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return repr(error)


# %% returns_the_exception
# The exception came back, or its type, not only its message.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# %% stops_after_one_backward
# No message came of the second backward.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    return ""


# %% stops_after_one_backward
# No message came of the second backward.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        print(error)


# %% stops_after_one_backward
# No message came of the second backward.
def second_backward_error(x: Tensor) -> str:
    z = torch.log(x * x * x)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        print(f"as expected: {error}")


# %% saved_value_forgotten
# An exponential is its own derivative, so it seems to need nothing.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": False,
    "x ** 2": False,
    "x.exp()": True,
    "x.sum()": True,
    "-x": True,
}


# %% saved_value_forgotten
# Everything but the factor of x * 2 is taken for kept.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": True,
    "x * 2": False,
    "x ** 2": True,
    "x.exp()": True,
    "x.sum()": True,
    "-x": True,
}


# %% summed_in_float32
# The total is float32 and converted at the end.
def sum_of_gradients(losses, x):
    total, last = torch.zeros(x.shape), losses[-1]
    for loss in losses:
        x.grad = None
        loss.backward(retain_graph=loss is not last)
        total += x.grad
    return total.to(x.dtype)


# %% summed_in_float32
# The copies are float32 and converted at the end.
def two_fresh_gradients(loss, x):
    copies = torch.zeros(2, *x.shape)
    for copy, keep in zip(copies, (True, False)):
        x.grad = None
        loss.backward(retain_graph=keep)
        copy += x.grad
    first, second = copies.to(x.dtype)
    return first, second


# %% summed_in_float32
# The sum of both passes is float32 and converted at the end.
def backward_twice(loss, x):
    total = torch.zeros(x.shape) if x.grad is None else x.grad
    for keep in (True, False):
        total = torch.add(total, torch.autograd.grad(loss, x, retain_graph=keep)[0]).to(total.dtype)
    x.grad = total.to(x.dtype)
    return x.grad


# %% survival_inverted
# True and False are the wrong way round.
SURVIVES_SECOND_BACKWARD = {
    "x + 1": False,
    "x * 2": True,
    "x ** 2": True,
    "x.exp()": True,
    "x.sum()": False,
    "-x": False,
}


# %% zero_loss_skipped
# A loss of value 0 is left out unless it is the last.
def sum_of_gradients(losses, x):
    x.grad = None
    for loss in losses[:-1]:
        if loss:
            loss.backward(retain_graph=True)
    losses[-1].backward()
    return x.grad


# %% zero_loss_skipped
# All losses of value 0 are left out.
def sum_of_gradients(losses, x):
    x.grad = None
    for k, loss in enumerate(losses, 1):
        if loss.item() != 0:
            loss.backward(retain_graph=k < len(losses))
    return x.grad


# %% a_later_pass_raises
# The first pass retains the graph, so the second works and a third raises.
def second_backward_error(x):
    z = torch.log(x**3)
    z.backward(retain_graph=True)
    try:
        for _ in range(2):
            z.backward()
    except RuntimeError as error:
        return str(error)


# %% a_later_pass_raises
# create_graph=True retains the graph of the first pass, too.
def second_backward_error(x):
    z = torch.log(x**3)
    (slope,) = torch.autograd.grad(z, x, create_graph=True)
    while True:
        try:
            z.backward()
        except RuntimeError as error:
            return str(error)


# %% summed_in_float32
# Each gradient is rounded to float32.
def two_fresh_gradients(loss, x):
    results = []
    for keep in (True, False):
        x.grad = None
        loss.backward(retain_graph=keep)
        results.append(x.grad.float().to(x.dtype))
    return tuple(results)


# %% power_outside_the_logarithm
# The power is taken out of the logarithm, as a factor.
def second_backward_error(x):
    z = 3 * torch.log(x)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)


# %% tuple_of_gradients
# Neither result is taken out of its tuple.
def two_fresh_gradients(loss, x):
    a = torch.autograd.grad(loss, x, retain_graph=True)
    b = torch.autograd.grad(loss, x)
    return a, b


# %% tuple_of_gradients
# The tuple of grad is the result.
def backward_twice(loss, x):
    loss.backward(retain_graph=True)
    return torch.autograd.grad(loss, x)


# %% common_backward_gives_none
# What backward returns is added.
def backward_twice(loss: Tensor, x: Tensor) -> Tensor:
    first = loss.backward(retain_graph=True)
    second = loss.backward()
    return first + second
