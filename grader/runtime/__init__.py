"""Start the processes (fork server, lesson server, workers), and grade one submission with them."""

FORK_SERVER, TEXT_PROCESS = f"{__name__}.fork_server", f"{__name__}.text_process"
"""The main modules of processes; named here so that they can be started without importing them."""
