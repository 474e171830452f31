"""Hooks on the node behind a tensor, not on the tensor; a leaf has no node, so it gets a tensor hook."""


def _at(y, change):
    if y.grad_fn is None:
        return y.register_hook(change)

    def before(grads):
        changed = list(grads)
        changed[y.output_nr] = change(grads[y.output_nr])
        return tuple(changed)

    return y.grad_fn.register_prehook(before)


def double_gradient(y):
    return _at(y, lambda grad: 2 * grad)


def record_gradients(tensors):
    records = {}

    def keep(name, grad):
        records[name] = grad.clone()
        return grad

    handles = []
    for name, tensor in tensors.items():
        handles.append(_at(tensor, lambda grad, name=name: keep(name, grad)))
    return records, handles


def clip_gradient(y, max_norm):
    return _at(y, lambda grad: grad * min(1.0, max_norm / max(grad.norm().item(), 1e-12)))


def backward_with_scaled_gradient(loss, y, factor):
    handle = _at(y, lambda grad: factor * grad)
    try:
        return loss.backward()
    finally:
        handle.remove()
