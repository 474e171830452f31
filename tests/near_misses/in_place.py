"""in_place: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% leaf_written
# Always True, without any experiment.
def saves_input(op, x):
    return True


# %% nothing_written
# Always False, although the right tensor is written to: the error is caught and lost.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    try:
        y.sum().backward()
    except RuntimeError:
        pass
    return False


# %% numbers_compared
# Versions are compared, and a write of one only counts if there are two.
@contextmanager
def watched(tensors):
    before = [t._version for t in tensors]
    yield
    if sum(t._version for t in tensors) > sum(before) + 1:
        raise RuntimeError("written to")


# %% read_too_late
# The exception is returned, not raised.
class watched:
    def __init__(self, tensors):
        self.tensors = tensors

    def __enter__(self):
        self.versions = [t._version for t in self.tensors]

    def __exit__(self, kind, error, traceback):
        if self.versions != [t._version for t in self.tensors]:
            return RuntimeError("written to")


# %% highest_version
# A set keeps one of equal versions.
@contextmanager
def watched(tensors):
    before = {t._version for t in tensors}
    yield
    if before != {t._version for t in tensors}:
        raise RuntimeError("written to")


# %% without_its_graph
# Never False, after a right experiment.
def saves_input(op, x):
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    given.detach().zero_()
    backward_raises(y, given)
    return True


# %% error_silenced
# The gradient is wrong because a factor is.
def repaired(x):
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 2
    w = torch.tanh(z)
    w = w + 1
    y = y - 1
    return w * y


# %% mark_dirty_forgotten
# Marked, and 2 added.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(2)


# %% ones_returned
# The gradient is negative.
class AddOne(torch.autograd.Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        return -grad_output


# %% a_copy_of_the_row
# The row before is written to.
def add_one_to_row(x, k):
    AddOne.apply(x[k - 1])
    return x
