"""backward for each tensor, cleared before every one; zero_() where there is something to zero."""


def gradients_along(z, tensors):
    for t in tensors:
        t.retain_grad()
    gradients = []
    for k, t in enumerate(tensors):
        if t.grad is not None:
            t.grad.zero_()
        z.backward(retain_graph=k + 1 < len(tensors))
        gradients.append(t.grad.clone())
        t.grad = None
    return gradients
