"""Restrict the system calls that a worker can make: everything not listed fails.

A classic BPF program (linux/filter.h) looks at each call's number and arguments and answers ALLOW
or an error number. The list allows what Python, NumPy and torch need to compute: memory, threads,
clocks, files (which Landlock confines), and the connection to the judge, which needs only read(2)
and write(2). Calls that are not on it fail with EPERM, so that a library can handle it. By
argument:

* ``clone`` only with all flags of a thread; never for a process, nor for a thread with its own
  descriptors, which could open as many again; ``clone3``, whose flags a filter can't see, is
  ENOSYS, and the C library falls back on ``clone``
* ``fallocate`` never, because it takes disk space beyond a file's size and so beyond its limit; the
  C library's posix_fallocate falls back on writing
* ``readlink`` and ``readlinkat`` never, because Landlock does not confine them; they say that the
  path is not a link (EINVAL), so ``os.path.realpath`` works
* ``open`` and ``openat``, but not to truncate a file that is opened for reading
* ``kill`` and ``tgkill`` only to this process itself
* ``prlimit64`` only to read, ``prctl`` only to name threads and mappings, ``fcntl`` and ``ioctl``
  only harmless requests

So there is no socket, no exec, no ptrace or reading of other processes' memory, no signal to
others, no namespace, no mount, no io_uring, no change of modes, owners, times or attributes of
files, which Landlock would not stop. A call of another architecture kills the process.

Numbers: x86_64 from arch/x86/entry/syscalls, aarch64 from include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct

from grader.worker.sandbox.c_library import prctl

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, KILL = 0x7FFF0000, 0x80000000
# BPF_LD|W|ABS, BPF_JMP|JEQ/JGE/JSET|K, BPF_ALU|AND|K, BPF_RET|K
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 1, "aarch64": 2}
X32_BIT = 0x40000000
ANY_PID = 0x7FFFFFFF
"""Stands for a process's number, which is never as large."""
THREAD = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000
"""CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD and _SYSVSEM: what a thread shares with its process."""

# rows of name, number on x86_64, on aarch64 (- where there is none)
ALLOWED = """
    read 0 63; write 1 64; readv 19 65; writev 20 66; pread64 17 67; pwrite64 18 68; preadv 295 69;
    pwritev 296 70; lseek 8 62; close 3 57; close_range 436 436; dup 32 23; dup2 33 -; dup3 292 24;
    pipe 22 -; pipe2 293 59; stat 4 -; fstat 5 80; lstat 6 -; newfstatat 262 79; statx 332 291;
    access 21 -; faccessat 269 48; faccessat2 439 439;
    getdents64 217 61; getcwd 79 17; chdir 80 49; fchdir 81 50; mkdir 83 -; mkdirat 258 34;
    unlink 87 -; unlinkat 263 35; rmdir 84 -; rename 82 -; renameat 264 38; renameat2 316 276;
    ftruncate 77 46; fsync 74 82; fdatasync 75 83; fadvise64 221 223;
    umask 95 166; flock 73 32; copy_file_range 326 285; sendfile 40 71; mmap 9 222; munmap 11 215;
    mremap 25 216; mprotect 10 226; madvise 28 233; brk 12 214; msync 26 227; mincore 27 232;
    membarrier 324 283; futex 202 98; set_robust_list 273 99; get_robust_list 274 100; rseq 334 293;
    set_tid_address 218 96; gettid 186 178; getpid 39 172; getppid 110 173; getuid 102 174;
    geteuid 107 175; getgid 104 176; getegid 108 177; getresuid 118 148; getresgid 120 150;
    getgroups 115 158; getpgrp 111 -; rt_sigaction 13 134; rt_sigprocmask 14 135;
    rt_sigreturn 15 139; rt_sigsuspend 130 133; rt_sigpending 127 136; rt_sigtimedwait 128 137;
    sigaltstack 131 132; pause 34 -; alarm 37 -; setitimer 38 103; getitimer 36 102;
    clock_gettime 228 113; clock_getres 229 114; clock_nanosleep 230 115; nanosleep 35 101;
    gettimeofday 96 169; time 201 -; times 100 153; getrusage 98 165; sysinfo 99 179; uname 63 160;
    sched_yield 24 124; sched_getaffinity 204 123; sched_getparam 143 121;
    sched_getscheduler 145 120; sched_get_priority_max 146 125; sched_get_priority_min 147 126;
    getpriority 140 141; poll 7 -; ppoll 271 73; select 23 -; pselect6 270 72; epoll_create1 291 20;
    epoll_create 213 -; epoll_ctl 233 21; epoll_wait 232 -; epoll_pwait 281 22; eventfd2 290 19;
    restart_syscall 219 128; getrandom 318 278; arch_prctl 158 -; exit 60 93; exit_group 231 94;
    getcpu 309 168; getrlimit 97 163
"""

