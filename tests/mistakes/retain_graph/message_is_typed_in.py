from torch import Tensor


def second_backward_error(x: Tensor) -> str:
    return (
        "Trying to backward through the graph a second time, but the buffers have already been freed. "
        "Specify retain_graph=True when calling backward the first time."
    )
