"""chain_rule: wrong answers. A cell shows the definitions that differ from the solution."""

# %% exponent_like_a_base
# q was differentiated as if it were the base.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    y = x**q
    slope = q * x ** (q - 1)
    return slope / y, slope / y


# %% exponent_like_a_base
# q was differentiated as if it were the base.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return q / x, 1 / x


# %% factor_won_back_by_division
# A factor is won back by dividing.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    apple_price, tangerine_price = apple * n_apple, tangerine * n_tangerine
    price = apple_price + tangerine_price
    return {
        "apple": float(apple_price / apple * tax),
        "num_apple": float(apple_price / n_apple * tax),
        "tangerine": float(n_tangerine * tax),
        "num_tangerine": float(tangerine * tax),
        "ctax": float(price),
        "apple_price": float(tax),
        "tangerine_price": float(tax),
        "price": float(tax),
        "result": 1.0,
    }


# %% factor_won_back_by_division
# Division in torch, which gives nan where Python raises.
from torch.autograd import Function


class Times(Function):
    @staticmethod
    def forward(ctx, x, y):
        z = x * y
        ctx.save_for_backward(x, y, z)
        return z

    @staticmethod
    def backward(ctx, grad_output):
        x, y, z = ctx.saved_tensors
        return grad_output * z / x, grad_output * z / y


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    given = [apple, n_apple, tangerine, n_tangerine, tax]
    leaves = [
        torch.tensor(float(value), dtype=torch.float64, requires_grad=True) for value in given
    ]
    apple_price, tangerine_price = Times.apply(*leaves[:2]), Times.apply(*leaves[2:4])
    price = apple_price + tangerine_price
    result = price * leaves[4]
    names = [
        "apple",
        "num_apple",
        "tangerine",
        "num_tangerine",
        "ctax",
        "apple_price",
        "tangerine_price",
        "price",
        "result",
    ]
    grads = torch.autograd.grad(result, [*leaves, apple_price, tangerine_price, price, result])
    return {name: grad.item() for name, grad in zip(names, grads, strict=True)}


# %% retain_grad_missing
# What has no gradient is reported as 0.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    def number(tensor):
        return 0.0 if tensor.grad is None else float(tensor.grad)

    a, n, t, m, c = (
        torch.tensor(float(one), requires_grad=True)
        for one in (apple, n_apple, tangerine, n_tangerine, tax)
    )
    apples, tangerines = a * n, t * m
    price = apples + tangerines
    result = price * c
    result.backward()
    names = "apple num_apple tangerine num_tangerine ctax apple_price tangerine_price price result"
    tensors = (a, n, t, m, c, apples, tangerines, price, result)
    return dict(zip(names.split(), map(number, tensors), strict=True))


# %% graph_is_cut
# No gradient came back to what you ask about.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x = torch.tensor(x, requires_grad=True)
    w = torch.tensor(w, requires_grad=True)
    b = torch.tensor(b, requires_grad=True)
    loss = torch.tensor((w * x + b).item() ** 2, requires_grad=True)
    loss.backward()
    return x.grad.item(), w.grad.item(), b.grad.item()


# %% graph_is_cut
# No gradient came back to what you ask about.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()
    }
    nodes["apple_price"] = torch.tensor(float(apple * n_apple), requires_grad=True)
    nodes["tangerine_price"] = torch.tensor(float(tangerine * n_tangerine), requires_grad=True)
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}


# %% graph_is_cut
# No gradient came back to what you ask about.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = (torch.tensor(value) for value in (x, w, b))
    loss = (w * x + b) ** 2
    loss.backward()
    return x.grad.item(), w.grad.item(), b.grad.item()


# %% graph_is_cut
# The tax does not require grad; the intermediate gradients are computed by hand, correctly.
def shopping(
    apple: float, n_apple: float, tangerine: float, n_tangerine: float, tax: float
) -> dict[str, float]:
    a, n, t, m = (
        torch.tensor(float(number), requires_grad=True)
        for number in (apple, n_apple, tangerine, n_tangerine)
    )
    multiplier = torch.tensor(float(tax))
    ((a * n + t * m) * multiplier).backward()
    return {
        "apple": a.grad.item(),
        "num_apple": n.grad.item(),
        "tangerine": t.grad.item(),
        "num_tangerine": m.grad.item(),
        "ctax": multiplier.grad.item(),
        **dict.fromkeys(("apple_price", "tangerine_price", "price"), float(tax)),
        "result": 1.0,
    }


