"""Scenarios that several lessons use, and what lessons' own scenarios are made of.

They run in the worker, beside the student's module. This file is never imported there: the judge
sends a scenario together with the definitions that it uses (``judge/remote/scenarios.py``), when a
check first asks for it. So the file imports torch, ``worker/wire`` and Python's own modules only.

A ``path`` is the dotted name of a student's function: ``"Sigmoid.apply"``, ``"relu"``; or a list of
that name and of arguments that follow the inputs: ``["LogSumExp.apply", 1]``.
"""

from functools import partial
from types import CellType

import torch
from torch.autograd.function import Function
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


def at(student, path):
    """What a path stands for: with further arguments, a function of the inputs alone."""
    name, *rest = [path] if isinstance(path, str) else path
    found = student
    for part in name.split("."):
        found = getattr(found, part)
    return (lambda *inputs: found(*inputs, *rest)) if rest else found


def class_at(student, path):
    """The class of a path that ends in apply."""
    name = path if isinstance(path, str) else path[0]
    return at(student, name.rpartition(".")[0])


def copied(value):
    """A copy that later writes leave alone: of a tensor, or of those in a tuple or a list."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return type(value)(map(copied, value)) if type(value) in (tuple, list) else value


def gradients(result, inputs, v):
    """The gradients of result at the inputs for v, where they can be asked for."""
    if not isinstance(result, torch.Tensor) or not result.requires_grad or result.shape != v.shape:
        return None
    return list(torch.autograd.grad(result, inputs, v, allow_unused=True))


def node_of(value, cls):
    """The node of a call of cls in the graph behind value, or None."""
    return next(
        (
            node
            for node in nodes_behind(getattr(value, "grad_fn", None))
            if getattr(type(node), "_forward_cls", None) is cls
        ),
        None,
    )


def nodes_behind(node):
    """A node and all nodes behind it, each once: in a loop, the ways to a node are too many."""
    todo, seen = [node], {}
    while todo:
        node = todo.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node  # which keeps it alive, so that its id stays its own
            todo += [parent for parent, _ in node.next_functions]
            yield node


# ---------------------------------------------------------------------------- graphs, for figures


def graph(student, path, names, inputs, build=None, args=None, then=None, root=None):
    """The graph behind ``root``, by default the last tensor, after a call of the student's: of the
    inputs, what ``build`` makes of them, what the student's function returns, and what ``then``
    makes of that. ``names`` are those of these tensors, in this order.

    ``args`` are the function's arguments, in which a name stands for its tensor; by default what
    was built, or else the inputs.
    """
    from grader.worker.wire.trace import trace

    built = tensors_in([build(*inputs)]) if build else []
    before = [*inputs, *built]
    arguments = built or inputs if args is None else filled(args, named(names, before))
    results = tensors_in([at(student, path)(*arguments)])
    tensors = [*before, *results, *(tensors_in([then(*results)]) if then else [])]
    known = named(names, tensors)
    return trace(known[root] if root else tensors[-1], known)


def graph_inside(student, path, names, inputs, args, which):
    """The graph behind what the argument at the place ``which``, a function, returns when the
    student's function calls it first. ``names`` are those of the inputs, of what it is called with,
    and of what it returns; ``args`` are the arguments as for ``graph``.
    """
    from grader.worker.wire.trace import trace

    seen, arguments = [], filled(args, named(names, inputs))
    called = arguments[which]

    def watched(*given):
        result = called(*given)
        tensors = tensors_in([*inputs, *given, result])
        seen.append(trace(tensors[-1], named(names, tensors)))
        return result

    arguments[which] = watched
    at(student, path)(*arguments)
    return seen[0]


def named(names, tensors):
    """The tensors by their names, as far as there are names."""
    return dict(zip(names, tensors, strict=False))


def filled(value, known):
    """Arguments in which a name stands for its tensor."""
    if isinstance(value, dict):
        return {key: filled(one, known) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(one, known) for one in value]
    return known.get(value, value) if isinstance(value, str) else value


# ------------------------------------------------------------------------- what a node holds


def kept(student, path, inputs):
    """The node of a call: whether there is one, how many saved tensors it holds, and which
    attributes that backward needs hold tensors.
    """
    result = at(student, path)(*inputs)
    node = node_of(result, class_at(student, path))
    held = [
        name
        for name, value in getattr(node, "__dict__", {}).items()
        if arrays_in([value, *inside_of(value)])
    ]
    return {
        "found": node is not None,
        "node": type(node).__name__,
        "saved": len(getattr(node, "saved_tensors", ())),
        "attributes": [name for name in held if needed(node, name, result, inputs)],
    }


def inside_of(value):
    """What a function has from around it, and what an object's attributes are."""
    if isinstance(value, partial):
        return [*value.args, *value.keywords.values()]
    if isinstance(value, (type, type(torch))):
        return []
    cells = getattr(value, "__closure__", None) or ()
    held = [cell.cell_contents for cell in cells if cell != CellType()]
    return [*held, *getattr(value, "__dict__", {}).values()]


