"""saved_tensors: wrong answers. A cell shows the definitions that differ from the solution."""


# %% storage_counted_twice
# Each tensor that is saved counts, also one that shares its storage.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = []
    with saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    storages = [t.untyped_storage() for t in kept]
    return sum(one.nbytes() for one in storages if one.data_ptr() not in leaves)


# %% storage_counted_twice
# Tensors are told apart by id: a transposed one is another tensor.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}
    with saved_tensors_hooks(lambda t: kept.setdefault(id(t), t), lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    storages = [t.untyped_storage() for t in kept.values()]
    return sum(one.nbytes() for one in storages if one.data_ptr() not in leaves)


# %% leaves_counted
# x and the parameters count, too.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% parameters_counted
# Only x is left out.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    kept.pop(x.untyped_storage().data_ptr(), None)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% everything_counted
# All that is saved is added up: leaves, and storages twice.
def saved_bytes(f, x: Tensor) -> int:
    total = 0

    def pack(t):
        nonlocal total
        total += t.untyped_storage().nbytes()
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return total


# %% everything_counted
# The same in unpack, which runs in backward.
def saved_bytes(f, x: Tensor) -> int:
    sizes = []

    def unpack(t):
        sizes.append(t.untyped_storage().nbytes())
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        result = f(x)
    torch.autograd.grad(result.sum(), x)
    return sum(sizes)


# %% view_of_a_leaf_counted
# Leaves are known by is_leaf; w.t() is not one, but has the memory of one.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        if not (t.is_leaf and t.requires_grad):
            kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% own_size_of_a_view
# The elements of a slice count instead of its storage.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(
        t.numel() * t.element_size()
        for t in kept.values()
        if t.untyped_storage().data_ptr() not in leaves
    )


# %% own_size_of_a_view
# nbytes of the tensor, one for each storage.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(t.nbytes for place, t in kept.items() if place not in leaves)


# %% mask_left_out
# A leaf is what is_leaf says: a mask is one, because it requires no grad.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        if not t.is_leaf:
            kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(t.untyped_storage().nbytes() for place, t in kept.items() if place not in leaves)


# %% mask_left_out
# What requires no grad is left out.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        if t.requires_grad:
            kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    kept = {k: t for k, t in kept.items() if k not in leaves_behind(result)}
    kept.pop(x.untyped_storage().data_ptr(), None)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% elements_counted
# Elements instead of bytes.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(t.numel() for place, t in kept.items() if place not in leaves)


# %% eight_bytes_each
# 8 bytes for every element.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes() // t.element_size() * 8
        return t

    keep = []
    with saved_tensors_hooks(lambda t: keep.append(t) or pack(t), lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(size for place, size in kept.items() if place not in leaves)


# %% result_counted
# What f returns counts, although no node saves it.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    pack(result)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(t.untyped_storage().nbytes() for place, t in kept.items() if place not in leaves)


# %% nothing_is_recorded
# Under no_grad there is no graph, so nothing is saved.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with torch.no_grad(), saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% memory_used_again
# Addresses are kept and the tensors are not, so that new tensors get old addresses.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()

    with saved_tensors_hooks(pack, lambda t: t):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    return sum(size for place, size in kept.items() if place not in leaves)


# %% grad_written
# The tensors are counted in unpack, in a backward that writes x.grad.
def leaves_behind(result):
    seen, todo, found = {None}, [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            todo += [parent for parent, _ in node.next_functions]
            if hasattr(node, "variable"):
                found.add(node.variable.untyped_storage().data_ptr())
    return found


def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def unpack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(lambda t: t, unpack):
        result = f(x)
    leaves = leaves_behind(result) | {x.untyped_storage().data_ptr()}
    result.sum().backward()
    return sum(t.untyped_storage().nbytes() for place, t in kept.items() if place not in leaves)


# %% kept_in_full
# The hooks change nothing.
def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    return saved_tensors_hooks(lambda t: t, lambda t: t)


# %% kept_in_full
# pack forgets what to() returns.
def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        t.to(dtype)
        return t

    return saved_tensors_hooks(pack, lambda t: t)


# %% own_dtype_forgotten
# unpack gives back float16.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    return saved_tensors_hooks(lambda t: t if is_exact(t) else t.to(dtype), lambda t: t)


# %% always_float64
# unpack always gives float64.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return t if is_exact(t) else t.to(dtype)

    def unpack(t):
        return t.to(torch.float64) if t.dtype == dtype else t

    return saved_tensors_hooks(pack, unpack)


# %% always_float16
# dtype is not used.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t, t.dtype) if is_exact(t) else (t.half(), t.dtype)

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% leaf_rounded
# Leaves are rounded, too.
def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t.to(dtype) if t.is_floating_point() else t), t.dtype

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% indices_rounded
# Whole numbers are rounded, too.
def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t if t.is_leaf and t.requires_grad else t.to(dtype)), t.dtype

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% original_kept
# pack keeps the tensor itself; only unpack rounds.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def unpack(t):
        return t if is_exact(t) else t.to(dtype).to(t.dtype)

    return saved_tensors_hooks(lambda t: t.detach() if not t.is_leaf else t, unpack)


