"""Windows and macOS: run our commands on a simulated system (``fake_platform``), and test the code
for those systems.
"""

from __future__ import annotations

import ast
import ctypes
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pexpect
import pytest
import yaml
from fake_platform import interpreter

import grader
from grader.cli.workspace import quoted
from grader.core.i18n import wanted_language
from grader.core.processes import users_environment
from grader.judge.remote.workers import ExitStatus
from grader.runtime.client import ForkServerClient
from grader.runtime.server_process import SpawnedServer

PACKAGE = Path(grader.__file__).parent
SMALL = Path(__file__).parent / "small_course"
RIGHT = 'print("안녕 ✘")\ndef double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n'
SYSTEMS = ("windows", "macos")
ENCODING = {"windows": "cp949", "macos": "utf-8"}
RUN_COMMANDS = """
import json, sys
from grader.cli import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as end:
        print("exit", int(end.code or 0), *words)
"""


@dataclass(frozen=True)
class OtherPlatform:
    """A Python on Linux in which our code sees another system."""

    system: str
    python: Path

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(PACKAGE.parent), "LANG": "C.UTF-8"}

    def run(self, folder: Path, *words: str, code: str | None = None) -> tuple[int, str]:
        """Run ``grade`` or some code in a folder; return the exit code and all output."""
        command = [str(self.python), *(["-m", "grader"] if code is None else ["-c", code]), *words]
        done = subprocess.run(
            command,
            cwd=folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=1800,
        )
        return done.returncode, done.stdout.decode(ENCODING[self.system], "replace")

    def run_commands(self, folder: Path, *commands: str) -> tuple[list[int], str]:
        """Run ``grade`` with these lines in one process; return their exit codes and all output."""
        words = json.dumps([shlex.split(line) for line in commands])
        _, said = self.run(folder, words, code=RUN_COMMANDS)
        exits = [line.split() for line in said.splitlines() if line.startswith("exit ")]
        return [int(code) for _, code, *_ in exits], said


def simulated(system: str, folders: pytest.TempPathFactory) -> OtherPlatform:
    return OtherPlatform(system, interpreter(folders.mktemp(system), system))