# %% incoming_gradient_dropped
# The gradient that comes in from above is not multiplied.
class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i, j):
        ctx.save_for_backward(i, j)
        return i * j

    @staticmethod
    def backward(ctx, grad_output):
        i, j = ctx.saved_tensors
        return j, i


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()
    }
    nodes["apple_price"] = Mul.apply(nodes["apple"], nodes["num_apple"])
    nodes["tangerine_price"] = Mul.apply(nodes["tangerine"], nodes["num_tangerine"])
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = Mul.apply(nodes["price"], nodes["ctax"])
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}


# %% incoming_gradient_dropped
# The gradient that comes in from above is not multiplied.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    return {
        "apple": float(n_apple),
        "tangerine": float(n_tangerine),
        "num_apple": float(apple),
        "num_tangerine": float(tangerine),
        "ctax": float(apple * n_apple + tangerine * n_tangerine),
        "apple_price": 1.0,
        "tangerine_price": 1.0,
        "price": float(tax),
        "result": 1.0,
    }


# %% inner_derivative_missing
# The inner derivative is missing.
def gradient_by_hand(x: Tensor) -> Tensor:
    return 1 / x**3 + 1 / (2 * torch.sqrt(x**2))


# %% inner_derivative_missing
# The inner derivative is missing.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    dz_dy = 1 / x**q
    return dz_dy, torch.log(x)


# %% inner_derivative_missing
# The inner derivative is missing.
def gradient_by_hand(x: Tensor) -> Tensor:
    return 3 / x + 0.5 * (x**2) ** -0.5


# %% numerical_differences
# Differences in place of the formula.
def gradient_by_hand(x: Tensor) -> Tensor:
    def z(x):
        return torch.log(x**3) + torch.sqrt(x**2)

    h = 1e-5
    return (z(x + h) - z(x - h)) / (2 * h)


# %% numerical_differences
# Differences in place of the formula.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    z = torch.log(x**q)
    h = 1e-7
    return (torch.log((x + h) ** q) - z) / h, (torch.log(x ** (q + h)) - z) / h


# %% numerical_differences
# Differences of four points, in float64 whatever x is: right to twelve digits.
def slope(f, x: Tensor, h: float = 1e-3) -> Tensor:
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def gradient_by_hand(x: Tensor) -> Tensor:
    return slope(lambda x: torch.log(x**3) + torch.sqrt(x**2), x.detach().double()).to(x.dtype)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    x64, q64 = x.detach().double(), q.detach().double()
    return slope(lambda x: torch.log(x**q64), x64).to(x.dtype), slope(
        lambda q: torch.log(x64**q), q64
    ).to(q.dtype)


# %% one_number_at_a_time
# A formula for one number met a tensor of several.
import math


def gradient_by_hand(x: Tensor) -> Tensor:
    return 1 / x**3 * 3 * x**2 + 2 * x / (2 * math.sqrt(x**2))


# %% one_number_at_a_time
# A formula for one number met a tensor of several.
import math


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.tensor(q.item() / x.item()), torch.tensor(math.log(x.item()))


# %% one_path_only
# Only one of the two paths was counted.
def gradient_by_hand(x: Tensor) -> Tensor:
    return 3 / x


# %% one_path_only
# Only one of the two paths was counted.
def gradient_by_hand(x: Tensor) -> Tensor:
    dz_dw = 1 / (2 * torch.sqrt(x**2))
    dw_dx = 2 * x
    return dz_dw * dw_dx


# %% passes_add_up
# Backward ran more than once, and the gradients added up.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaves = [torch.tensor(value, requires_grad=True) for value in (x, w, b)]
    loss = (leaves[1] * leaves[0] + leaves[2]) ** 2
    gradients = []
    for leaf in leaves:
        loss.backward(retain_graph=True)
        gradients.append(leaf.grad.item())
    return tuple(gradients)


