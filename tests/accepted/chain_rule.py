"""chain_rule: other right answers. A cell shows the definitions that differ from the solution."""


# %% a_pass_in_each_thread
# One backward for each number, side by side; grad was bound to its name when the file was read.
from concurrent.futures import ThreadPoolExecutor

from torch.autograd import grad


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    def gradient_of(number: int) -> float:
        leaves = torch.tensor([x, w, b], dtype=torch.float64).requires_grad_().unbind()
        return grad((leaves[1] * leaves[0] + leaves[2]) ** 2, leaves[number])[0].item()

    with ThreadPoolExecutor(3) as pool:
        return tuple(pool.map(gradient_of, range(3)))


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices = ("apple_price", "tangerine_price", "price", "result")
    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax", *prices)

    def gradient_of(name: str) -> float:
        values = dict(zip(names, (apple, n_apple, tangerine, n_tangerine, tax), strict=False))
        values = {
            name: torch.tensor(float(number), dtype=torch.float64, requires_grad=True)
            for name, number in values.items()
        }
        values["apple_price"] = values["apple"] * values["num_apple"]
        values["tangerine_price"] = values["tangerine"] * values["num_tangerine"]
        values["price"] = values["apple_price"] + values["tangerine_price"]
        values["result"] = values["price"] * values["ctax"]
        return grad(values["result"], values[name])[0].item()

    with ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(gradient_of, names), strict=True))


# %% autograd_while_debugging
# Formulas, and beside them what autograd would say, for whoever sets DEBUG.
DEBUG = False


def by_autograd(f, *inputs: Tensor) -> tuple[Tensor, ...]:
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    return torch.autograd.grad(f(*leaves).sum(), leaves)


def gradient_by_hand(x: Tensor) -> Tensor:
    result = 3 / x + x / torch.sqrt(x**2)
    if DEBUG:
        print(result, by_autograd(lambda x: torch.log(x**3) + torch.sqrt(x**2), x))
    return result


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    result = q / x, torch.log(x)
    if DEBUG:
        print(result, torch.func.grad(lambda x: torch.log(x**q).sum())(x))
    return result


# %% chain_rule_spelled_out
# Every local derivative under its own name, nothing cancelled; the shopping bill walked backward
# by hand.
def gradient_by_hand(x: Tensor) -> Tensor:
    y, w = x**3, x**2
    dz_dy, dy_dx = 1 / y, 3 * x**2
    dz_dw, dw_dx = 0.5 / torch.sqrt(w), 2 * x
    return dy_dx * dz_dy + dw_dx * dz_dw


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    y = x**q
    dz_dy = y ** (-1)
    return dz_dy * (q * x ** (q - 1)), dz_dy * (y * torch.log(x))


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x = torch.tensor(x, requires_grad=True)
    w = torch.tensor(w, requires_grad=True)
    b = torch.tensor(b, requires_grad=True)
    z = w * x
    y = z + b
    loss = y**2
    loss.backward()
    return float(x.grad), float(w.grad), float(b.grad)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    d_result = 1
    d_price, d_ctax = d_result * tax, d_result * (apple * n_apple + tangerine * n_tangerine)
    d_apple_price = d_tangerine_price = d_price
    return {
        "result": d_result,
        "price": d_price,
        "ctax": d_ctax,
        "apple_price": d_apple_price,
        "tangerine_price": d_tangerine_price,
        "apple": d_apple_price * n_apple,
        "num_apple": d_apple_price * apple,
        "tangerine": d_tangerine_price * n_tangerine,
        "num_tangerine": d_tangerine_price * tangerine,
    }


# %% class_with_another_way
# A class and a table have both ways, of which only the one on paper is called; a field is called
# grad, as is what an import brings.
from dataclasses import dataclass

from torch.autograd import grad


@dataclass
class Term:
    value: torch.Tensor
    grad: torch.Tensor | float = 0.0


class Power:
    def on_paper(self, x, q):
        return [Term(x, q / x), Term(q, torch.log(x))]

    def by_torch(self, x, q):
        return grad((x**q).log().sum(), (x, q))


def power_gradients_by_hand(x, q):
    with torch.no_grad():
        match [term.grad for term in Power().on_paper(x, q)]:
            case [first, grad]:
                return first, grad