@pytest.fixture(scope="module", params=SYSTEMS)
def other_platform(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> OtherPlatform:
    """Simulate each of the systems in turn."""
    return simulated(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> OtherPlatform:
    return simulated("windows", tmp_path_factory)


def write_file(folder: Path, path: str, text: str) -> Path:
    """Write a student's file as an editor on Windows does."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, "utf-8", newline="\r\n")
    return folder


# ----------------------------------------------------------------------------- the simulated system


@pytest.mark.linux
def test_the_simulation_hides_what_the_system_lacks(
    other_platform: OtherPlatform, tmp_path: Path
) -> None:
    """Our code does not see it, packages do; otherwise the tests below would prove nothing."""
    (tmp_path / "test_it.py").write_text(
        "import os, signal, socket, sys\n"
        "has = hasattr(os, 'sched_getaffinity'), hasattr(socket, 'AF_UNIX')\n"
        "print(sys.platform, *has, hasattr(signal, 'SIGKILL'))\n"
        "try:\n"
        "    import resource; print('resource')\n"
        "except ImportError: print('none')\n"
        "open('written', 'w').write('가\\n')\n",
        "utf-8",
    )
    code, said = other_platform.run(
        tmp_path, code="import sys; sys.path.insert(0, '.'); import test_it; print(sys.platform)"
    )
    here = {
        "windows": "win32 False False False\nnone\nlinux",
        "macos": "darwin False True True\nresource\nlinux",
    }
    assert (code, said.strip()) == (0, here[other_platform.system])
    assert (tmp_path / "written").read_bytes() == {
        "windows": "가\r\n".encode("cp949"),
        "macos": "가\n".encode(),
    }[other_platform.system]


@pytest.mark.linux
def test_the_simulation_keeps_what_is_open_and_nothing_else(
    windows: OtherPlatform, tmp_path: Path
) -> None:
    """Links to open files, or to themselves, can be removed; pytest may find some of an earlier
    run.
    """
    (tmp_path / "old" / "deep").mkdir(parents=True)
    (tmp_path / "old" / "deep" / "loop").symlink_to("loop")
    (tmp_path / "old" / "deep" / "link").symlink_to(tmp_path / "open")
    code = (
        "import os, shutil\n"
        "with open('open', 'w'):\n"
        "    shutil.rmtree('old')\n"
        "    try:\n"
        "        os.unlink('open')\n"
        "    except PermissionError as error: print(error.filename)\n"
        "os.unlink('open')\n"
    )
    assert windows.run(tmp_path, code=code) == (0, "open\n")
    assert list(tmp_path.iterdir()) == []


# ----------------------------------------------------------------------------------------- commands


@pytest.mark.linux
def test_what_takes_no_grading_works(other_platform: OtherPlatform, tmp_path: Path) -> None:
    """Folders and courses are made, lessons listed, hints and completions shown, a lesson reset;
    nothing gets CR LF.
    """
    codes, said = other_platform.run_commands(
        tmp_path, "--help", "init 'my work'", "new savings --course mine"
    )
    assert codes == [0, 0, 0], said
    assert ('cd "my work"' if other_platform.system == "windows" else "cd 'my work'") in said
    hooks = tmp_path / "my work" / "hooks" / "hooks.py"
    hooks.write_text("x = 1\r\n", "utf-8", newline="")
    codes, said = other_platform.run_commands(
        tmp_path / "my work",
        *("list", "next", "hint hooks", "list --lang ko", "hint hooks --lang ko"),
        "reset hooks --yes",
    )
    assert codes == [0] * 6, said
    assert hooks.with_name("hooks.py.1").read_bytes() == b"x = 1\r\n"
    hooks.with_name("hooks.py.1").unlink()
    files = [path for path in tmp_path.rglob("*.*") if path.is_file()]
    assert [path for path in files if b"\r" in path.read_bytes()] == []


@pytest.mark.linux
def test_a_lesson_is_graded_on_windows(windows: OtherPlatform, tmp_path: Path) -> None:
    """The file has Windows line ends and prints letters that cp949 lacks; the report says what did
    not hold.
    """
    write_file(tmp_path, "tiny.py", RIGHT)
    code, said = windows.run(
        tmp_path, "tiny", "--json", "report.json", "--course", str(SMALL), "--sandbox", "auto"
    )
    assert code == 0, said
    assert "10 / 10" in said
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["sandbox"]["guarantees"] == ["environment", "descriptors"]
    assert report["lessons"][0]["file"] == "tiny.py"
    for name in ("report.json", "report.html"):
        assert b"\r" not in (tmp_path / name).read_bytes()


@pytest.mark.proof
@pytest.mark.linux
def test_a_class_is_graded_and_exported(other_platform: OtherPlatform, tmp_path: Path) -> None:
    """One prints, one loops, one crashes; exit statuses differ, points do not."""
    rest = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
    loops = "def double(x):\n    while True: pass\n"
    crashes = "import ctypes\ndef double(x): return ctypes.string_at(0)\n"
    for name, text in {"alice": RIGHT, "bob": loops + rest, "홍길동": crashes + rest}.items():
        write_file(tmp_path / "class", f"{name}/tiny.py", text)
    line = f"batch class --out out --workers 1 --sandbox auto --course {shlex.quote(str(SMALL))}"
    _, said = other_platform.run(tmp_path, *shlex.split(line))
    assert "3 graded" in said, said
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    scores = {one["submission"]: one["score"] for one in results}
    assert scores == {"alice": 10.0, "bob": 5.0, "홍길동": 5.0}
    outcomes = {
        one["submission"]: {check["outcome"] for check in one["lessons"][0]["checks"]}
        for one in results
    }
    assert "timeout" in outcomes["bob"]
    assert "crashed" in outcomes["홍길동"]
    codes, said = other_platform.run_commands(
        tmp_path, *(f"export out --to {name}" for name in ("csv", "json", "gradescope", "junit"))
    )
    assert codes == [0] * 4, said
    assert not [path for path in (tmp_path / "out").rglob("*.json") if b"\r" in path.read_bytes()]


@pytest.mark.proof
@pytest.mark.linux
def test_a_bundle_is_released_a_check_replayed_a_graph_drawn(
    other_platform: OtherPlatform, tmp_path: Path
) -> None:
    write_file(tmp_path, "tiny.py", RIGHT.replace("2 * x", "x * x"))
    course = f"--course {shlex.quote(str(SMALL))}"
    codes, said = other_platform.run_commands(
        tmp_path,
        f"release bundle {course}",
        f"replay tiny.double --show --sandbox auto {course}",
        "graph tiny.py:double --svg graph.svg",
    )
    assert codes == [0, 1, 0], said
    assert not [path for path in tmp_path.rglob("*.svg") if b"\r" in path.read_bytes()]


@pytest.mark.proof
@pytest.mark.linux
def test_watch_answers_to_keys_and_saves(other_platform: OtherPlatform, tmp_path: Path) -> None:
    """On Windows, keys come from msvcrt."""
    write_file(tmp_path, "tiny.py", RIGHT.replace("2 * x", "x * x"))
    words = ["-m", "grader", "watch", "--poll", "--sandbox", "auto", "--course", str(SMALL)]
    environment = other_platform.environment() | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    child = pexpect.spawn(
        str(other_platform.python),
        words,
        cwd=str(tmp_path),
        env=environment,
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=120,
    )
    child.expect("5 / 10")
    write_file(tmp_path, "tiny.py", RIGHT)
    child.expect("10 / 10")
    child.send("?")
    child.expect("a hint for what is wrong")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.proof
@pytest.mark.linux
def test_the_tests_can_be_collected(other_platform: OtherPlatform) -> None:
    """Everything that a test file imports exists there, or its absence is a reason to skip."""
    root = PACKAGE.parent
    code, said = other_platform.run(
        root, "--collect-only", "-q", "tests/grader", "tests/attacks", "tests/mutants", code=PYTEST
    )
    assert code == 0, said[-3000:]


PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


# ----------------------------------------------------------------------------------- what is theirs


def test_a_worker_ends_with_its_judge_from_within_an_endless_loop() -> None:
    """Without process groups and a limit on processor time, nothing else would end it."""
    code = (
        "from grader.worker.spawned import StdinWatchdog\n"
        "print(StdinWatchdog(0).read(2), flush=True)\n"
        "while True: pass"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=PACKAGE.parent,
    ) as worker:
        assert worker.stdin and worker.stdout
        worker.stdin.write(b"ab")
        worker.stdin.flush()
        assert worker.stdout.readline() == b"b'ab'\n"
        worker.stdin.close()
        try:
            assert worker.wait(30) == 0
        finally:
            worker.kill()


def test_a_host_is_interrupted_as_the_system_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGINT is used; Windows can't send it to another process, so the process is ended."""
    told: list[object] = []
    process = SimpleNamespace(
        poll=lambda: None, send_signal=told.append, terminate=lambda: told.append("terminate")
    )
    server = SpawnedServer.__new__(SpawnedServer)
    server._process = process  # type: ignore[assignment]
    host = ForkServerClient.__new__(ForkServerClient)
    host._process = server
    monkeypatch.setattr(sys, "platform", "darwin")
    host.interrupt()
    monkeypatch.setattr(sys, "platform", "win32")
    host.interrupt()
    assert told == [signal.SIGINT, "terminate"]


def test_a_status_of_windows_is_told_by_its_digits() -> None:
    assert ExitStatus.of_code(0xC0000005).facts == {"status": "0xC0000005"}
    assert ExitStatus.of_code(3).facts == {"status": 3}


def test_a_folder_is_quoted_for_the_systems_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backslash needs no quotes on Windows, a space does."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert quoted(Path("it's mine")) == "'it'\"'\"'s mine'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert [quoted(Path(name)) for name in (r"C:\me\work", r"C:\my work")] == [
        r"C:\me\work",
        r'"C:\my work"',
    ]


@pytest.mark.parametrize(("number", "lang"), [(0x0412, "ko"), (0x0407, "en")])
def test_the_language_of_windows_is_taken_where_no_variable_names_one(
    monkeypatch: pytest.MonkeyPatch, number: int, lang: str
) -> None:
    for name in ("GRADE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    kernel = SimpleNamespace(GetUserDefaultUILanguage=lambda: number)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert wanted_language(None) == "en"
    monkeypatch.setattr(sys, "platform", "win32")
    assert wanted_language(None) == lang
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    assert wanted_language(None) == "en"


def test_a_file_of_the_users_own_may_print_what_the_terminal_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The encoding stays the same."""
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    said = subprocess.run(
        [sys.executable, "-c", "print('✘ é')"],
        env=users_environment(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert said.rstrip() == b"? \xe9"


# --------------------------------------------------------------------------------------- text files


def opened_with_defaults(path: Path) -> Iterator[str]:
    """Return where a text file is opened without an encoding, or written without line ends."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = (
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        )
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        given = {keyword.arg for keyword in node.keywords}
        texts = [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if name in ("read_text", "write_text") and owner != "formatter":  # click's, of help
            safe = "encoding" in given or "utf-8" in texts
            safe = safe and (name == "read_text" or "newline" in given)
        elif name == "fdopen" or (
            name == "open" and owner in ("", "io", "Path") and len(node.args) > 0
        ):
            mode = next((text for text in texts if set(text) <= set("rwaxbt+")), "r")
            safe = "b" in mode or (
                bool(given & {"encoding"} or "utf-8" in texts)
                and (mode == "r" or "newline" in given)
            )
        else:
            continue
        if not safe:
            yield f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def test_every_text_file_is_opened_with_an_encoding_and_line_ends() -> None:
    """Windows would use another encoding and other line ends, so folders made there would
    differ.
    """
    assert [
        place
        for path in PACKAGE.rglob("*.py")
        if "_course" not in path.parts
        for place in opened_with_defaults(path)
    ] == []


def test_a_file_opened_with_defaults_is_found(tmp_path: Path) -> None:
    (tmp_path / "it.py").write_text(
        "open(x)\n"
        "open(x, 'rb')\n"
        "p.write_text(t, 'utf-8')\n"
        "p.read_text()\n"
        "os.fdopen(1, 'w', 1, 'utf-8')\n",
        "utf-8",
    )
    found = [place.split(":")[1] for place in opened_with_defaults(tmp_path / "it.py")]
    assert found == ["1", "3", "4", "5"]


# ------------------------------------------------------------------------------------- the workflow


def ci_arguments() -> list[str]:
    """Return pytest's arguments in continuous integration on macOS and Windows."""
    workflow = PACKAGE.parent / ".github" / "workflows" / "ci.yml"
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["other-platforms"]
    assert job["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]
    (command,) = (step["run"] for step in job["steps"] if "pytest" in step.get("run", ""))
    return shlex.split(command.partition("pytest ")[2])


def test_the_workflow_names_tests_that_are_there() -> None:
    places = [word for word in ci_arguments() if word.startswith("tests/")]
    assert places
    assert [place for place in places if not (PACKAGE.parent / place).exists()] == []


@pytest.mark.linux
@pytest.mark.proof
def test_what_the_workflow_runs_on_other_platforms_passes_there(
    other_platform: OtherPlatform,
) -> None:
    code, said = other_platform.run(
        PACKAGE.parent, "-q", "-p", "no:cacheprovider", *ci_arguments(), code=PYTEST
    )
    assert code == 0, said[-3000:]
