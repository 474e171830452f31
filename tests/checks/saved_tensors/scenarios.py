"""What only the worker can observe in saved_tensors: memory, and how often f runs."""

import contextlib
import gc
import os
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor

import torch

from grader.worker.scenarios import callers, copied


class Memory(bytearray):
    """Memory of which one can tell whether a tensor still uses it."""


def placed(x, places):
    """A copy of a vector in memory of its own, to which a reference goes to ``places``."""
    memory = Memory(x.numel() * x.element_size())
    places.append(weakref.ref(memory))
    return torch.frombuffer(memory, dtype=x.dtype).copy_(x)


class Placed(torch.autograd.Function):
    """A vector as it is, which is ``placed``."""

    @staticmethod
    def forward(ctx, x, places):
        return placed(x, places)

    @staticmethod
    def backward(ctx, grad):
        return grad, None


def in_use(places):
    """How many of these memories a tensor still uses."""
    return sum(place() is not None for place in places)


def tensors_alive():
    """All tensors that Python knows."""
    return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]


# ------------------------------------------------------------------------------------- saved_bytes


def long_run(student, x, steps, held):
    """saved_bytes of a function that makes new tensors in so many steps, each of which is saved,
    and nothing else refers to; afterwards x.grad, what it requires, and what a graph saves.
    """

    def f(x):
        for _ in range(steps):
            x = x.tanh()
        return x

    x.grad = held
    found, y = student.saved_bytes(f, x), x.tanh()
    (slope,) = torch.autograd.grad(y.sum(), x)
    return {
        "found": found,
        "grad": copied(x.grad),
        "requires_grad": x.requires_grad,
        "slope": slope,
    }


# ----------------------------------------------------------------------------- context managers


def apart(function, *args):
    """What a function returns in a thread of its own, where hooks that it leaves behind end."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def kept_inside(student, dtype, x):
    """How many bytes of tensors there are more while a graph of dropout(sin(2 * x)) is, which was
    made inside of saved_as, and whether 2 * x still uses its memory.
    """
    places, before = [], tensors_alive()

    def inside():
        with student.saved_as(dtype):
            return torch.dropout(Placed.apply(x * 2, places).sin(), 0.5, True)

    known, y = {id(one) for one in before}, apart(inside)
    more = [one for one in tensors_alive() if id(one) not in known and one is not y]
    sizes = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in more}
    return {"bytes": sum(sizes.values()), "in_full": in_use(places) > 0}


def after_a_block(student, dtype, f, x, v, raises):
    """The gradient of f(x), computed after a with block, which raised or did not."""

    def both():
        try:
            with student.saved_as(dtype):
                if raises:
                    raise LookupError
        except LookupError:
            pass
        return f(x)

    return torch.autograd.grad(apart(both), x, v)[0]


def in_files(student, x, i, v, beside):
    """The gradient of x * tanh(sin(2 * x)[i]), computed inside of saved_in, after one backward and
    after two; what still is in memory, the bytes in the folder before backward and between the two,
    and the files in it when nothing refers to the graph. With ``beside``, another block makes a
    graph of other numbers in the same folder.
    """
    gradients, sizes = [], []
    places = {"2 * x": [], "i": []}
    with tempfile.TemporaryDirectory() as folder:

        def inside(x):
            with student.saved_in(folder):
                h = Placed.apply(x * 2, places["2 * x"])
                return x * h[placed(i, places["i"])].sin().tanh()

        y = apart(inside, x)
        alive = next((name for name, them in places.items() if in_use(them)), None)
        other = apart(inside, (x.detach() * 0.5).requires_grad_()) if beside else None
        for _ in range(2):
            sizes.append(sum(one.stat().st_size for one in os.scandir(folder)))
            y.backward(v, retain_graph=True)
            gradients.append(copied(x.grad))
        del y, other
        gc.collect()
        left = len([*os.scandir(folder)])
    return {"gradients": gradients, "alive": alive, "sizes": sizes, "left": left}


def in_emptied_files(student, x, v):
    """The gradient of sin(2 * x), computed inside of saved_in, once the folder's files have only
    zeros; None if backward raises.
    """
    with tempfile.TemporaryDirectory() as folder:

        def inside():
            with student.saved_in(folder):
                return (x * 2).sin()

        y = apart(inside)
        for one in os.scandir(folder):
            with open(one.path, "r+b") as file:
                file.write(bytes(one.stat().st_size))
        try:
            y.backward(v)
        except Exception:
            return None
        finally:
            del y
    return x.grad


# ----------------------------------------------------------------------------------- checkpointed


def recomputed(student, x, v, times):
    """What checkpointed returns for sin(h) * h with h = 2 * x, and the gradient at x after each of
    so many passes; how often f has run by then, how many of f's h are still in memory after the
    call, and which tools of torch called f.
    """
    places, runs, gradients, met = [], [], [], set()

    def f(x):
        met.update(callers())
        h = Placed.apply(x * 2, places)
        return h.sin() * h

    y = student.checkpointed(f, x)
    runs.append(len(places))
    alive = in_use(places)
    for _ in range(times):
        y.backward(v, retain_graph=True)
        runs.append(len(places))
        gradients.append(copied(x.grad))
    return {
        "value": copied(y),
        "gradients": gradients,
        "runs": runs,
        "alive": alive,
        "tool": "torch.utils.checkpoint" if "torch.utils.checkpoint" in met else None,
    }


def another_run(student, x, c, d, v):
    """The gradient at x of checkpointed(f, x), where f(x) is sin(x + c) in its first run, and
    sin(x + d) in others.
    """
    runs = []

    def f(x):
        runs.append(c if not runs else d)
        return (x + runs[-1]).sin()

    student.checkpointed(f, x).backward(v)
    return x.grad


def modes(student, x, v):
    """The grad mode in each run of f in checkpointed(f, x) and its backward, also if one raises."""
    seen = []

    def f(x):
        seen.append(torch.is_grad_enabled())
        return x.sin()

    with contextlib.suppress(RuntimeError):  # it has a check of its own
        student.checkpointed(f, x).backward(v)
    return seen


def nested(student, inner, outer, x, parameters, v):
    """The value and the gradients at x and the parameters, of outer(inner(x)): both checkpointed,
    inner inside of outer.
    """
    y = student.checkpointed(lambda x: outer(student.checkpointed(inner, x)), x)
    y.backward(v)
    return copied(y), [copied(one.grad) for one in (x, *parameters)]


def random_numbers(student, f, x, v, seed):
    """What a caller draws after a call of f, and after backward: without checkpointed, and with."""
    found = []
    before = torch.get_rng_state()
    for call in (f, lambda x: student.checkpointed(f, x)):
        torch.manual_seed(seed)
        y = call(x)
        drawn = [torch.rand(3)]
        y.backward(v)
        found.append([*drawn, torch.rand(3)])
    torch.set_rng_state(before)
    return found
