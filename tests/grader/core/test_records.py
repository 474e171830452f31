"""Records are read by several threads at once."""

import subprocess
import sys

import pytest

READ_EVERYTHING = """
import importlib, os, pkgutil, sys, threading
import grader
from grader.core.report import Record

PACKAGES = ("core", "course", "runtime", "verify", "classroom")
for module in pkgutil.walk_packages(grader.__path__, "grader."):
    if module.name.split(".")[1] in PACKAGES:
        importlib.import_module(module.name)

def below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from below(one)

# a dataclass with slots replaces its class: the first one has no fields and is never read
records = [one for one in below(Record) if hasattr(one, "__dataclass_fields__")]

def read(first, together):
    together.wait()
    for record in records[first:] + records[:first]:
        try:
            record.from_json({})
        except ValueError:
            pass

def child():
    together = threading.Barrier(8)
    threads = [threading.Thread(target=read, args=(n, together)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)

sys.setswitchinterval(1e-6)
print(len(records))
for _ in range(100):
    process = os.fork()
    if process == 0:
        child()
    print(os.waitpid(process, 0)[1])
"""


@pytest.mark.posix
def test_eight_threads_that_read_all_records_for_the_first_time_do_not_crash() -> None:
    """Each of a hundred processes is the first to read any record: msgspec's descriptions of the
    types do not exist yet."""
    ran = subprocess.run(
        [sys.executable, "-c", READ_EVERYTHING], capture_output=True, text=True, check=True
    )
    records, *statuses = map(int, ran.stdout.split())
    assert records > 30
    assert statuses == [0] * 100
