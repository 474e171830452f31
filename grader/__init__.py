"""gradlings: a course on PyTorch autograd that grades itself, and its grader.

``grader/README.md`` explains how it works. Importing this package imports neither torch nor pytest.
``grader.draw(tensor)`` draws a graph; ``%load_ext grader`` adds ``%grade`` to a notebook.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.render.graph.draw import Drawing as Drawing
    from grader.render.graph.draw import draw as draw

__version__ = "0.4.0"


def load_ipython_extension(shell: Any) -> None:
    """Register the magics; IPython calls this for ``%load_ext grader``."""
    from grader.cli.notebook import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics; IPython calls this for ``%unload_ext grader``."""
    from grader.cli.notebook import unregister

    unregister(shell)


def __getattr__(name: str) -> Any:
    """Load ``draw`` when it is first used."""
    if name == "draw":
        from grader.render.graph.draw import draw

        return draw
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
