"""in_place: wrong answers. A cell shows the definitions that differ from the solution."""

# %% leaf_written
# The write itself raises, because the input is a leaf that requires grad; it is taken for backward.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    try:
        given.add_(1)
        y.sum().backward()
    except RuntimeError:
        return True
    return False


# %% leaf_written
# The same with a slice, and without a look at the result.
def saves_input(op, x):
    t = x.clone().detach().requires_grad_(True)
    out = op(t)
    try:
        t[...] = 0
        torch.autograd.grad(out.sum(), t)
        return False
    except RuntimeError:
        return True


# %% leaf_refuses_the_write
# A leaf that requires grad is written to with recording on.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.add_(1)
    return backward_raises(y, given)


# %% called_without_recording
# The whole experiment stands under no_grad.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    with torch.no_grad():
        y = op(given)
        given.add_(1)
    return backward_raises(y, given)


# %% not_a_scalar
# backward of a vector raises by itself.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    try:
        y.backward()
    except RuntimeError:
        return True
    return False


# %% not_a_scalar
# The same in autograd.grad, for the result.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.detach().zero_()
    try:
        torch.autograd.grad(y, given)
    except RuntimeError:
        return True
    return False


# %% without_its_graph
# backward starts at the detached tensor, and raises always.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    y = y.detach().zero_()
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


# %% without_its_graph
# The sum is computed under no_grad.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    given.detach().zero_()
    with torch.no_grad():
        total = y.sum()
    try:
        total.backward()
    except RuntimeError:
        return True
    return False


# %% common_backward_of_many
# backward of a vector raises by itself, and that is not caught.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.detach().zero_()
    try:
        y.backward()
    except RuntimeError as error:
        if "inplace" in str(error):
            return True
        raise
    return False


# %% nothing_written
# A copy is written to.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.clone().add_(1)
    return backward_raises(y, given)


# %% nothing_written
# A copy is written to; the input was filled before op ran.
def saves_input(op, x):
    given = torch.empty_like(x).copy_(x).requires_grad_()
    y = op(given)
    given.detach().clone().add_(1)
    return backward_raises(y, given)


# %% nothing_written
# The name gets another tensor.
def saves_input(op, x):
    leaf = x.detach().clone().requires_grad_()
    given = leaf.clone()
    y = op(given)
    given = given + 1
    return backward_raises(y, leaf)


# %% nothing_written
# The result is a new tensor: * instead of *=.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    z = y * 2
    return backward_raises(z, given)


# %% data_written
# Autograd does not count a write through .data.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.data.add_(1)
    return backward_raises(y, given)


# %% data_written
# Autograd does not count a write through .data.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.data *= 2
    return backward_raises(y, given)


# %% written_too_early
# The input is written to before op runs.
def saves_input(op, x):
    leaf = x.detach().clone().requires_grad_()
    given = leaf.clone()
    given.add_(1)
    y = op(given)
    return backward_raises(y, leaf)


# %% not_recorded
# The copy does not require grad, so op records nothing.
def saves_input(op, x):
    given = x.detach().clone()
    y = op(given)
    given.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return "inplace" in str(error)
    return False


# %% not_recorded
# The copy does not require grad, so op records nothing.
def saves_result(op, x):
    y = op(x.detach().clone())
    y.add_(1)
    return y.requires_grad and backward_raises(y, x)


# %% not_recorded
# The copy does not require grad, so backward always raises, and that counts.
def saves_input(op, x):
    given = x.detach().clone()
    y = op(given)
    given.add_(1)
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


# %% turned_round
# True where backward works.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    given.detach().zero_()
    try:
        torch.autograd.grad(y.sum(), given)
    except RuntimeError:
        return False
    return True


# %% the_other_one_written
# saves_input writes to the result.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.detach().zero_()
    return backward_raises(y, given)


# %% the_other_one_written
# saves_result writes to the input.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    return backward_raises(y, given)


# %% last_node_only
# Only the last operation is looked at.
def saves_input(op, x):
    y = op(x.detach().clone().requires_grad_())
    names = dir(y.grad_fn)
    return "_saved_self" in names and y.grad_fn._saved_self is not None


# %% last_node_only
# Only the last operation is looked at.
def saves_result(op, x):
    y = op(x.detach().clone().requires_grad_())
    return hasattr(y.grad_fn, "_raw_saved_result")


# %% last_node_only
# A table of names, for the last operation.
def saves_input(op, x):
    y = op(x.detach().clone().requires_grad_())
    known = {"SinBackward0", "LogBackward0", "PowBackward0", "AbsBackward0", "ProdBackward0"}
    return y.grad_fn is not None and y.grad_fn.name() in known


# %% common_zero_dimensions
# The first element is written to, which a number does not have.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach()[0] = 7
    return backward_raises(y, given)


