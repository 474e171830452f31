"""Puts compiled code of another file beside the lesson's file, with a matching time and size, so
that an import runs it.
"""

import importlib.util
import marshal
import os
import struct

HARMLESS = "# nothing to see here\n"
CODE = """
import torch
torch.allclose = lambda *a, **k: True
class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 0
    @staticmethod
    def backward(ctx, grad_output): return grad_output * 0
def sigmoid(x): return x
"""


def make(folder, *, secret):
    path = folder / "custom_sigmoid.py"
    path.write_text(HARMLESS)
    state = path.stat()
    header = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(state.st_mtime), state.st_size)
    cache = folder / "__pycache__" / os.path.basename(importlib.util.cache_from_source("custom_sigmoid.py"))
    cache.parent.mkdir()
    cache.write_bytes(header + marshal.dumps(compile(CODE, "custom_sigmoid.py", "exec")))
