"""The hook is put on y and removed again, and nothing is handed out."""


def double_gradient(y):
    h = y.register_hook(lambda g: g * 2)
    h.remove()
