"""Reads the leaves' .grad, where gradients add up."""


def record_gradients(tensors):
    records, handles = {}, []
    for name, tensor in tensors.items():
        if tensor.is_leaf:
            handles.append(tensor.register_post_accumulate_grad_hook(lambda leaf, name=name: records.update({name: leaf.grad.clone()})))
        else:
            handles.append(tensor.register_hook(lambda grad, name=name: records.update({name: grad.clone()})))
    return records, handles
