"""A flag in place of remove(): it is taken down after backward, if backward comes to its end."""


def backward_with_scaled_gradient(loss, y, factor):
    active = True
    y.register_hook(lambda grad: grad * factor if active else grad)
    loss.backward()
    active = False
