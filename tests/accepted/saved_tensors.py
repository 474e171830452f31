"""saved_tensors: other right answers. A cell has the definitions that are not the solution's."""


# %% hooks_both_ways
# A second run under hooks gives what the first one did not keep. Views know their base.
def saved_bytes(f, x: Tensor) -> int:
    kept = []

    def pack(tensor: Tensor) -> Tensor:
        owner = tensor if tensor._base is None else tensor._base
        if not (owner.is_leaf and owner.requires_grad):
            kept.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        f(x)
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(sizes.values())


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(tensor: Tensor):
        owner = tensor if tensor._base is None else tensor._base
        if owner.is_leaf and owner.requires_grad or not tensor.is_floating_point():
            return lambda: tensor
        small, own = tensor.detach().to(dtype), tensor.dtype
        return lambda: small.to(own)

    return saved_tensors_hooks(pack, lambda kept: kept())


def checkpointed(f, *xs: Tensor) -> Tensor:
    random, kept, number = torch.get_rng_state(), {}, 0

    def run_again():
        def keep(tensor):
            kept[len(kept)] = tensor.detach()
            return tensor

        again = [x.detach().requires_grad_(x.requires_grad) for x in xs]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(random)
            with saved_tensors_hooks(keep, lambda tensor: tensor):
                f(*again)

    def pack(tensor):
        nonlocal number
        number += 1
        return number - 1

    def unpack(place):
        if place not in kept:
            kept.clear()
            run_again()
        return kept.pop(place)

    with saved_tensors_hooks(pack, unpack):
        return f(*xs)


# %% walks_the_graph
# The saved tensors are read from the nodes, by recursion; a class of hooks.
import weakref


def saved_bytes(f, x):
    seen, owned, kept = set(), {x.untyped_storage().data_ptr()}, {}

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        if hasattr(node, "variable"):
            owned.add(node.variable.untyped_storage().data_ptr())
        for name in dir(node):
            value = getattr(node, name) if name.startswith("_saved_") else None
            for one in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(one, Tensor):
                    kept[one.untyped_storage().data_ptr()] = one.untyped_storage()
        for parent, _ in node.next_functions:
            visit(parent)

    result = f(x)
    visit(result.grad_fn)
    return sum(one.nbytes() for place, one in kept.items() if place not in owned)


class saved_as(saved_tensors_hooks):
    def __init__(self, dtype):
        def pack(tensor):
            if tensor.grad_fn is None and tensor.requires_grad or tensor.dtype not in FLOATS:
                return lambda: tensor
            small, own = tensor.detach().type(dtype), tensor.dtype
            return lambda: small.type(own)

        super().__init__(pack, lambda packed: packed())


FLOATS = (torch.float32, torch.float64)


class Kept:
    def __init__(self, tensor, folder):
        number, self.name = mkstemp(dir=folder, suffix=".pt")
        torch.save(tensor.detach().clone(), self.name)
        weakref.finalize(self, Path(self.name).unlink)


def saved_in(folder):
    def pack(tensor):
        return tensor if tensor.is_leaf and tensor.requires_grad else Kept(tensor, folder)

    def unpack(one):
        return one if isinstance(one, Tensor) else torch.load(one.name)

    return saved_tensors_hooks(pack, unpack)


# %% only_what_is_alive
# Objects that die with the graph; a generator as a context manager; the newer style of a Function.
import weakref
from contextlib import contextmanager


class Held:
    def __init__(self, tensor):
        self.tensor = tensor


