"""Draw graphs: positions (``layout``), text (``tree``), SVG (``svg``). No torch."""

TRACING_PROCESS = f"{__name__}.tracing_process"
"""The main module of a process; named here so that it can be started without importing it."""
