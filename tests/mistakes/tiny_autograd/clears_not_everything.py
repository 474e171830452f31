def zero_grad(root):
    root.grad = 0.0
    for source, _ in root.sources:
        source.grad = 0.0
