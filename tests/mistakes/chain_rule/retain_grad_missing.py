import torch


def shopping(apple, n_apple, tangerine, n_tangerine, tax) -> dict[str, float]:
    apple, n_apple, tangerine, n_tangerine, tax = (
        torch.tensor(float(value), requires_grad=True) for value in (apple, n_apple, tangerine, n_tangerine, tax)
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
