"""The sandbox: forbidden acts fail, computing works, and each guarantee rests on its layers."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import Students, forked_students

from grader.core.errors import StudentCodeError, WorkerLost
from grader.core.files import PACKAGE as ENGINE
from grader.core.limits import Limits
from grader.worker.sandbox import (
    GUARANTEES,
    LAYERS,
    Prepared,
    hide,
    landlock,
    overuse,
    prepare,
    seccomp,
    threads,
)
from grader.worker.sandbox.scratch import clear_folder, remove_scratch

pytestmark = pytest.mark.skipif(
    not landlock.abi() or not seccomp.has_tables(),
    reason="the layers that are tested are Linux's, with Landlock, on x86_64 or aarch64",
)


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    made = prepare()
    yield made
    remove_scratch(made.scratch)


@pytest.fixture
def confined(prepared: Prepared) -> Iterator[Students]:
    """Return ``forked_students`` whose workers are confined."""
    hide()
    with forked_students(prepared, "auto") as make:
        yield make
    clear_folder(prepared.scratch)


FORBIDDEN = {
    "read /etc/passwd": "open('/etc/passwd').read()",
    "read the home folder": "os.listdir(os.path.expanduser('~root'))",
    "read our own code": "open(PACKAGE + '/judge/runner.py').read()",
    "read the solutions": "open(PACKAGE + '/../solutions/hooks.py').read()",
    "read the temporary folder of others": "os.listdir('/tmp')",
    "read /proc": "open('/proc/self/status').read()",
    "read the parent's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "write to the temporary folder": "open('/tmp/gradlings_was_here', 'w')",
    "write to site-packages": "open(os.path.dirname(numpy.__file__) + '/x.py', 'w')",
    "poison a cache": "os.mkdir(os.path.dirname(numpy.__file__) + '/__pycache__/x')",
    "truncate a file by reading it": "os.close(os.open(numpy.__file__, os.O_RDONLY | os.O_TRUNC))",
    "truncate a file": "os.truncate(numpy.__file__, 0)",
    "change a mode": "os.chmod('/tmp', 0o777)",
    "change a time": "os.utime('/tmp')",
    "read the target of a link": "os.readlink('/proc/self/exe')",
    "read the target of a link in a folder": "os.readlink('exe', dir_fd=os.open('/proc/self', 0))",
    "make a link": "os.symlink('/etc/passwd', 'link')",
    "open a socket": "socket.socket()",
    "open a Unix socket": "socket.socket(socket.AF_UNIX)",
    "open a pair of sockets": "socket.socketpair()",
    "fork": "os.fork()",
    "fork by vfork": "subprocess.run(['true'])",
    "exec": "os.execv('/bin/true', ['true'])",
    "a shell": "subprocess.check_output('id', shell=True)",
    "posix_spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "multiprocessing": "multiprocessing.get_context('fork').Process(target=print).start()",
    "signal the parent": "os.kill(os.getppid(), 0)",
    "signal everybody": "os.kill(-1, 0)",
    "signal the group": "os.killpg(0, 0) or os.kill(0, 0)",
    "trace the parent": "check(libc.ptrace(16, os.getppid(), 0, 0))",
    "process_vm_readv": "check(libc.syscall(310, os.getppid(), None, 0, None, 0, 0))",
    "a namespace": "check(libc.unshare(0x10000000))",
    "a mount": "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "a core pattern": "check(libc.prctl(4, 1, 0, 0, 0))",
    "raise a limit": "check(libc.prlimit(0, 7, (ctypes.c_uint64 * 2)(9, 9), None))",
    "io_uring": "check(libc.syscall(425, 8, None))",
    "a file in memory": "os.memfd_create('x')",
    "the terminal": "open('/dev/tty')",
    "descriptors that were left open": "[os.fstat(fd) for fd in range(5, 200)]",
}
PRELUDE = f"""
import ctypes, multiprocessing, os, socket, subprocess
import numpy, torch
from concurrent import futures
PACKAGE = {str(ENGINE)!r}
libc = ctypes.CDLL(None, use_errno=True)
def check(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""


@pytest.mark.parametrize("act", FORBIDDEN)
def test_what_is_forbidden_fails(act: str, confined: Students) -> None:
    """The student's code gets an error and does not die."""
    if "syscall(310" in FORBIDDEN[act] and platform.machine() != "x86_64":
        pytest.skip("the number is x86_64's")
    with pytest.raises(StudentCodeError) as refused:
        confined(f"{PRELUDE}\ndef f():\n    {FORBIDDEN[act]}\n").f()
    assert refused.value.is_a("OSError")
    assert not Path("/tmp/gradlings_was_here").exists()


ALLOWED = {
    "gradcheck": "torch.autograd.gradcheck(torch.tanh, torch.rand(3).double().requires_grad_())",
    "a matrix product": "bool((torch.rand(200, 200) @ torch.rand(200, 200)).sum() > 0)",
    "numpy": "float(numpy.linalg.norm([3.0, 4.0])) == 5.0",
    "a late import": "__import__('sqlite3') and __import__('decimal') and True",
    "threads": "futures.ThreadPoolExecutor(4).submit(lambda: True).result()",
    "a temporary file": "__import__('tempfile').TemporaryFile().write(b'x') == 1",
    "a file of its own": "open('mine', 'w').write('hi') == 2 and open('mine').read() == 'hi'",
    "randomness": "len(os.urandom(4)) == 4",
    "the clock": "__import__('time').localtime().tm_year > 2000",
    "the time elsewhere": "__import__('zoneinfo').ZoneInfo('Asia/Seoul').key == 'Asia/Seoul'",
    "the machine's memory": "'MemTotal' in open('/proc/meminfo').read()",
    "a late module of torch": "__import__('torch.distributions').distributions is not None",
}


@pytest.mark.parametrize("act", ALLOWED)
def test_what_computing_needs_works(act: str, confined: Students) -> None:
    assert confined(f"{PRELUDE}\ndef f():\n    return {ALLOWED[act]}\n").f() is True


@pytest.mark.parametrize(
    "without", [(), ("limits",), ("landlock",), ("capabilities",), ("seccomp",)]
)
def test_without_a_layer_its_guarantees_are_said_to_be_missing(
    without: tuple[str, ...], confined: Students
) -> None:
    """A weaker host says what it can't guarantee, and still computes."""
    student = confined("x = 1", without=without)
    assert student.x == 1
    held, missing = student._session.guarantees
    assert missing == tuple(one for one in GUARANTEES if set(without) & {*GUARANTEES[one]})
    assert {*held, *missing} == GUARANTEES.keys()
    assert bool(missing) is bool(without)


STOPPED_BY = {
    "landlock": "open('/etc/passwd').read(1)",
    "seccomp": "socket.socketpair()",
    "limits": "__import__('mmap').mmap(-1, 4 << 30)",
}


@pytest.mark.parametrize("layer", STOPPED_BY)
def test_each_layer_stops_something_that_no_other_does(layer: str, confined: Students) -> None:
    """The act fails with the layer and succeeds without it, so the test is about this layer."""
    source = f"{PRELUDE}\ndef f():\n    {STOPPED_BY[layer]}\n    return 'done'\n"
    with pytest.raises(StudentCodeError):
        confined(source).f()
    assert confined(source, without=(layer,)).f() == "done"


def test_the_environment_holds_nothing_of_the_hosts(confined: Students, prepared: Prepared) -> None:
    """Home and temporary folder are the scratch folder."""
    student = confined(
        "import os, tempfile\n"
        "def f(): return os.environ.get('HOME'), tempfile.gettempdir(), os.getcwd()"
    )
    assert student.f() == (str(prepared.scratch),) * 3


@pytest.mark.parametrize(
    ("act", "limits", "said"),
    [
        ("torch.zeros(1 << 28).sum()", {"memory_bytes": 200 << 20}, "memory"),
        ("open('big', 'wb').write(bytes(3 << 20))", {"file_bytes": 1 << 20}, "File too large"),
    ],
)
def test_what_is_over_a_limit_is_an_error(
    act: str, limits: dict[str, float], said: str, confined: Students
) -> None:
    student = confined(f"import torch\ndef f(): return {act}\ndef g(): return 1", **limits)
    with pytest.raises(StudentCodeError, match=said):
        student.f()
    assert student.g() == 1


def test_processor_time_over_the_limit_is_a_timeout(confined: Students) -> None:
    student = confined("def f():\n    while True: pass", cpu_seconds=1, call_seconds=20)
    with pytest.raises(WorkerLost, match="more than 1 s of processor time") as lost:
        student.f()
    assert lost.value.outcome == "timeout"


def test_threads_and_files_beyond_the_limit_are_seen(tmp_path: Path) -> None:
    """The parent counts what no kernel limit counts."""
    pid, limits = os.getpid(), Limits(scratch_files=3, scratch_bytes=1 << 20)
    count = threads(pid)
    assert overuse(pid, tmp_path, Limits(threads=count)) is None
    too_many = overuse(pid, tmp_path, Limits(threads=count - 1))
    assert too_many == ("it started more than {limit} threads", count - 1)
    for number in range(4):
        (tmp_path / f"{number}").write_bytes(b"")
    assert overuse(0, tmp_path, limits) == ("it made more than {limit} files", 3)
    for number in range(4):
        (tmp_path / f"{number}").unlink()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "big").write_bytes(bytes(2 << 20))
    assert overuse(0, tmp_path, limits) == ("it wrote more than {limit} MB of files", 1)


