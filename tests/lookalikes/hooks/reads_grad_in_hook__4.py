"""The hooks write into a name of their own, the places for the gradients stay empty."""


def record_gradients(tensors):
    records = {n: None for n in tensors}
    handles = []
    for n, t in tensors.items():

        def hook(g, record=records[n]):
            record = g.clone()

        handles.append(t.register_hook(hook))
    return records, handles
