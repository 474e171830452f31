def backward_twice(loss, x):
    before, x.grad = x.grad, None
    loss.backward(retain_graph=True)
    loss.backward()
    both, x.grad = x.grad, before
    return both