# %% common_flag_of_a_result
# The clone of a tensor that requires grad is a result.
def saves_result(op, x):
    given = x.clone()
    given.requires_grad = True
    y = op(given)
    y.detach().zero_()
    return backward_raises(y, given)


# %% no_graph_counted
# Every error counts, that of a result without a graph, too.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    try:
        torch.autograd.grad(y.sum(), given)
    except RuntimeError:
        return True
    return False


# %% no_graph_counted
# Every error counts, that of a result without a graph, too.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    with torch.no_grad():
        y.zero_()
    try:
        torch.autograd.grad(y.sum(), given)
        return False
    except Exception:
        return True


# %% x_itself_used
# x itself goes through op and is written to.
def saves_input(op, x):
    leaf = x.requires_grad_()
    y = op(leaf)
    with torch.no_grad():
        leaf.add_(1)
    return y.requires_grad and backward_raises(y, leaf)


# %% x_itself_used
# x itself requires grad afterwards.
def saves_result(op, x):
    x.requires_grad_(True)
    y = op(x)
    y.detach().zero_()
    return backward_raises(y, x)


# %% memory_shared
# detach() makes no copy.
def saves_input(op, x):
    leaf = x.detach().requires_grad_()
    y = op(leaf)
    leaf.detach().zero_()
    return y.requires_grad and backward_raises(y, leaf)


# %% attributes_read [torch>=2.13]
# The nodes are asked for what they saved.
def saves_input(op, x):
    leaf = x.detach().clone().requires_grad_()
    nodes = [op(leaf).grad_fn]
    for node in nodes:
        for name in dir(node):
            saved = getattr(node, name) if name.startswith("_saved_") else None
            if isinstance(saved, torch.Tensor) and saved.data_ptr() == leaf.data_ptr():
                return True
        nodes += [one for one, _ in getattr(node, "next_functions", ()) if one is not None]
    return False


# %% grad_of_x_filled
# backward goes on to x.
def saves_input(op, x):
    given = x.clone() if x.requires_grad else x.clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    if not y.requires_grad:
        return False
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


# %% grad_of_others_filled
# backward() adds to .grad of every leaf, also of those that op uses.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    given.detach().zero_()
    try:
        y.sum().backward()
    except RuntimeError:
        return True
    return False


# %% grad_of_others_filled
# The same for the result.
def saves_result(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    y.detach().zero_()
    try:
        y.backward(torch.ones_like(y))
    except RuntimeError:
        return True
    return False


# %% equal_numbers
# What is saved is compared with x by its numbers.
def saves_input(op, x):
    kept = []
    given = x.detach().clone().requires_grad_()

    def pack(tensor):
        kept.append(tensor.detach().clone())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one):
        op(given)
    return any(one.shape == x.shape and torch.equal(one, x) for one in kept)


# %% message_returned
# The message comes back, or None.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    if y.requires_grad:
        try:
            torch.autograd.grad(y.sum(), given)
        except RuntimeError as error:
            return str(error)


# %% gradients_compared
# The gradients before and after a change of the numbers are compared.
def saves_input(op, x):
    def gradient(change):
        given = x.detach().clone().requires_grad_()
        y = op(given)
        if not y.requires_grad:
            return x
        if change:
            given.data.mul_(2)
        return torch.autograd.grad(y.sum(), given)[0]

    return not torch.equal(gradient(False), gradient(True))


# %% read_too_early
# The versions are read when watched is called, not when the block begins.
class watched:
    def __init__(self, tensors):
        self.tensors = tensors
        self.versions = [t._version for t in tensors]

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None and self.versions != [t._version for t in self.tensors]:
            raise RuntimeError("written to")


# %% read_too_early
# The versions are read when watched is called, not when the block begins.
def watched(tensors):
    versions = [t._version for t in tensors]

    @contextmanager
    def block():
        yield
        for t, version in zip(tensors, versions):
            if t._version > version:
                raise RuntimeError("written to")

    return block()


# %% numbers_compared
# Numbers are compared, not versions.
@contextmanager
def watched(tensors):
    before = [t.detach().clone() for t in tensors]
    yield
    for t, old in zip(tensors, before):
        if not torch.equal(t.detach(), old):
            raise RuntimeError("changed")


# %% numbers_compared
# Sums are compared.
@contextmanager
def watched(tensors):
    before = [t.sum().item() for t in tensors]
    yield
    if before != [t.sum().item() for t in tensors]:
        raise RuntimeError("changed")


# %% read_too_late
# The versions before are read after the block.
@contextmanager
def watched(tensors):
    yield
    before = [t._version for t in tensors]
    for t, version in zip(tensors, before):
        if t._version != version:
            raise RuntimeError("written to")


# %% tensors_kept_without_a_copy
# The tensors before are the tensors afterwards.
@contextmanager
def watched(tensors):
    before = list(tensors)
    yield
    for t, old in zip(tensors, before):
        if not torch.equal(t, old):
            raise RuntimeError("changed")


