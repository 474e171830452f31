"""retain_grad, and a hook that files .grad itself: None at first, later the tensor in which gradients add up."""


def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        tensor.retain_grad()

        def hook(grad, name=name, tensor=tensor):
            records[name] = tensor.grad

        handles.append(tensor.register_hook(hook))
    return records, handles
