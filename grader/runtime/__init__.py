"""Start the processes (fork server, lesson server, workers), and grade one submission with them."""

FORK_SERVER = f"{__name__}.fork_server"
"""The main module of a process; named here so that it can be started without importing it."""
OWN_SESSION, SAME_SESSION = b"o", b"s"
"""What comes with a connection: whether its fork server leads a session, apart from a terminal."""
