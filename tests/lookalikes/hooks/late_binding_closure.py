"""Only the last hook is registered, outside the loop."""


def record_gradients(tensors):
    records = {}
    for name, tensor in tensors.items():

        def hook(grad, name=name):
            records[name] = grad.clone()

    return records, [tensor.register_hook(hook)]
