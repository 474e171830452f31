"""Draw the picture of each lesson's README: ``python tests/grader/lesson_pictures.py``.

Graphs and Jacobians are drawn by the course's own renderer, from tensors; curves by ``plot``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from torch import Tensor

from grader.core.pictures import JacobianFigure
from grader.course.course import find_course, load_course
from grader.render.graph.draw import draw
from grader.render.graph.heatmap import draw_heatmap

PICTURE = "picture.svg"
Curve = tuple[str, list[tuple[float, float]]]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 480, 260, 56, 16, 16, 34
COLORS = ("#2563eb", "#dc2626", "#16a34a")


def leaf(value: float | list[float]) -> Tensor:
    return torch.tensor(value, requires_grad=True)


def graph(root: Tensor, **names: Tensor) -> str:
    return draw(root, names=names)._repr_svg_()


def two_paths() -> str:
    x = leaf(5.0)
    z = torch.log(x**3) + torch.sqrt(x**2)
    return graph(z, x=x, z=z)


def quadratic() -> str:
    x = leaf([1.0, 1.0])
    y = 2 * x
    z = y + 3
    loss = (z**2).sum()
    return graph(loss, x=x, y=y, z=z, loss=loss)


def states() -> str:
    x = leaf(1.0)
    y = x * 2
    z = y + 3
    y.retain_grad()
    loss = z**2
    loss.backward(retain_graph=True)
    return graph(loss, x=x, y=y, z=z, loss=loss)


def trunk() -> str:
    x = leaf(2.0)
    t = x**2
    a, b = t**2, 3 * t
    both = torch.stack([a, b])
    return graph(both, x=x, t=t, a=a, b=b)


def chain() -> str:
    x, a, b = leaf(5.0), torch.tensor([2.0, 3.0, 5.0]), torch.tensor([4.0, 7.0, 9.0])
    y = x * a
    z = y @ b
    return graph(z, x=x, y=y, z=z)


def two_factors() -> str:
    x = leaf([1.0, 2.0])
    y = x.exp()
    z = y.sin() * 3
    return graph(z, x=x, y=y, z=z)


def cut_in_two() -> str:
    x = leaf(5.0)
    y = x * torch.tensor([2.0, 3.0, 5.0])
    w = y.detach().requires_grad_()
    z = w @ torch.tensor([4.0, 7.0, 9.0])
    return graph(z, w=w, z=z)


def shopping() -> str:
    apple, number, tax = leaf(100.0), leaf(2.0), leaf(1.1)
    price = apple * number
    total = price * tax
    return graph(total, apple=apple, number=number, price=price, tax=tax, total=total)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.function.FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: torch.autograd.function.FunctionCtx, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
        return torch.mul(grad_output, 2 * x)


def own_node() -> str:
    x = leaf([1.0, 2.0, 3.0])
    y: Tensor = Square.apply(x)  # type: ignore[no-untyped-call]
    return graph(y.sum(), x=x, y=y)


def repeated() -> str:
    row, matrix = leaf([1.0, 2.0]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    product = row.expand(3, 2) * matrix
    return graph(product.sum(), row=row, product=product)


def twice() -> str:
    x = leaf(5.0)
    z = torch.log(x**3)
    (gradient,) = torch.autograd.grad(z, x, create_graph=True)
    return graph(gradient, x=x, gradient=gradient)


def kept() -> str:
    x = leaf([1.0, 2.0, 3.0])
    a = (-x).exp()
    b = a.tanh()
    return graph(b.sum(), x=x, a=a, b=b)


def two_steps() -> str:
    """Draw what autograd records of two of Newton's steps to the root of 2."""
    a, z = leaf(2.0), torch.tensor(1.0)
    for _ in range(2):
        z = (z + a / z) / 2
    return graph(z, a=a, z=z)


def hooked() -> str:
    x = leaf(5.0)
    y = x**3
    z = torch.log(y)
    y.register_hook(lambda grad: grad * 2)
    return graph(z, x=x, y=y, z=z)


def neuron() -> str:
    w, x, b = leaf(0.5), leaf(2.0), leaf(-1.0)
    out = torch.tanh(w * x + b)
    return graph(out, w=w, x=x, b=b, out=out)


def wrong_backward() -> str:
    """Draw the Jacobians of x² with a backward that forgot the factor 2, as gradcheck compares
    them.
    """
    x = [1.0, 2.0, 3.0]
    rows = range(len(x))
    return draw_heatmap(
        JacobianFigure(
            analytic=[[x[i] if i == j else 0.0 for j in rows] for i in rows],
            numeric=[[2 * x[i] if i == j else 0.0 for j in rows] for i in rows],
            atol=1e-5,
            rtol=1e-3,
            input="x",
            output="y",
            cut=(0, 0),
        ),
        own_style=True,
    )


def errors_of_differences() -> str:
    """Draw how far the slopes of log(x³) at 5 are from 0.6, against h, on logarithmic axes."""
    steps = [10 ** (-k / 4) for k in range(2, 49)]

    def value(x: float) -> float:
        return math.log(x**3)

    def curve(slope: Callable[[float], float]) -> list[tuple[float, float]]:
        return [(math.log10(h), math.log10(max(abs(slope(h) - 0.6), 1e-13))) for h in steps]

    return plot(
        [
            ("forward", curve(lambda h: (value(5 + h) - value(5)) / h)),
            ("central", curve(lambda h: (value(5 + h) - value(5 - h)) / (2 * h))),
        ],
        x_ticks=[(k, f"1e{k}") for k in (-12, -9, -6, -3, -1)],
        y_ticks=[(k, f"1e{k}") for k in (-9, -6, -3)],
        x_name="h",
        y_name="error",
    )


