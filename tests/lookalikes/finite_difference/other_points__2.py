"""Two forward differences, the smaller one twice, less the other."""


def forward_difference(f, x, h=1e-3):
    d = lambda s: (f(x + s) - f(x)) / s
    return 2 * d(h / 2) - d(h)