def test_what_is_hidden_is_left_out_of_the_trees_around_it(tmp_path: Path) -> None:
    """Everything around it stays readable, at any depth."""
    for name in ("a", "b/ours/x", "b/other", "c"):
        (tmp_path / name).mkdir(parents=True)
    around = [tmp_path / "a", tmp_path / "b" / "other", tmp_path / "c"]
    assert landlock.around(tmp_path, [tmp_path / "b" / "ours"]) == around
    assert landlock.around(tmp_path, [Path("/elsewhere")]) == [tmp_path]
    assert landlock.around(tmp_path, [tmp_path]) == []


def test_the_filter_knows_both_machines_and_no_number_twice() -> None:
    for machine in seccomp.AUDIT_ARCH:
        calls = f"{seccomp.ALLOWED};{seccomp.BY_ARGUMENT}"
        numbers = seccomp.table(calls, machine).values()
        assert len(numbers) == len(set(numbers))
        assert len(seccomp.program(machine, 1)) % 8 == 0
        assert seccomp.blocks(1).keys() >= seccomp.table(seccomp.BY_ARGUMENT, machine).keys()
    allowed = seccomp.table(seccomp.ALLOWED, "x86_64").keys()
    assert not allowed & {"socket", "execve", "fork", "ptrace", "chmod", "truncate", "mount"}