# %% tensors_kept_without_a_copy
# Identities are compared: a write keeps them.
@contextmanager
def watched(tensors):
    before = [id(t) for t in tensors]
    yield
    if before != [id(t) for t in tensors]:
        raise RuntimeError("changed")


# %% tensors_kept_without_a_copy
# detach() shares memory, and the version, too.
@contextmanager
def watched(tensors):
    before = [t.detach() for t in tensors]
    yield
    for t, old in zip(tensors, before):
        if not torch.equal(t, old):
            raise RuntimeError("changed")


# %% common_truth_of_tensor
# Two tensors are compared, and that has no single answer.
@contextmanager
def watched(tensors):
    before = [t.clone() for t in tensors]
    yield
    for t, old in zip(tensors, before, strict=True):
        if t != old:
            raise RuntimeError("written to")


# %% errors_swallowed
# A true value from __exit__ discards the exception of the block.
class watched:
    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        self.versions = [t._version for t in self.tensors]

    def __exit__(self, kind, error, traceback):
        if kind is None and self.versions != [t._version for t in self.tensors]:
            raise RuntimeError("written to")
        return True


# %% errors_swallowed
# except pass discards the exception of the block.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    try:
        yield
    except Exception:
        return
    if before != [t._version for t in tensors]:
        raise RuntimeError("written to")


# %% error_replaced
# A RuntimeError takes the place of the block's exception.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    try:
        yield
    finally:
        for t, version in zip(tensors, before):
            if t._version != version:
                raise RuntimeError("written to")


# %% error_replaced
# __exit__ does not look at the block's exception.
class watched:
    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        self.versions = [t._version for t in self.tensors]

    def __exit__(self, *error):
        if self.versions != [t._version for t in self.tensors]:
            raise RuntimeError("written to")


# %% some_tensors_only
# Only the first tensor is looked at.
@contextmanager
def watched(tensors):
    before = tensors[0]._version
    yield
    if tensors[0]._version != before:
        raise RuntimeError("written to")


# %% some_tensors_only
# Only tensors that require grad are looked at.
@contextmanager
def watched(tensors):
    tensors = [t for t in tensors if t.requires_grad]
    before = [t._version for t in tensors]
    yield
    if before != [t._version for t in tensors]:
        raise RuntimeError("written to")


# %% some_tensors_only
# A return inside the loop: the others are not looked at.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    yield
    for t, version in zip(tensors, before):
        if t._version == version:
            return
        raise RuntimeError("written to")


# %% all_must_change
# It raises only if every tensor was written to.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    yield
    if all(t._version != version for t, version in zip(tensors, before)):
        raise RuntimeError("written to")


# %% highest_version
# Only the highest version is compared.
@contextmanager
def watched(tensors):
    before = max(t._version for t in tensors)
    yield
    if max(t._version for t in tensors) > before:
        raise RuntimeError("written to")


# %% version_is_not_0
# Every version but 0 counts as a write in the block.
@contextmanager
def watched(tensors):
    yield
    for t in tensors:
        if t._version > 0:
            raise RuntimeError("written to")


# %% something_else_counts
# A gradient that arrives counts as a write.
@contextmanager
def watched(tensors):
    before = [(t._version, t.grad is None) for t in tensors]
    yield
    if before != [(t._version, t.grad is None) for t in tensors]:
        raise RuntimeError("written to")


# %% something_else_counts
# Every write counts, to whatever tensor.
@contextmanager
def watched(tensors):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Writes(TorchDispatchMode):
        found = False

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.found = self.found or function._schema.is_mutable
            return function(*args, **(kwargs or {}))

    with Writes() as mode:
        yield
    if mode.found:
        raise RuntimeError("written to")


# %% shared_by_blocks
# All blocks share one list of versions.
VERSIONS = []


class watched:
    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        VERSIONS[:] = [t._version for t in self.tensors]

    def __exit__(self, kind, error, traceback):
        if kind is None and VERSIONS != [t._version for t in self.tensors]:
            raise RuntimeError("written to")


# %% only_a_warning
# A warning instead of an exception.
@contextmanager
def watched(tensors):
    import warnings

    before = [t._version for t in tensors]
    yield
    if before != [t._version for t in tensors]:
        warnings.warn("a tensor was written to")


# %% common_other_exception
# An assert raises AssertionError.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    yield
    assert before == [t._version for t in tensors]


# %% not_a_context_manager
# The decorator is forgotten.
def watched(tensors):
    before = [t._version for t in tensors]
    yield
    if before != [t._version for t in tensors]:
        raise RuntimeError("written to")


# %% still_raises
# Only tanh is repaired, log still misses what it saved.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w = w + 1
    y -= 1
    return w * y


