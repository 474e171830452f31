"""retain_graph, what is measured beside the student's code. It is sent into the sandbox."""

import sys
import threading

import torch

PASS = {"c_call": "passes", "c_exception": "raised"}


def error_text(student, x, held):
    """What second_backward_error returned, and what happened meanwhile: tensors saved for backward
    and read by one, whether x ** 3 was saved, gradients that reached x, passes, passes that raised.
    """
    slopes, cubes, cube = [], [], x.detach().double() ** 3
    counts = {"saved": 0, "read": 0, "reached": 0, "passes": 0, "raised": 0}

    def count(name, value):
        counts[name] += 1
        return value

    def arrive(grad):
        count("reached", None)
        slopes.append(grad.detach().clone())

    def keep(tensor):
        cubes.append(bool(torch.isclose(tensor.detach().double(), cube).all()))
        return count("saved", tensor)

    def watch(frame, event, function):
        if event in PASS and function.__name__ == "run_backward":  # every pass runs in it
            count(PASS[event], None)

    x.grad = held
    x.register_hook(arrive)
    before, elsewhere = sys.getprofile(), threading.getprofile()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda t: count("read", t)):
        threading.setprofile(watch)  # of threads that are started meanwhile
        sys.setprofile(watch)
        try:
            result = student.second_backward_error(x)
        finally:
            sys.setprofile(before)
            threading.setprofile(elsewhere)
    return {"result": result, "slopes": slopes, "cubed": any(cubes), **counts}


def passes(student, name, f, x, held):
    """Run a function of a loss, or of a list of losses, and of x. How many passes arrived at x, how
    often one wrote to x.grad, of each result whether it shares memory with what a pass left there,
    and what one more pass of each loss gives.
    """
    arrived, stored = [], []
    start = x.view_as(x)  # in torch 2.6 some passes do not run the hooks of a leaf
    start.register_hook(lambda grad: arrived.append(1))
    made = f(start)
    several = isinstance(made, tuple)
    x.register_post_accumulate_grad_hook(lambda leaf: stored.append(leaf.grad))
    x.grad = held
    result = getattr(student, name)(list(made) if several else made, x)
    places = {tensor.untyped_storage().data_ptr() for tensor in stored}
    return {
        "passes": len(arrived),
        "stored": len(stored),
        "shared": [
            isinstance(item, torch.Tensor) and item.untyped_storage().data_ptr() in places
            for item in (result if isinstance(result, tuple) else (result,))
        ],
        "further": [further(loss, x) for loss in (made if several else [made])],
    }


def further(loss, x):
    """What one more differentiation gives: the gradient, or the text of the error."""
    try:
        (grad,) = torch.autograd.grad(loss, x, retain_graph=True)
    except RuntimeError as error:
        return str(error)
    return grad
