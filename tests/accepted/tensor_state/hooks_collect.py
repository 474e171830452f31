"""Tensor hooks collect the gradients, and are taken away again; .grad plays no part."""


def gradients_along(z, tensors):
    collected = {}
    handles = [t.register_hook(lambda grad, k=k: collected.update({k: grad.clone()})) for k, t in enumerate(tensors)]
    try:
        z.backward()
    finally:
        for handle in handles:
            handle.remove()
    return [collected[k] for k in range(len(tensors))]
