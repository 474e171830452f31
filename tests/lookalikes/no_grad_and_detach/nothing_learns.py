"""The differences lose their mean before they are squared."""


def bootstrap_loss(online, target):
    d = online - target.detach()
    return (d - d.mean()).pow(2).mean()