def needed(node, attribute, output, inputs):
    """Whether backward raises without an attribute of its node."""
    value = node.__dict__.pop(attribute)
    try:
        torch.autograd.grad(
            output, inputs, torch.ones_like(output), retain_graph=True, allow_unused=True
        )
    except Exception:
        return True
    finally:
        node.__dict__[attribute] = value
    return False


def arrays_in(value, depth=0):
    """How many tensors or arrays a value holds."""
    if isinstance(value, torch.Tensor) or (
        type(value).__name__ == "ndarray" and value.dtype.kind in "fcO"
    ):
        return 1
    if depth > 3 or not isinstance(value, (list, tuple, set, dict)):
        return 0
    return sum(
        arrays_in(item, depth + 1)
        for item in (value.values() if isinstance(value, dict) else value)
    )


# --------------------------------------------------------------------- what a call leaves alone


def beside(student, path, inputs, v, held):
    """backward for v from a call plus w * 1: what the inputs and v hold afterwards, the .grad of
    the inputs and of w, and whether v, which requires grad, still does. Before, .grad is ``held``.
    """
    v.requires_grad_()
    w = torch.zeros_like(v).requires_grad_()
    neighbour = w * 1  # made before the call, so its node runs after that of the call
    for one, before in zip(inputs, held or [None] * len(inputs), strict=True):
        one.grad = before
    (at(student, path)(*inputs) + neighbour).backward(v)
    return {
        "inputs": [copied(one) for one in inputs],
        "v": copied(v),
        "v_requires_grad": v.requires_grad,
        "grads": [copied(one.grad) for one in (*inputs, w)],
    }


def around(student, path, x, held, once=False):
    """What calls leave of an x that requires no grad, whether the result then requires grad, and
    whether autograd still records; what .grad of a leaf holds afterwards, before it is ``held``;
    whether an inner tensor retains its gradient, and whether a call under no_grad is recorded, or
    switches recording on. With ``once``, only what one call shows.
    """
    function = at(student, path)
    x.grad = copied(held)
    y = function(x)
    seen = {
        "x": x.requires_grad,
        "the result": isinstance(y, torch.Tensor) and y.requires_grad,
        "values": copied(x),
        "grads": [copied(x.grad)],
        "records": torch.is_grad_enabled(),
        "recorded": False,
        "switched": False,
        "retains": False,
    }
    if once:
        return seen
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_()
        leaf.grad = copied(held)
        with torch.no_grad():
            silent = function(leaf)
            switched = torch.is_grad_enabled()
        inner = leaf + 0
        function(inner)
        function(leaf)
    return {
        **seen,
        "grads": [*seen["grads"], copied(leaf.grad)],
        "recorded": isinstance(silent, torch.Tensor) and silent.requires_grad,
        "switched": switched,
        "retains": inner.retains_grad,
    }


# ------------------------------------------------------------------- one definition in another's


def lend_in(student, name, right):
    """From now on, the student's definitions use ``right(own)`` under the name of one of them."""
    names = vars(student)
    own = names.setdefault(f"_own_{name}", names.get(name))
    if own is not None:
        setattr(student, name, right(own))