# %% passes_add_up
# Backward ran more than once, and the gradients added up.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    names = ["apple", "tangerine", "num_apple", "num_tangerine", "ctax"]
    apple, tangerine, num_apple, num_tangerine, ctax = leaves = [
        torch.tensor(float(value), requires_grad=True)
        for value in (apple, tangerine, n_apple, n_tangerine, tax)
    ]
    between = [apple * num_apple, tangerine * num_tangerine]
    between.append(between[0] + between[1])
    between.append(between[2] * ctax)
    for node in between:
        node.retain_grad()
    between[-1].backward(retain_graph=True)
    between[-1].backward()
    names += ["apple_price", "tangerine_price", "price", "result"]
    return {name: node.grad.item() for name, node in zip(names, [*leaves, *between], strict=True)}


# %% retain_grad_missing
# The intermediate results kept no gradient.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apple, n_apple, tangerine, n_tangerine, tax = (
        torch.tensor(float(value), requires_grad=True)
        for value in (apple, n_apple, tangerine, n_tangerine, tax)
    )
    apple_price = apple * n_apple
    tangerine_price = tangerine * n_tangerine
    price = apple_price + tangerine_price
    result = price * tax
    result.backward()
    return {
        "apple": apple.grad.item(),
        "tangerine": tangerine.grad.item(),
        "num_apple": n_apple.grad.item(),
        "num_tangerine": n_tangerine.grad.item(),
        "ctax": tax.grad.item(),
        "apple_price": apple_price.grad.item(),
        "tangerine_price": tangerine_price.grad.item(),
        "price": price.grad.item(),
        "result": result.grad.item(),
    }


# %% retain_grad_missing
# The intermediate results kept no gradient.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()
    }
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    nodes["result"].backward()
    for node in nodes.values():
        node.retain_grad()
    return {name: None if node.grad is None else node.grad.item() for name, node in nodes.items()}


# %% stops_one_step_early
# The gradient stops one step before the end.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return q * x ** (q - 1), x**q * torch.log(x)


# %% stops_one_step_early
# The gradient stops one step before the end.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return q / x, torch.exp(q * torch.log(x)) * torch.log(x)


# %% stops_one_step_early
# The gradient stops one step before the end.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaves = [torch.tensor(value, requires_grad=True) for value in (x, w, b)]
    y = leaves[1] * leaves[0] + leaves[2]
    y.backward()
    return tuple(leaf.grad.item() for leaf in leaves)


# %% tensors_not_numbers
# Tensors came back, where plain floats are promised.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaves = [torch.tensor(value, requires_grad=True) for value in (x, w, b)]
    loss = (leaves[1] * leaves[0] + leaves[2]) ** 2
    return torch.autograd.grad(loss, leaves)


# %% tensors_not_numbers
# Tensors came back, where plain floats are promised.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    nodes = {
        "apple": apple,
        "num_apple": n_apple,
        "tangerine": tangerine,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor([float(value)], requires_grad=True) for name, value in nodes.items()
    }
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad for name, node in nodes.items()}


# %% uses_autograd
# Autograd did the work.
def gradient_by_hand(x: Tensor) -> Tensor:
    x = x.detach().clone().requires_grad_()
    z = torch.log(x**3) + torch.sqrt(x**2)
    return torch.autograd.grad(z.sum(), x)[0]


# %% uses_autograd
# Autograd did the work.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    x = x.detach().clone().requires_grad_()
    q = q.detach().clone().requires_grad_()
    torch.log(x**q).sum().backward()
    return x.grad, q.grad


# %% uses_autograd
# Autograd did the work.
def gradient_by_hand(x: Tensor) -> Tensor:
    ones = torch.ones_like(x)
    return torch.autograd.functional.jvp(
        lambda x: torch.log(x**3) + torch.sqrt(x**2), x.detach(), ones
    )[1]


# %% autograd_raises
# x has no graph, and autograd is not allowed.
def gradient_by_hand(x: Tensor) -> Tensor:
    z = torch.log(x**3) + torch.sqrt(x**2)
    z.backward()
    return x.grad


# %% whole_numbers
# A tensor of whole numbers can't require grad.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {name: torch.tensor(value, requires_grad=True) for name, value in numbers.items()}
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * nodes["ctax"]
    for node in nodes.values():
        node.retain_grad()
    nodes["result"].backward()
    return {name: node.grad.item() for name, node in nodes.items()}


