"""The same through a comprehension."""


def record_gradients(tensors):
    records = {}

    def save(name, grad):
        records[name] = grad.clone()

    handles = [tensor.register_hook(lambda grad: save(name, grad)) for name, tensor in tensors.items()]  # noqa: B023 - the mistake
    return records, handles