BY_ARGUMENT = """
    open 2 -; openat 257 56; clone 56 220; clone3 435 435; fallocate 285 47; readlink 89 -;
    readlinkat 267 78; kill 62 129; tgkill 234 131; prctl 157 167; fcntl 72 25; ioctl 16 29;
    prlimit64 302 261
"""
FCNTL = (0, 1, 2, 3, 4, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
PRCTL = (3, 15, 16, 0x53564D41)  # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA


def instruction(code: int, k: int, jt: int = 0, jf: int = 0) -> bytes:
    """Return one struct sock_filter."""
    return struct.pack("HBBI", code, jt, jf, k)


def fail_with(number: int) -> bytes:
    """Return the instruction that makes a call fail with an error number."""
    return instruction(RETURN, 0x00050000 | number)


PERMIT, REFUSE = instruction(RETURN, ALLOW), fail_with(errno.EPERM)


def table(calls: str, machine: str) -> dict[str, int]:
    """Return the calls of a table that a machine has, with their numbers."""
    rows = [row.split() for row in calls.split(";")]
    column = COLUMN[machine]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def among(argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Return instructions that allow an argument if its lower half is among the values."""
    block = [instruction(LOAD, ARGUMENTS + 8 * argument)]
    for value in values:
        block += [instruction(EQUAL, value & 0xFFFFFFFF, 0, 1), PERMIT]
    return [*block, REFUSE]


def is_null(argument: int) -> list[bytes]:
    """Return instructions that allow a null pointer as argument."""
    low = ARGUMENTS + 8 * argument
    return [
        instruction(LOAD, low),
        instruction(EQUAL, 0, 0, 3),
        instruction(LOAD, low + 4),
        instruction(EQUAL, 0, 0, 1),
        PERMIT,
        REFUSE,
    ]


def no_truncating_read(argument: int) -> list[bytes]:
    """Allow open(2), but not O_TRUNC read-only, which truncates and which old Landlock allows."""
    return [
        instruction(LOAD, ARGUMENTS + 8 * argument),
        instruction(ANY_BIT, os.O_TRUNC, 0, 2),
        instruction(AND, os.O_ACCMODE),
        instruction(EQUAL, os.O_RDONLY, 1, 0),
        PERMIT,
        REFUSE,
    ]


def blocks(pid: int) -> dict[str, list[bytes]]:
    """Return the instructions for each call that depends on its arguments, in process ``pid``."""
    return {
        "open": no_truncating_read(1),
        "openat": no_truncating_read(2),
        "clone": [
            instruction(LOAD, ARGUMENTS),
            instruction(AND, THREAD),
            instruction(EQUAL, THREAD, 0, 1),
            PERMIT,
            REFUSE,
        ],
        "clone3": [fail_with(errno.ENOSYS)],
        "fallocate": [fail_with(errno.EOPNOTSUPP)],
        "readlink": [fail_with(errno.EINVAL)],
        "readlinkat": [fail_with(errno.EINVAL)],
        "kill": among(0, (pid,)),
        "tgkill": among(0, (pid,)),
        "prctl": among(0, PRCTL),
        "fcntl": among(1, FCNTL),
        "ioctl": among(1, IOCTL),
        "prlimit64": is_null(2),
    }


def program(machine: str, pid: int) -> bytes:
    """Return the filter for a machine (``platform.machine()``) and a process."""
    return program_for_all(machine).replace(
        instruction(EQUAL, ANY_PID, 0, 1), instruction(EQUAL, pid, 0, 1)
    )


@functools.cache
def program_for_all(machine: str) -> bytes:
    """Return the filter for a machine, with ``ANY_PID`` instead of the process. A fork server
    assembles it once for all workers.
    """
    code = [
        instruction(LOAD, ARCHITECTURE),
        instruction(EQUAL, AUDIT_ARCH[machine], 1, 0),
        instruction(RETURN, KILL),
        instruction(LOAD, NUMBER),
        instruction(AT_LEAST, X32_BIT, 0, 1),
        fail_with(errno.ENOSYS),
    ]
    for number in table(ALLOWED, machine).values():
        code += [instruction(EQUAL, number, 0, 1), PERMIT]
    checks = blocks(ANY_PID)
    for name, number in table(BY_ARGUMENT, machine).items():
        code += [instruction(EQUAL, number, 0, len(checks[name])), *checks[name]]
    return b"".join([*code, REFUSE])


class SockFprog(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def has_tables() -> bool:
    """Return whether the tables know this machine."""
    return platform.machine() in AUDIT_ARCH


def restrict_calls() -> None:
    """Put the filter on this process permanently; raise OSError if the kernel refuses."""
    code = program(platform.machine(), os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))
    filtering = SockFprog(len(code) // 8, ctypes.addressof(buffer))
    if not prctl(PR_SET_NO_NEW_PRIVS, 1) or not prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(filtering)
    ):
        raise OSError(ctypes.get_errno(), "the kernel takes no seccomp filter")
