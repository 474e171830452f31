"""The walk of the notes, which is to be started with a node, and asks whether it goes on."""

def walk(grad_fn, level=0):
    entries = [(level, type(grad_fn).__name__)]
    if hasattr(grad_fn, "next_functions"):
        for following, _ in grad_fn.next_functions:
            if following is not None:
                entries += walk(following, level + 1)
    return entries
