"""What has to be seen from inside for retain_graph. Sent into the sandbox; imports torch, and the
engine's walk for pictures.
"""

import sys
import threading

import torch

PASS = {"c_call": "passes", "c_exception": "raised"}


def error_text(student, x, held):
    """What second_backward_error returned, and meanwhile: tensors saved for backward and read by
    one, gradients that reached x, passes, passes that raised.
    """
    counts = {"saved": 0, "read": 0, "reached": 0, "passes": 0, "raised": 0}

    def count(name, value):
        counts[name] += 1
        return value

    def watch(frame, event, function):
        if event in PASS and function.__name__ == "run_backward":  # every pass runs in it
            count(PASS[event], None)

    x.grad = held
    x.register_hook(lambda grad: count("reached", None))
    before, elsewhere = sys.getprofile(), threading.getprofile()
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: count("saved", t), lambda t: count("read", t)
    ):
        threading.setprofile(watch)  # of threads that are started meanwhile
        sys.setprofile(watch)
        try:
            result = student.second_backward_error(x)
        finally:
            sys.setprofile(before)
            threading.setprofile(elsewhere)
    return {"result": result, **counts}


def one_loss(student, name, f, x, held, retained=False):
    """While a function of (loss, x) works: the passes counted at the loss, how often one wrote to
    x.grad, of each result whether it shares memory with what a pass left there, and what a further
    one gives.
    """
    loss = f(x)
    if retained:
        loss.retain_grad()
    passes, stored = [], []
    loss.register_hook(lambda grad: passes.append(1))
    x.register_post_accumulate_grad_hook(lambda leaf: stored.append(leaf.grad))
    x.grad = held
    result = getattr(student, name)(loss, x)
    counts = {"passes": len(passes), "stored": len(stored), "shared": shared(result, stored)}
    return {**counts, "further": further(loss, x)}


def several_losses(student, f, x, held, retained=False):
    """The same for a list of losses; the last output of f is their trunk, at which the passes are
    counted.
    """
    *losses, trunk = f(x)
    for loss in losses if retained else ():
        loss.retain_grad()
    passes = []
    trunk.register_hook(lambda grad: passes.append(1))
    x.grad = held
    student.sum_of_gradients(list(losses), x)
    return {"passes": len(passes), "further": [further(loss, x) for loss in losses]}


def after_writing(student, f, x, held, amount):
    """The two results and x.grad: as they were, once amount was added to the first, once it was
    added to the second as well.
    """
    loss = f(x)
    x.grad = held
    first, second = student.two_fresh_gradients(loss, x)
    states = [kept([first, second, x.grad])]
    with torch.no_grad():
        for result in (first, second):
            result.add_(amount)
            states.append(kept([first, second, x.grad]))
    return states


def graph(student, name, f, x, which):
    """The graph behind a loss as a function leaves it; of several losses ``which``, and their trunk
    is t.
    """
    from grader.authoring import trace

    made = f(x)
    *losses, trunk = made if isinstance(made, tuple) else (made, None)
    getattr(student, name)(losses[0] if trunk is None else list(losses), x)
    return trace(losses[which], {"x": x, "t": trunk, "loss": losses[which]})


def further(loss, x):
    """What one more differentiation gives: the gradient, or the text of the error."""
    try:
        (grad,) = torch.autograd.grad(loss, x, retain_graph=True)
    except RuntimeError as error:
        return str(error)
    return grad


def shared(result, stored):
    """Of each result whether it shares memory with one of these tensors."""
    places = {tensor.untyped_storage().data_ptr() for tensor in stored}
    items = result if isinstance(result, tuple) else (result,)
    return [
        isinstance(item, torch.Tensor) and item.untyped_storage().data_ptr() in places
        for item in items
    ]


def kept(value):
    """A copy that later writes leave alone."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, tuple):
        return tuple(kept(item) for item in value)
    if isinstance(value, list):
        return [kept(item) for item in value]
    return value