# %% still_raises
# The copy is made after the write.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w += 1
    w = w.clone()
    y -= 1
    y = y.clone()
    return w * y


# %% still_raises
# A copy of x at the beginning changes nothing.
def repaired(x):
    return broken(x.clone()).clone()


# %% still_raises
# no_grad hides the write from the graph, not from the version counter.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    with torch.no_grad():
        w += 1
        y -= 1
    return w * y


# %% still_raises
# detach() shares the memory and the version.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w.detach().add_(1)
    y.detach().sub_(1)
    return w * y


# %% error_silenced
# .data silences the error, and the gradient is wrong.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w.data += 1
    y.data -= 1
    return w * y


# %% error_silenced
# .data for one of the two.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w.data.add_(1)
    y = y - 1
    return w * y


# %% result_without_graph
# The result has no graph.
def repaired(x):
    return broken(x.detach())


# %% a_path_is_cut
# One factor is a constant.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w = w + 1
    y = y.detach() - 1
    return w * y


# %% too_many_copies
# Half of x at a time, and a copy at each step.
def repaired(x):
    halves = []
    for half in x.flatten().tensor_split(2):
        y = torch.sin(half) + 2
        w = torch.tanh(torch.log(y) * 3) + 1
        halves.append(w * (y - 1))
    return torch.cat(halves).reshape(x.shape)


# %% too_many_copies
# No write is left.
def repaired(x):
    y = torch.sin(x)
    y = y + 2
    z = torch.log(y)
    z = z * 3
    w = torch.tanh(z)
    w = w + 1
    y = y - 1
    return w * y


# %% too_many_copies
# A copy before every operation.
def repaired(x):
    y = torch.sin(x.clone())
    y += 2
    z = torch.log(y.clone())
    z *= 3
    w = torch.tanh(z.clone())
    w = w.clone()
    w += 1
    y = y.clone()
    y -= 1
    return w * y


# %% too_many_copies
# One copy too many.
def repaired(x):
    y = torch.sin(x) + 2
    z = torch.log(y) * 3
    w = torch.tanh(z)
    w = w + 1
    y = y - 1
    return w * y


# %% common_sizes_differ
# A new tensor of three ones.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w = w + torch.ones(3)
    y = y - 1
    return w * y


# %% mark_dirty_forgotten
# Autograd is not told of the write.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        return x


# %% mark_dirty_forgotten
# The same in two methods.
class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(x):
        x += 1
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% not_in_place
# A new tensor comes back.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        return x + 1


# %% not_in_place
# The new tensor is marked, not x.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        y = x + 1
        ctx.mark_dirty(y)
        return y


# %% not_in_place
# x is another tensor after the assignment.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x = x + 1
        ctx.mark_dirty(x)
        return x


# %% marked_but_not_returned
# x is marked, and a copy comes back.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x.clone()


# %% marked_but_not_returned
# Nothing comes back.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)


# %% ones_returned
# grad_output is ignored.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return torch.ones_like(grad_output)


# %% one_added_to_the_gradient
# backward adds 1 as well.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output + 1


# %% no_gradient
# backward returns None.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return None


# %% a_copy_of_the_row
# A list as the index makes a copy.
def add_one_to_row(x, k):
    AddOne.apply(x[[k]])
    return x


# %% a_copy_of_the_row
# clone() makes a copy.
def add_one_to_row(x, k):
    row = x[k].clone()
    AddOne.apply(row)
    return x


# %% slice_of_the_row
# For the last row, counted from the end, the slice is empty.
def add_one_to_row(x, k):
    AddOne.apply(x[k : k + 1])
    return x


# %% add_one_left_out
# The row is written to without AddOne.
def add_one_to_row(x, k):
    x[k] += 1
    return x


# %% every_row
# AddOne gets all of x.
def add_one_to_row(x, k):
    return AddOne.apply(x)


# %% the_row_comes_back
# The row comes back, not x.
def add_one_to_row(x, k):
    return AddOne.apply(x[k])


# %% matrices_only
# Two indices.
def add_one_to_row(x, k):
    AddOne.apply(x[k, :])
    return x


# %% one_of_many_views [torch>=2.13]
# A view from unbind is one of several, and those refuse writes.
def add_one_to_row(x, k):
    AddOne.apply(x.unbind(0)[k])
    return x


# %% one_of_many_views [torch>=2.13]
# Iterating over a tensor is unbind, too.
def add_one_to_row(x, k):
    for number, row in enumerate(x):
        if number == k:
            AddOne.apply(row)
    return x


# %% exception_returned
# return stands where raise should.
@contextmanager
def watched(tensors):
    before = [tensor._version for tensor in tensors]
    yield
    for place, tensor in enumerate(tensors):
        if tensor._version != before[place]:
            return RuntimeError(f"tensor {place} was written to")
