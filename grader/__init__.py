"""gradlings: a course on PyTorch autograd that grades itself, and the engine that grades it.

The engine's theory of operation is in ``grader/README.md``. Importing this package imports neither torch nor pytest.
"""

__version__ = "0.1.0"