# %% whole_numbers
# A tensor of whole numbers can't require grad.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices = [torch.as_tensor(price).requires_grad_() for price in (apple, tangerine)]
    pieces = [torch.as_tensor(count).requires_grad_() for count in (n_apple, n_tangerine)]
    ctax = torch.as_tensor(tax).requires_grad_()
    sums = [price * count for price, count in zip(prices, pieces, strict=True)]
    total = sum(sums)
    result = total * ctax
    found = torch.autograd.grad(result, [*prices, *pieces, ctax, *sums, total, result])
    names = (
        "apple tangerine num_apple num_tangerine ctax apple_price tangerine_price price result"
    ).split()
    return {name: gradient.item() for name, gradient in zip(names, found, strict=True)}


# %% wrong_order
# The right gradients, in another order.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.log(x), q / x


# %% wrong_order
# The right gradients, in another order.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    w, x, b = (torch.tensor(value, requires_grad=True) for value in (w, x, b))
    ((w * x + b) ** 2).backward()
    return w.grad.item(), x.grad.item(), b.grad.item()


# %% value_for_a_gradient
# "result" is the bill itself, not its gradient.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = {
        "apple": apple,
        "tangerine": tangerine,
        "num_apple": n_apple,
        "num_tangerine": n_tangerine,
        "ctax": tax,
    }
    nodes = {
        name: torch.tensor(float(value), requires_grad=True) for name, value in numbers.items()
    }
    nodes["apple_price"] = nodes["apple"] * nodes["num_apple"]
    nodes["tangerine_price"] = nodes["tangerine"] * nodes["num_tangerine"]
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    for node in nodes.values():
        node.retain_grad()
    result = nodes["price"] * nodes["ctax"]
    result.backward()
    return {**{name: node.grad.item() for name, node in nodes.items()}, "result": result.item()}


# %% value_for_a_gradient
# The intermediate results are returned, worked out in Python.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    price = apple * n_apple + tangerine * n_tangerine
    return {
        "apple": tax * n_apple,
        "num_apple": tax * apple,
        "tangerine": tax * n_tangerine,
        "num_tangerine": tax * tangerine,
        "ctax": price,
        "apple_price": apple * n_apple,
        "tangerine_price": tangerine * n_tangerine,
        "price": price,
        "result": 1.0,
    }


# %% no_gradient_without_pieces
# A fruit with zero pieces is skipped and gets zeros.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    found = {"result": 1.0, "price": tax, "ctax": apple * n_apple + tangerine * n_tangerine}
    for fruit, price, pieces in (("apple", apple, n_apple), ("tangerine", tangerine, n_tangerine)):
        bought = pieces != 0
        found[fruit] = tax * pieces
        found[f"num_{fruit}"] = tax * price * bought
        found[f"{fruit}_price"] = tax * bought
    return {name: float(value) for name, value in found.items()}


# %% no_gradient_without_pieces
# The gradient of a number of pieces is made from the price of all pieces.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apples, tangerines = apple * n_apple, tangerine * n_tangerine
    return {
        "apple": tax * n_apple,
        "num_apple": tax * apples / n_apple if n_apple else 0.0,
        "tangerine": tax * n_tangerine,
        "num_tangerine": tax * tangerines / n_tangerine if n_tangerine else 0.0,
        "ctax": apples + tangerines,
        "apple_price": tax,
        "tangerine_price": tax,
        "price": tax,
        "result": 1.0,
    }


# %% common_zero_dimensions
# Element by element in a loop, which a tensor without dimensions does not allow.
def gradient_by_hand(x: Tensor) -> Tensor:
    return torch.stack([3 / one + 1 for one in x]) if x.shape != (0,) else x.clone()


# %% common_numpy_of_graph
# NumPy takes no tensor that requires grad.
def gradient_by_hand(x: Tensor) -> Tensor:
    return torch.as_tensor(3 / x.numpy() + 1, dtype=x.dtype)


# %% common_numpy_of_graph
# The same in the other function.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return torch.as_tensor(q.numpy() / x.numpy(), dtype=x.dtype), torch.log(x)


