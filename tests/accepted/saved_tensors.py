"""saved_tensors: wrong answers. A cell shows the definitions that differ from the solution."""

# %% hooks_both_ways
# A second run under hooks gives what the first one did not keep.
def checkpointed(f, *xs: Tensor) -> Tensor:
    random, kept, number = torch.get_rng_state(), {}, 0

    def run_again():
        def keep(tensor):
            kept[len(kept)] = tensor.detach()
            return tensor

        again = [x.detach().requires_grad_(x.requires_grad) for x in xs]
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(random)
            with saved_tensors_hooks(keep, lambda tensor: tensor):
                f(*again)

    def pack(tensor):
        nonlocal number
        number += 1
        return number - 1

    def unpack(place):
        if place not in kept:
            kept.clear()
            run_again()
        return kept.pop(place)

    with saved_tensors_hooks(pack, unpack):
        return f(*xs)
