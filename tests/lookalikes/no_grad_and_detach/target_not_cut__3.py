"""target is cut in the distance; a term beside it lifts target, and not towards online."""


def bootstrap_loss(online, target):
    return ((online - target.detach()) ** 2).mean() + 0.001 * (target - target.detach()).sum()