def declared_slopes() -> str:
    """Draw what the backward of each of the three Functions multiplies grad_output by."""
    xs = [k / 50 for k in range(-100, 101)]
    return plot(
        [
            ("MyReLU", [(x, 1.0 if x > 0 else 0.0) for x in xs]),
            ("STE", [(x, 1.03) for x in xs]),
            ("ClippedSTE", [(x, 0.97 if abs(x) <= 1 else -0.03) for x in xs]),
        ],
        x_ticks=[(k, str(k)) for k in (-2, -1, 0, 1, 2)],
        y_ticks=[(0, "0"), (1, "1")],
        x_name="x",
        y_name="slope",
        margin=0.3,
    )


def smooth_maximum() -> str:
    """Draw log(exp(x) + exp(0)), the maximum that it rounds off, and its slope."""
    xs = [k / 20 for k in range(-80, 81)]
    return plot(
        [
            ("max(x, 0)", [(x, max(x, 0.0)) for x in xs]),
            ("logsumexp", [(x, math.log1p(math.exp(x))) for x in xs]),
            ("its slope", [(x, 1 / (1 + math.exp(-x))) for x in xs]),
        ],
        x_ticks=[(k, str(k)) for k in (-4, -2, 0, 2, 4)],
        y_ticks=[(k, str(k)) for k in range(5)],
        x_name="x",
        y_name="y",
        margin=0.3,
        legend=44,
    )


def tangent_at_2() -> str:
    """Draw x² + 3/x, and its tangent at 2: the value 5.5, the slope 3.25."""
    xs = [k / 50 for k in range(25, 201)]
    return plot(
        [
            ("f", [(x, x**2 + 3 / x) for x in xs]),
            ("tangent", [(x, 5.5 + 3.25 * (x - 2)) for x in xs]),
        ],
        x_ticks=[(k, str(k)) for k in (1, 2, 3, 4)],
        y_ticks=[(0, "0"), (5.5, "5.5"), (10, "10"), (15, "15")],
        x_name="x",
        y_name="f(x)",
        legend=52,
    )


def plot(
    curves: Iterable[Curve],
    *,
    x_ticks: list[tuple[float, str]],
    y_ticks: list[tuple[float, str]],
    x_name: str,
    y_name: str,
    margin: float = 0.0,
    legend: int = HEIGHT - BOTTOM - 20,
) -> str:
    """Return line charts over one pair of axes as an ``svg`` element, for light and dark pages.

    legend is where the names of the curves stand, from the top: no curve may cross them.
    """
    curves = list(curves)
    xs = [x for _, points in curves for x, _ in points]
    ys = [y for _, points in curves for _, y in points]
    low, high = min(ys) - margin, max(ys) + margin

    def across(x: float) -> float:
        return LEFT + (x - min(xs)) / (max(xs) - min(xs)) * (WIDTH - LEFT - RIGHT)

    def down(y: float) -> float:
        return TOP + (high - y) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}"'
            f' height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
            ' font-family="system-ui, sans-serif" font-size="12">'
        ),
        f"<title>{y_name} against {x_name}: {', '.join(name for name, _ in curves)}</title>",
        "<style>text{fill:#334155}line{stroke:#94a3b8;stroke-width:.5}@media"
        " (prefers-color-scheme:dark){text{fill:#cbd5e1}line{stroke:#475569}}</style>",
    ]
    for x, label in x_ticks:
        at = across(x)
        parts.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(
            f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>'
        )
    for y, label in y_ticks:
        at = down(y)
        parts.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{x_name}</text>')
    parts.append(f'<text x="4" y="{TOP + 4}">{y_name}</text>')
    for number, ((name, points), color) in enumerate(zip(curves, COLORS, strict=False)):
        path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in points)
        parts.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>')
        at = LEFT + 12 + 96 * number
        parts.append(f'<rect x="{at}" y="{legend}" width="10" height="10" fill="{color}"/>')
        parts.append(f'<text x="{at + 14}" y="{legend + 9}">{name}</text>')
    return "\n".join([*parts, "</svg>"])


PICTURES: dict[str, Callable[[], str]] = {
    "finite_difference": errors_of_differences,
    "tensor_state": states,
    "chain_rule": two_paths,
    "graph_inspection": quadratic,
    "retain_graph": trunk,
    "vector_backward": chain,
    "no_grad_and_detach": cut_in_two,
    "custom_functions": shopping,
    "custom_sigmoid": own_node,
    "relu_and_ste": declared_slopes,
    "broadcasting": repeated,
    "softmax": smooth_maximum,
    "in_place": two_factors,
    "saved_tensors": kept,
    "gradcheck": wrong_backward,
    "second_derivative": twice,
    "forward_mode": tangent_at_2,
    "implicit": two_steps,
    "hooks": hooked,
    "tiny_autograd": neuron,
}


def picture_path(lesson: str) -> Path:
    return load_course(find_course()).lesson(lesson).folder / PICTURE


def main() -> None:
    for lesson, drawn in PICTURES.items():
        picture_path(lesson).write_text(f"{drawn()}\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
