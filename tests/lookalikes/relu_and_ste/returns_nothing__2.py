"""relu returns what print gives."""


def relu(x):
    return print(MyReLU.apply(x))
