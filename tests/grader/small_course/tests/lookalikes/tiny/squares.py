"""Minus x squared."""


def double(x):
    return -x * x
