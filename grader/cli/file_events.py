"""Watch files for changes, and warn about network folders, which send no events."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.cli.watch_loop import Saves

STEP_MS, DEBOUNCE_MS, POLL_MS = 2, 15, 200
"""Times in milliseconds. A save is reported after ``STEP_MS`` without a further event, but at the
latest after ``DEBOUNCE_MS``. Polling looks for changes every ``POLL_MS``.
"""


def folder_saves(folders: Iterable[Path], lessons: dict[str, str], *, poll: bool) -> Saves:
    """Return a source of saves in these folders.

    ``lessons`` maps file names to lessons; saves of other files are ignored.
    """
    watched = sorted(folders)

    def saves(stopped: threading.Event) -> Iterator[list[str]]:
        import watchfiles

        batches = watchfiles.watch(
            *watched,
            watch_filter=lambda _, path: Path(path).name in lessons,
            stop_event=stopped,
            recursive=False,
            step=STEP_MS,
            debounce=DEBOUNCE_MS,
            rust_timeout=200,
            raise_interrupt=False,
            force_polling=poll or None,
            poll_delay_ms=POLL_MS,
        )
        for batch in batches:
            yield sorted({lessons[Path(path).name] for _, path in batch})

    return saves


REMOTE = frozenset(
    """
    nfs nfs4 cifs smb3 smbfs 9p drvfs vboxsf afs virtiofs
    fuse.sshfs fuse.vmhgfs-fuse fuse.grpcfuse
    """.split()
)
"""File systems that do not report saves made on another machine."""


def remote_kind(folder: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the kind of the folder's file system if it is one of ``REMOTE``, else None."""
    try:
        lines = [
            line.split(" ") for line in mounts.read_text("utf-8", "surrogateescape").splitlines()
        ]
    except OSError:
        return None
    here = folder.resolve()
    points = [
        (Path(fields[1].replace("\\040", " ")), fields[2]) for fields in lines if len(fields) > 2
    ]
    above = [(len(point.parts), kind) for point, kind in points if here.is_relative_to(point)]
    kind = max(above, default=(0, ""))[1]
    return kind if kind in REMOTE else None
