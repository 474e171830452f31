"""Draw graphs, heat maps and plots, as SVG and as text. Only ``tracing_process`` imports torch."""

TRACING_PROCESS = f"{__name__}.tracing_process"
"""The main module of a process; named here so that it can be started without importing it."""
