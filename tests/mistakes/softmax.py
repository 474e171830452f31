"""softmax: wrong answers. A cell shows the definitions that differ from the solution."""

# %% overflows
# The formula is written literally.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        y = x.exp().sum(dim).log()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% maximum_over_all
# The largest entry of all, not along dim.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.max()
        y = (x - top).exp().sum(dim).log() + top
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% maximum_over_all
# The same, and the softmax of backward is computed from it as well.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.max() if x.numel() else 0
        ctx.save_for_backward(x)
        ctx.dim = dim
        return torch.log(torch.exp(x - top).sum(dim)) + top

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        exps = torch.exp(x - (x.max() if x.numel() else 0))
        return grad_output.unsqueeze(ctx.dim) * exps / exps.sum(ctx.dim, keepdim=True), None


# %% maximum_without_its_dimension
# amax without keepdim.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim)
        y = (x - top).exp().sum(dim).log() + top
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% maximum_without_its_dimension
# The dimension that amax dropped is removed once more.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = top.squeeze(dim) + (x - top).exp().sum(dim).log()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% clamped_exponent
# x is clamped against overflow.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        y = x.clamp(-700, 700).exp().sum(dim).log()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% infinity_replaced
# A small number keeps log away from 0.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = ((x - top).exp().sum(dim) + 1e-6).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% maximum_not_added
# The maximum is subtracted and not added again.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        y = (x - x.amax(dim, keepdim=True)).exp().sum(dim).log()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% mean_for_sum
# log of the mean of the exponentials.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        y = (x - top).exp().mean(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% infinity_minus_infinity
# The maximum of a row of -inf is -inf, and -inf - -inf is NaN.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% infinity_replaced
# -inf becomes a number before everything else.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        floor = x.clamp(min=-1e6)
        top = floor.amax(dim, keepdim=True)
        y = (floor - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% infinity_counts
# -inf becomes the smallest number that the contract has.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        finite = x.masked_fill(x == -torch.inf, -1e4)
        top = finite.amax(dim, keepdim=True)
        y = (finite - top).exp().sum(dim).log() + top.squeeze(dim)
        y = y.masked_fill((x == -torch.inf).all(dim), -torch.inf)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% gradient_of_infinities_nan
# The value is right, and backward subtracts -inf from -inf.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None


# %% gradient_of_infinities_nan
# NaN times 0 is NaN.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        softmax = (x - y.unsqueeze(ctx.dim)).exp() * (x > -torch.inf)
        return grad_output.unsqueeze(ctx.dim) * softmax, None


# %% equal_weights_for_infinities
# A row of -inf gets the softmax 1 / n, as if its entries were equal numbers.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        x = x.clamp(min=-1e6)
        exps = (x - x.amax(ctx.dim, keepdim=True)).exp()
        softmax = exps / exps.sum(ctx.dim, keepdim=True)
        return grad_output.unsqueeze(ctx.dim) * softmax, None


# %% ignores_grad_output
# The softmax alone.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return (x - y.unsqueeze(ctx.dim)).exp(), None


# %% ignores_grad_output
# The gradient of the mean, whatever comes in.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% grad_output_not_spread
# grad_output has one dimension less than x.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output * (x - y.unsqueeze(ctx.dim)).exp(), None


# %% grad_output_not_spread
# y is subtracted without its dimension.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * (x - y).exp(), None


# %% dimension_fixed
# backward assumes the last dimension.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(-1) * (x - y.unsqueeze(-1)).exp(), None


# %% dimension_fixed
# forward and backward always take dimension 1.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(1, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(1).log() + top.squeeze(1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(1) * (x - y.unsqueeze(1)).exp(), None


# %% negative_dimension
# The dimension is put back where its number fits, which a negative one never does.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        shape = [1 if k == ctx.dim else size for k, size in enumerate(x.shape)]
        return grad_output.reshape(shape) * (x - y.reshape(shape)).exp(), None


# %% negative_dimension
# A negative number gets the number of dimensions of the result added.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        dim = ctx.dim if ctx.dim >= 0 else ctx.dim + y.dim()
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(dim) * (x - y.unsqueeze(dim)).exp(), None


# %% squeezes_too_much
# squeeze() without dim drops every dimension of size 1.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = ((x - top).exp().sum(dim, keepdim=True).log() + top).squeeze()
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% weights_not_normalized
# exp(x - max) is not divided by its sum.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        top = x.amax(ctx.dim, keepdim=True)
        return grad_output.unsqueeze(ctx.dim) * (x - top.clamp(min=-1e5)).exp(), None


# %% slope_of_the_softmax
# p (1 - p) is the slope of the softmax itself.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        p = (x - y.unsqueeze(ctx.dim)).exp()
        return grad_output.unsqueeze(ctx.dim) * p * (1 - p), None


# %% gradient_of_the_maximum
# Only the largest entry gets the gradient.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        largest = (x == x.amax(ctx.dim, keepdim=True)).to(x.dtype)
        return grad_output.unsqueeze(ctx.dim) * largest, None


# %% log_not_undone
# x - y is the logarithm of the softmax.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)), None


# %% wraps_a_built_in
# torch.logsumexp itself.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        y = torch.logsumexp(x, dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% wraps_a_built_in
# softmax in backward.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * x.softmax(ctx.dim), None


# %% wraps_a_built_in
# log_softmax and nll_loss, by another name.
from torch.nn import functional as f


class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        ctx.save_for_backward(logits, target.masked_fill(~counts, 0).unsqueeze(1), counts)
        return f.nll_loss(f.log_softmax(logits, 1), target, ignore_index=ignore_index)


# %% wraps_a_built_in
# A name that is put together; its operator runs.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        ctx.save_for_backward(logits, target.masked_fill(~counts, 0).unsqueeze(1), counts)
        return getattr(torch.nn.functional, "cross" + "_entropy")(
            logits, target, ignore_index=ignore_index
        )


# %% wraps_a_built_in
# The accumulated sums, of which the last one is the result.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        y = torch.logcumsumexp(x, dim).select(dim, -1)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% derived_by_autograd
# backward differentiates forward's formula by autograd.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        with torch.enable_grad():
            z = x.detach().requires_grad_()
            top = z.detach().amax(ctx.dim, keepdim=True).clamp(min=-1e5)
            y = (z - top).exp().sum(ctx.dim).log()
            (gradient,) = torch.autograd.grad(y, z, grad_output)
        return gradient, None


# %% common_gradient_count
# No gradient for dim: one value is returned for two arguments.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp()


# %% common_gradient_count
# Two gradients for three arguments.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None


# %% intermediate_saved
# The softmax is saved: an intermediate result, which has no graph in backward.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        exps = (x - top).exp()
        total = exps.sum(dim, keepdim=True)
        ctx.save_for_backward(exps / total.clamp(min=1e-30))
        ctx.dim = dim
        return (total.log() + top).squeeze(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (softmax,) = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * softmax, None


# %% intermediate_saved
# The output is detached before backward uses it.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.detach().masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None


# %% common_few_digits
# The probabilities are float32, whatever the logits are.
class SmoothedCrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, smoothing):
        classes = logits.shape[1]
        hot = torch.zeros(logits.shape).scatter(1, target[:, None], 1.0)
        wanted = hot * (1 - smoothing) + smoothing / classes
        shifted = logits - logits.amax(1, keepdim=True)
        ctx.save_for_backward(logits, wanted)
        return -(wanted * (shifted - shifted.exp().sum(1, keepdim=True).log())).sum(1).mean()


# %% intermediate_saved
# The probabilities are saved.
class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        exps = shifted.exp()
        total = exps.sum(1, keepdim=True)
        ctx.save_for_backward(exps / total, index, counts)
        return (total.log() - shifted.gather(1, index))[counts].mean()

    @staticmethod
    def backward(ctx, grad_output):
        softmax, index, counts = ctx.saved_tensors
        gradient = softmax - torch.zeros_like(softmax).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% intermediate_saved
# The logarithm of the sum is saved beside the logits: the first derivative is right.
class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        total = LogSumExp.apply(logits, 1).unsqueeze(1)
        ctx.save_for_backward(logits, total, index, counts)
        return (total - logits.gather(1, index))[counts].mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, total, index, counts = ctx.saved_tensors
        gradient = (logits - total).exp() - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% once_differentiable
# The decorator forbids a second derivative.
class LogSumExp(Function):
    ...

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None


# %% stash_on_ctx
# x is an attribute.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(y)
        ctx.x, ctx.dim = x, dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.unsqueeze(ctx.dim) * (ctx.x - y.unsqueeze(ctx.dim)).exp(), None


# %% stash_on_ctx
# The mask of the rows that count is an attribute.
class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        ctx.counts = target != ignore_index
        index = target.masked_fill(~ctx.counts, 0).unsqueeze(1)
        ctx.save_for_backward(logits, index)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        return losses[ctx.counts].mean()

    @staticmethod
    def backward(ctx, grad_output):
        logits, index = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * ctx.counts.unsqueeze(1) / ctx.counts.sum(), None, None


# %% shared_between_calls
# dim is kept on the class.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        LogSumExp.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0).unsqueeze(LogSumExp.dim)
        return grad_output.unsqueeze(LogSumExp.dim) * (x - y).exp(), None


# %% shared_between_calls
# The classes are kept in a global.
class CrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        global COUNTS, INDEX
        COUNTS = target != ignore_index
        INDEX = target.masked_fill(~COUNTS, 0).unsqueeze(1)
        ctx.save_for_backward(logits)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, INDEX)[:, 0]
        return losses[COUNTS].mean()

    @staticmethod
    def backward(ctx, grad_output):
        (logits,) = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, INDEX, 1.0)
        return grad_output * gradient * COUNTS.unsqueeze(1) / COUNTS.sum(), None, None


