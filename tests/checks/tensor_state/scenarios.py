"""What only the worker can observe in tensor_state: warnings, and what happens during backward."""

import warnings


def heard(student, f, inputs):
    """The texts of the warnings during tensor_state, for each tensor of a graph, before a backward
    and after it.
    """
    tensors = [*inputs, *f(*inputs)]
    before = [listen(student, t) for t in tensors]
    tensors[-1].backward()
    return {"before": before, "after": [listen(student, t) for t in tensors]}


def listen(student, t):
    """The texts of the warnings during one call; filters of the file stay in force."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        student.tensor_state(t)
    return [str(warning.message) for warning in caught]


def attempt(student, f, inputs, chosen):
    """A call of gradients_along for the tensors at the places ``chosen`` of a graph: the type of an
    exception, how many backwards began at the last tensor, which of the chosen keep a gradient
    afterwards, and kept one when some backward began, and whether torch warned that .grad of a
    tensor was read that keeps none.
    """
    tensors, passes = [*inputs, *f(*inputs)], []
    asked = [tensors[k] for k in chosen]
    tensors[-1].register_hook(lambda grad: passes.append(keeping(asked)))
    raised = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        try:
            student.gradients_along(tensors[-1], list(asked))
        except Exception as error:
            raised = type(error).__name__
    return {
        "raised": raised,
        "read": any("not a leaf Tensor" in str(warning.message) for warning in caught),
        "passes": len(passes),
        "keeps": keeping(asked),
        "in_time": [any(keeps[k] for keeps in passes) for k in range(len(asked))],
    }


def keeping(tensors):
    """Which of the tensors keep a gradient now."""
    return [t.is_leaf or t.retains_grad for t in tensors]
