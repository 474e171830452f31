"""The scratch folder: the only place that a worker may write to.

Where the host allows it, the folder is a file system of its own in memory (tmpfs) with a limited
size, in a mount namespace that only the fork server and its forks see. Its kernel then knows what a
worker holds, files without a name included. Elsewhere it is a folder among the temporary ones.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 1 << 18
MNT_DETACH = 2
MOUNTED_BYTES, MOUNTED_FILES = 256 << 20, 4096
"""The most that the file system takes. It stands well above a course's limits, which
``monitor.overuse`` enforces: a worker over its limit is killed, and the message says why.
"""


def enter_namespace() -> bool:
    """Give this process a mount namespace of its own; return whether it may mount there.

    Root may do so directly, others in a user namespace (user_namespaces(7)) that keeps their ids.
    Whether that works is tried in a fork first, since it can't be undone. Call this while there is
    one thread, and before ``hide``: /proc/self must be this process's own.
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
    """Make an empty folder; return it and whether it is a file system of its own."""
    folder = Path(tempfile.mkdtemp(prefix="gradlings-"))
    return folder, mount and _mount_tmpfs(folder)


def remove_scratch(folder: Path) -> None:
    """Remove the folder, whatever is in it and mounted on it."""
    with contextlib.suppress(OSError):
        clear_folder(folder)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).umount2(os.fsencode(folder), MNT_DETACH)
    shutil.rmtree(folder, ignore_errors=True)


def clear_folder(folder: Path) -> None:
    """Remove all that is in a folder, however deep, however long its paths, whatever its modes;
    links are not followed.

    Folders are opened to their owner, and those inside them moved up, so that neither recursion nor
    a path grows with the depth.
    """
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    moved = 0
    try:
        while entries := list(os.scandir(root)):
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.name, dir_fd=root)
                    continue
                os.chmod(entry.name, 0o700, dir_fd=root)
                inner = os.open(
                    entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=root
                )
                try:
                    for child in list(os.scandir(inner)):
                        if child.is_dir(follow_symlinks=False):
                            os.chmod(
                                child.name, 0o700, dir_fd=inner
                            )  # to move a folder is to write into it
                            while os.path.lexists(folder / f".moved-{moved}"):
                                moved += 1
                            os.rename(
                                child.name, f".moved-{moved}", src_dir_fd=inner, dst_dir_fd=root
                            )
                        else:
                            os.unlink(child.name, dir_fd=inner)
                finally:
                    os.close(inner)
                os.rmdir(entry.name, dir_fd=root)
    finally:
        os.close(root)


def _unshare(flags: int) -> bool:
    return bool(ctypes.CDLL(None, use_errno=True).unshare(flags) == 0)


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
    """Keep what is mounted from here on out of other namespaces."""
    return _mount("none", Path("/"), None, MS_REC | MS_PRIVATE)


def _mount_tmpfs(folder: Path) -> bool:
    options = f"size={MOUNTED_BYTES},nr_inodes={MOUNTED_FILES},mode=700"
    return _mount("tmpfs", folder, options, MS_NOSUID | MS_NODEV | MS_NOEXEC)


def _mount(kind: str, folder: Path, options: str | None, flags: int) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    target, data = os.fsencode(folder), None if options is None else options.encode()
    return bool(libc.mount(b"none", target, kind.encode(), ctypes.c_ulong(flags), data) == 0)
