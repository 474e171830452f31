def clip_gradient(y, max_norm):
    def hook(grad):
        norm = grad.norm().item()
        return grad * max(1.0, max_norm / norm) if norm else grad

    return y.register_hook(hook)