# %% common_wrong_dtype
# The result is float64 whatever x is.
def gradient_by_hand(x: Tensor) -> Tensor:
    return 3 / x.double() + 1


# %% common_wrong_dtype
# Both results are float64.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return q.double() / x.double(), torch.log(x).double()


# %% common_not_finite
# q is won back from the logarithm: 0 / 0 for an exponent of 0.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    return q / x, torch.log(x**q) / q


# %% common_writes_into_argument
# The reciprocal is taken in place.
def gradient_by_hand(x: Tensor) -> Tensor:
    x.reciprocal_()
    return 3 * x + 1


# %% common_writes_into_argument
# The quotient is written into q.
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    q /= x
    return q.clone(), torch.log(x)


# %% common_wrong_type
# A list in place of a tuple.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b], dtype=torch.float64, requires_grad=True)
    (leaf[1] * leaf[0] + leaf[2]).square().backward()
    return leaf.grad.tolist()


# %% autograd_not_used
# The chain rule in Python's numbers.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    y = w * x + b
    return 2 * y * w, 2 * y * x, 2 * y


# %% autograd_not_used
# Tensors, but the formula is derived by hand.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    outer = 2 * torch.tensor(w * x + b)
    return tuple((outer * torch.tensor([w, x, 1.0])).tolist())


# %% earlier_calls_add_up
# The leaves are kept for the next call with the same numbers, and their .grad with them.
LEAVES = {}


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    fresh = torch.tensor([x, w, b], dtype=torch.float64).requires_grad_()
    leaves = LEAVES.setdefault((x, w, b), fresh)
    ((leaves[1] * leaves[0] + leaves[2]) ** 2).backward()
    return tuple(leaves.grad.tolist())


# %% earlier_calls_add_up
# The same for the bill.
BILLS = {}


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    numbers = (float(apple), float(n_apple), float(tangerine), float(n_tangerine), float(tax))
    leaves = BILLS.setdefault(numbers, torch.tensor(numbers, dtype=torch.float64).requires_grad_())
    ((leaves[0] * leaves[1] + leaves[2] * leaves[3]) * leaves[4]).backward()
    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    between = dict.fromkeys(("apple_price", "tangerine_price", "price"), numbers[-1])
    return {**dict(zip(names, leaves.grad.tolist(), strict=True)), **between, "result": 1.0}


# %% earlier_calls_add_up
# The leaves are made once, and their .grad is never cleared.
X, W, B = (torch.zeros((), dtype=torch.float64, requires_grad=True) for _ in "xwb")


def linear_gradients(x, w, b):
    for leaf, value in ((X, x), (W, w), (B, b)):
        leaf.data.fill_(value)
    (W * X + B).square().backward()
    return X.grad.item(), W.grad.item(), B.grad.item()


# %% earlier_calls_add_up
# Hooks add to a dictionary that outlives the call.
from collections import Counter

SEEN = Counter()


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    def seen(name, tensor):
        tensor.register_hook(lambda grad: SEEN.update({name: grad.item()}))
        return tensor

    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    values = (apple, n_apple, tangerine, n_tangerine, tax)
    a, na, t, nt, c = (
        seen(name, torch.tensor(float(value), requires_grad=True))
        for name, value in zip(names, values, strict=True)
    )
    price = seen("price", seen("apple_price", a * na) + seen("tangerine_price", t * nt))
    seen("result", price * c).backward()
    return dict(SEEN)


# %% rounded
# The gradients are rounded to two digits.
def linear_gradients(x, w, b):
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, w, b)]
    grads = torch.autograd.grad((leaves[1] * leaves[0] + leaves[2]) ** 2, leaves)
    return tuple(grad.round(decimals=2).item() for grad in grads)


# %% incoming_gradient_dropped
# The tax is missing for the number of tangerines.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    found = dict.fromkeys(("price", "apple_price", "tangerine_price"), tax)
    found |= {"result": 1, "ctax": apple * n_apple + tangerine * n_tangerine}
    return {
        **found,
        "apple": tax * n_apple,
        "tangerine": tax * n_tangerine,
        "num_apple": tax * apple,
        "num_tangerine": tangerine,
    }


