"""Grade a class on a real Dask cluster: the same bytes as locally, workers that refuse, and workers
that are lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from batch_process import REST, stable_files, write_answers

import grader
from grader.classroom import cluster as clusters
from grader.classroom.batch import PageOptions, render
from grader.classroom.cluster import ClusterAnswer, answer, connected, task_for
from grader.classroom.gradebook.entry import PersonalPart
from grader.cli import batch_screen, main
from grader.cli.batch import BatchOptions, grade_class
from grader.core.errors import EngineFault, ExitCode, UsageError
from grader.core.files import engine_hash, torch_version
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course, find_course, load_course
from grader.course.notebook import LeftOut
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

pytestmark = pytest.mark.fork

RIGHT = "def double(x): return 2 * x\n" + REST
IN_TORCH = "'torch' in __import__('sys').modules"


def batch_options(place: Path, out: Path, **options: Any) -> BatchOptions:
    return BatchOptions(
        **{"place": place, "out": out, "seed": 5, "sandbox": "auto", "lang": "en", **options}
    )


class Cluster:
    """A scheduler and workers of one thread each, as processes. Workers have no nanny, so a killed
    one stays away.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str, path: Path = Path(grader.__file__).parents[1]) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": str(path),
            "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error",
        }
        options = ("--scheduler-file", str(self.file), "--no-dashboard")
        command = [sys.executable, "-W", "ignore", "-m", "dask", *words, *options]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, cwd=self.folder
            )

    def start_scheduler(self) -> None:
        self.start("scheduler", "scheduler", "--port", "0", "--host", "127.0.0.1")

    def start_worker(self, name: str, **options: Any) -> None:
        self.start(name, "worker", "--no-nanny", "--nthreads", "1", "--name", name, **options)

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a scheduler with two workers."""
    with contextlib.closing(Cluster(tmp_path)) as running:
        running.start_scheduler()
        for name in ("one", "two"):
            running.start_worker(name)
        yield running


# ----------------------------------------------------------------------------------- real processes


@pytest.mark.proof
@pytest.mark.filterwarnings("default")  # what Dask warns of is not ours
def test_a_cluster_that_loses_a_worker_grades_as_one_machine_does(
    tmp_path: Path, cluster: Cluster, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes are the same, each result is kept once, and no Dask worker ever imported torch."""
    from distributed import Client

    place = write_answers(tmp_path / "class", 24)
    here = batch_options(place, tmp_path / "here", workers=2)
    assert grade_class(small_course, here) is ExitCode.OK
    there = batch_options(place, tmp_path / "there", workers=0, scheduler=str(cluster.file))
    killed: list[dict[str, Any]] = []

    def kill_one(done: int) -> None:
        if done >= 5 and not killed:
            killed.append(client.processing())
            cluster.processes["two"].send_signal(signal.SIGKILL)

    with Client(scheduler_file=str(cluster.file), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        monkeypatch.setattr(batch_screen.Meter, "update", lambda _, done: kill_one(done))
        status = grade_class(small_course, there)
        assert client.run(eval, IN_TORCH) == dict.fromkeys(client.nthreads(), False)
        assert len(client.nthreads()) == 1
    assert status is ExitCode.OK
    assert len(killed[0]) == 2  # both were at work
    assert stable_files(tmp_path / "there") == stable_files(tmp_path / "here")


@pytest.mark.filterwarnings("default")
def test_a_worker_without_the_package_ends_the_run_with_the_reason(
    tmp_path: Path, small_course: Course
) -> None:
    """The worker can't import the function, but must not die of it, because then nobody would
    answer.
    """
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['grader'] = None\n")
    place = write_answers(tmp_path / "class", 2)
    with contextlib.closing(Cluster(tmp_path)) as running:
        running.start_scheduler()
        running.start_worker("bare", path=tmp_path)
        deadline = time.monotonic() + 60
        while not running.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        options = batch_options(place, tmp_path / "out", workers=0, scheduler=str(running.file))
        with pytest.raises(UsageError, match=r"has no module grader.*gradlings\[cluster\]"):
            grade_class(small_course, options)


def test_a_cluster_without_workers_is_said_once_until_it_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clusters, "LOOK_FOR_WORKERS_SECONDS", 0.0)
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    workers: dict[str, int] = {}
    said: list[str] = []
    cluster = clusters.Cluster(SimpleNamespace(nthreads=lambda: workers), said.append)  # type: ignore[arg-type]
    counts = []
    for there in (0, 0, 0, 1, 0, 0):
        now[0] += clusters.NO_WORKER_SECONDS
        workers.clear()
        workers.update({"tcp://here": there} if there else {})
        cluster.look_for_workers()
        counts.append(len(said))
    assert counts == [0, 1, 1, 1, 1, 2]
    assert "nothing is graded. Start a worker" in said[0]


