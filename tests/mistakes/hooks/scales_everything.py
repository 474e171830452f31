"""Scales the loss."""


def backward_with_scaled_gradient(loss, y, factor):
    (loss * factor).backward()
