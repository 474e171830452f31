"""Measure what confining a worker costs: the milliseconds from the fork to its first message.

    python tests/benchmarks/workers.py [--rounds N]

It prints one JSON object: the medians of a worker without the sandbox, with all layers, and with
all but one, and of a fork that ends at once. The kinds are measured in turn. The script imports
what the fork server imports and forks from this process, as the fork server does.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import time

from grader.core.limits import Limits
from grader.core.messages import WorkerHello, WorkerOptions
from grader.core.report import describe
from grader.judge.remote.channel import SocketChannel
from grader.judge.remote.workers import read_hello
from grader.runtime.fork_server import import_torch
from grader.runtime.forked_workers import end_worker, worker_process
from grader.runtime.worker_template import become_template
from grader.worker.sandbox import GUARANTEES, LAYERS, Prepared, hide, prepare
from grader.worker.sandbox.scratch import remove_scratch


def milliseconds_to_start(terms: WorkerOptions, prepared: Prepared) -> float:
    """Fork a worker, wait until it reports its guarantees, and end it; return the milliseconds."""
    began = time.perf_counter()
    line, far_line = socket.socketpair()
    output, far_output = os.pipe()
    pid = os.fork()
    if pid == 0:
        worker_process(far_line.fileno(), far_output, terms, prepared)
    far_line.close()
    os.close(far_output)
    worker = read_hello(SocketChannel(line, output, output_bytes=1 << 14), pid)
    took = 1000 * (time.perf_counter() - began)
    assert terms.sandbox == "off" or terms.without or set(worker.guarantees) == set(GUARANTEES), (
        worker.missing
    )
    worker.channel.close()
    end_worker(pid, died=False)
    return took


def milliseconds_to_fork() -> float:
    """Fork a process that ends at once, and wait for its end; return the milliseconds."""
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    """Measure all kinds in turn, and print the medians."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=40)
    rounds = options.parse_args().rounds
    import_torch()
    hide()
    prepared = prepare()
    describe(WorkerHello)  # while its module can be found
    become_template()
    layers = [layer for layer in LAYERS if layer != "descriptors"]
    kinds = {"off": WorkerOptions(Limits(), "off", ()), "all": WorkerOptions(Limits(), "auto", ())}
    kinds |= {f"all but {layer}": WorkerOptions(Limits(), "auto", (layer,)) for layer in layers}
    try:
        times: dict[str, list[float]] = {kind: [] for kind in ("fork", *kinds)}
        for _ in range(rounds + 1):
            times["fork"].append(milliseconds_to_fork())
            for kind, terms in kinds.items():
                times[kind].append(milliseconds_to_start(terms, prepared))
    finally:
        remove_scratch(prepared.scratch)
    print(json.dumps({kind: round(statistics.median(kept[1:]), 3) for kind, kept in times.items()}))


if __name__ == "__main__":
    main()