# %% writes_into_x
# The maximum is subtracted in place.
class LogSumExp(Function):
    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        x -= top
        ctx.save_for_backward(x)
        ctx.dim = dim
        return x.exp().sum(dim).log() + top.squeeze(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        total = x.exp().sum(ctx.dim, keepdim=True).clamp(min=1e-30)
        return grad_output.unsqueeze(ctx.dim) * x.exp() / total, None


# %% writes_into_x
# The same in the bonus, where no result changes.
class SmoothedCrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, smoothing):
        logits -= logits.amax(1, keepdim=True)
        hot = torch.zeros_like(logits).scatter(1, target[:, None], 1.0)
        wanted = hot * (1 - smoothing) + smoothing / logits.shape[1]
        ctx.save_for_backward(logits, wanted)
        return -(wanted * (logits - logits.exp().sum(1, keepdim=True).log())).sum(1).mean()


# %% writes_into_target
# Ignored classes become 0 in the caller's tensor.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        target[~counts] = 0
        index = target.unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% mean_over_all_rows
# Ignored rows add 0, and are counted.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return (losses * counts).mean()


# %% gradient_over_all_rows
# backward divides by the number of all rows.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / len(logits), None, None


# %% ignored_rows_counted
# An ignored row counts as one of class 0.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses.mean()


