"""The scratch folder as a separate file system. A forked process mounts it, never this one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.core.limits import Limits
from grader.worker.sandbox import PR_SET_DUMPABLE, overuse, prepare, scratch
from grader.worker.sandbox.c_library import prctl

ORDINARY_USER = 65534
LIMITS = Limits(scratch_bytes=1 << 20)


def in_a_fork(
    measure: Callable[[], dict[str, object]], *, user: int | None = None
) -> dict[str, Any]:
    """Return the result of ``measure`` in a process that may change its user and mount."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if user is not None and os.getuid() == 0:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                prctl(PR_SET_DUMPABLE, 1)  # as a program that this user starts
            os.write(write, json.dumps(measure()).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read, "rb") as answers:
        found: dict[str, Any] = json.loads(answers.read())
    return found


def measured() -> dict[str, object]:
    """Mount a scratch folder, hold an unlinked file in it open, and measure."""
    user = os.getuid()
    mounted = scratch.enter_namespace()
    prepared = prepare(mount=mounted)
    found: dict[str, object] = {"allowed": mounted, "mounted": prepared.mounted}
    found["same user"] = os.getuid() == user
    with (prepared.scratch / "file").open("wb") as held:
        found["before"] = overuse(0, prepared.scratch, LIMITS, mounted=prepared.mounted)
        (prepared.scratch / "file").unlink()
        held.write(bytes(2 << 20))
        held.flush()
        found["by name"] = overuse(0, prepared.scratch, LIMITS)
        found["by use"] = overuse(0, prepared.scratch, LIMITS, mounted=prepared.mounted)
    scratch.remove_scratch(prepared.scratch)
    found["left"] = prepared.scratch.exists()
    return found


@pytest.mark.parametrize("user", [None, ORDINARY_USER])
def test_a_deleted_open_file_counts_in_a_mounted_folder(user: int | None) -> None:
    found = in_a_fork(measured, user=user)
    if not found["allowed"]:
        pytest.skip("this host lets no process mount")
    assert found["mounted"] and found["same user"]
    assert found["before"] is None and found["by name"] is None
    assert found["by use"] == ["it wrote more than {limit} MB of files", 1]
    assert not found["left"]


def test_a_host_that_lets_nobody_mount_has_a_plain_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_unshare", lambda flags: False)
    assert not scratch.enter_namespace()
    prepared = prepare(mount=False)
    assert prepared.scratch.is_dir() and not prepared.mounted
    scratch.remove_scratch(prepared.scratch)
    assert not prepared.scratch.exists()


def test_this_process_sees_none_of_it(tmp_path: Path) -> None:
    """Otherwise the mounts of the tests above would remain here."""
    before = Path("/proc/self/mountinfo").read_text()
    in_a_fork(measured)
    assert Path("/proc/self/mountinfo").read_text() == before