# %% rounded_and_wide
# pack rounds and goes back to the own dtype at once.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return t if is_exact(t) else t.to(dtype).to(t.dtype)

    return saved_tensors_hooks(pack, lambda t: t)


# %% original_kept
# The tensor itself is kept beside its copy, for its dtype.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return t, (t if is_exact(t) else t.to(dtype))

    return saved_tensors_hooks(pack, lambda packed: packed[1].to(packed[0].dtype))


# %% mask_in_full
# is_leaf is asked alone.
def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t if t.is_leaf or not t.is_floating_point() else t.to(dtype)), t.dtype

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% dtype_of_another_call
# The dtype is a global variable, which a later call changes.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


WANTED = {}


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    WANTED["dtype"] = dtype

    def pack(t):
        return (t, t.dtype) if is_exact(t) else (t.to(WANTED["dtype"]), t.dtype)

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% dtype_of_another_call_raised
# unpack knows what pack converted by the dtype of the last call.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


WANTED = {}


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    WANTED["dtype"] = dtype

    def pack(t):
        return (t if is_exact(t) else t.to(dtype)), t.dtype

    def unpack(packed):
        t, own = packed
        return t.to(own) if t.dtype == WANTED["dtype"] else t

    return saved_tensors_hooks(pack, unpack)


# %% always_float64
# The own dtype is one for all tensors: that of the last one.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


OWN = {}


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        if not is_exact(t):
            OWN["dtype"] = t.dtype
        return t if is_exact(t) else t.to(dtype)

    def unpack(t):
        return t.to(OWN["dtype"]) if t.dtype == dtype else t

    return saved_tensors_hooks(pack, unpack)


# %% hooks_stay_on
# The hooks are switched on, and never off.
from contextlib import contextmanager


def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t, t.dtype) if is_exact(t) else (t.to(dtype), t.dtype)

    hooks = saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))

    @contextmanager
    def switched_on():
        hooks.__enter__()
        yield

    return switched_on()


# %% hooks_stay_on
# The hooks are not removed if the block raises.
from contextlib import contextmanager


def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t, t.dtype) if is_exact(t) else (t.to(dtype), t.dtype)

    hooks = saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))

    @contextmanager
    def switched_on():
        hooks.__enter__()
        yield
        hooks.__exit__(None, None, None)

    return switched_on()


# %% nothing_is_recomputed
# f runs once, and its graph keeps everything.
def checkpointed(f, *xs: Tensor) -> Tensor:
    return f(*xs)


