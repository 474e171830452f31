"""Graphs, drawn: a picture as plain data (``picture``), its places (``layout``), as text
(``tree``), as SVG (``svg``).

``drawing`` is what ``grader.draw`` returns. Nothing here imports torch: ``wire.trace`` reads a
graph, the rest gets data.
"""

TRACING_PROCESS = f"{__name__}.tracing_process"
"""The main module of a process; named here, so that who starts it need not import it."""