def saved_bytes(f, x):
    alive = weakref.WeakSet()

    def pack(tensor):
        held = Held(tensor.detach())
        alive.add(held)
        return held

    with saved_tensors_hooks(pack, lambda held: held.tensor):
        result = f(x)
    leaves = [x]
    todo, seen = [result.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo.extend(parent for parent, _ in node.next_functions)
            if type(node).__name__ == "AccumulateGrad":
                leaves.append(node.variable)
    owned = {leaf.untyped_storage().data_ptr() for leaf in leaves}
    kept = {held.tensor.untyped_storage().data_ptr(): held.tensor for held in alive}
    return sum(kept[place].untyped_storage().size() for place in kept.keys() - owned)


@contextmanager
def saved_as(dtype):
    def pack(t):
        floating = t.dtype.is_floating_point and not (t.is_leaf and t.requires_grad)
        return {"own": t.dtype, "kept": t.detach().to(dtype) if floating else t}

    with saved_tensors_hooks(pack, lambda p: p["kept"].to(p["own"])):
        yield


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(f, state, anchor, *xs):
        return f(*xs)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.f, ctx.state, _, *xs = inputs
        ctx.save_for_backward(*xs)

    @staticmethod
    def backward(ctx, v):
        now = torch.get_rng_state()
        torch.set_rng_state(ctx.state)
        with torch.enable_grad():
            leaves = [x.detach().clone().requires_grad_() for x in ctx.saved_tensors]
            y = ctx.f(*leaves)
        torch.set_rng_state(now)
        torch.autograd.backward([y], [v])
        return (None, None, None, *(x.grad for x in leaves))


def checkpointed(f, *xs):
    return Checkpoint.apply(f, torch.get_rng_state(), torch.ones(1, requires_grad=True), *xs)


# %% parameters_by_a_walk
# The second run's leaves are found in its graph, and asked for by grad.
def leaves_of(y):
    found, seen, todo = [], set(), [y.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        todo += [parent for parent, _ in node.next_functions]
    return found


class Lazy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, token, *xs):
        ctx.f, ctx.xs, ctx.state = f, xs, torch.random.get_rng_state()
        with torch.no_grad():
            return f(*xs)

    @staticmethod
    @torch.enable_grad()
    def backward(ctx, v):
        xs = [x.detach().requires_grad_(x.requires_grad) for x in ctx.xs]
        with torch.random.fork_rng(devices=[]):
            torch.random.set_rng_state(ctx.state)
            y = ctx.f(*xs)
        leaves = leaves_of(y)
        grads = torch.autograd.grad(y, leaves, v, allow_unused=True)
        for leaf, grad in zip(leaves, grads):
            if grad is not None:
                leaf.grad = grad if leaf.grad is None else leaf.grad + grad
        return None, None, *(x.grad for x in xs)


def checkpointed(f, *xs):
    return Lazy.apply(f, torch.zeros(0, requires_grad=True), *xs)


# %% hooks_and_an_iterator
# Hooks; each pass runs f when it reads the first tensor, and all are kept until the next.
def checkpointed(f, *xs):
    state = torch.get_rng_state()
    names, store = [], {}

    class Name:
        pass

    def pack(tensor):
        names.append(Name())
        return len(names) - 1

    def unpack(k):
        if k not in store:
            again = []
            now = torch.get_rng_state()
            torch.set_rng_state(state)
            with (
                torch.enable_grad(),
                saved_tensors_hooks(lambda t: again.append(t.detach()), lambda t: t),
            ):
                f(*xs)
            torch.set_rng_state(now)
            store.update(enumerate(again))
        return store.pop(k)

    with saved_tensors_hooks(pack, unpack):
        return f(*xs)


# %% saved_by_numpy
# NumPy writes the files; a name from uuid; a dictionary of open files.
import uuid


class Array:
    def __init__(self, tensor, folder):
        self.path = Path(folder) / f"{uuid.uuid4()}.npy"
        numpy.save(self.path, tensor.detach().contiguous().numpy())

    def __del__(self):
        self.path.unlink(missing_ok=True)


def saved_in(folder):
    def pack(tensor):
        return (
            (tensor, None)
            if tensor.requires_grad and tensor.is_leaf
            else (None, Array(tensor, folder))
        )

    def unpack(pair):
        tensor, array = pair
        return torch.from_numpy(numpy.load(array.path)) if tensor is None else tensor

    return saved_tensors_hooks(pack, unpack)
