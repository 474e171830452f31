import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    prices = [torch.as_tensor(price).requires_grad_() for price in (apple, tangerine)]
    pieces = [torch.as_tensor(count).requires_grad_() for count in (n_apple, n_tangerine)]
    ctax = torch.as_tensor(tax).requires_grad_()
    sums = [price * count for price, count in zip(prices, pieces, strict=True)]
    total = sum(sums)
    result = total * ctax
    found = torch.autograd.grad(result, [*prices, *pieces, ctax, *sums, total, result])
    names = "apple tangerine num_apple num_tangerine ctax apple_price tangerine_price price result".split()
    return {name: gradient.item() for name, gradient in zip(names, found, strict=True)}
