"""One of the two factors of the square is detached."""


def bootstrap_loss(online, target):
    d = online - target
    return (d * d.detach()).mean()
