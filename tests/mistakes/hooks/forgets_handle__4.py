"""Returns the records alone."""


def record_gradients(tensors):
    records = {}
    for name, tensor in tensors.items():
        tensor.register_hook(lambda grad, name=name: records.__setitem__(name, grad.clone()))
    return records