# ---------------------------------------------------------------------------------- in this process


class LocalClient:
    """A client whose cluster is this process; what crosses is text, as in a real cluster."""

    def __init__(self, worker: Callable[[str], str] = answer) -> None:
        self.worker = worker
        self.asked: list[dict[str, Any]] = []

    def nthreads(self) -> dict[str, int]:
        return {"tcp://here": 2}

    def submit(self, function: Callable[[str], str], text: str, **_: Any) -> Future[str]:
        assert "<locals>" in function.__qualname__  # so it is sent as code
        self.asked.append(json.loads(text))
        future: Future[str] = Future()
        try:
            future.set_result(self.worker(text))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def worker(host: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a task as a worker does, with the tests' host."""
    monkeypatch.setattr(clusters, "warm_host", lambda: host)


@pytest.fixture
def grade_here(
    tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., ExitCode]:
    """Return ``grade_here(client)``, which grades a small class by a simulated cluster."""

    def run(client: LocalClient) -> ExitCode:
        cluster = contextlib.nullcontext(clusters.Cluster(client))  # type: ignore[arg-type]
        monkeypatch.setattr(clusters, "connected", lambda scheduler, say: cluster)
        place = tmp_path / "class"
        place = place if place.exists() else write_answers(place, 3)
        options = batch_options(place, tmp_path / "out", workers=1, scheduler="tcp://here")
        return grade_class(small_course, options)

    return run


def question(course: Course, **settings: Any) -> dict[str, Any]:
    terms = Settings(**{"seed": 3, "sandbox": "auto", "limits": course.limits, **settings})
    return task_for(
        "run",
        course,
        ["tiny"],
        {"tiny": LessonFile("tiny", "tiny.py", RIGHT)},
        terms,
        name="someone",
        page=PageOptions(PersonalPart("Ann"), reveal=False),
    ).as_json()


def answered(small: Course, **changed: Any) -> ClusterAnswer:
    """Return a worker's answer to a question that was ``changed``."""
    return ClusterAnswer.from_json(json.loads(answer(json.dumps({**question(small), **changed}))))


def without_times(report: Report) -> Report:
    lessons = [
        replace(one, seconds=0.0, checks=tuple(replace(check, seconds=0.0) for check in one.checks))
        for one in report.lessons
    ]
    return replace(report, seconds=0.0, lessons=tuple(lessons))


WITHOUT_NAME = PageOptions(PersonalPart(), reveal=True)
NOTEBOOK = LessonFile(
    "tiny", "tiny.ipynb", RIGHT, cells=((2, 1), (4, 2)), left_out=(LeftOut("%timeit", 4, 3),)
)


@pytest.mark.parametrize(
    "file",
    [
        LessonFile("tiny", "tiny.py", RIGHT),
        LessonFile("tiny", "tiny.py", template="empty"),
        NOTEBOOK,
    ],
)
def test_a_worker_answers_with_the_report_that_is_made_here(
    worker: None, host: ForkServerClient, small_course: Course, file: LessonFile
) -> None:
    terms, files = Settings(3, "auto", small_course.limits), {"tiny": file}
    here = grade_submission(host, small_course, small_course.lessons, files, terms, name="someone")
    task = task_for("run", small_course, ["tiny"], files, terms, name="someone", page=WITHOUT_NAME)
    there = ClusterAnswer.from_json(json.loads(answer(json.dumps(task.as_json()))))
    graded = there.graded()
    assert without_times(graded.report) == without_times(here)
    assert graded.page == render(graded.report, WITHOUT_NAME)


def test_a_worker_renders_the_page_with_what_only_the_gradebook_knows(
    worker: None, small_course: Course
) -> None:
    """The client does not render it again; without page options there is no page."""
    page = answered(small_course).graded().page
    assert page is not None and b"Ann" in page
    assert answered(small_course, page=None).graded().page is None


def test_a_class_goes_to_the_cluster_as_text_and_comes_back_graded(
    worker: None, tmp_path: Path, grade_here: Callable[..., ExitCode], small_course: Course
) -> None:
    """The bytes are the same as without a cluster. The task has the student's text, but not the
    gradebook or its secret. The first task is the lesson's reference.
    """
    client = LocalClient()
    assert grade_here(client) is ExitCode.OK
    local = batch_options(tmp_path / "class", tmp_path / "local")
    assert grade_class(small_course, local) is ExitCode.OK
    assert stable_files(tmp_path / "out") == stable_files(tmp_path / "local")
    reference, *asked = client.asked
    assert [one["files"][0]["text"].splitlines()[0] for one in asked] == ["# 0", "# 1", "# 2"]
    assert {one["settings"]["seed"] for one in asked} == {reference["settings"]["seed"]}
    keys = "run engine_hash torch_version course_path course_hash lessons files settings name page"
    assert {key for one in client.asked for key in one} == {*keys.split()}


@pytest.mark.parametrize(
    ("key", "here"), [("engine_hash", engine_hash()), ("torch_version", torch_version())]
)
def test_a_worker_with_another_engine_or_torch_refuses(
    key: str, here: str, small_course: Course
) -> None:
    """The message names its version and the client's."""
    said = answered(small_course, **{key: "0.0.7"}).refused
    assert said.startswith(f"{socket.gethostname()}: its {key.replace('_', ' ')} is {here}")
    assert "the client has 0.0.7. Install on all workers" in said


def test_a_copied_engine_with_one_changed_line_refuses(
    tmp_path: Path, small_course: Course
) -> None:
    """Its version is the same, but the hash of its code is not. An unchanged copy grades."""
    package = Path(grader.__file__).parent
    copy = tmp_path / "grader"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__", "_course"))
    shutil.copytree(package.parent / "templates", tmp_path / "templates")
    asks = (
        "import json, sys; from grader.classroom import cluster;"
        " cluster.grade_and_repair = lambda *_, **__: 1 // 0;"
        " print(cluster.answer(sys.stdin.read()))"
    )

    def asked_there() -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-c", asks],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            input=json.dumps(question(small_course)),
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    assert "ZeroDivisionError" in asked_there()["fault"]
    scoring = copy / "core" / "scoring.py"
    text = scoring.read_text("utf-8")
    line = "return max_points if outcome is Outcome.PASSED else 0.0"
    assert line in text
    scoring.write_text(text.replace(line, line.replace("max_points", "max_points / 2")), "utf-8")
    said = asked_there()["refused"]
    assert f"the client has {engine_hash()}" in said


def test_a_worker_that_is_too_old_to_refuse_is_refused(
    worker: None, grade_here: Callable[..., ExitCode]
) -> None:
    """Its report doesn't say which engine made it."""

    def old(text: str) -> str:
        made = json.loads(answer(text))
        del made["report"]["engine_hash"], made["report"]["torch_version"]
        return json.dumps(made)

    with pytest.raises(
        UsageError, match=r"graded with engine unknown and torch unknown.*Install on all workers"
    ):
        grade_here(LocalClient(old))


def test_a_worker_with_another_course_refuses(small_course: Course) -> None:
    """The message names both hashes. A course at another path is named with its path."""
    path = str(small_course.root)
    said = answered(small_course, course_path=path, course_hash="0123456789abcdef").refused
    assert "0123456789abcdef" in said and small_course.hash in said
    assert "/nowhere" in answered(small_course, course_path="/nowhere").refused


def test_the_course_that_came_along_goes_by_its_hash_alone() -> None:
    """A worker may have it at any path."""
    course = load_course(find_course())
    task = task_for(
        "run", course, [course.lessons[0].id], {}, Settings(1), name="someone", page=None
    )
    assert (task.course_path, task.course_hash) == (None, course.hash)


def test_a_course_that_changed_is_read_anew_by_the_next_run(
    tmp_path: Path, small_course: Course
) -> None:
    """Otherwise a long-running worker would mix yesterday's checks with today's files."""
    root = tmp_path / "course"
    shutil.copytree(small_course.root, root)
    assert clusters.same_course(str(root), small_course.hash, "monday").root == root
    with (root / "solutions" / "tiny.py").open("a") as file:
        file.write("# tuesday\n")
    with pytest.raises(UsageError, match=small_course.hash):
        clusters.same_course(str(root), small_course.hash, "tuesday")


def test_a_worker_without_the_guarantees_refuses(worker: None, small_course: Course) -> None:
    """The worker's own sandbox counts, not the client's."""
    settings = question(small_course, sandbox="require", without=("landlock",))["settings"]
    said = answered(small_course, settings=settings).refused
    assert said.startswith(socket.gethostname())
    assert "files" in said


def test_a_refusal_ends_the_run_and_names_the_machine(grade_here: Callable[..., ExitCode]) -> None:
    with pytest.raises(UsageError, match=r"A Dask worker refuses: node7: no sandbox"):
        grade_here(LocalClient(lambda text: json.dumps({"refused": "node7: no sandbox"})))


def test_a_fault_of_a_worker_is_a_row_and_no_zero(
    worker: None, tmp_path: Path, grade_here: Callable[..., ExitCode]
) -> None:
    """The others are graded; the next run tries it again."""

    def once(text: str) -> str:
        if json.loads(text)["name"] == "student01":
            return json.dumps({"fault": "node7: KeyError('x')"})
        return answer(text)

    assert grade_here(LocalClient(once)) is ExitCode.ENGINE_FAULT
    entries = {
        one["submission"]: one["gradebook"]
        for one in json.loads((tmp_path / "out" / "results.json").read_text())
    }
    assert [entry["score"] is None for entry in entries.values()] == [False, True, False]
    assert "node7: KeyError" in entries["student01"]["problem"]
    again = LocalClient()
    assert grade_here(again) is ExitCode.OK
    assert [one["name"] for one in again.asked] == ["tiny", "student01"]


def test_a_submission_whose_workers_all_died_is_tried_once_more(
    worker: None, tmp_path: Path, grade_here: Callable[..., ExitCode], small_course: Course
) -> None:
    """In the same run: it gets the same mark as if no worker had died."""
    lost: list[str] = []

    def dies_at_first(text: str) -> str:
        if json.loads(text)["name"] == "student01" and not lost:
            lost.append(text)
            raise dask_error("KilledWorker")
        return answer(text)

    client = LocalClient(dies_at_first)
    assert grade_here(client) is ExitCode.OK
    assert [one["name"] for one in client.asked].count("student01") == 2
    options = batch_options(tmp_path / "class", tmp_path / "local")
    assert grade_class(small_course, options) is ExitCode.OK
    assert stable_files(tmp_path / "out") == stable_files(tmp_path / "local")


def test_what_a_worker_raises_is_told_as_text(
    worker: None, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "grade_and_repair", lambda *_, **__: [][0])
    said = f"{socket.gethostname()}: IndexError('list index out of range')"
    assert answered(small_course).fault == said


def cluster_that_returns(future: Future[str]) -> clusters.Cluster:
    return clusters.Cluster(SimpleNamespace(submit=lambda *_, **__: future))  # type: ignore[arg-type]


def grade_by(cluster: clusters.Cluster, course: Course) -> None:
    slot = clusters.ClusterSlot(cluster)
    clusters.grade_in_cluster(slot, course, course.lessons, {}, Settings(1), name="x", page=None)


@pytest.mark.parametrize(
    "raised, kind, said",
    [
        (lambda: CancelledError("lost"), UsageError, "scheduler is gone"),
        (
            lambda: ModuleNotFoundError("No module named 'grader'", name="grader"),
            UsageError,
            "worker has no module grader",
        ),
        (lambda: dask_error("KilledWorker"), EngineFault, "tcp://gone:1"),
    ],
)
def test_what_dask_raises_is_a_message_with_a_remedy(
    small_course: Course, raised: Callable[[], Exception], kind: type[Exception], said: str
) -> None:
    future: Future[str] = Future()
    future.set_exception(raised())
    with pytest.raises(kind, match=said):
        grade_by(cluster_that_returns(future), small_course)


def dask_error(name: str) -> Exception:
    """Return Dask's error for a task that lost four workers."""
    distributed = pytest.importorskip("distributed")
    error: Exception = getattr(distributed, name)(
        "task", SimpleNamespace(address="tcp://gone:1"), 3
    )
    return error


def test_who_waits_for_a_submission_ends_when_the_run_is_stopped(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task is withdrawn, too."""
    monkeypatch.setattr(clusters, "LOOK_SECONDS", 0.01)
    never: Future[str] = Future()
    cluster = cluster_that_returns(never)
    cluster.stopping.set()
    with pytest.raises(EngineFault, match="stopped"):
        grade_by(cluster, small_course)
    assert never.cancelled()


@pytest.mark.parametrize(
    "asked_for, threads, count, slots",
    [(0, 4, 100, 8), (0, 0, 100, 32), (3, 4, 100, 3), (0, 4, 2, 2), (0, 4, 0, 1)],
)
def test_a_cluster_is_kept_busy_and_not_flooded(
    asked_for: int, threads: int, count: int, slots: int
) -> None:
    cluster = clusters.Cluster(SimpleNamespace(nthreads=lambda: {"tcp://here": threads}))  # type: ignore[arg-type]
    assert clusters.cluster_slots(cluster, asked_for, count).count == slots


def test_without_dask_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(UsageError, match=r"pip install 'gradlings\[cluster\]'"),
        connected("tcp://nowhere:1", print),
    ):
        pass


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "address",
    ["tcp://nobody", "carrier-pigeon://here:1", "tcp://127.0.0.1:1", "scheduler.json", "torn.json"],
)
def test_where_no_scheduler_is_it_is_said_with_its_address(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The addresses lack a port, use an unknown protocol, have no listener, or are missing from the
    file.
    """
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 0.2)
    (tmp_path / "scheduler.json").write_text("{}")
    (tmp_path / "torn.json").write_text("{")
    place = str(tmp_path / address) if address.endswith(".json") else address
    with (
        pytest.raises(UsageError, match=f"No Dask scheduler answers at {place}"),
        connected(place, print),
    ):
        pass


@pytest.mark.parametrize("words", [["--executor", "dask"], ["--scheduler", "tcp://here:1"]])
def test_a_cluster_is_asked_for_whole_or_not_at_all(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["batch", str(tmp_path), "--out", str(tmp_path / "out"), *words])
    assert ended.value.code == ExitCode.USAGE
    assert "together, or neither" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
