"""retain_graph, what is measured beside the student's code. It is sent into the sandbox."""

import sys
import threading
from contextlib import contextmanager

import torch

PASS = {"c_call": "passes", "c_exception": "raised"}


def error_text(student, x, held, ending=""):
    """Return what second_backward_error returned, and what happened meanwhile: tensors saved for
    backward and read by one, whether x ** 3 was saved, gradients that reached x, passes, passes
    that raised, errors whose text got this ending.
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
    reads = torch.autograd.graph.saved_tensors_hooks(keep, lambda t: count("read", t))
    with reads, longer_texts(ending) as longer:
        threading.setprofile(watch)  # of threads that are started meanwhile
        sys.setprofile(watch)
        try:
            result = student.second_backward_error(x)
        finally:
            sys.setprofile(before)
            threading.setprofile(elsewhere)
    counts["reworded"] = len(longer)
    return {"result": result, "slopes": slopes, "cubed": any(cubes), **counts}


@contextmanager
def longer_texts(ending):
    """Add an ending to the text of each RuntimeError of a pass; yield a list of those errors."""
    names = ("backward", "grad") if ending else ()
    before, longer = {name: getattr(torch.autograd, name) for name in names}, []

    def lengthened(run):
        def call(*args, **options):
            try:
                return run(*args, **options)
            except RuntimeError as error:
                if error not in longer:
                    error.args = (f"{error}{ending}",)
                    longer.append(error)
                raise

        return call

    for name, run in before.items():
        setattr(torch.autograd, name, lengthened(run))
    try:
        yield longer
    finally:
        for name, run in before.items():
            setattr(torch.autograd, name, run)


def one_loss(student, name, f, x, held):
    """Run a function of (loss, x). Return the passes that arrived at x, how often one wrote to
    x.grad, of each result whether it shares memory with what a pass left there, and what a further
    pass gives.
    """
    passes, stored = [], []
    loss = f(counted(x, passes))
    x.register_post_accumulate_grad_hook(lambda leaf: stored.append(leaf.grad))
    x.grad = held
    result = getattr(student, name)(loss, x)
    counts = {"passes": len(passes), "stored": len(stored)}
    return {**counts, "shared": shared(result, stored), "further": further(loss, x)}


def several_losses(student, f, x, held):
    """Return the passes and what further ones give for a list of losses. The last output of f is
    their trunk.
    """
    passes = []
    *losses, _ = f(counted(x, passes))
    x.grad = held
    student.sum_of_gradients(list(losses), x)
    return {"passes": len(passes), "further": [further(loss, x) for loss in losses]}


def counted(x, passes):
    """Return a result equal to x; each pass that arrives there is appended to ``passes``.

    A pass that raises does not arrive. In torch 2.6 some passes do not run the hooks of a leaf.
    """
    start = x.view_as(x)
    start.register_hook(lambda grad: passes.append(1))
    return start


def after_writing(student, f, x, held, amount, factor=None):
    """Return both results and x.grad: first as they are, then after amount was added to the first
    result, then after it was added to the second too. The node that multiplies a factor saves it
    and gives x the incoming gradient itself.
    """
    loss = f(x) if factor is None else f(x).addcmul(factor, factor)
    x.grad = held
    first, second = student.two_fresh_gradients(loss, x)
    states = [kept([first, second, x.grad])]
    with torch.no_grad():
        for result in (first, second):
            result.add_(amount)
            states.append(kept([first, second, x.grad]))
    return states


def graph(student, name, f, x, which):
    """Return the graph of a loss as a function leaves it: of several losses ``which``, whose trunk
    is t.
    """
    from grader.authoring import trace

    made = f(x)
    *losses, trunk = made if isinstance(made, tuple) else (made, None)
    getattr(student, name)(losses[0] if trunk is None else list(losses), x)
    return trace(losses[which], {"x": x, "t": trunk, "loss": losses[which]})


def further(loss, x):
    """Return what one more differentiation gives: the gradient, or the text of the error."""
    try:
        (grad,) = torch.autograd.grad(loss, x, retain_graph=True)
    except RuntimeError as error:
        return str(error)
    return grad


def shared(result, stored):
    """Return for each result whether it shares memory with one of these tensors."""
    places = {tensor.untyped_storage().data_ptr() for tensor in stored}
    items = result if isinstance(result, tuple) else (result,)
    return [
        isinstance(item, torch.Tensor) and item.untyped_storage().data_ptr() in places
        for item in items
    ]


def kept(value):
    """Return a copy that later writes do not change."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, tuple):
        return tuple(kept(item) for item in value)
    if isinstance(value, list):
        return [kept(item) for item in value]
    return value
