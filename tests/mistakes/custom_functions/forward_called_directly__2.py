"""forward with a ctx of its own making."""


class Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


def as_callable(function):
    return lambda *args: function.forward(Context(), *args)
