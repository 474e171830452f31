"""Start the processes (fork server, lesson server, workers), and grade one submission with them."""

FORK_SERVER = f"{__name__}.fork_server"
"""The main module of a process; named here so that it can be started without importing it."""
