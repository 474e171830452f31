"""Edits y.grad when everything has already flowed past it."""


def backward_with_scaled_gradient(loss, y, factor):
    y.retain_grad()
    loss.backward()
    y.grad = y.grad * factor
