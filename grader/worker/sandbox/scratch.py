"""Make the scratch folder, the only place that a worker can write to.

If the host allows it, the folder is a separate file system in memory (tmpfs) with a limited size,
in a mount namespace that only the fork server and its forks see. The kernel then counts all of a
worker's files, including deleted ones. Otherwise it is an ordinary temporary folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

from grader.worker.sandbox.c_library import libc

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 1 << 18
MNT_DETACH = 2
MOUNTED_BYTES, MOUNTED_FILES = 256 << 20, 4096
"""The size of the file system. It is well above a course's limits, which ``overuse``
enforces by killing the worker with a message that says why.
"""


def enter_namespace() -> bool:
    """Give this process its own mount namespace; return whether it may mount there.

    Root may do so directly, other users in a user namespace (user_namespaces(7)) that keeps their
    ids. A fork tries it first, because it can't be undone. Call this while there is only one
    thread, and before ``hide``, because /proc/self must belong to this process.
    """
    if not sys.platform.startswith("linux"):
        return False
    if _unshare(CLONE_NEWNS):
        return _keep_mounts_private()
    pid = os.fork()
    if pid == 0:
        works = False
        with contextlib.suppress(BaseException):
            works = _enter_user_namespace() and _mount_tmpfs(Path(tempfile.gettempdir()))
        os._exit(0 if works else 1)
    return os.waitpid(pid, 0)[1] == 0 and _enter_user_namespace()


def make_scratch(*, mount: bool) -> tuple[Path, bool]:
    """Make an empty folder; return it and whether it is a separate file system."""
    folder = Path(tempfile.mkdtemp(prefix=prefix_of(os.getpid())))
    return folder, mount and _mount_tmpfs(folder)


def prefix_of(pid: int) -> str:
    """Return how the names of a process's scratch folders begin."""
    return f"gradlings-{pid}-"


def remove_scratch_of(pid: int) -> None:
    """Remove the scratch folders of a process that was killed before it could do so."""
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix_of(pid)}*"):
        remove_scratch(folder)


def remove_scratch(folder: Path) -> None:
    """Remove the folder, its contents, and what is mounted on it."""
    with contextlib.suppress(OSError):
        clear_folder(folder)
    if sys.platform.startswith("linux"):
        libc().umount2(os.fsencode(folder), MNT_DETACH)
    shutil.rmtree(folder, ignore_errors=True)


def clear_folder(folder: Path) -> None:
    """Remove everything in a folder, for any depth, path length and mode, without following links;
    raise OSError if something stays.

    Folders are made accessible and the folders inside are moved up, so that neither recursion nor
    paths grow with the depth.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    root = os.open(folder, flags)
    moved = 0
    try:
        while entries := list(os.scandir(root)):
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.name, dir_fd=root)
                    continue
                os.chmod(entry.name, 0o700, dir_fd=root)
                inner = os.open(entry.name, flags, dir_fd=root)
                try:
                    for child in list(os.scandir(inner)):
                        if not child.is_dir(follow_symlinks=False):
                            os.unlink(child.name, dir_fd=inner)
                            continue
                        os.chmod(child.name, 0o700, dir_fd=inner)  # moving a folder writes into it
                        while os.path.lexists(folder / f".moved-{moved}"):
                            moved += 1
                        new = f".moved-{moved}"
                        os.rename(child.name, new, src_dir_fd=inner, dst_dir_fd=root)
                finally:
                    os.close(inner)
                os.rmdir(entry.name, dir_fd=root)
    finally:
        os.close(root)


def _unshare(flags: int) -> bool:
    return bool(libc().unshare(flags) == 0)


def _enter_user_namespace() -> bool:
    """Enter a user namespace in which this user keeps its ids, and a mount namespace of it."""
    user, group = os.geteuid(), os.getegid()
    if not _unshare(CLONE_NEWUSER | CLONE_NEWNS):
        return False
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_bytes(text.encode())
    return _keep_mounts_private()


def _keep_mounts_private() -> bool:
    """Keep later mounts out of other namespaces."""
    return _mount("none", Path("/"), None, MS_REC | MS_PRIVATE)


def _mount_tmpfs(folder: Path) -> bool:
    options = f"size={MOUNTED_BYTES},nr_inodes={MOUNTED_FILES},mode=700"
    return _mount("tmpfs", folder, options, MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _mount(kind: str, folder: Path, options: str | None, flags: int) -> bool:
    target, data = os.fsencode(folder), None if options is None else options.encode()
    return bool(libc().mount(b"none", target, kind.encode(), ctypes.c_ulong(flags), data) == 0)