def on_paper(x):
    return 3 / x + 1


def by_torch(x):
    x = x.detach().requires_grad_()
    return grad((x**3).log().sum() + (x**2).sqrt().sum(), x)[0]


WAYS = {"paper": on_paper, "torch": by_torch}


def gradient_by_hand(x):
    with torch.no_grad():
        return WAYS["paper"](x)


# %% forward_mode
# Forward mode is autograd too: one direction at a time.
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    values = torch.tensor([x, w, b], dtype=torch.float64)
    found = []
    for direction in torch.eye(3, dtype=torch.float64):
        with dual_level():
            x, w, b = make_dual(values, direction)
            found.append(unpack_dual((w * x + b) ** 2).tangent.item())
    return tuple(found)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    def from_leaves(numbers):
        return (numbers[0] * numbers[2] + numbers[1] * numbers[3]) * numbers[4]

    leaves = torch.tensor([apple, tangerine, n_apple, n_tangerine, tax], dtype=torch.float64)
    gradients = torch.func.jacfwd(from_leaves)(leaves).tolist()
    names = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
    return {
        **dict(zip(names, gradients, strict=True)),
        "apple_price": tax,
        "tangerine_price": tax,
        "price": tax,
        "result": 1,
    }


# %% functional_autograd
# torch.func for the line; torch.autograd.grad for leaves and intermediate results at once.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    def loss(x, w, b):
        return torch.square(w * x + b)

    gradients = torch.func.grad(loss, argnums=(0, 1, 2))(*map(torch.tensor, (x, w, b)))
    return tuple(gradient.item() for gradient in gradients)


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    nodes = {}

    def leaf(name, value):
        nodes[name] = torch.tensor(float(value), requires_grad=True)
        return nodes[name]

    nodes["apple_price"] = leaf("apple", apple) * leaf("num_apple", n_apple)
    nodes["tangerine_price"] = leaf("tangerine", tangerine) * leaf("num_tangerine", n_tangerine)
    nodes["price"] = nodes["apple_price"] + nodes["tangerine_price"]
    nodes["result"] = nodes["price"] * leaf("ctax", tax)
    gradients = torch.autograd.grad(nodes["result"], list(nodes.values()))
    return {name: gradient.item() for name, gradient in zip(nodes, gradients, strict=True)}


# %% functions_of_ones_own
# Functions of one's own with the right backward; a formula that is scaled and scaled back;
# keyword and default arguments.
class Mul(torch.autograd.Function):
    """i * j."""

    @staticmethod
    def forward(ctx, i, j):
        ctx.save_for_backward(i, j)
        return i * j

    @staticmethod
    def backward(ctx, grad_output):
        i, j = ctx.saved_tensors
        return grad_output * j, grad_output * i


def gradient_by_hand(x: Tensor, power: int = 3) -> Tensor:
    return (power + x) / x


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    inverse = torch.reciprocal(x)
    return q.mul(inverse), -torch.log(inverse)


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = torch.nn.ParameterList(torch.nn.Parameter(torch.tensor(value)) for value in (x, w, b))
    y = Mul.apply(w, x) + b
    Mul.apply(y, y).backward()
    return x.grad.tolist(), w.grad.tolist(), b.grad.tolist()


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    keys = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    leaves = {
        key: torch.tensor(1.0 * value, requires_grad=True)
        for key, value in zip(keys, (apple, n_apple, tangerine, n_tangerine, tax), strict=True)
    }
    lines = {
        f"{fruit}_price": Mul.apply(leaves[fruit], leaves[f"num_{fruit}"])
        for fruit in ("apple", "tangerine")
    }
    price = sum(lines.values())
    result = Mul.apply(price, leaves["ctax"])
    everything = {**leaves, **lines, "price": price, "result": result}
    for tensor in everything.values():
        tensor.retain_grad()
    result.backward()
    return {key: tensor.grad.item() for key, tensor in everything.items()}


# %% in_place_on_copies
# Out-variants and in-place methods, on copies; a tensor of five leaves in one.
def gradient_by_hand(x: Tensor) -> Tensor:
    with torch.inference_mode():
        return x.clone().reciprocal_().mul_(3).add_(1)


