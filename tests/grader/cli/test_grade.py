"""Grading in progress is shown only where somebody sees it; what can't be loaded is not graded."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from in_process import grade_here
from rich.console import Console

from grader.cli.grade import Elapsed, waiting
from grader.core.i18n import Catalogue, engine_catalogue
from grader.runtime.client import ForkServerClient

SMALL_COURSE = Path(__file__).parents[1] / "small_course"


class Terminal(io.StringIO):
    """A terminal's stream, recorded."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def new_host() -> Any:
    """Return a host that has not begun to judge."""
    return SimpleNamespace(judging=False)


def test_what_is_said_while_waiting_is_true(new_host: Any) -> None:
    """Torch is said to be imported until the host judges; if the state is unknown, nothing is
    claimed.
    """
    host, shown = new_host, Elapsed(Catalogue(), new_host)
    shown.began -= 7
    assert "importing torch" in shown.__rich__().plain
    host.judging = None
    assert shown.__rich__().plain == "Grading … 7 s"
    host.judging = True
    assert shown.__rich__().plain == "Grading … running your code, 0 s"
    host.judging = False
    assert "running your code" in shown.__rich__().plain


@pytest.mark.parametrize(
    ("stream", "colors", "lang", "said"),
    [
        (Terminal, True, "en", "Grading …"),
        (Terminal, True, "ko", "채점 중"),
        (Terminal, False, "en", ""),
        (io.StringIO, True, "en", ""),
    ],
    ids=["a terminal", "in Korean", "without colors", "a notebook, where a frame is a line"],
)
def test_grading_is_announced_on_a_terminal_alone(
    stream: type[io.StringIO], colors: bool, lang: str, said: str, new_host: Any
) -> None:
    file = stream()
    console = Console(file=file, force_terminal=colors, width=80)
    with waiting(console, engine_catalogue(lang), new_host):
        pass
    assert said in file.getvalue()
    assert bool(said) is bool(file.getvalue())


class NeverAsked:
    """A host that is closed without a question."""

    closed = False

    def judge(self, *_: object) -> None:
        raise AssertionError("nothing has to run")

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    "text",
    [
        b"def double(x)\n    return 2 * x\n",
        b"x = 1\nreturn x\n",
        b"x = 1\nif x:\n\ty = 1\n        z = 2\n",
        b"\xff\n",
        b"",
    ],
    ids=["colon", "compiler", "tab", "bytes", "empty"],
)
def test_nothing_runs_if_no_file_can_be_loaded(
    text: bytes, tmp_path: Path, host: ForkServerClient
) -> None:
    """The answer is the judge's, which a JSON report needs for the ids of its checks."""
    (tmp_path / "tiny.py").write_bytes(text)
    idle: Any = NeverAsked()
    short = grade_here(idle, tmp_path, "tiny", course=SMALL_COURSE)
    judged = grade_here(host, tmp_path, "tiny", "--json", "r.json", course=SMALL_COURSE)
    assert idle.closed
    assert short.code == judged.code == 1
    unlike = re.compile(r"[\d.]+ s   seed \d+")
    assert unlike.sub("", short.out) == unlike.sub("", judged.out)
    (lesson,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["lessons"]
    assert len(lesson["checks"]) > 1
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "could not be loaded" in page


class Interrupted(NeverAsked):
    """A host that is interrupted while it judges."""

    judging = False

    def judge(self, *_: object) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize(("lang", "said"), [("en", "Stopped: nothing"), ("ko", "중단했습니다.")])
def test_ctrl_c_while_grading_is_one_line(lang: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text("x = 1\n")
    host: Any = Interrupted()
    run = grade_here(host, tmp_path, "tiny", "--lang", lang, course=SMALL_COURSE)
    assert (run.code, run.out) == (130, "")
    assert run.err.startswith(said)
    assert run.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.py"]
