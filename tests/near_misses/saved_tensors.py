"""saved_tensors: wrong answers that must not get the name of the mistake they resemble."""


# %% nothing_is_recomputed
# The value is wrong, too: twice f.
def checkpointed(f, *xs: Tensor) -> Tensor:
    return f(*xs) * 2


# %% leaves_counted
# Only leaves are counted.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        if t.is_leaf:
            kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


# %% elements_counted
# Half of the bytes: the tensors would be float32.
def saved_bytes(f, x: Tensor) -> int:
    kept = {}

    def pack(t):
        kept[t.untyped_storage().data_ptr()] = t
        return t

    with saved_tensors_hooks(pack, lambda t: t):
        f(x)
    return sum(t.numel() * 4 for t in kept.values())


# %% kept_in_full
# Rounded to fewer digits than float16 has.
def is_exact(t):
    return (t.is_leaf and t.requires_grad) or not t.is_floating_point()


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    def pack(t):
        return (t, t.dtype) if is_exact(t) else (t.to(torch.bfloat16), t.dtype)

    return saved_tensors_hooks(pack, lambda packed: packed[0].to(packed[1]))


# %% gradient_twice
# The gradient is that for half of v.
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
        y.backward(grad_output / 2)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% grad_output_ignored
# Only the sign of grad_output is used.
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
        y.backward(grad_output.sign())
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% inputs_not_leaves
# The second run has a graph; its sum is computed without recording.
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)

    @staticmethod
    def backward(ctx, grad_output):
        xs = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.sum().backward()
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)


# %% recording_is_off
# Recording is on, and no tensor requires grad.
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
        if y.requires_grad:
            y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


def checkpointed(f, *xs: Tensor) -> Tensor:
    return Again.apply(f, torch.empty(0, requires_grad=True), *xs)