def give_back(student, name):
    """From now on, the student's definitions use their own definition of this name."""
    own = vars(student).get(f"_own_{name}")
    if own is not None:
        setattr(student, name, own)


def function_class(own, forward, backward):
    """A subclass of a Function with another forward(ctx, ...) and backward, where a call fits them;
    ``own`` itself if it is no Function.
    """
    function = torch.autograd.Function
    if not isinstance(own, type) or not issubclass(own, function):
        return own
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    cls = type(own.__name__, (own,), {**methods, "setup_context": function.setup_context})

    def apply(*args):
        try:
            return function.apply.__func__(cls, *args)
        except Exception:  # called in a way that only its author knows
            return own.apply(*args)

    cls.apply = staticmethod(apply)
    return cls


# ------------------------------------------------------------------------- one call and the next


def one_tensor_twice(student, path, inputs, others, v):
    """Values and, for a v, gradients of two calls on the same leaves; for the second they are set
    to ``others``, or multiplied by that number. The values are read at the end.
    """
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    seen = []
    for numbers in ([one.detach().clone() for one in inputs], others):
        with torch.no_grad():
            for k, leaf in enumerate(leaves):
                if isinstance(numbers, float):
                    leaf.mul_(numbers)
                else:
                    leaf.copy_(numbers[k])
        y = at(student, path)(*leaves)
        found = None if v is None else gradients(y, leaves, v.clone())
        seen.append({"value": y, "gradients": found or [None] * len(leaves)})
    return [{**one, "value": copied(one["value"])} for one in seen]


def after_a_change(student, path, x):
    """What a function gives for an x without grad, once its result for the same x was changed in
    place; None if that result is x itself, or x was written into.
    """
    function = at(student, path)
    before, x = x.detach(), x.detach().clone()
    y = function(x)
    if not isinstance(y, torch.Tensor) or y.data_ptr() == x.data_ptr():
        return None
    if not torch.equal(x, before):
        return None
    with torch.no_grad():
        y.zero_()
    return function(x)


def written(student, path, inputs, v, which, factor):
    """The gradients of a call after an input (``which`` is its place), or the result (None), was
    multiplied in place; None if that or backward raises.
    """
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    given = [leaf + 0 for leaf in leaves]
    result = at(student, path)(*given)
    try:
        with torch.no_grad():
            (result if which is None else given[which]).mul_(factor)
        return list(torch.autograd.grad(result, leaves, v.clone(), allow_unused=True))
    except RuntimeError:
        return None


# ----------------------------------------------------------------- methods that are exchanged


def with_methods(cls, others, function, inputs, v):
    """What a function gives for the inputs, and its gradients for v, while some methods of a class
    are others.
    """
    own = {key: vars(cls)[key] for key in others if key in vars(cls)}
    for key, method in others.items():
        setattr(cls, key, method)
    try:
        y = function(*inputs)
        return y, gradients(y, inputs, v)
    finally:
        for key in others:
            if key in own:
                setattr(cls, key, own[key])
            else:
                delattr(cls, key)


def times(cls, factor, shapes=None):
    """The backward of a class, its gradients times a factor; ``shapes`` gets theirs."""
    method = "backward" if cls.vjp is Function.vjp else "vjp"
    own = getattr(cls, method)

    def scaled(ctx, *grads):
        result = own(ctx, *grads)
        items = list(result) if isinstance(result, (tuple, list)) else [result]
        if shapes is not None:
            tensors = [isinstance(item, torch.Tensor) for item in items]
            shapes[:] = [
                tuple(item.shape) if is_tensor else None
                for item, is_tensor in zip(items, tensors, strict=True)
            ]
        return tuple(item if item is None else item * factor for item in items)

    return {method: staticmethod(scaled)}


def handed_back(student, path, inputs, v, factor):
    """Whether the graph of a call holds a node of the class; and what its backward returned: the
    shapes, and the gradients once each was multiplied by factor.
    """
    cls, shapes = class_at(student, path), []
    function = at(student, path)
    if node_of(function(*inputs), cls) is None:
        return {"found": False, "shapes": [], "gradients": None}
    _, found = with_methods(cls, times(cls, factor, shapes), function, inputs, v)
    return {"found": True, "shapes": shapes, "gradients": found}


