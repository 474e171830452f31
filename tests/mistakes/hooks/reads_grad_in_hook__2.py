"""Stores .grad inside the hook."""


def record_gradients(tensors):
    records = {}

    def hook_for(name, tensor):
        def hook(_):
            records[name] = tensor.grad

        return hook

    return records, [tensor.register_hook(hook_for(name, tensor)) for name, tensor in tensors.items()]