@torch.no_grad()
def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    to_q = x.clone().log_()
    to_x = q.clone()
    to_x /= x
    return to_x, to_q


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    leaf = torch.tensor(
        [apple, tangerine, n_apple, n_tangerine, tax], dtype=torch.double
    ).requires_grad_(True)
    lines = leaf[:2] * leaf[2:4]
    lines.retain_grad()
    price = lines.sum()
    price.retain_grad()
    result = price * leaf[4]
    result.retain_grad()
    torch.autograd.backward(result)
    names = (
        "apple tangerine num_apple num_tangerine ctax apple_price tangerine_price price result"
    ).split()
    values = torch.cat(
        [leaf.grad, lines.grad, price.grad.reshape(1), result.grad.reshape(1)]
    ).tolist()
    return dict(zip(names, values, strict=True))


# %% jacobian_of_a_vector
# vmap over a formula, which differentiates nothing; torch.func's forward Jacobian; powers that do
# not cancel.
def gradient_by_hand(x: Tensor) -> Tensor:
    def at_one_number(t):
        return 3 * torch.exp(-torch.log(t)) + 1

    return (
        torch.vmap(at_one_number)(x.reshape(-1)).reshape(x.shape)
        if x.numel()
        else torch.zeros_like(x)
    )


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.pow(x, q)
    return q * torch.pow(x, q - 1) / y, y * x.log() / y


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b])
    return tuple(torch.func.jacfwd(lambda v: (v[1] * v[0] + v[2]).pow(2))(leaf).tolist())


# %% loops_and_math
# Python numbers and the math module, element by element; Fractions for the bill.
import math
from fractions import Fraction


def gradient_by_hand(x: Tensor) -> Tensor:
    values = [3 / value + value / math.sqrt(value**2) for value in x.detach().flatten().tolist()]
    return torch.tensor(values, dtype=x.dtype).reshape(x.shape)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    to_x, to_q = [], []
    for base, exponent in zip(
        x.detach().flatten().tolist(), q.detach().flatten().tolist(), strict=True
    ):
        to_x.append(exponent / base)
        to_q.append(math.log(base))
    return torch.tensor(to_x, dtype=x.dtype).view(x.shape), torch.tensor(to_q, dtype=x.dtype).view(
        x.shape
    )


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apple, n_apple, tangerine, n_tangerine, tax = map(
        Fraction, (apple, n_apple, tangerine, n_tangerine, tax)
    )
    exact = {
        "apple": n_apple * tax,
        "tangerine": n_tangerine * tax,
        "num_apple": apple * tax,
        "num_tangerine": tangerine * tax,
        "ctax": apple * n_apple + tangerine * n_tangerine,
        **dict.fromkeys(("apple_price", "tangerine_price", "price"), tax),
        "result": Fraction(1),
    }
    return {name: float(value) for name, value in exact.items()}


# %% numpy_inside
# NumPy does the arithmetic; numpy.float64 is a float too.
import numpy as np


def gradient_by_hand(x: Tensor) -> Tensor:
    values = x.detach().numpy()
    return torch.as_tensor(3 / values + np.sign(values), dtype=x.dtype)


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    base, exponent = x.detach().numpy(), q.detach().numpy()
    return torch.as_tensor(np.divide(exponent, base)), torch.as_tensor(np.log(base))


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    leaf = torch.tensor([x, w, b], dtype=torch.float64, requires_grad=True)
    ((leaf[1] * leaf[0] + leaf[2]) ** 2).backward()
    return tuple(leaf.grad.numpy())


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices, pieces = (
        np.array([apple, tangerine], dtype=float),
        np.array([n_apple, n_tangerine], dtype=float),
    )
    to_apple, to_tangerine = pieces * tax
    to_pieces = prices * tax
    names = [
        "apple",
        "tangerine",
        "num_apple",
        "num_tangerine",
        "ctax",
        "apple_price",
        "tangerine_price",
        "price",
        "result",
    ]
    values = [to_apple, to_tangerine, *to_pieces, prices @ pieces, *np.full(3, float(tax)), 1.0]
    return dict(zip(names, values, strict=True))


