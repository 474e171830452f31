"""What .grad held is put back afterwards; only the tensors that are not leaves are told to retain."""


def gradients_along(z, tensors):
    for t in tensors:
        if not t.is_leaf and not t.retains_grad:
            t.retain_grad()
    earlier = []
    for t in tensors:
        earlier.append(t.grad)
        t.grad = None
    z.backward()
    found = [t.grad for t in tensors]
    while tensors and earlier:
        tensors[len(earlier) - 1].grad = earlier.pop()
    return found
