"""The three checks for check50: one function each, which check50 runs in a separate process."""

import check50
import check50.py
import torch
from torch.autograd.gradcheck import GradcheckError


def inputs():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, dtype=torch.float64, generator=generator)
    return x.requires_grad_(), torch.randn(5, dtype=torch.float64, generator=generator)


def submitted():
    return check50.py.import_("custom_sigmoid.py").sigmoid


@check50.check()
def value():
    """the value is the logistic function's"""
    x, _ = inputs()
    got, want = submitted()(x), torch.sigmoid(x)
    if not torch.allclose(got, want):
        raise check50.Mismatch(str(want.tolist()), str(got.tolist()))


@check50.check()
def incoming_gradient():
    """backward uses the incoming gradient"""
    x, v = inputs()
    (got,) = torch.autograd.grad(submitted()(x), x, v)
    (want,) = torch.autograd.grad(torch.sigmoid(x), x, v)
    if not torch.allclose(got, want):
        raise check50.Mismatch(str(want.tolist()), str(got.tolist()))


@check50.check()
def gradcheck():
    """gradcheck agrees"""
    x, _ = inputs()
    try:
        torch.autograd.gradcheck(submitted(), x)
    except GradcheckError as error:
        raise check50.Failure("gradcheck found a wrong gradient", help=str(error)) from None
