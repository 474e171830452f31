"""What only the worker can observe in custom_sigmoid. Runs beside the student's module; imports
torch only.
"""

import torch
from torch.autograd.function import Function
from torch.utils._python_dispatch import TorchDispatchMode


def operators(student, x, v=None):
    """Sigmoid.apply(x) and, for a v, its gradient; for the way there and the way back, what torch
    ran: see seen_on_the_way. No gradient where backward raises.
    """
    made = {}
    with seen_on_the_way(x, made) as forward:
        y = student.Sigmoid.apply(x)
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
            versions = tensor._version, tensor._version + writes
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
    """Whether a tensor is x, or half of it, plus or times the same small change everywhere. A step
    is so large that one value beyond it has fewer digits than the gradient must have.
    """
    if x is None or tensor.dtype != torch.float64 or tensor.shape != x.shape or len(x) < 2:
        return False
    tensor = tensor.detach()
    for base in (x, -x, x / 2, -x / 2):
        for change in (tensor - base, tensor / base - 1):
            mean = change.mean()
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


def names_of_nodes(node):
    """The names of a node and of all nodes behind it."""
    todo, names = [node], set()
    while todo:
        node = todo.pop()
        if node is not None:
            names.add(node.name())
            todo += [parent for parent, _ in node.next_functions]
    return names


def kept(student, x):
    """What the node of Sigmoid.apply(x) holds: how many saved tensors, and which attributes that
    backward needs hold tensors.
    """
    y = student.Sigmoid.apply(x)
    node = y.grad_fn
    held = [name for name, value in getattr(node, "__dict__", {}).items() if arrays_in(value)]
    attributes = [name for name in held if needed(node, name, y, x)]
    return {
        "node": type(node).__name__,
        "saved": len(getattr(node, "saved_tensors", ())),
        "attributes": attributes,
    }


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


def one_tensor_twice(student, x, z, v):
    """Two calls on one tensor, which is set to z in between; all results are read at the end."""
    x, seen = x.detach().clone().requires_grad_(), {}
    for name, numbers in (("first", x.detach().clone()), ("second", z)):
        with torch.no_grad():
            x.copy_(numbers)
        y = student.Sigmoid.apply(x)
        (gradient,) = torch.autograd.grad(y, x, v.clone(), allow_unused=True)
        seen |= {f"{name} value": y.detach(), f"{name} gradient": gradient}
    return seen


def sigmoid_again(student, x, z, v, b):
    """sigmoid and its gradient for v: of x, of a copy of x, and of x after it was set to z; all
    read at the end. Meanwhile forward is torch's, and backward scales by b.
    """
    x = x.detach().clone().requires_grad_()
    results = []
    for leaf, numbers in ((x, x), (x.detach().clone().requires_grad_(), x), (x, z)):
        with torch.no_grad():
            leaf.copy_(numbers)
        others = replaced(lambda ctx, x, *rest: torch.sigmoid(x), b)
        results.append(with_methods(student.Sigmoid, others, student.sigmoid, leaf, v.clone()))
    return [{"value": y.detach(), "gradient": gradient} for y, gradient in results]


def after_a_change(student, path, x):
    """What a function gives for an x without grad, once its result for the same x was changed in
    place; None if that result is x itself, or x was written into.
    """
    function = student
    for part in path.split("."):
        function = getattr(function, part)
    before, x = x.detach(), x.detach().clone()
    y = function(x)
    if not isinstance(y, torch.Tensor) or y.data_ptr() == x.data_ptr():
        return None
    if not torch.equal(x, before):
        return None
    with torch.no_grad():
        y.zero_()
    return function(x)


def changed_before_backward(student, what, x, v):
    """The gradient after x or the result was changed in place; None if that or backward raises."""
    start = x.detach().clone().requires_grad_()
    x = start + 0
    y = student.Sigmoid.apply(x)
    try:
        with torch.no_grad():
            (x if what == "x" else y).sub_(0.25)
        return torch.autograd.grad(y, start, v, allow_unused=True)[0]
    except RuntimeError:
        return None


def constant_input(student, path, x):
    """What is left of an x that requires no grad, whether the result requires grad, and whether a
    call under no_grad is recorded.
    """
    function = student
    for part in path.split("."):
        function = getattr(function, part)
    x.grad = torch.ones_like(x)
    y = function(x)
    with torch.no_grad():
        silent = function(x.detach().clone().requires_grad_())
    inner = x.detach().clone().requires_grad_() + 0
    function(inner)
    return {
        "retains": inner.retains_grad,
        "recorded": isinstance(silent, torch.Tensor) and silent.requires_grad,
        "x": x.requires_grad,
        "the result": isinstance(y, torch.Tensor) and y.requires_grad,
        "values": x.detach(),
        "grad": x.grad,
    }


def exchanged(student, x, v, a, b):
    """sigmoid(x) and its gradient for v while Sigmoid's methods are two others: one scales by a,
    one by b.
    """
    contexts = []
    cls = student.Sigmoid

    def forward(ctx, x, *rest):
        contexts.append(type(ctx).__name__)
        return x * a

    others = replaced(forward, b)
    back = {name: others[name] for name in ("backward", "vjp")}
    function = student.sigmoid
    if hands_on(
        cls, back, function, x, v, b
    ):  # whatever it does to a * x: it may assert, or clamp to, what is true of the real values
        y, gradient, contexts = x * a, v * b, [cls._backward_cls.__name__]
    else:
        y, gradient = with_methods(cls, others, function, x, v)
    return {
        "value": y,
        "requires_grad": isinstance(y, torch.Tensor) and y.requires_grad,
        "gradient": gradient,
        "contexts": contexts,
        "node": getattr(getattr(cls, "_backward_cls", None), "__name__", None),
    }


def replaced(forward, b):
    """The methods of a class with this forward, whose backward scales by b."""

    def backward(ctx, *grads):
        return (grads[0] * b, *(None for _ in ctx.needs_input_grad[1:]))

    forward.__qualname__, backward.__qualname__ = "Sigmoid.forward", "Sigmoid.backward"
    return {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(Function.setup_context),
        "backward": staticmethod(backward),
        "vjp": staticmethod(Function.vjp),
    }


def with_methods(cls, others, function, x, v):
    """What a function gives for x, and its gradient for v, while some methods of a class are
    others.
    """
    own = {key: vars(cls)[key] for key in others if key in vars(cls)}
    for key, method in others.items():
        setattr(cls, key, method)
    try:
        y = function(x)
        wants = isinstance(y, torch.Tensor) and y.requires_grad
        return y, torch.autograd.grad(y, x, v, allow_unused=True)[
            0
        ] if wants and y.shape == v.shape else None
    finally:
        for key in others:
            if key in own:
                setattr(cls, key, own[key])
            else:
                delattr(cls, key)


def hands_on(cls, back, function, x, v, b):
    """Whether a function hands on what apply gives: values, large x among them, and the gradient of
    another backward.
    """
    wide = torch.tensor([-60.0, -20.0, 20.0, 60.0], dtype=x.dtype)
    x = x.detach().clone().requires_grad_()  # forward may write into it
    try:
        y, gradient = with_methods(cls, back, function, x, v)
        return (
            torch.equal(y, cls.apply(x))
            and torch.equal(function(wide), cls.apply(wide))
            and torch.equal(gradient, v * b)
        )
    except Exception:
        return False


def graph(student, path, names, inputs):
    """The graph behind what a function of the student's returns for the inputs."""
    from grader.authoring import trace

    function = student
    for part in path.split("."):
        function = getattr(function, part)
    return trace(function(*inputs), dict(zip(names, inputs, strict=True)))
