"""What only the worker can observe in implicit, besides the engine's scenarios."""

import contextlib
import sys
from functools import partial

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.worker.scenarios import (
    arrays_in,
    copied,
    function_class,
    gradients,
    lend_in,
    node_of,
    nodes_behind,
    operators,
    place_of,
    tensors_in,
)


class Alone:
    """One function, as a student's file that has nothing else."""

    def __init__(self, function):
        self.function = function


def solved(student, a, b, v):
    """What torch runs in a call of Solve and in its backward, and the gradient at A."""
    return operators(Alone(lambda a: student.Solve.apply(a, b)), "function", a, v)


# ---------------------------------------------------------------------------------- FixedPoint


def iterated(student, f, z0, x, v):
    """A call of FixedPoint and backward for v: how often f got a z whose graph leads through
    another call of f, how many nodes the result's graph has, what tensors the node holds, and
    whether backward runs inside of itself; there it is stopped.
    """
    own, results, seen = {}, [], {"chained": 0, "nested": False}

    def watched(*given):
        for node in [one.grad_fn for one in results]:  # one that another Function returned has it
            if node is not None and getattr(node, "_forward_cls", None) is not student.FixedPoint:
                own[id(node)] = node
        seen["chained"] += leads_to(given, own)
        if times_running(getattr(student.FixedPoint.backward, "__code__", None)) > 1:
            seen["nested"] = True
            raise RecursionError
        result = f(*given)
        if isinstance(result, torch.Tensor) and result.grad_fn is not None:
            own[id(result.grad_fn)] = result.grad_fn
        elif isinstance(result, torch.Tensor):
            results.append(result)
        return result

    y = student.FixedPoint.apply(watched, z0, x)
    node = node_of(y, student.FixedPoint)
    held = [name for name, value in getattr(node, "__dict__", {}).items() if arrays_in(value)]
    seen |= {"found": node is not None, "behind": behind_of(y), "attributes": held}
    with contextlib.suppress(Exception):  # has a check of its own
        gradients(y, [x], v)
    return seen


def times_running(code):
    """How many calls of a function with this code are running."""
    frames, frame = [], sys._getframe()
    while frame is not None:
        frames.append(frame.f_code)
        frame = frame.f_back
    return sum(one is code for one in frames)


def behind_of(y):
    """How many nodes the graph of a result has."""
    return len([*nodes_behind(getattr(y, "grad_fn", None))])


def leads_to(tensors, nodes):
    """Whether one of these nodes is in the graph behind some tensors."""
    nearest = [getattr(tensor, "grad_fn", None) for tensor in tensors]
    if any(id(node) in nodes for node in nearest):
        return True
    return any(id(one) in nodes for node in nearest for one in nodes_behind(node))


def afterwards(student, f, inside, z0, x, v, held):
    """What a call of FixedPoint and backward leave of z0, x, v and ``inside``, a tensor in f, and
    of .grad, which was ``held`` and ones.
    """
    x.grad, inside.grad = held, torch.ones_like(inside)
    y = student.FixedPoint.apply(f, z0, x)
    y.backward(v)
    return {
        "values": [copied(one) for one in (z0, x, v)],
        "grads": [copied(one.grad) for one in (x, inside)],
    }


def changed(student, f, z0, x, v):
    """The gradient of a call of FixedPoint after x was multiplied in place; None if that raises."""
    leaf = x.detach().clone().requires_grad_()
    given = leaf + 0
    y = student.FixedPoint.apply(f, z0, given)
    try:
        with torch.no_grad():
            given.mul_(1.5)
        return gradients(y, [leaf], v)
    except RuntimeError:
        return None


# --------------------------------------------------------------------------------- newton_sqrt


def settled(ctx, f, z0, x, *more):
    """forward of a FixedPoint without mistakes."""
    z = z0
    for _ in range(100):
        z = f(z, x)
    ctx.f, ctx.more = f, more
    ctx.save_for_backward(z, x)
    return z


def settled_back(ctx, grad):
    """backward of a FixedPoint without mistakes."""
    z, x = (one.detach().requires_grad_() for one in ctx.saved_tensors)
    with torch.enable_grad():
        y = ctx.f(z, x)
    w = grad
    for _ in range(100):
        w = grad + torch.autograd.grad(y, z, w, retain_graph=True, materialize_grads=True)[0]
    return None, None, torch.autograd.grad(y, x, w)[0], *(None for _ in ctx.more)


def lend(student):
    """From now on, the student's functions use a FixedPoint without mistakes."""
    lend_in(student, "FixedPoint", partial(function_class, forward=settled, backward=settled_back))


ALGEBRA = {
    *"add sub rsub mul div neg pow square reciprocal positive floor_divide remainder fmod".split(),
    *"addcmul addcdiv lerp abs sign sgn copysign heaviside relu threshold hardtanh".split(),
    *"clamp clamp_min clamp_max maximum minimum fmax fmin floor ceil round trunc fix frac".split(),
    *"frexp ldexp nextafter nan_to_num where masked_fill masked_scatter masked_select".split(),
    *"sum nansum mean prod amax amin aminmax max min median cumsum cumprod cummax cummin".split(),
    *"mm mv bmm dot vdot addmm addmv addbmm baddbmm addr linear ger tril triu trace".split(),
    *"linalg_inv_ex linalg_solve_ex linalg_lu linalg_lu_factor_ex linalg_lu_solve".split(),
    *"linalg_det lu_unpack fill zero ones_like zeros_like empty_like full_like rand_like".split(),
    *"new_empty new_empty_strided new_full new_ones new_zeros clone copy to_copy to".split(),
    *"lift lift_fresh cat stack repeat repeat_interleave flip roll rot90 set resize".split(),
    *"index index_put index_put_impl index_select index_add index_copy index_fill put".split(),
    *"take gather scatter scatter_add scatter_reduce slice_scatter select_scatter sort".split(),
    *"topk kthvalue constant_pad_nd diag_embed unsafe_view reshape_alias mse_loss".split(),
    *"select_backward slice_backward uniform normal randn_like var var_mean unique2".split(),
}
"""Operators that give a copy, or what sums, products and quotients give, and rounding."""
SIZES = {*"linalg_vector_norm linalg_matrix_norm norm dist std std_mean".split()}
"""Operators that give the size of a difference, one number, by which an iteration may end."""


class Ran(TorchDispatchMode):
    """The names of the operators that torch runs and that may compute a root."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.name().partition("::")[2].partition(".")[0].strip("_")
        name = name if "pow" in name else name.removeprefix("foreach_")
        found = function(*args, **(kwargs or {}))
        given = floats_in([*args, *(kwargs or {}).values()])
        made = given if function._schema.is_mutable else floats_in([found])
        places = {place_of(one) for one in given}
        view = made is not given and all(place_of(one) in places for one in made)
        size = name in SIZES and all(one.numel() == 1 for one in made)
        powers = args[1:2] if name == "pow" else ()
        if any((torch.as_tensor(one) % 1 != 0).any() for one in powers):
            self.names.add("pow of no whole number")
        elif given and made and not (view or size) and name not in ALGEBRA:
            self.names.add(name)
        return found


def floats_in(values):
    """The tensors in lists that hold fractions."""
    return [one for one in tensors_in(values) if one.is_floating_point() or one.is_complex()]


def ran(student, a):
    """What torch runs in newton_sqrt that may compute its roots, and the result."""
    with Ran() as seen:
        root = student.newton_sqrt(a)
    return {"names": sorted(seen.names), "value": copied(root)}


def behind(student, a):
    """How many nodes the graph of newton_sqrt(a) has."""
    return behind_of(student.newton_sqrt(a))
