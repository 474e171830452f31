"""Puts the gradient on the tensor, too."""


def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():

        def hook(grad, name=name, tensor=tensor):
            records[name] = grad.clone()
            if not tensor.is_leaf:
                tensor.grad = grad.clone()

        handles.append(tensor.register_hook(hook))
    return records, handles