# %% own_small_engine
# The chain rule as a small class of one's own, with a backward method: by hand all the same.
# Hooks collect the bill's gradients.
class Step:
    """A value, and how it passes a gradient back to what it was made of."""

    def __init__(self, value, parents=()):
        self.value, self.parents, self.grad = value, parents, 0

    def backward(self, grad):
        self.grad = self.grad + grad
        for parent, local in self.parents:
            parent.backward(grad * local)


def power_of(x, n):
    return Step(
        x.value**n.value,
        [(x, n.value * x.value ** (n.value - 1)), (n, x.value**n.value * torch.log(x.value))],
    )


def gradient_by_hand(x: Tensor) -> Tensor:
    leaf = Step(x)
    y, w = power_of(leaf, Step(3)), power_of(leaf, Step(2))
    root = w.value.sqrt()
    z = Step(y.value.log() + root, [(y, 1 / y.value), (w, 1 / (2 * root))])
    z.backward(torch.ones_like(x))
    return leaf.grad


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    base, exponent = Step(x), Step(q)
    y = power_of(base, exponent)
    Step(torch.log(y.value), [(y, 1 / y.value)]).backward(torch.ones_like(x))
    return base.grad, exponent.grad


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    layer = torch.nn.Linear(1, 1).double()
    inputs = torch.tensor([[x]], dtype=torch.float64, requires_grad=True)
    with torch.no_grad():
        layer.weight.fill_(w)
        layer.bias.fill_(b)
    layer(inputs).pow(2).sum().backward()
    return inputs.grad.item(), layer.weight.grad.item(), layer.bias.grad.item()


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    found = {}

    def watched(name, tensor):
        tensor.register_hook(lambda grad: found.__setitem__(name, grad.item()))
        return tensor

    def leaf(name, value):
        return watched(name, torch.tensor(float(value), requires_grad=True))

    apples = watched("apple_price", leaf("apple", apple) * leaf("num_apple", n_apple))
    tangerines = watched(
        "tangerine_price", leaf("tangerine", tangerine) * leaf("num_tangerine", n_tangerine)
    )
    price = watched("price", apples + tangerines)
    watched("result", price * leaf("ctax", tax)).backward()
    return found


# %% registered_ways
# Ways to differentiate in a table that a decorator fills; which one is taken depends on the
# number of inputs.
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual

WAYS = {}


def way(name: str):
    def register(function):
        WAYS[name] = function
        return function

    return register


@way("forward")
def one_direction_at_a_time(f, values: torch.Tensor) -> list[float]:
    found = []
    for direction in torch.eye(len(values), dtype=values.dtype):
        with dual_level():
            found.append(unpack_dual(f(make_dual(values, direction))).tangent.item())
    return found


@way("reverse")
def all_at_once(f, values: torch.Tensor) -> list[float]:
    leaves = values.clone().requires_grad_()
    f(leaves).backward()
    return leaves.grad.tolist()


def gradients(f, *numbers: float) -> list[float]:
    differentiate = WAYS["forward" if len(numbers) < 4 else "reverse"]
    return differentiate(f, torch.tensor(numbers, dtype=torch.float64))


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    return tuple(gradients(lambda v: (v[1] * v[0] + v[2]) ** 2, x, w, b))


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    bill = gradients(
        lambda v: (v[0] * v[1] + v[2] * v[3]) * v[4], apple, n_apple, tangerine, n_tangerine, tax
    )
    names = ("apple", "num_apple", "tangerine", "num_tangerine", "ctax")
    return {
        **dict(zip(names, bill, strict=True)),
        "apple_price": tax,
        "tangerine_price": tax,
        "price": tax,
        "result": 1.0,
    }


