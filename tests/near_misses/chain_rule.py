"""chain_rule: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% exponent_like_a_base
# The gradients are in the wrong order, and what stands in the place of q's is that of x without
# its factor q.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.log(x), 1 / x


# %% factor_won_back_by_division
# A share that nobody asked for divides by a whole number that is 0 at any bill.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    halves = 1 // 2
    return {"apple": tax * n_apple / halves, "tangerine": tax * n_tangerine / halves}


# %% graph_is_cut
# The leaves got their gradients; what is read is the .grad of their double(), which is not a leaf.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = (torch.tensor(number, requires_grad=True).double() for number in (x, w, b))
    ((w * x + b) ** 2).backward()
    return x.grad.item(), w.grad.item(), b.grad.item()


# %% graph_is_cut
# Everything got its gradient, and all but the result were told to keep it.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {"apple": apple, "tangerine": tangerine, "num_apple": n_apple, "num_tangerine": n_tangerine, "ctax": tax}
    nodes = {name: torch.tensor(float(value), dtype=torch.float64, requires_grad=True) for name, value in numbers.items()}
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"] = nodes["price"] * nodes["ctax"]
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}


# %% graph_is_cut
# The gradients came back, and were cleared before they were read.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaves = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in (x, w, b)]
    ((leaves[1] * leaves[0] + leaves[2]) ** 2).backward()
    torch.optim.SGD(leaves).zero_grad()
    return tuple(leaf.grad.item() for leaf in leaves)


# %% graph_is_cut
# Takes gradients from backward, which returns None.
def linear_gradients(x, w, b):
    t = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (x, w, b)]
    gx, gw, gb = torch.autograd.backward((t[0] * t[1] + t[2]) ** 2)
    return gx.item(), gw.item(), gb.item()


# %% graph_is_cut
# What backward returns is taken for the loss.
def linear_gradients(x, w, b):
    x, w, b = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (x, w, b)]
    loss = ((w * x + b) ** 2).backward()
    return tuple(torch.autograd.grad(loss, [x, w, b]))


# %% numerical_differences
# The formulas, with a small number beside x.
def gradient_by_hand(x):
    return 3 / (x + 1e-8) + x / (torch.sqrt(x**2) + 1e-8)


def power_gradients_by_hand(x, q):
    return q / (x + 1e-8), torch.log(x + 1e-8)


# %% passes_add_up
# A graph and a backward for each of the three, and the first of them asked for twice.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    def gradient(which):
        leaves = [torch.tensor(value, requires_grad=True) for value in (x, w, b)]
        loss = (leaves[1] * leaves[0] + leaves[2]) ** 2
        loss.backward()
        return leaves[which].grad.item()

    return gradient(0), gradient(0), gradient(2)


# %% retain_grad_missing
# The tax is a tensor that doesn't require grad.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, na, t, nt = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine))
    c = torch.tensor(float(tax))
    ((a * na + t * nt) * c).backward()
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=float(tax),
        tangerine_price=float(tax),
        price=float(tax),
        result=1.0,
    )


# %% retain_grad_missing
# backward is never called.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    result = (a * na + t * nt) * c
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=float(tax),
        tangerine_price=float(tax),
        price=float(tax),
        result=1.0,
    )


# %% retain_grad_missing
# retain_grad() returns None, and that is kept as the tensor.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    ap = (a * na).retain_grad()
    tp = (t * nt).retain_grad()
    p = (ap + tp).retain_grad()
    r = p * c
    r.retain_grad()
    r.backward()
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=ap.grad.item(),
        tangerine_price=tp.grad.item(),
        price=p.grad.item(),
        result=r.grad.item(),
    )


# %% retain_grad_missing
# Hooks that are registered after backward.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    out = {}
    a, na, t, nt, c = (torch.tensor(float(v), requires_grad=True) for v in (apple, n_apple, tangerine, n_tangerine, tax))
    ap, tp = a * na, t * nt
    p = ap + tp
    r = p * c
    r.backward()
    for n, v in (("apple_price", ap), ("tangerine_price", tp), ("price", p)):
        v.register_hook(lambda g, n=n: out.__setitem__(n, g.item()))
    return dict(
        apple=a.grad.item(),
        num_apple=na.grad.item(),
        tangerine=t.grad.item(),
        num_tangerine=nt.grad.item(),
        ctax=c.grad.item(),
        apple_price=out.get("apple_price"),
        tangerine_price=out.get("tangerine_price"),
        price=out.get("price"),
        result=1.0,
    )


# %% stops_one_step_early
# Only b is squared, and each gradient comes from autograd.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x_leaf, w_leaf, b_leaf = (torch.tensor(value, requires_grad=True) for value in (x, w, b))
    loss = w_leaf * x_leaf + b_leaf**2
    loss.backward()
    return x_leaf.grad.item(), w_leaf.grad.item(), b_leaf.grad.item()


# %% passes_add_up
# The derivative of the square is taken for that of a root, which is wrong below 0.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b], dtype=torch.float64, requires_grad=True)
    y = leaf[1] * leaf[0] + leaf[2]
    (y * y.abs()).backward()
    return tuple(leaf.grad.tolist())


# %% inner_derivative_missing
# A bound against a division by 0 reaches into the range of x.
def gradient_by_hand(x: Tensor) -> Tensor:
    return 3 / x.clamp_min(0.1) + 1


# %% value_for_a_gradient
# The intermediate results have keys of their own.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    return {
        "apple": tax * n_apple,
        "num_apple": tax * apple,
        "tangerine": tax * n_tangerine,
        "num_tangerine": tax * tangerine,
        "ctax": apple * n_apple + tangerine * n_tangerine,
        **dict.fromkeys(("apples", "tangerines", "fruit"), tax),
        "total": 1.0,
    }


# %% earlier_calls_add_up
# Each call puts a larger multiple on the gradients.
CALLS = [0]


def linear_gradients(x, w, b):
    CALLS[0] += 2
    y = CALLS[0] * (w * x + b)
    return y * w**2, y * x**2, y