def test_every_guarantee_rests_on_layers_that_exist() -> None:
    named = {layer for layers in GUARANTEES.values() for layer in layers}
    assert named <= {*LAYERS, "hidden", "proc"}


def test_a_private_folder_is_made_for_the_host_alone(prepared: Prepared) -> None:
    assert prepared.scratch.stat().st_mode & 0o077 == 0
    assert prepared.scratch.parent == Path(tempfile.gettempdir())


def test_packages_that_pth_files_name_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their folder is on the path, but outside site-packages. A folder with a course stays closed,
    and so does one around the user's home.
    """
    names = ("listed", "mapped", "teaches", "home")
    listed, mapped, teaches, home = (tmp_path / name for name in names)
    for folder in (listed, mapped / "helpers", teaches / "exercises", home / "student"):
        folder.mkdir(parents=True)
        (folder / "elsewhere.py").write_text("ANSWER = 42\n")
    (teaches / "exercises" / "course.toml").touch()
    monkeypatch.setattr(Path, "home", lambda: home / "student")
    monkeypatch.setattr(sys, "path", [*sys.path, str(listed), str(teaches), str(home)])
    finder = types.ModuleType("__editable___helpers_finder")
    finder.MAPPING = {"helpers": str(mapped / "helpers")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, finder.__name__, finder)
    readable = set(landlock.readable_trees())
    assert {listed, mapped / "helpers"} <= readable
    assert not {teaches, home} & readable


def test_the_engines_files_in_site_packages_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable install keeps its code elsewhere, and a copy of the course among the packages."""
    packages, clone = tmp_path / "site-packages", tmp_path / "clone"
    for folder in ("grader/_course", "gradlings-1.0.dist-info", "numpy"):
        (packages / folder).mkdir(parents=True)
    (clone / "grader").mkdir(parents=True)
    monkeypatch.setattr(landlock, "readable_trees", lambda: [packages])
    hidden = landlock.own_trees(clone / "grader")
    installed = packages / "grader", packages / "gradlings-1.0.dist-info"
    assert set(hidden) == {clone / "grader", *installed}
    assert landlock.around(packages, hidden) == [packages / "numpy"]


