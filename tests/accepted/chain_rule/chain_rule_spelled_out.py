"""Every local derivative under its own name, nothing cancelled; the shopping bill walked backward by hand."""

import torch
from torch import Tensor


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