# %% nothing_is_recomputed
# forward keeps the graph that backward needs.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        with torch.enable_grad():
            ctx.xs = [x.detach().requires_grad_(x.requires_grad) for x in xs]
            ctx.y = f(*ctx.xs)
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, grad_output):
        ctx.y.backward(grad_output, retain_graph=True)
        return None, None, *[x.grad for x in ctx.xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% kept_elsewhere
# Copies are kept instead of the tensors.
def checkpointed(f, *xs: Tensor) -> Tensor:
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        return f(*xs)


# %% borrowed
# torch's own checkpoint.
def checkpointed(f, *xs: Tensor) -> Tensor:
    from torch.utils.checkpoint import checkpoint

    return checkpoint(f, *xs, use_reentrant=False)


# %% borrowed
# torch's own checkpoint, by another name.
import torch.utils.checkpoint as tools


def checkpointed(f, *xs: Tensor) -> Tensor:
    return getattr(tools, "check" + "point")(f, *xs, use_reentrant=False)


# %% no_graph
# Without a graph, and without a Function.
def checkpointed(f, *xs: Tensor) -> Tensor:
    with torch.no_grad():
        return f(*xs)


# %% recording_is_off
# backward runs f with recording off, as it is in a backward.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% recording_is_off
# Where the second run has no graph, backward does nothing.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        y = ctx.f(*xs)
        if y.requires_grad:
            y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% gradient_twice
# f runs again on the tensors themselves, so that backward walks on.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = ctx.saved_tensors
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% inputs_not_leaves
# detach alone: the second run has no graph back to x.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [x.detach() for x in ctx.saved_tensors]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% parameters_left_out
# grad asks for the gradients of xs alone.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        wanted = [x for x in xs if x.requires_grad]
        found = iter(torch.autograd.grad(y, wanted, grad_output))
        return None, None, *[next(found) if x.requires_grad else None for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% no_anchor
# Only xs are inputs of apply, so that f's parameters are not seen.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[1:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, *xs)


# %% grad_output_ignored
# The second run is differentiated as a sum.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(torch.ones_like(grad_output))
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% other_random_numbers
# f draws new random numbers in backward.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.enable_grad():
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% other_random_numbers
# The second run begins with the seed, not with the state.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.seed = f, torch.initial_seed()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(ctx.seed)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% other_random_numbers
# The state is read after f, not before.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f = f
        ctx.save_for_backward(*xs)
        y = f(*xs)
        ctx.random = torch.get_rng_state()
        return y

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% callers_random_numbers
# The old state is set, and the caller's not put back.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        torch.set_rng_state(ctx.random)
        with torch.enable_grad():
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% callers_random_numbers
# A fixed seed, in both runs.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.Generator().manual_seed(0).get_state()
        torch.set_rng_state(ctx.random)
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% first_x_only
# Only the first x gets its gradient.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, xs[0].grad, *[None for x in xs[1:]]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% last_call_wins
# f is kept on the class, where a later call replaces it.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        Again.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = Again.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% used_up
# What backward needs is gone after the first.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        f, ctx.f = ctx.f, None
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% f_runs_too_often
# f runs again for each tensor that backward reads.
def checkpointed(f, *xs: Tensor) -> Tensor:
    random, number = torch.get_rng_state(), 0

    def run_again():
        kept = []
        again = [x.detach().requires_grad_(x.requires_grad) for x in xs]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(random)
            with saved_tensors_hooks(lambda t: kept.append(t.detach()) or t, lambda t: t):
                f(*again)
        return kept

    def pack(tensor):
        nonlocal number
        number += 1
        return number - 1

    with saved_tensors_hooks(pack, lambda place: run_again()[place]):
        return f(*xs)


# %% gradient_twice
# The caller's xs get their gradient in backward, and once more from autograd.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        for x, again in zip(ctx.saved_tensors, xs, strict=True):
            if x.is_leaf and again.grad is not None:
                x.grad = again.grad if x.grad is None else x.grad + again.grad
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% one_leaf_for_two
# Leaves are found by the tensor that they stand for.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.places = [id(x) for x in xs]
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        leaves = {}
        for place, x, needed in zip(ctx.places, ctx.saved_tensors, ctx.needs_input_grad[2:]):
            leaves.setdefault(place, x.detach().requires_grad_(needed))
        xs = [leaves[place] for place in ctx.places]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% recording_forced_on
# A graph is recorded whatever the caller wants.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    with torch.enable_grad():
        return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% xs_made_to_require_grad
# So that apply makes a node.
def checkpointed(f, *xs):
    for x in xs:
        x.requires_grad_()
    return _Recomputed.apply(f, torch.empty(0), *xs)


# %% walks_on_past_h
# The second run begins at xs themselves, whose gradients arrive by the inner backward.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = ctx.saved_tensors
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[None for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% nested_call_lost
# While f runs again, a call inside is taken for the outer one's and only runs.
BUSY = []


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [
            x.detach().requires_grad_(needed)
            for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:], strict=True)
        ]
        BUSY.append(True)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        BUSY.clear()
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    if BUSY:
        return f(*[x.detach() for x in xs])
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% files_stay
# The files are never removed.
class Stored:
    def __init__(self, tensor, folder):
        number, name = mkstemp(dir=folder)
        self.path = Path(name)
        with open(number, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def load(self):
        return torch.from_numpy(numpy.load(self.path))


def saved_in(folder: str) -> AbstractContextManager:
    def pack(t):
        return t if t.is_leaf and t.requires_grad else Stored(t, folder)

    return saved_tensors_hooks(pack, lambda p: p.load() if isinstance(p, Stored) else p)


# %% file_removed_too_early
# The file goes when it is read, and a second backward does not find it.
class Stored:
    def __init__(self, tensor, folder):
        number, name = mkstemp(dir=folder)
        self.path = Path(name)
        with open(number, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def load(self):
        return torch.from_numpy(numpy.load(self.path))

    def once(self):
        tensor = torch.from_numpy(numpy.load(self.path))
        self.path.unlink()
        return tensor


def saved_in(folder: str) -> AbstractContextManager:
    def pack(t):
        return t if t.is_leaf and t.requires_grad else Stored(t, folder)

    return saved_tensors_hooks(pack, lambda p: p.once() if isinstance(p, Stored) else p)


# %% kept_in_memory
# The tensors are written, and kept in memory as well.
class Stored:
    def __init__(self, tensor, folder):
        number, name = mkstemp(dir=folder)
        self.path, self.tensor = Path(name), tensor.detach()
        with open(number, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def load(self):
        return torch.from_numpy(numpy.load(self.path))

    def __del__(self):
        self.path.unlink()


def saved_in(folder: str) -> AbstractContextManager:
    def pack(t):
        return t if t.is_leaf and t.requires_grad else Stored(t, folder)

    return saved_tensors_hooks(pack, lambda p: p.load() if isinstance(p, Stored) else p)


# %% files_overwritten
# Each context manager numbers its files from 0.
class Stored:
    def __init__(self, tensor, path):
        self.path = path
        with open(path, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def __del__(self):
        self.path.unlink(missing_ok=True)


def saved_in(folder: str) -> AbstractContextManager:
    count = 0

    def pack(t):
        nonlocal count
        if t.is_leaf and t.requires_grad:
            return t
        count += 1
        return Stored(t, Path(folder) / f"{count}.npy")

    def unpack(one):
        return one if isinstance(one, Tensor) else torch.from_numpy(numpy.load(one.path))

    return saved_tensors_hooks(pack, unpack)


# %% kept_in_memory
# Whole numbers are not written, as saved_as leaves them.
class Stored:
    def __init__(self, tensor, folder):
        number, name = mkstemp(dir=folder)
        self.path = Path(name)
        with open(number, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def __del__(self):
        self.path.unlink()


def saved_in(folder: str) -> AbstractContextManager:
    def pack(t):
        stays = t.is_leaf and t.requires_grad or not t.is_floating_point()
        return t if stays else Stored(t, folder)

    def unpack(one):
        return one if isinstance(one, Tensor) else torch.from_numpy(numpy.load(one.path))

    return saved_tensors_hooks(pack, unpack)


# %% not_written
# Nothing is written.
def saved_in(folder: str) -> AbstractContextManager:
    return saved_tensors_hooks(lambda t: t.clone(), lambda t: t)
