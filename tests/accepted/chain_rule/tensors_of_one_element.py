"""As the notebook has it: tensors of one element, and backward from a vector of ones; a dictionary with more than it needs."""

import torch


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
    found = {name: value.grad.item() for name, value in locals().items() if isinstance(value, torch.Tensor)}
    found["num apples"] = found["num_apple"]
    return found
