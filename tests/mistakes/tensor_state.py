"""tensor_state: wrong answers. A cell shows the definitions that differ from the solution."""

# %% common_backward_twice
# The second backward finds the graph freed.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    gradients = []
    for t in tensors:
        t.retain_grad()
        t.grad = None
        z.backward()
        gradients.append(t.grad.clone())
    return gradients


# %% common_grad_kept_by_reference
# The old gradient is kept without a copy and subtracted.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
    before = [t.grad for t in tensors]
    z.backward()
    return [t.grad if old is None else t.grad - old for t, old in zip(tensors, before, strict=True)]


# %% common_wrong_type
# item() makes a number of the gradient, where it can.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.item() if holds_grad else None,
    }


# %% common_none_used
# A leaf's grad_fn is None and has no name.
def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn.name(),
        "grad": t.grad.clone() if (t.is_leaf or t.retains_grad) and t.grad is not None else None,
    }


# %% common_none_used
# .grad is None before any backward.
def tensor_state(t: Tensor) -> dict:
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    state["grad_fn"] = type(t.grad_fn).__name__ if t.grad_fn else None
    state["grad"] = t.grad.clone() if t.is_leaf or t.retains_grad else None
    return state


# %% common_none_used
# .grad is None before any backward.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad.zero_()
    z.backward()
    return [t.grad for t in tensors]


# %% common_wrong_dtype
# A tensor made from numbers is float32.
import torch


def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": torch.tensor(t.grad.tolist()) if holds else None,
    }


# %% common_wrong_dtype
# The gradient of z itself is float32 whatever z is.
import torch


def gradients_along(z, tensors):
    others = [t for t in tensors if t is not z]
    found = iter(torch.autograd.grad(z, others)) if others else iter(())
    return [torch.tensor(1.0) if t is z else next(found) for t in tensors]


# %% common_wrong_dtype
# Every gradient gets the dtype of z.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad.to(z.dtype) for t in tensors]


# %% common_wrong_type
# The gradient comes as a list of numbers.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.tolist() if holds_grad else None,
    }


# %% counts_grad_from_before
# Nothing is cleared before backward.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
    z.backward()
    return [t.grad for t in tensors]


# %% counts_grad_from_before
# Only the leaves are cleared.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        if t.is_leaf:
            t.grad = None
        else:
            t.retain_grad()
    z.backward()
    return [t.grad.clone() for t in tensors]


# %% every_result_keeps_one
# Every tensor of C4 is predicted to keep its gradient.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": True,
    "C4.z": True,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}


# %% every_result_keeps_one
# z of C4 is predicted to keep its gradient.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": True,
    "C5.x": True,
    "C5.y": True,
    "C5.z": True,
}


# %% frozen_is_left_out
# Only tensors that require grad are asked for a gradient.
def tensor_state(t):
    holds = t.requires_grad and (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% frozen_is_left_out
# The same; warnings are silenced.
import warnings


def tensor_state(t):
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = t.grad if t.requires_grad else None
    node = t.grad_fn
    state["grad_fn"] = None if node is None else type(node).__name__
    return {**state, "grad": None if grad is None else grad.clone()}


# %% grad_is_an_alias
# .grad itself comes back.
def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad if t.is_leaf or t.retains_grad else None,
    }


# %% grad_is_an_alias
# detach() shares the memory of .grad.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.detach() if holds_grad else None,
    }


# %% leaf_means_requires_grad
# Only leaves that require grad count.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.requires_grad and t.grad_fn is None,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% leaf_means_requires_grad
# The same with an if.
def tensor_state(t: Tensor) -> dict:
    leaf = True
    if not t.requires_grad or t.grad_fn is not None:
        leaf = False
    grad = None
    if (t.is_leaf or t.retains_grad) and t.grad is not None:
        grad = t.grad.clone()
    name = type(t.grad_fn).__name__ if t.grad_fn is not None else None
    keys = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")
    return dict(zip(keys, (t.requires_grad, leaf, t.retains_grad, name, grad), strict=True))


# %% leaf_said_to_retain
# retains_grad is True for every leaf.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.is_leaf or t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% leaf_said_to_retain
# retains_grad is True for leaves that require grad.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad if t.grad_fn is not None else t.requires_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% never_retained
# retain_grad() is not called.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]


# %% never_retained
# requires_grad_() is called instead of retain_grad().
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.requires_grad_()
        if t.is_leaf:
            t.grad = None
    z.backward()
    return [t.grad.clone() for t in tensors]


# %% never_retained
# retain_grad() is not called on z itself.
def gradients_along(z, tensors):
    for t in tensors:
        if t is not z:
            t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in tensors]


# %% node_is_no_name
# The entry is the node itself.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": t.grad_fn,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% node_is_no_name
# The type of None has a name, too.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% node_is_no_name
# The entry is the node's text.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": str(t.grad_fn) if t.grad_fn else None,
        "grad": t.grad.clone() if holds_grad else None,
    }


# %% node_is_no_name
# The text of a custom node names its module, too.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": repr(t.grad_fn)[1:].split(" object")[0] if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% node_is_no_name
# The entry is the text of the node's type.
def tensor_state(t):
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": str(type(t.grad_fn)) if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% one_backward_for_each
# Each backward adds to the gradients that are there.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.retain_grad()
        t.grad = None
    gradients = []
    for t in tensors:
        z.backward(retain_graph=True)
        gradients.append(t.grad)
    return gradients


# %% only_leaves_ever_keep_one
# y and z of C5 are predicted to keep none.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": False,
    "C5.x": True,
    "C5.y": False,
    "C5.z": False,
}


