"""sigmoid returns what print gives."""


def sigmoid(x):
    return print(Sigmoid.apply(x))
