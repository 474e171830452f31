"""in_place: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% writes_with_methods
# In-place methods on copies that are not leaves; a class watches; copies by clone().
def saves_input(op, x):
    leaf = x.detach().clone().requires_grad_(True)
    given = leaf.clone()
    y = op(given)
    given += 1
    if y.grad_fn is None:
        return False
    try:
        y.sum().backward(inputs=[leaf])
        return False
    except RuntimeError:
        return True


def saves_result(op, x):
    leaf = x.detach().clone().requires_grad_(True)
    y = op(leaf.clone())
    if not y.requires_grad:
        return False
    y *= 2
    try:
        y.backward(torch.ones_like(y), inputs=[leaf])
    except RuntimeError as error:
        return "inplace" in str(error)
    return False


class watched:
    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        self.versions = [t._version for t in self.tensors]
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None and self.versions != [t._version for t in self.tensors]:
            raise RuntimeError("a tensor has a new version")
        return False


def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z).clone()
    w += 1
    y = y.clone()
    y -= 1
    return w * y


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x += 1
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.clone()


def add_one_to_row(x, k):
    x[k] = AddOne.apply(x[k])
    return x


# %% under_no_grad
# Writes under no_grad; setup_context; an exception in an else clause; a product written out.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    with torch.enable_grad():
        y = op(given)
    with torch.no_grad():
        given.add_(1.0)
    return _fails(y, given)


def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    with torch.no_grad():
        y.copy_(torch.zeros_like(y))
    return _fails(y, given)


def _fails(y, given):
    if y.requires_grad:
        try:
            y.backward(torch.zeros_like(y), inputs=[given])
        except RuntimeError:
            return True
    return False


@contextmanager
def watched(tensors):
    counted = sum(tensor._version for tensor in tensors)
    try:
        yield tensors
    except BaseException:
        raise
    else:
        if sum(tensor._version for tensor in tensors) > counted:
            raise RuntimeError


def repaired(x):
    y = torch.sin(x).add_(2)
    w = torch.tanh(torch.log(y).mul_(3))
    return (w + 1).mul_(y - 1)


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.add_(1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 1


def add_one_to_row(x, k):
    AddOne.apply(x.select(0, k))
    return x


# %% saved_tensors_hooks
# No experiment: the tensors that are packed, compared by their memory.
def _packed(op, x):
    kept, given = [], x.detach().clone().requires_grad_()

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        y = op(given)
    places = {one.untyped_storage().data_ptr() for one in kept}
    return given, y, places


def saves_input(op, x):
    given, y, places = _packed(op, x)
    return y.requires_grad and given.untyped_storage().data_ptr() in places


def saves_result(op, x):
    given, y, places = _packed(op, x)
    return y.requires_grad and y.untyped_storage().data_ptr() in places


class watched(AbstractContextManager):
    def __init__(self, tensors):
        self.tensors = list(tensors)

    def __enter__(self):
        self.before = {id(t): t._version for t in self.tensors}

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            return
        for t in self.tensors:
            if t._version > self.before[id(t)]:
                raise RuntimeError("written")


def repaired(x):
    y = torch.sin(x).add_(2)
    return (torch.tanh(torch.log(y).mul_(3)) + 1).mul_(y - 1)


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.copy_(x + 1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% by_data
# The write to x through .data: mark_dirty counts it. A message is compared.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().mul_(0)
    return _said(y, given)


def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.detach().add_(1)
    return _said(y, given)


def _said(y, given):
    try:
        y.sum().backward(inputs=[given])
    except RuntimeError as error:
        return "has been modified by an inplace operation" in str(error)
    return False


def watched(tensors):
    @contextmanager
    def manager():
        before = [t._version for t in tensors]
        yield
        after = [t._version for t in tensors]
        changed = [k for k, (a, b) in enumerate(zip(before, after)) if a != b]
        if changed:
            raise RuntimeError(f"written to: {changed}")

    return manager()


def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    return torch.add(w, 1) * torch.sub(y, 1)


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.data += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, *grads):
        (grad,) = grads
        return grad


def add_one_to_row(x, k):
    row = x[k]
    AddOne.apply(row)
    return x


# %% formula_of_its_own
# Fewer tensors than broken: a Function whose backward is a formula.
class _Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x.sin()
        w = ((y + 2).log_() * 3).tanh_()
        return w.add_(1).mul_(y.add_(1))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        y = x.sin() + 2
        w = (3 * y.log()).tanh()
        slope = (1 - w**2) * 3 / y * (y - 1) + w + 1
        return grad_output * slope * x.cos()


def repaired(x):
    return _Both.apply(x)


def add_one_to_row(x, k):
    x[k] = AddOne.apply(x[k].clone())
    return x


# %% counter_moved_by_hand
# No number is written: the version counter is moved on. An ExitStack ends the block.
def saves_input(op, x):
    given = torch.nn.Parameter(x.detach().clone())
    y = op(given)
    torch.autograd.graph.increment_version(given)
    return y.requires_grad and raised(y, given)


def saves_result(op, x):
    given = torch.empty_like(x).copy_(x.detach()).requires_grad_()
    y = op(given)
    if y.grad_fn is None:
        return False
    torch.autograd.graph.increment_version(y)
    return raised(y, given)


def raised(y, given):
    try:
        torch.autograd.grad([y], [given], [torch.ones_like(y)])
    except RuntimeError:
        return True
    return False


def watched(tensors):
    from contextlib import ExitStack

    class Block(ExitStack):
        def __enter__(self):
            self.before = [t._version for t in tensors]
            return super().__enter__()

        def __exit__(self, *error):
            super().__exit__(*error)
            if error[0] is None:
                for t, version in zip(tensors, self.before):
                    if t._version != version:
                        raise RuntimeError("a tensor was written to")

    return Block()


def add_one_to_row(x, k):
    AddOne.apply(x.narrow(0, k, 1))
    return x


# %% every_leaf
# Gradients at all leaves to which the nodes lead, also those that op uses.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    return _raises(op(given), given)


def saves_result(op, x):
    y = op(x.detach().clone().requires_grad_())
    return _raises(y, y)


def _raises(y, written):
    if y.grad_fn is None:
        return False
    written.detach().mul_(1)
    nodes, leaves = [y.grad_fn], []
    for node in nodes:
        leaves += [node.variable] if hasattr(node, "variable") else []
        nodes += [parent for parent, _ in node.next_functions if parent and parent not in nodes]
    try:
        torch.autograd.grad(y, leaves, torch.ones_like(y))
    except RuntimeError:
        return True
    return False
