"""What has to be seen from inside for second_derivative. Sent into the sandbox; imports torch only."""


def grad_afterwards(student, name, f, x, held, *more):
    """What x.grad is after a call, where ``held`` was in it before."""
    x.grad = held
    getattr(student, name)(f, x, *more)
    return x.grad


def at_a_result(student, name, f, start, *more):
    """What comes back for an x that was computed from another tensor."""
    x = start * 2
    return getattr(student, name)(f, x, *more)


def modules_around(student, name, f, x, *more):
    """The names of torch's modules that were on the stack while f was called."""
    met = set()

    def watched(*inputs):
        try:
            raise LookupError
        except LookupError as error:
            frame = error.__traceback__.tb_frame
        while frame is not None:
            met.add(str(frame.f_globals.get("__name__")))
            frame = frame.f_back
        return f(*inputs)

    getattr(student, name)(watched, x, *more)
    return sorted(module for module in met if module.startswith(("torch.", "functorch")))
