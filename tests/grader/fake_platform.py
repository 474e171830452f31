"""Simulate Windows or macOS on Linux, for the engine's own code.

``interpreter(folder, system)`` makes a Python that pretends to be there, and so does every Python
that it starts. Only the engine and its tests are deceived; the standard library and packages run
unchanged, because they support each system themselves. In it

* modules that the system lacks are missing, and so are names in ``os``, ``socket``, ``signal``,
  ``select``, ``time``; ``sys.platform`` is its own
* on macOS there is no ``/proc``, and a fork, which isn't safe there beside torch, is an error
* on Windows, text files opened without an encoding or line end use cp949 and CR LF, and so do
  standard output and error; an open file can't be removed or replaced; names that Windows forbids
  are refused; processes die with a positive status, and know few signals

It can't simulate paths with drives and backslashes, names that differ only in case, consoles, or
packages. Imports the standard library only: it is copied into that Python's packages, and
``become`` is called at its start.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import errno
import functools
import importlib
import inspect
import io
import os
import pathlib
import select
import signal
import site
import subprocess
import sys
import types
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

OURS = ("grader", "tests", "test_", "conftest")
PLATFORMS = {"windows": "win32", "macos": "darwin"}
MODULES = {
    "windows": (
        "_posixsubprocess curses fcntl grp posix pty pwd readline resource syslog termios"
        " tty".split()
    ),
    "macos": "spwd ossaudiodev msvcrt winreg".split(),
}
"""The modules that can't be imported there."""
NAMES = {
    "windows": {
        "os": (
            """
            O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC O_TMPFILE WNOHANG
            chown chroot confstr ctermid eventfd fchmod fchown fork forkpty fstatvfs getegid geteuid
            getgid getgroups getloadavg getpgid getpgrp getpriority getrandom getresuid getsid
            getuid getxattr killpg lchown login_tty major makedev memfd_create mkfifo mknod nice
            openpty pidfd_open pipe2 posix_fadvise posix_spawn pread pwrite register_at_fork
            sched_getaffinity sched_getscheduler sched_setaffinity sched_yield sendfile set_blocking
            setegid seteuid setgid setgroups setpgid setpriority setresuid setsid setuid setxattr
            splice statvfs sync sysconf tcgetpgrp tcsetpgrp ttyname uname unshare wait wait3 wait4
            waitid
            """.split()
        ),
        "socket": (
            "AF_UNIX AF_NETLINK AF_PACKET CMSG_LEN SCM_RIGHTS SO_PEERCRED SO_REUSEPORT recv_fds"
            " send_fds sethostname".split()
        ),
        "signal": (
            """
            SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGIO SIGKILL SIGPIPE SIGPROF SIGPWR SIGQUIT
            SIGSTOP SIGSYS SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH
            SIGXCPU SIGXFSZ alarm getitimer pause pthread_kill pthread_sigmask setitimer
            siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
            """.split()
        ),
        "select": "EPOLLIN POLLERR POLLHUP POLLIN POLLOUT devpoll epoll kevent kqueue poll".split(),
        "time": "clock_gettime clock_settime pthread_getcpuclockid tzset".split(),
    },
    "macos": {
        "os": (
            """
            O_DIRECT O_PATH O_TMPFILE copy_file_range eventfd fdatasync getrandom getresuid getxattr
            memfd_create pidfd_open pipe2 posix_fadvise sched_getaffinity sched_getscheduler
            sched_setaffinity setns setresuid setxattr splice unshare
            """.split()
        ),
        "socket": "AF_NETLINK AF_PACKET SO_PEERCRED".split(),
        "signal": "SIGPWR SIGSTKFLT SIGPOLL SIGRTMAX SIGRTMIN sigtimedwait sigwaitinfo".split(),
        "select": "EPOLLIN epoll devpoll".split(),
        "time": [],
    },
}
"""The names that these modules of the standard library lack there."""
ENCODING, LINE_END = "cp949", "\r\n"
FORBIDDEN = set('<>:"|?*') | {chr(code) for code in range(32)}
PORTS = [f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789"]
RESERVED = {"con", "prn", "aux", "nul", *PORTS}
STATUSES = {
    signal.SIGSEGV: 0xC0000005,
    signal.SIGABRT: 3,
    signal.SIGFPE: 0xC0000094,
    signal.SIGILL: 0xC000001D,
}
"""The exit status there, for a signal that ends a process here; a process killed from outside has
1.
"""


def interpreter(folder: Path, system: str) -> Path:
    """Make a Python in ``folder`` that pretends to run on ``windows`` or ``macos``, with this one's
    packages; return its path.
    """
    venv.EnvBuilder(symlinks=True).create(folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "fake_platform.py").write_bytes(Path(__file__).read_bytes())
    line = (
        f"import fake_platform; fake_platform.add_packages({site.getsitepackages()!r});"
        f" fake_platform.become({system!r})\n"
    )
    (packages / "fake_platform.pth").write_text(line, "utf-8")
    return folder / "bin" / "python"


def add_packages(places: list[str]) -> None:
    """Make this Python import from these folders too."""
    for place in places:
        site.addsitedir(place)


def become(system: str) -> None:
    """Make the engine's code see ``windows`` or ``macos`` from now on, in this process."""
    views: dict[str, Any] = {
        name: View(name, set(hidden)) for name, hidden in NAMES[system].items()
    }
    views["sys"] = View("sys", set(), platform=PLATFORMS[system])
    if system == "windows":
        views["os"].put(name="nt")
        views["ctypes"] = View("ctypes", set(), CDLL=no_library_of_all)
        views["msvcrt"] = keyboard()
        text_as_on_windows()
        files_as_on_windows()
        processes_as_on_windows()
    else:
        views["os"].put(fork=no_fork)
        views["ctypes"] = View(
            "ctypes",
            set(),
            CDLL=lambda name, **how: Hidden(
                ctypes.CDLL(name, **how), {"prctl", "unshare", "syscall"}
            ),
        )
        without_proc()
    real = builtins.__import__

    def lookup(name: str, where: Any = None, *rest: Any, **how: Any) -> Any:
        if is_engine_code(where):
            if name.partition(".")[0] in MODULES[system]:
                raise ModuleNotFoundError(f"No module named {name!r}, as on {system}", name=name)
            if (view := views.get(name.partition(".")[0])) is not None:
                if isinstance(view, View):
                    real(name, where, *rest, **how)
                return view
        return real(name, where, *rest, **how)

    builtins.__import__ = lookup  # type: ignore[assignment]


def is_engine_code(names: Any) -> bool:
    """Return whether globals belong to a module of this project."""
    return str((names or {}).get("__name__", "")).startswith(OURS)


def asked_by_us() -> bool:
    """Return whether the caller of this function was called by code of this project."""
    return is_engine_code(sys._getframe(2).f_globals)


class View(types.ModuleType):
    """A module without its hidden names, and with their replacements."""

    def __init__(self, name: str, hidden: set[str], **replaced: Any) -> None:
        super().__init__(name)
        object.__setattr__(self, "_own", (importlib.import_module(name), hidden, replaced))

    def put(self, **replaced: Any) -> None:
        """Replace names of the module by these values."""
        object.__getattribute__(self, "_own")[2].update(replaced)

    def __getattribute__(self, name: str) -> Any:
        if name == "put":
            return object.__getattribute__(self, name)
        real, hidden, replaced = object.__getattribute__(self, "_own")
        if name in hidden:
            raise AttributeError(
                f"module {real.__name__!r} has no attribute {name!r}, as elsewhere",
                name=name,
                obj=self,
            )
        if name == "__dict__":  # from which pytest's monkeypatch takes what it puts back
            return {
                **{key: value for key, value in vars(real).items() if key not in hidden},
                **replaced,
            }
        return replaced[name] if name in replaced else getattr(real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        real, _, replaced = object.__getattribute__(self, "_own")
        if name in replaced:
            replaced[name] = value
        else:
            setattr(real, name, value)  # a test that replaces something does so for everybody

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_own")[0], name)


class Hidden:
    """A library without some of its functions."""

    def __init__(self, library: Any, hidden: set[str]) -> None:
        self._library, self._hidden = library, hidden

    def __getattr__(self, name: str) -> Any:
        if name in self._hidden:
            raise AttributeError(name)
        return getattr(self._library, name)


def keyboard() -> types.ModuleType:
    """Return a ``msvcrt`` for keys: it reads the terminal without echo and without waiting."""
    module = types.ModuleType("msvcrt")

    def kbhit() -> bool:
        import termios
        import tty

        tty.setcbreak(sys.stdin.fileno(), termios.TCSANOW)
        return bool(select.select([sys.stdin.fileno()], [], [], 0)[0])

    vars(module).update(
        kbhit=kbhit, getwch=lambda: os.read(sys.stdin.fileno(), 1).decode("latin-1")
    )
    return module


def no_library_of_all(name: Any, *rest: Any, **how: Any) -> Any:
    if name is None:
        raise TypeError("LoadLibrary() argument 1 must be str, not None")
    return ctypes.CDLL(name, *rest, **how)


def no_fork() -> int:
    raise AssertionError("a fork beside torch isn't safe on macOS")


def without_proc() -> None:
    """Hide ``/proc``."""
    real = io.open

    def opened(file: Any, *args: Any, **how: Any) -> Any:
        if asked_by_us():
            refuse_proc(file)
        return real(file, *args, **how)

    def refuse_proc(file: Any) -> None:
        if isinstance(file, str | Path) and str(file).startswith("/proc"):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(file))

    builtins.open = opened
    for method in ("open", "read_text", "read_bytes", "stat", "iterdir"):
        wrap(Path, method, lambda path, *_, **__: refuse_proc(path))


def wrap(owner: Any, method: str, before: Callable[..., Any]) -> None:
    """Wrap a function: when this project's code calls it, ``before`` inspects its arguments.

    ``before`` may change the keyword arguments.
    """
    real = getattr(owner, method)

    def wrapped(*args: Any, **how: Any) -> Any:
        if asked_by_us():
            how = before(*args, **how) or how
        return real(*args, **how)

    setattr(owner, method, wrapped)


def text_as_on_windows() -> None:
    """Make text files without an encoding or line end use Korean Windows' defaults."""
    builtins.open = with_habits(io.open)
    os.fdopen = with_habits(io.open)
    pathlib.Path.open = with_habits(pathlib.Path.open)  # type: ignore[method-assign]
    pathlib.Path.read_text = with_habits(pathlib.Path.read_text)  # type: ignore[method-assign]
    pathlib.Path.write_text = with_habits(pathlib.Path.write_text, "w")  # type: ignore[method-assign]
    if not sys.flags.utf8_mode and (sys.flags.isolated or not os.environ.get("PYTHONIOENCODING")):
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(
                    encoding=ENCODING,
                    errors="backslashreplace" if stream is sys.stderr else "strict",
                )


def with_habits(real: Callable[..., Any], mode: str = "r") -> Callable[..., Any]:
    """Wrap a function that opens a file, with this mode unless it is given another."""
    signature = inspect.signature(real)

    @functools.wraps(real)
    def called(*args: Any, **how: Any) -> Any:
        if not asked_by_us():
            return real(*args, **how)
        given = signature.bind(*args, **how)
        given.apply_defaults()
        wanted = set(given.arguments.get("mode", mode))
        may_be_named(args[0], wanted)
        if "b" not in wanted:
            given.arguments["encoding"] = given.arguments["encoding"] or ENCODING
            if given.arguments.get("newline") is None and wanted & set("wax+"):
                given.arguments["newline"] = LINE_END
        return real(*given.args, **given.kwargs)

    return called


def may_be_named(file: Any, mode: set[str]) -> None:
    """Raise OSError if Windows does not allow a file of that name to be made."""
    if isinstance(file, str | Path) and mode & set("wax"):
        name = Path(file).name
        if (
            set(name) & FORBIDDEN
            or name != name.rstrip(" .")
            or name.partition(".")[0].rstrip().lower() in RESERVED
        ):
            raise OSError(errno.EINVAL, "Invalid argument", str(file))


def files_as_on_windows() -> None:
    """Refuse to remove or replace open files."""

    def free(path: Any, *rest: Any, dir_fd: Any = None, **_: Any) -> None:
        refuse_held(path, dir_fd)

    def refusing(real: Callable[..., None]) -> Callable[..., None]:
        def called(*paths: Any, **how: Any) -> None:
            for path in paths:
                refuse_held(path, how.get("dir_fd"))
            real(*paths, **how)

        return called

    def opening(path: Any, flags: int, *rest: Any, dir_fd: Any = None) -> None:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")

    for name in ("unlink", "remove", "replace", "rename"):
        setattr(os, name, refusing(getattr(os, name)))
    wrap(os, "open", opening)
    wrap(Path, "mkdir", lambda path, *_, **__: may_be_named(path, {"w"}))


def refuse_held(path: Any, dir_fd: int | None) -> None:
    """Raise PermissionError if this process has the file itself open; a link's target does not
    count.
    """
    descriptors = Path("/proc/self/fd")
    place = (
        (descriptors / str(dir_fd)).readlink() / os.fspath(path)
        if dir_fd is not None
        else Path(os.fspath(path))
    )
    real = place.parent.resolve() / place.name
    for entry in os.listdir(descriptors):  # noqa: PTH208 - iterdir is ours, in part
        with contextlib.suppress(OSError):
            if (descriptors / entry).readlink() == real:
                break
    else:
        return
    raise PermissionError(
        errno.EACCES,
        "The process cannot access the file because it is being used by another process",
        str(place),
    )


def processes_as_on_windows() -> None:
    """Make processes know three signals, inherit three streams, and die with a status."""
    popen, ended = subprocess.Popen.__init__, subprocess.Popen._handle_exitstatus  # type: ignore[attr-defined]

    def started(self: Any, *args: Any, **how: Any) -> None:
        if how.get("pass_fds") or how.get("preexec_fn"):
            raise ValueError("pass_fds and preexec_fn are not supported on Windows platforms")
        popen(self, *args, **how)

    def signalled(self: Any, number: int) -> None:
        if number != signal.SIGTERM:
            raise ValueError(f"Unsupported signal: {number}")
        self.kill()

    def handled(self: Any, *args: Any, **how: Any) -> None:
        ended(self, *args, **how)
        if (self.returncode or 0) < 0:
            self.returncode = STATUSES.get(signal.Signals(-self.returncode), 1)

    def killed(self: Any) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    subprocess.Popen.__init__ = started  # type: ignore[method-assign]
    subprocess.Popen._handle_exitstatus = handled  # type: ignore[attr-defined]
    subprocess.Popen.send_signal = signalled  # type: ignore[method-assign,assignment]
    subprocess.Popen.kill = subprocess.Popen.terminate = killed  # type: ignore[method-assign]
