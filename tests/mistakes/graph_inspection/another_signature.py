"""The walk of the notes, which is to be started with a node and a level."""

def walk(grad_fn, level):
    entries = [(level, type(grad_fn).__name__)]
    for following, _ in grad_fn.next_functions:
        if following is not None:
            entries += walk(following, level + 1)
    return entries