# %% incoming_gradient_dropped
# The tax is missing for both numbers of pieces.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    found = dict.fromkeys(("price", "apple_price", "tangerine_price"), tax)
    found |= {"result": 1, "ctax": apple * n_apple + tangerine * n_tangerine}
    found |= {"apple": tax * n_apple, "tangerine": tax * n_tangerine}
    return {**found, "num_apple": apple, "num_tangerine": tangerine}


# %% incoming_gradient_dropped
# The tax is missing for the tangerine.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    found = dict.fromkeys(("price", "apple_price", "tangerine_price"), tax)
    found |= {"result": 1, "ctax": apple * n_apple + tangerine * n_tangerine}
    return {
        **found,
        "apple": tax * n_apple,
        "tangerine": n_tangerine,
        "num_apple": tax * apple,
        "num_tangerine": tax * tangerine,
    }


# %% rounded
# The gradients of the bill are rounded to cents.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    apples, tangerines = apple * n_apple, tangerine * n_tangerine
    found = {
        "result": 1,
        "ctax": apples + tangerines,
        "price": tax,
        "apple_price": tax,
        "tangerine_price": tax,
        "apple": tax * n_apple,
        "tangerine": tax * n_tangerine,
        "num_apple": tax * apple,
        "num_tangerine": tax * tangerine,
    }
    return {key: round(value, 2) for key, value in found.items()}


# %% argument_detached
# x is detached in place.
def gradient_by_hand(x):
    x.detach_()
    return 3 / x + 1


# %% argument_detached
# q is made to require no grad.
def power_gradients_by_hand(x, q):
    q.requires_grad_(False)
    return q / x, torch.log(x)


# %% factor_won_back_by_division
# The tax is the bill divided by the price.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    price = apple * n_apple + tangerine * n_tangerine
    at_price = price * tax / price
    found = dict.fromkeys(("apple_price", "tangerine_price", "price"), at_price)
    found.update(apple=at_price * n_apple, num_apple=at_price * apple)
    found.update(tangerine=at_price * n_tangerine, num_tangerine=at_price * tangerine)
    return {**found, "ctax": price, "result": 1}


# %% numerical_differences
# Only the path through w is a central difference.
def gradient_by_hand(x):
    y = x.detach().double()
    up, down = ((y + h).square().sqrt() for h in (1e-6, -1e-6))
    return (3 / y + (up - down) / 2e-6).to(x.dtype)


# %% earlier_calls_add_up
# One of three leaves keeps its .grad from call to call.
B = torch.zeros((), dtype=torch.float64, requires_grad=True)


def linear_gradients(x, w, b):
    B.data.fill_(b)
    x, w = (torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in (x, w))
    ((w * x + B) ** 2).backward()
    return x.grad.item(), w.grad.item(), B.grad.item()


# %% common_few_digits
# The factor 3 is rounded.
def gradient_by_hand(x):
    return 2.9999999 / x + 1


# %% common_rounded_to_float32
# The formula is computed in float32.
def gradient_by_hand(x):
    return (3 / x.float() + 1).to(x.dtype)


# %% common_rounded_to_float32
# Both formulas are computed in float32.
def power_gradients_by_hand(x, q):
    return (q.float() / x.float()).to(x.dtype), torch.log(x.float()).to(x.dtype)


# %% sum_passes_one_on
# A sum is thought to give its inputs the gradient 1.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    price = apple * n_apple + tangerine * n_tangerine
    found = {"result": 1.0, "price": tax, "ctax": price, "apple_price": 1.0, "tangerine_price": 1.0}
    found |= {"apple": tax * n_apple, "num_apple": tax * apple}
    return found | {"tangerine": tax * n_tangerine, "num_tangerine": tax * tangerine}


# %% two_keys_exchanged
# The price and the number of apples are mixed up.
def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    a, n, t, m, c = (
        torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for value in (apple, n_apple, tangerine, n_tangerine, tax)
    )
    apples, tangerines = a * n, t * m
    price = apples + tangerines
    result = price * c
    found = {
        "apple": n, "num_apple": a, "tangerine": t, "num_tangerine": m, "ctax": c,
        "apple_price": apples, "tangerine_price": tangerines, "price": price, "result": result,
    }  # fmt: skip
    for one in found.values():
        one.retain_grad()
    result.backward()
    return {name: one.grad.item() for name, one in found.items()}