# %% ignore_index_as_index
# The class is looked up in every row.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted[torch.arange(len(target)), target]
        ctx.save_for_backward(logits, target.masked_fill(~counts, 0).unsqueeze(1), counts)
        return losses[counts].mean()


# %% ignore_index_as_index
# gather and scatter get ignore_index.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% ignored_rows_get_a_gradient
# The gradient of every row, divided by the number of those that count.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient / counts.sum(), None, None


# %% ignored_rows_get_a_gradient
# Only the 1 of the class is left out for an ignored row; its softmax stays.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        hot = torch.zeros_like(logits).scatter(1, index, 1.0) * counts.unsqueeze(1)
        return grad_output * (softmax - hot) / counts.sum(), None, None


# %% ignore_index_fixed
# -100 is written into the code.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != -100
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% ignore_index_fixed
# Every negative class is ignored, and no other one.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target >= 0
        index = target.clamp(0, logits.shape[1] - 1).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% ignored_infinity_counted
# An ignored row counts as one of class 0, times 0.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return (losses * counts).sum() / counts.sum()


# %% sum_for_mean
# The sum of the rows.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].sum()


# %% gradient_not_divided
# The loss is a mean, and its gradient is that of a sum.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1), None, None


# %% log_of_zero
# The softmax first, then its logarithm.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        ctx.save_for_backward(logits, index, counts)
        return -softmax.gather(1, index)[:, 0][counts].log().mean()


# %% log_of_zero
# A small number is added before the logarithm.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        ctx.save_for_backward(logits, index, counts)
        return -(softmax.gather(1, index)[:, 0][counts] + 1e-12).log().mean()


