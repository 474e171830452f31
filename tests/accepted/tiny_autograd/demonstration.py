"""A comparison with torch, which is not part of the engine."""

if __name__ == "__main__":
    import torch

    a = Value(2.0)
    (a * a).backward()
    x = torch.tensor(2.0, requires_grad=True)
    (x * x).backward()
    print(a.grad, x.grad)