def make_deep(folder: Path, names: list[str]) -> None:
    """Make folders inside each other, and a file in the last one."""
    here = os.open(folder, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def test_the_scratch_folder_is_emptied_whatever_was_made_of_it(tmp_path: Path) -> None:
    """It may be very deep, unreadable, full of links, or have names that the cleanup uses."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(outside)
    (scratch / ".moved-0").mkdir()
    (scratch / "closed").mkdir()
    (scratch / "closed" / "inside").touch()
    (scratch / "closed").chmod(0o300)
    make_deep(scratch, ["n" * 200] * 30 + ["d"] * 1470)
    clear_folder(scratch)
    assert list(scratch.iterdir()) == []
    assert [path.name for path in outside.iterdir()] == ["kept"]


def test_what_can_not_be_counted_is_overuse(tmp_path: Path) -> None:
    """A path that is too long hides files; an entry that disappears meanwhile does not."""
    make_deep(tmp_path, ["n" * 200] * 30)
    assert overuse(0, tmp_path, Limits()) == ("it made folders that can't be looked into", 0)
    clear_folder(tmp_path)
    assert overuse(0, tmp_path / "gone", Limits()) is None


def test_seccomp_alone_keeps_a_file_from_being_emptied_by_reading_it(
    confined: Students, tmp_path: Path
) -> None:
    """Landlock does so only from its third ABI on."""
    target = tmp_path / "full"
    target.write_text("content")
    code = f"import os\ndef f(flags): return os.close(os.open({str(target)!r}, flags))"
    student = confined(code, without=("landlock",))
    student.f(os.O_RDONLY)
    with pytest.raises(StudentCodeError, match="not permitted"):
        student.f(os.O_RDONLY | os.O_TRUNC)
    assert target.read_text() == "content"
    student.f(os.O_WRONLY | os.O_TRUNC)
    assert target.read_text() == ""


@pytest.mark.linux
def test_descriptors_with_high_numbers_are_closed_too() -> None:
    """This includes numbers beyond 4096, which need a raised limit."""
    code = (
        "import os, resource, sys\n"
        "from grader.worker.sandbox import close_all_but\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 6000), hard))\n"
        "os.dup2(2, 5000)\n"
        "close_all_but({0, 1, 2})\n"
        "try:\n    os.fstat(5000)\nexcept OSError:\n    print('closed')\n"
    )
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 6000:
        pytest.skip("the hard limit on open files is too low here")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ENGINE.parent)},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("closed\n", "")