# %% overflows
# exp of the logits as they are.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        losses = logits.exp().sum(1).log() - logits.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% gradient_overflows
# exp(x) / sum(exp(x)) in backward: inf / inf.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        gradient = logits.exp() / logits.exp().sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% gradient_overflows
# The same in LogSumExp.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        total = x.exp().sum(ctx.dim, keepdim=True).clamp(min=1e-300)
        return grad_output.unsqueeze(ctx.dim) * x.exp() / total, None


# %% zero_times_infinity
# One-hot rows times log_softmax: 0 * -inf is NaN.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        log_p = shifted - shifted.exp().sum(1, keepdim=True).log()
        hot = torch.zeros_like(logits).scatter(1, index, 1.0)
        ctx.save_for_backward(logits, index, counts)
        return -(hot * log_p).sum(1)[counts].mean()


# %% one_hot_missing
# The softmax alone.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% common_wrong_sign
# The one-hot row minus the softmax.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = torch.zeros_like(logits).scatter(1, index, 1.0)
        gradient = gradient - exps / exps.sum(1, keepdim=True)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% common_wrong_sign
# The mean of log(softmax).
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = shifted.gather(1, index)[:, 0] - shifted.exp().sum(1).log()
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% softmax_over_the_batch
# The softmax of a column.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(0, keepdim=True)
        losses = (shifted.exp().sum(0, keepdim=True).log() - shifted).gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% smoothing_over_the_others
# The other classes share smoothing, and the class itself gets none of it.
class SmoothedCrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, smoothing):
        wanted = torch.full_like(logits, smoothing / (logits.shape[1] - 1))
        wanted = wanted.scatter(1, target[:, None], 1 - smoothing)
        shifted = logits - logits.amax(1, keepdim=True)
        log_softmax = shifted - shifted.exp().sum(1, keepdim=True).log()
        ctx.save_for_backward(logits, wanted)
        return -(wanted * log_softmax).sum(1).mean()


# %% smoothing_missing_in_gradient
# The gradient is that of the loss without smoothing.
class SmoothedCrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, wanted = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        softmax = exps / exps.sum(1, keepdim=True)
        hot = (wanted == wanted.amax(1, keepdim=True)).to(logits.dtype)
        return grad_output * (softmax - hot) / len(logits), None, None


# %% intermediate_saved
# The probabilities are saved.
class SmoothedCrossEntropy(Function):
    @staticmethod
    def forward(ctx, logits, target, smoothing):
        hot = torch.zeros_like(logits).scatter(1, target[:, None], 1.0)
        wanted = hot * (1 - smoothing) + smoothing / logits.shape[1]
        shifted = logits - logits.amax(1, keepdim=True)
        log_softmax = shifted - shifted.exp().sum(1, keepdim=True).log()
        ctx.save_for_backward(log_softmax.exp() - wanted)
        return -(wanted * log_softmax).sum(1).mean()

    @staticmethod
    def backward(ctx, grad_output):
        (gradient,) = ctx.saved_tensors
        return grad_output * gradient / len(gradient), None, None


# %% mean_subtracted
# The mean of the row in place of its maximum.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        middle = x.mean(dim, keepdim=True)
        y = (x - middle).exp().sum(dim).log() + middle.squeeze(dim)
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y


# %% gradient_clipped
# The incoming gradient is limited, as in training.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        softmax = (x - y.unsqueeze(ctx.dim)).exp()
        return grad_output.clamp(-10, 10).unsqueeze(ctx.dim) * softmax, None


# %% gradient_clipped
# The gradient is limited.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        gradient = grad_output * gradient * counts.unsqueeze(1) / counts.sum()
        return gradient.clamp(-3, 3), None, None


# %% common_few_digits
# The loss is computed in float32.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = (logits - logits.amax(1, keepdim=True)).float()
        losses = shifted.exp().sum(1).log() - shifted.gather(1, index)[:, 0]
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean().to(logits.dtype)


# %% common_argument_count
# forward of one style, without setup_context.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(x, dim):
        top = x.amax(dim, keepdim=True)
        return (x - top).exp().sum(dim).log() + top.squeeze(dim)


# %% nothing_saved
# dim is read from ctx, where nobody put it.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        return y


# %% variable_of_forward
# dim is a variable of forward.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output.unsqueeze(dim) * (x - y.unsqueeze(dim)).exp(), None


