def zero_grad(root, seen=None):
    seen = seen or {root}
    root.grad = 0.0
    for source, _ in root.sources:
        if source not in seen:
            seen.add(source)
            zero_grad(source, seen)