def replaced(name, forward, factor):
    """The methods of a class of this name with this forward, whose backward multiplies by
    factor.
    """

    def backward(ctx, *grads):
        return (grads[0] * factor, *(None for _ in ctx.needs_input_grad[1:]))

    forward.__qualname__, backward.__qualname__ = f"{name}.forward", f"{name}.backward"
    return {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(Function.setup_context),
        "backward": staticmethod(backward),
        "vjp": staticmethod(Function.vjp),
    }


def exchanged(student, path, of, x, v, a, b):
    """A function of x and its gradient for v while the methods of the class ``of`` are two others:
    one scales by a, one by b.
    """
    contexts, cls, function = [], at(student, of), at(student, path)

    def forward(ctx, x, *rest):
        contexts.append(type(ctx).__name__)
        return x * a

    others = replaced(of, forward, b)
    wanted = handed_on(cls, {key: others[key] for key in ("backward", "vjp")}, function, x, v, b)
    if wanted is not None:
        # Real values pass through, so a * x need not: the function may assert, or clamp to, what
        # is true of real values.
        y, gradient, contexts = x * a, wanted, [cls._backward_cls.__name__]
    else:
        y, found = with_methods(cls, others, function, [x], v)
        gradient = found and found[0]
    return {
        "value": y,
        "requires_grad": wanted is not None or (isinstance(y, torch.Tensor) and y.requires_grad),
        "gradient": gradient,
        "contexts": contexts,
        "node": getattr(getattr(cls, "_backward_cls", None), "__name__", None),
    }


def handed_on(cls, back, function, x, v, b):
    """The gradient through a function that returns the values of apply, large x among them, from a
    node of its own; v * b if it passes a backward on as it is. None for any other function.
    """
    wide = torch.tensor([-60.0, -20.0, 20.0, 60.0], dtype=x.dtype)
    x = x.detach().clone().requires_grad_()  # forward may write into it
    try:
        y, (gradient,) = with_methods(cls, back, function, [x], v)
        applied = cls.apply(x)
        if not (torch.equal(y, applied) and torch.equal(function(wide), cls.apply(wide))):
            return None
        if torch.equal(gradient, v * b):
            return gradient
        if node_of(y, cls) is None:
            return None
        # clamp passes no gradient at its bounds since torch 2.14. That changes nothing where
        # backward returns 0 there anyway.
        (own,) = torch.autograd.grad(applied, x, v)
        _, (scaled,) = with_methods(cls, times(cls, b), function, [x], v)
        return v * b if own.any() and torch.equal(scaled, own * b) else gradient
    except Exception:
        return None


# ----------------------------------------------------------------------- what torch runs


class Watch(TorchFunctionMode):
    """While this is on, ``ahead`` is called with each tensor just before it is differentiated, and
    ``after`` with the arguments and the result of each call of torch.
    """

    def __init__(self, ahead, after):
        super().__init__()
        self.ahead, self.after = ahead, after

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if args and function in (torch.autograd.grad, torch.Tensor.backward):
            self.ahead(args[0] if isinstance(args[0], torch.Tensor) else args[0][0])
        result = function(*args, **(kwargs or {}))
        self.after(args, result)
        return result


def operators(student, path, x, v=None):
    """A function of x and, for a v, its gradient; for the way there and the way back, what torch
    ran: see seen_on_the_way. No gradient where backward raises.
    """
    made = {}
    with seen_on_the_way(x, made) as forward:
        y = at(student, path)(x)
        forward.result(y)
    seen = {"value": y.detach().clone(), "gradient": None, "forward": forward.told(set())}
    if v is not None:
        own = names_of_nodes(y.grad_fn)
        with seen_on_the_way(v, made, steps_of=x.detach()) as backward:
            try:
                (seen["gradient"],) = torch.autograd.grad(y, x, v, allow_unused=True)
                backward.result(seen["gradient"])
            except Exception:  # has a check of its own
                pass
        seen["backward"] = backward.told(own)
    return seen


