"""No hook is put anywhere, and y itself comes back."""


def double_gradient(y):
    def hook(g):
        return 2 * g

    return y
