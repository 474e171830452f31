"""Restrict the files that a worker can use: read the Python installation and the packages (except
this one), and write to one scratch folder.

Landlock (landlock(7), Linux 5.13 and later) takes a ruleset, a list of folders with what is allowed
beneath each, and confines a process to it permanently. The ruleset denies every kind of access that
the kernel knows, and allows again:

* *read*: the standard library, site-packages, the folders that ``.pth`` files name, and the
  system's shared libraries, without the trees in ``hidden`` (everything around these is allowed
  entry by entry); files about processor and memory; time zones
* *read and write*: the scratch folder, ``/dev/null``
* *nothing*: everything else: submissions, checks, solutions, results, home, ``/etc``, most of
  ``/proc``, this package

The fork server makes the ruleset once, and each of its forks applies it. TCP is denied too, and
from ABI 6 on abstract sockets and signals to processes outside, in addition to what seccomp denies.
Paths can still be probed by stat(2): names leak, contents don't.
"""

from __future__ import annotations

import ctypes
import os
import site
import struct
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from grader.core.files import PACKAGE
from grader.worker.sandbox.c_library import prctl, syscall

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
CREATE_RULESET_VERSION = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
ACCESS_BITS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many kinds of file access an ABI knows; later ABIs know those of 5."""
NETWORK_ABI, SCOPE_ABI = 4, 6
DENY_TCP, DENY_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11
FILE_ACCESS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
"""The kinds of access that apply to a file; the others apply to folders."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
MACHINE = (
    "/proc/cpuinfo",
    "/sys/devices/system/cpu",
    "/proc/meminfo",
    "/proc/stat",
    "/usr/share/zoneinfo",
)
"""Files about the processor, which torch reads when it first computes, about memory and load, and
time zones.
"""
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")


def abi() -> int:
    """Return the kernel's Landlock ABI; 0 if there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return syscall(
            CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(CREATE_RULESET_VERSION)
        )
    except OSError:
        return 0


def readable_trees() -> list[Path]:
    """Return what Python reads to import and run: library, packages, shared objects."""
    named = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
    places = [*named, *site.getsitepackages(), *LIBRARIES]
    base = {Path(place).resolve() for place in places if place}
    base.add(Path(sys.base_prefix).resolve() / "lib")
    base |= {place for place in named_by_pth_files() if not holds_what_is_hidden(place)}
    return sorted(path for path in base if path.is_dir())


def named_by_pth_files() -> set[Path]:
    """Return the folders that the ``.pth`` files in site-packages put on the path, or from which
    they import single packages (setuptools' editable installations).
    """
    mapped: list[str] = [
        place
        for name, module in sys.modules.items()
        if name.startswith("__editable__")
        for place in getattr(module, "MAPPING", {}).values()
    ]
    return {Path(place).resolve() for place in (*sys.path, *mapped) if place}


def holds_what_is_hidden(folder: Path) -> bool:
    """Return whether a folder has this engine, a course, or the user's home in it.

    Such a folder is on the path of someone who develops a course, and holds its solutions.
    """
    inside = (PACKAGE, Path.home(), Path.cwd())
    course = folder / "exercises" / "course.toml"
    return any(path.is_relative_to(folder) for path in inside) or course.exists()


def own_trees(package: Path) -> list[Path]:
    """Return the engine's own trees, which must stay hidden: ``package``, and its parts among the
    installed packages.

    An editable installation has several: the code is elsewhere, but the course was copied there.
    """
    places = [package.parent, *readable_trees()]
    names = (package.name, "gradlings-*.dist-info")
    return sorted(
        {package, *(found for place in places for name in names for found in place.glob(name))}
    )


def around(tree: Path, hidden: Iterable[Path]) -> list[Path]:
    """Return paths that cover a tree except the hidden part of it."""
    inside = [path for path in hidden if path.is_relative_to(tree)]
    if not inside:
        return [tree]
    if tree in inside:
        return []
    return [path for entry in sorted(tree.iterdir()) for path in around(entry, inside)]


def make_ruleset(scratch: Path, hidden: Iterable[Path]) -> int:
    """Return a ruleset's descriptor; raise OSError if the kernel has no Landlock."""
    level = abi()
    if not level:
        raise OSError("the kernel has no Landlock")
    handled = (1 << ACCESS_BITS[min(level, max(ACCESS_BITS))]) - 1
    attributes = struct.pack("QQQ", handled, DENY_TCP, DENY_ABSTRACT_SOCKETS_AND_SIGNALS)
    size = 24 if level >= SCOPE_ABI else 16 if level >= NETWORK_ABI else 8
    ruleset = syscall(
        CREATE_RULESET, ctypes.c_char_p(attributes[:size]), ctypes.c_size_t(size), ctypes.c_uint(0)
    )
    hidden = [path.resolve() for path in hidden]
    for tree in readable_trees():
        for path in around(tree, hidden):
            _allow(ruleset, path, READ_FILE | READ_DIR, handled)
    for place in MACHINE:
        _allow(ruleset, Path(place), READ_FILE | READ_DIR, handled)
    for device in DEVICES:
        _allow(ruleset, Path(device), READ_FILE | WRITE_FILE, handled)
    _allow(ruleset, scratch, handled & ~EXECUTE, handled)
    return ruleset


def _allow(ruleset: int, path: Path, access: int, handled: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing file needs no permission
    try:
        granted = access & handled if path.is_dir() else access & handled & FILE_ACCESS
        rule = ctypes.c_char_p(struct.pack("=Qi", granted, descriptor))
        syscall(ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(PATH_BENEATH), rule, ctypes.c_uint(0))
    finally:
        os.close(descriptor)


def restrict_files(ruleset: int) -> None:
    """Confine this process to a ruleset permanently; raise OSError if the kernel refuses."""
    if not prctl(PR_SET_NO_NEW_PRIVS, 1):
        raise OSError(ctypes.get_errno(), "no_new_privs is refused")
    syscall(RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))