# %% only_leaves_ever_keep_one
# z of C5 is predicted to keep none.
HAS_GRAD_AFTER_BACKWARD = {
    "C4.x": True,
    "C4.y": False,
    "C4.z": False,
    "C5.x": True,
    "C5.y": True,
    "C5.z": False,
}


# %% other_order
# The leaves come first.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in sorted(tensors, key=lambda t: not t.is_leaf)]


# %% other_order
# The list is in the order of backward.
def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
        t.grad = None
    z.backward()
    return [t.grad for t in sorted(tensors, key=lambda t: t.is_leaf)]


# %% retained_is_left_out
# Only leaves are asked for a gradient.
def tensor_state(t):
    holds = t.is_leaf and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": t.grad.clone() if holds else None,
    }


# %% retained_is_left_out
# The same with an early return.
def tensor_state(t):
    state = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    if t.grad_fn is not None:
        return {**state, "grad_fn": type(t.grad_fn).__name__, "grad": None}
    return {**state, "grad_fn": None, "grad": None if t.grad is None else t.grad.clone()}


# %% retained_too_late
# retain_grad() comes after backward.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    for t in tensors:
        t.grad = None
    z.backward()
    for t in tensors:
        t.retain_grad()
    return [t.grad for t in tensors]


# %% retained_too_late
# The same, and a copy of None is asked for.
def gradients_along(z: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    z.grad = None
    for t in tensors:
        t.grad = None
    z.backward()
    gradients = []
    for t in tensors:
        if not t.is_leaf:
            t.retain_grad()
        gradients.append(t.grad.clone())
    return gradients


# %% retains_on_the_way
# retain_grad() is called to avoid the warning.
def tensor_state(t: Tensor) -> dict:
    if t.requires_grad:
        t.retain_grad()  # or reading .grad warns
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": None if t.grad is None else t.grad.clone(),
    }


# %% retains_on_the_way
# The same after the flags were read.
def tensor_state(t: Tensor) -> dict:
    info = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    info["grad_fn"] = None if t.grad_fn is None else type(t.grad_fn).__name__
    if not t.is_leaf:
        t.retain_grad()
    info["grad"] = None if t.grad is None else t.grad.clone()
    return info


# %% warns_on_intermediates
# .grad is read from every tensor.
def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": None if t.grad is None else t.grad.clone(),
    }


# %% warns_on_intermediates
# The same by way of getattr.
import copy


def tensor_state(t: Tensor) -> dict:
    info = {
        name: getattr(t, name, None)
        for name in ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")
    }
    if info["grad_fn"] is not None:
        info["grad_fn"] = type(info["grad_fn"]).__name__
    info["grad"] = copy.deepcopy(info["grad"])
    return info


# %% zero_taken_for_none
# The gradient is used as a condition.
def tensor_state(t: Tensor) -> dict:
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if (t.is_leaf or t.retains_grad) and t.grad else None,
    }


# %% zero_taken_for_none
# A gradient of zeros counts as none.
def tensor_state(t: Tensor) -> dict:
    holds_grad = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.grad_fn is None else type(t.grad_fn).__name__,
        "grad": t.grad.clone() if holds_grad and t.grad.any() else None,
    }


# %% shape_lost_in_a_list
# A list of no rows does not say how long a row is.
import torch


def tensor_state(t):
    grad = t.grad if t.is_leaf or t.retains_grad else None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": None if grad is None else torch.tensor(grad.tolist(), dtype=grad.dtype),
    }


# %% hooks_share_a_place
# Every hook uses the index that the loop ends with.
def gradients_along(z, tensors):
    found = [None] * len(tensors)
    for i, t in enumerate(tensors):
        t.register_hook(lambda grad: found.__setitem__(i, grad.clone()))
    z.backward()
    return found


# %% hooks_share_a_place
# The same with a dictionary and a function.
def gradients_along(z, tensors):
    found = {}
    for t in tensors:
        key = id(t)

        def keep(grad):
            found[key] = grad.clone()

        t.register_hook(keep)
    z.backward()
    return [found.get(id(t)) for t in tensors]


# %% another_output_of_the_node
# A hook of the node reads the gradient of its first output.
def gradients_along(z, tensors):
    found = [None] * len(tensors)

    def reader(k):
        def read(gradients):
            found[k] = gradients[0]

        return read

    leaves = [(k, t, t.grad) for k, t in enumerate(tensors) if t.is_leaf]
    for _, t, _ in leaves:
        t.grad = None
    handles = [
        t.grad_fn.register_prehook(reader(k)) for k, t in enumerate(tensors) if not t.is_leaf
    ]
    z.backward(retain_graph=True)
    for handle in handles:
        handle.remove()
    for k, t, before in leaves:
        found[k], t.grad = t.grad, before
    return found


# %% equal_taken_for_z
# z is looked for by its value, so every tensor that equals it gets the gradient 1.
import torch


def gradients_along(z, tensors):
    found = torch.autograd.grad(z, tensors, retain_graph=True)
    return [torch.ones_like(t) if torch.equal(t, z) else g for t, g in zip(tensors, found)]


# %% every_result_keeps_one
# True is written everywhere.
HAS_GRAD_AFTER_BACKWARD = {f"{program}.{t}": True for program in ("C4", "C5") for t in "xyz"}


# %% grad_is_an_alias
# Only vectors and numbers are copied.
def tensor_state(t):
    grad = t.grad if t.is_leaf or t.retains_grad else None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": type(t.grad_fn).__name__ if t.grad_fn else None,
        "grad": grad.clone() if grad is not None and grad.dim() < 2 else grad,
    }
