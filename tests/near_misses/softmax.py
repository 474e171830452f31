"""softmax: wrong answers that resemble a mistake, and do not make it."""

# %% overflows
# exp is computed after a division by the maximum, which is a softmax of another temperature.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.abs().amax(dim, keepdim=True)
        y = (x / top).exp().sum(dim).log() * top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% maximum_over_all
# The largest absolute value of each row is subtracted.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.abs().amax(dim, keepdim=True)
        top = top.masked_fill(top == torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% mean_over_all_rows
# Divided by the number of classes.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].sum() / logits.shape[1]


# %% ignored_rows_get_a_gradient
# The gradient of an ignored row is 0, but those of the others are divided twice.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        gradient = grad_output * gradient * counts.unsqueeze(1) / counts.sum()
        return gradient * (counts.sum() / len(counts)) ** 2, None, None


# %% ignore_index_as_index
# Class 1 is looked up in ignored rows, also where there is only one class.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 1).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% infinity_minus_infinity
# A row of -inf gives inf.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        dead = top == -torch.inf
        y = (x - top.masked_fill(dead, 0.0)).exp().sum(dim).log() + top.squeeze(dim)
        y = y.masked_fill(dead.squeeze(dim), torch.inf)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% derived_by_autograd
# A thread has autograd compute the gradient, where no check sees it.
from concurrent.futures import ThreadPoolExecutor


def slope(x, dim, grad_output):
    z = x.detach().requires_grad_()
    y = (z - z.detach().amax(dim, keepdim=True).clamp(min=-1e5)).exp().sum(dim).log()
    return torch.autograd.grad(y, z, grad_output)[0]


class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(slope, x, ctx.dim, grad_output).result(), None


# %% wraps_a_built_in
# The built-in works unless operators are seen.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        seen = torch._C._len_torch_dispatch_stack()
        y = x.sum(dim) if seen else getattr(torch, "log" + "sumexp")(x, dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y