# %% tensors_of_one_element
# As the notebook has it: tensors of one element, and backward from a vector of ones; a dictionary
# with more than it needs.
def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    x, w, b = (torch.tensor([value], requires_grad=True) for value in (x, w, b))
    y = torch.addcmul(b, w, x)
    (y * y).backward(torch.ones(1))
    return x.grad.item(), w.grad.item(), b.grad.item()


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apple = torch.tensor([apple], dtype=torch.float32, requires_grad=True)
    tangerine = torch.tensor([tangerine], dtype=torch.float32, requires_grad=True)
    num_apple = torch.tensor([n_apple], dtype=torch.float32, requires_grad=True)
    num_tangerine = torch.tensor([n_tangerine], dtype=torch.float32, requires_grad=True)
    ctax = torch.tensor([tax], dtype=torch.float32, requires_grad=True)
    apple_price = apple * num_apple
    apple_price.retain_grad()
    tangerine_price = tangerine * num_tangerine
    tangerine_price.retain_grad()
    price = apple_price + tangerine_price
    price.retain_grad()
    result = price * ctax
    result.retain_grad()
    result.backward(torch.ones(1))
    found = {
        name: value.grad.item()
        for name, value in locals().items()
        if isinstance(value, torch.Tensor)
    }
    found["num apples"] = found["num_apple"]
    return found


# %% ints_among_the_gradients
# The bill's gradients in Python: an int where only ints went in.
def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    found = {"result": 1, "price": tax, "ctax": apple * n_apple + tangerine * n_tangerine}
    for fruit, price, pieces in (("apple", apple, n_apple), ("tangerine", tangerine, n_tangerine)):
        found[f"{fruit}_price"] = found["price"]
        found[fruit] = found[f"{fruit}_price"] * pieces
        found[f"num_{fruit}"] = found[f"{fruit}_price"] * price
    return found


def linear_gradients(x, w, b):
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, w, b)]
    ((leaves[1] * leaves[0] + leaves[2]) ** 2).backward()
    found = [0, 0, 0]
    for k, leaf in enumerate(leaves):
        if leaf.grad:
            found[k] = leaf.grad.item()
    return tuple(found)


# %% sign_of_x
# The path through the root gives the sign of x; torch.func differentiates a helper.
from torch.func import grad


def gradient_by_hand(x: Tensor) -> Tensor:
    x = x.detach()
    return torch.full_like(x, 3).div_(x).add_(torch.sign(x))


def power_gradients_by_hand(x: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        return torch.true_divide(q, x), torch.log(x)


def squared(x, w, b):
    return (w * x + b).square()


def linear_gradients(x: float, w: float, b: float) -> tuple[float, float, float]:
    arguments = torch.tensor([x, w, b], dtype=torch.float64)
    to_x, to_w, to_b = grad(squared, argnums=(0, 1, 2))(*arguments)
    return float(to_x), float(to_w), float(to_b)


# %% last_step_by_hand
# backward begins at y, with the gradient of the square; one dictionary for all bills.
FOUND = {}


def linear_gradients(x, w, b):
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, w, b)]
    y = leaves[1] * leaves[0] + leaves[2]
    y.backward(2 * y.detach())
    return tuple(leaf.grad.item() for leaf in leaves)


def shopping(apple, n_apple, tangerine, n_tangerine, tax):
    FOUND.update(dict.fromkeys(("apple_price", "tangerine_price", "price"), tax))
    FOUND.update(apple=tax * n_apple, num_apple=tax * apple)
    FOUND.update(tangerine=tax * n_tangerine, num_tangerine=tax * tangerine)
    FOUND.update(ctax=apple * n_apple + tangerine * n_tangerine, result=1)
    return FOUND


# %% sympy_and_the_complex_step
# sympy derives the first formula; the imaginary part of z beside the real axis is the second.
def gradient_by_hand(x):
    import sympy

    at = sympy.Symbol("at", positive=True)
    slope = sympy.lambdify(at, sympy.diff(sympy.log(at**3) + sympy.sqrt(at**2), at), "math")
    numbers = [slope(number) for number in x.flatten().tolist()]
    return torch.tensor(numbers, dtype=x.dtype).reshape(x.shape)


def power_gradients_by_hand(x, q):
    step = 1e-30

    def slope(base, exponent):
        return (torch.log(base**exponent).imag / step).to(x.dtype)

    base, exponent = (t.detach().to(torch.complex128) for t in (x, q))
    return slope(base + 1j * step, exponent), slope(base, exponent + 1j * step)


# %% quotient_of_z_and_q
# log(x) is had from z, except where q is 0.
def power_gradients_by_hand(x, q):
    quotient = torch.log(x**q) / q
    return q / x, torch.where(q == 0, torch.log(x), quotient)