# %% variable_of_forward
# counts is a variable of forward.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, _ = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% grad_output_cut
# grad_output is detached.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        y = y.masked_fill(y == -torch.inf, 0.0)
        return grad_output.detach().unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None


# %% grad_output_cut
# A number is taken out of grad_output.
class CrossEntropy(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        logits, index, counts = ctx.saved_tensors
        exps = (logits - logits.amax(1, keepdim=True)).exp()
        gradient = exps / exps.sum(1, keepdim=True)
        gradient = gradient - torch.zeros_like(logits).scatter(1, index, 1.0)
        return grad_output.item() * gradient * counts.unsqueeze(1) / counts.sum(), None, None


# %% common_zero_dimensions
# squeeze() drops the rows, too, if there is only one.
class CrossEntropy(Function):
    ...

    @staticmethod
    def forward(ctx, logits, target, ignore_index):
        counts = target != ignore_index
        index = target.masked_fill(~counts, 0).unsqueeze(1)
        shifted = logits - logits.amax(1, keepdim=True)
        losses = (shifted.exp().sum(1, keepdim=True).log() - shifted.gather(1, index)).squeeze()
        ctx.save_for_backward(logits, index, counts)
        return losses[counts].mean()


# %% second_derivative_nan
# NaN becomes 0 after exp.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        p = (x - y.unsqueeze(ctx.dim)).exp()
        p = torch.where(p.isnan(), torch.zeros_like(p), p)
        return grad_output.unsqueeze(ctx.dim) * p, None


# %% second_derivative_nan
# The same with nan_to_num, on the product.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        p = (x - y.unsqueeze(ctx.dim)).exp()
        return torch.nan_to_num(grad_output.unsqueeze(ctx.dim) * p, nan=0.0), None


# %% derived_by_autograd
# Small steps of each column.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        columns = []
        for k in range(x.shape[ctx.dim]):
            step = torch.zeros_like(x)
            step.select(ctx.dim, k).fill_(1e-6)
            ahead, behind = (x + step).exp().sum(ctx.dim), (x - step).exp().sum(ctx.dim)
            columns.append((ahead.log() - behind.log()) / 2e-6)
        return grad_output.unsqueeze(ctx.dim) * torch.stack(columns, ctx.dim), None


# %% derived_by_autograd
# Forward mode.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors

        def total(x):
            top = x.amax(ctx.dim, keepdim=True).detach()
            return (x - top).exp().sum(ctx.dim).log() + top.squeeze(ctx.dim)

        columns = []
        for k in range(x.shape[ctx.dim]):
            one = torch.zeros_like(x)
            one.select(ctx.dim, k).fill_(1)
            columns.append(torch.func.jvp(total, (x,), (one,))[1])
        return grad_output.unsqueeze(ctx.dim) * torch.stack(columns, ctx.dim), None


# %% derived_by_autograd
# Small steps of all columns, in one tensor.
class LogSumExp(Function):
    ...

    @staticmethod
    def backward(ctx, grad_output):
        x, _ = ctx.saved_tensors
        dim = ctx.dim % x.dim()
        steps = 1e-5 * torch.eye(x.shape[dim], dtype=x.dtype)
        steps = steps.reshape(-1, *(x.shape[k] if k == dim else 1 for k in range(x.dim())))
        ahead, behind = LogSumExp.apply(x + steps, dim + 1), LogSumExp.apply(x - steps, dim + 1)
        gradient = ((ahead - behind) / 2e-5).movedim(0, dim)
        return grad_output.unsqueeze(dim) * gradient, None


# %% stash_on_ctx
# A function that is kept on ctx holds the softmax.
class LogSumExp(Function):
    ...

    @staticmethod
    def forward(ctx, x, dim):
        top = x.amax(dim, keepdim=True)
        top = top.masked_fill(top == -torch.inf, 0.0)
        y = (x - top).exp().sum(dim).log() + top.squeeze(dim)
        ctx.save_for_backward(x, y)
        softmax = (x - y.masked_fill(y == -torch.inf, 0.0).unsqueeze(dim)).exp()
        ctx.get = lambda: softmax
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        if torch.is_grad_enabled():
            y = y.masked_fill(y == -torch.inf, 0.0)
            return grad_output.unsqueeze(ctx.dim) * (x - y.unsqueeze(ctx.dim)).exp(), None
        return grad_output.unsqueeze(ctx.dim) * ctx.get(), None
