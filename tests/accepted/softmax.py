"""softmax: other right answers. A cell shows the definitions that differ from the solution."""


# %% setup_context
# forward without ctx, and setup_context, in every class; only arguments and results are saved.
class LogSumExp(Function):
    @staticmethod
    def forward(x, dim):
        top = x.max(dim, keepdim=True).values
        top = torch.where(top == float("-inf"), torch.zeros_like(top), top)
        return ((x - top).exp().sum(dim, keepdim=True).log() + top).squeeze(dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.dim = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        top = x.max(ctx.dim, keepdim=True).values.clamp(min=-1e5)
        exps = (x - top).exp()
        total = exps.sum(ctx.dim, keepdim=True)
        softmax = exps / total.clamp(min=0.5)
        return softmax * grad_output.unsqueeze(ctx.dim), None


class CrossEntropy(Function):
    @staticmethod
    def forward(logits, target, ignore_index):
        keep = target != ignore_index
        rows, classes = logits[keep], target[keep]
        return (LogSumExp.apply(rows, -1) - rows[torch.arange(len(rows)), classes]).mean()

    @staticmethod
    def setup_context(ctx, inputs, output):
        logits, target, ctx.ignore_index = inputs
        ctx.save_for_backward(logits, target)

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        keep = (target != ctx.ignore_index).nonzero()[:, 0]
        rows = logits[keep]
        softmax = (rows - LogSumExp.apply(rows, 1)[:, None]).exp()
        softmax = softmax - torch.nn.functional.one_hot(target[keep], logits.shape[1])
        gradient = grad_output * softmax / len(keep)
        return torch.zeros_like(logits).index_add(0, keep, gradient), None, None


# %% numpy_forward
# The values are computed by NumPy, the gradients by torch.
import numpy as np


class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        numbers = x.detach().numpy()
        top = numbers.max(axis=dim, keepdims=True)
        top[np.isinf(top)] = 0
        with np.errstate(divide="ignore"):
            sums = np.log(np.exp(numbers - top).sum(axis=dim)) + top.squeeze(dim)
        y = torch.as_tensor(sums, dtype=x.dtype)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% function_for_the_softmax
# The softmax is a Function with a backward of its own, which both classes use.
class Softmax(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        exps = (x - top.masked_fill(top.isinf(), 0)).exp()
        p = exps / exps.sum(dim, keepdim=True).clamp(min=1e-30)
        ctx.save_for_backward(p)
        ctx.dim = dim
        return p

    @staticmethod
    def backward(ctx, grad_output):
        (p,) = ctx.saved_tensors
        inner = (grad_output * p).sum(ctx.dim, keepdim=True)
        return p * (grad_output - inner), None


class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * Softmax.apply(x, ctx.dim), None


class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        ctx.save_for_backward(logits, target)
        ctx.ignore_index = ignore_index
        total, count = 0, 0
        for row, wanted in zip(logits, target.tolist()):
            if wanted != ignore_index:
                total, count = total + LogSumExp.apply(row, 0) - row[wanted], count + 1
        return total / count

    @staticmethod
    def backward(ctx, grad_output):
        logits, target = ctx.saved_tensors
        p = Softmax.apply(logits, 1)
        rows = []
        kept = [wanted != ctx.ignore_index for wanted in target.tolist()]
        for row, wanted, keep in zip(p, target.tolist(), kept):
            hot = [float(keep and k == wanted) for k in range(len(row))]
            hot = torch.tensor(hot, dtype=row.dtype)
            rows.append((row - hot) * keep)
        return grad_output * torch.stack(rows) / sum(kept), None, None


# %% recursion
# Halves of the entries, and two numbers at the end, with softplus of what is smaller.
def add(a, b):
    high, low = torch.maximum(a, b), torch.minimum(a, b)
    return torch.where(low == float("-inf"), high, high + torch.nn.functional.softplus(low - high))


def total(x):
    if len(x) == 1:
        return x[0].clone()
    return add(total(x[: len(x) // 2]), total(x[len(x) // 2 :]))


class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        y = total(x.movedim(dim, 0))
        ctx.dim = dim
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        p = torch.exp(x.movedim(ctx.dim, 0) - torch.where(y.isinf(), 0 * grad_output, y))
        return (p * grad_output).movedim(0, ctx.dim), None


# %% where_and_log_softmax_by_hand
# A function of the student's own called log_softmax, one row of which is read for each class.
def log_softmax(z):
    z = z - z.max(dim=1, keepdim=True)[0]
    return z - torch.log(torch.sum(torch.exp(z), dim=1, keepdim=True))


class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        ctx.save_for_backward(logits, target)
        ctx.ignore_index = ignore_index
        valid = target.ne(ignore_index)
        picked = log_softmax(logits)[torch.arange(target.numel()), torch.where(valid, target, 0)]
        return -torch.where(valid, picked, 0.0).sum() / valid.sum()

    @staticmethod
    def backward(ctx, grad_output):
        if not ctx.needs_input_grad[0]:
            return None, None, None
        logits, target = ctx.saved_tensors
        valid = target.ne(ctx.ignore_index)
        gradient = log_softmax(logits).exp()
        hot = torch.arange(logits.size(1)) == target[:, None]
        gradient = torch.where(hot, gradient - 1, gradient)
        gradient = torch.where(valid[:, None], gradient, 0.0)
        return gradient / valid.sum() * grad_output, None, None


# %% saved_softmax_with_its_input
# The probabilities are saved for the first derivative; with a graph they are computed again.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        exps = (logits - logits.max(1, keepdim=True).values).exp()
        p = exps / exps.sum(1, keepdim=True)
        keep = (target != ignore_index).to(logits.dtype)
        index = torch.where(target != ignore_index, target, torch.zeros_like(target))[:, None]
        shifted = logits - logits.max(1, keepdim=True).values
        losses = shifted.gather(1, index)[:, 0] - exps.sum(1).log()
        ctx.save_for_backward(logits, index, keep, p)
        return -losses[keep > 0].sum() / keep.sum()

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, keep, p = ctx.saved_tensors
        if torch.is_grad_enabled():
            p = (logits - LogSumExp.apply(logits, 1).unsqueeze(1)).exp()
        gradient = p.scatter_add(1, index, -torch.ones_like(p[:, :1]))
        return gradient * (keep / keep.sum()).unsqueeze(1) * grad_output, None, None


# %% demonstration
# The built-ins are named in docstrings, comments and a test of the student's own.
class LogSumExp(Function):
    """Like torch.logsumexp."""

    @staticmethod
    def forward(ctx, x, dim):
        top = torch.nan_to_num(torch.amax(x, dim, keepdim=True), neginf=0.0)
        y = torch.log(torch.sum(torch.exp(x - top), dim)) + top.squeeze(dim)  # not torch.logsumexp
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = torch.unsqueeze(y, ctx.dim)
        return grad_output.unsqueeze(ctx.dim) * torch.exp(x - torch.nan_to_num(y, neginf=0.0)), None


def test_against_torch():
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(LogSumExp.apply(x, 1), torch.logsumexp(x, 1))


if __name__ == "__main__":
    print(torch.softmax(torch.zeros(3), 0))
    test_against_torch()


# %% result_that_keeps_its_dimension
# LogSumExp takes one more argument, which only CrossEntropy gives.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim, keepdim=False):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim, keepdim=True).log() + top
        y = y if keepdim else y.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim, ctx.keepdim = dim, keepdim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if not ctx.keepdim:
            y, grad_output = y.unsqueeze(ctx.dim), grad_output.unsqueeze(ctx.dim)
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output * (x - y).exp(), *[None] * (len(ctx.needs_input_grad) - 1)


class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        losses = LogSumExp.apply(logits, 1, True) - logits.gather(1, index)
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        softmax = (logits - LogSumExp.apply(logits, 1, True)).exp()
        one_hot = torch.zeros_like(logits).scatter(1, index, 1.0)
        weight = counts.to(logits.dtype) / counts.sum()
        return grad_output * (softmax - one_hot) * weight.unsqueeze(1), None, None
