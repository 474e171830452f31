"""Thinks that a hook only runs where the gradient is retained."""


def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        tensor.retain_grad()
        handles.append(tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()})))
    return records, handles