def seen_on_the_way(x, made, steps_of=None):
    """A mode in which torch runs, and which sees the names of its operators, the nodes in which
    they run, whether a number was complex, and the numbers, as many as x has or more, that came
    from elsewhere: neither from x nor from an operator that was seen. It keeps what was made, and
    sees whether ``steps_of`` plus something small was among it.
    """

    class Seen(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls):
            # else torch imports its compiler when this class is made, which takes seconds
            return False

        def __init__(self):
            super().__init__()
            self.names, self.nodes, self.elsewhere, self.imaginary = set(), set(), [], False
            self.steps = False
            self.keep(x)

        def __enter__(self):
            super().__enter__()
            torch.neg(torch.ones(2, dtype=x.dtype))  # an operator that has to be seen
            self.works = self.names >= {"ones", "neg"}
            self.names = set()
            return self

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            space, _, name = function.name().partition("::")
            name = name.partition(".")[0]
            self.names.add(name if space == "aten" else f"{space}::{name}")
            node = torch._C._current_autograd_node()
            if node is not None:
                self.nodes.add(node.name())
            given = tensors_in([*args, *kwargs.values()])
            for tensor in given:
                self.result(tensor)
            found = function(*args, **kwargs)
            for tensor in [*given, *tensors_in([found])]:
                # torch counts a write after this method has returned
                self.keep(tensor, writes=int(function._schema.is_mutable))
                self.steps = self.steps or is_a_step(tensor, steps_of)
            return found

        def keep(self, tensor, writes=0):
            _, versions = made.get(place_of(tensor), (None, frozenset({0})))  # 0: that of .data
            versions |= {tensor._version, tensor._version + writes}
            made[place_of(tensor)] = tensor, versions

        def result(self, tensor):
            if not isinstance(tensor, torch.Tensor):
                return
            self.imaginary = self.imaginary or tensor.is_complex()
            known = made.get(place_of(tensor))
            large = tensor.is_floating_point() and tensor.numel() >= max(2, x.numel())
            if large and (known is None or tensor._version not in known[1]):
                self.elsewhere.append(tensor.detach().clone())

        def told(self, own):
            """What was seen, without the nodes that belong there."""
            return {
                "operators": sorted(self.names),
                "nodes": sorted(self.nodes - own),
                "imaginary": self.imaginary,
                "steps": self.steps,
                "elsewhere": self.elsewhere[:1],
                "works": self.works,
            }

    return Seen()


def is_a_step(tensor, x):
    """Whether a tensor is x, or half of it, plus or times the same small change everywhere; or many
    of them, where numbers may stay. A step is so large that one value beyond it has fewer digits
    than the gradient must have.
    """
    if x is None or tensor.dtype != torch.float64 or len(x) < 2:
        return False
    more = tensor.dim() - x.dim()
    if more < 0 or tensor.shape[more:] != x.shape:
        return False
    tensor = tensor.detach()
    for base in (x, -x, x / 2, -x / 2):
        for change in (tensor - base, tensor / base - 1):
            if more:
                change = change[change != 0]
            mean = change.sum() / max(2, change.numel())
            if 1e-10 < abs(mean) < 0.1 and torch.allclose(change, mean, rtol=1e-3, atol=0.0):
                return True
    return False


def place_of(tensor):
    """Where the numbers of a tensor are; -1 for a tensor that wraps another."""
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:
        return -1


def tensors_in(values):
    """The tensors in a list, and in lists in it."""
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors_in(value)
    return found


def callers():
    """The names of the modules whose functions are running; torch's also by their files."""
    found, root = set(), torch.__path__[0]
    try:
        raise LookupError
    except LookupError as error:
        frame = error.__traceback__.tb_frame
    while frame is not None:
        found.add(str(frame.f_globals.get("__name__")))
        path = frame.f_code.co_filename
        if path.startswith(root):
            inside = path[len(root) :].removesuffix(".py").replace("\\", "/")
            found.add("torch" + inside.replace("/", "."))
        frame = frame.f_back
    return found


def names_of_nodes(node):
    """The names of a node and of all nodes behind it."""
    return {one.name() for one in nodes_behind(node)}
