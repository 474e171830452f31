import torch


def numerical_jacobian(fn, x, eps=1e-6):
    with torch.no_grad():
        work = x.detach().to(torch.float64).clone().contiguous()
        flat = work.view(-1)
        out = torch.zeros(flat.numel(), fn(work).numel(), dtype=torch.float64)
        for k in range(flat.numel()):
            old = flat[k].item()
            flat[k] = old + eps
            high = fn(work).clone()
            flat[k] = old - eps
            out[k] = (high - fn(work)).flatten() / (2 * eps)
            flat[k] = old
        return out
