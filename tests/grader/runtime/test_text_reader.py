"""A text that takes too much time or memory to read costs its process, and gets a problem that says
so; the next text is read.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator

import pytest

from grader.core.errors import EngineFault
from grader.core.i18n import engine_catalogue
from grader.course.submission import LessonFile, decode
from grader.runtime import text_reader
from grader.runtime.text_reader import OVER_BUDGET, TextReader

RIGHT = b"def double(x): return 2 * x\n"
STALLING = """
import os, signal
from grader.runtime import text_reader
text_reader.TEXT_SECONDS = 1
read = text_reader.ACTIONS["read"]
def stall(frame):
    path = frame.body["path"]
    while path == "slow.py":
        pass
    if path == "large.py":
        bytearray(4 * text_reader.MEMORY_BYTES)
    if path == "leaves.py":
        text_reader.left = bytearray(text_reader.MEMORY_BYTES * 2 // 3)
    if path == "half.py":
        bytearray(text_reader.MEMORY_BYTES // 2)
    if path == "killed.py":
        os.kill(os.getpid(), signal.SIGKILL)
    if path == "broken.py":
        raise AssertionError("a bug")
    return read(frame)
text_reader.ACTIONS["read"] = stall
text_reader.main()
"""


@pytest.fixture
def reader() -> Iterator[TextReader]:
    with contextlib.closing(TextReader()) as made:
        yield made


@pytest.fixture
def stalling(reader: TextReader, monkeypatch: pytest.MonkeyPatch) -> TextReader:
    """Return a reader whose process stalls at files of certain names."""
    command = [sys.executable, "-c", STALLING]
    monkeypatch.setattr(text_reader, "isolated_command", lambda _: command)
    return reader


@pytest.mark.linux
@pytest.mark.parametrize("path", ["slow.py", "large.py"])
def test_a_text_over_the_budget_has_a_problem_and_the_next_one_is_read(
    path: str, stalling: TextReader
) -> None:
    file = stalling.decode("tiny", path, RIGHT)
    assert file.problem is not None
    assert file.problem.startswith(f"{path} takes more than")
    assert engine_catalogue("ko")(OVER_BUDGET, **file.facts) != file.problem
    assert stalling.decode("tiny", "tiny.py", RIGHT) == decode("tiny", "tiny.py", RIGHT)


@pytest.mark.linux
def test_what_earlier_texts_left_in_memory_does_not_count(stalling: TextReader) -> None:
    for path in ("leaves.py", "half.py"):
        assert stalling.decode("tiny", path, RIGHT).text == RIGHT.decode()


@pytest.mark.linux
@pytest.mark.parametrize("path", ["killed.py", "broken.py"])
def test_what_is_not_the_texts_fault_is_a_grader_fault(path: str, stalling: TextReader) -> None:
    with pytest.raises(EngineFault):
        stalling.decode("tiny", path, RIGHT)
    assert stalling.decode("tiny", "tiny.py", RIGHT).text == RIGHT.decode()


FILES = {
    "right": RIGHT,
    "Korean": "# \u3042\uac12\n".encode("cp949"),
    "no text": b"\0",
    "surrogates in its path": RIGHT,
    "unreadable": None,
    "not Python": b"def double(x: return",
    "a notebook": json.dumps(
        {"nbformat": 4, "cells": [{"cell_type": "code", "source": "%x\nx = 1"}]}
    ).encode(),
    "no notebook": b"[" * 100_000,
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_decoded_like_here(kind: str, reader: TextReader) -> None:
    notebook = "notebook" in kind
    path = "\udc80.py" if "path" in kind else "tiny.ipynb" if notebook else "tiny.py"

    def facts(file: LessonFile) -> object:
        return file, file.template, file.facts

    assert facts(reader.decode("tiny", path, FILES[kind], notebook=notebook)) == facts(
        decode("tiny", path, FILES[kind], notebook=notebook)
    )


def test_after_ctrl_c_no_answer_is_taken_for_another_ones(
    reader: TextReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text that was being read is not the next file's."""

    def interrupted(stream: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(text_reader, "read_frame", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reader.decode("tiny", "tiny.py", b"first = 1\n")
    assert reader.decode("tiny", "tiny.py", b"second = 2\n").text == "second = 2\n"


def test_a_definition_is_cut_out(reader: TextReader) -> None:
    text = "import math\ndef f(x): return g(x)\ndef h(): pass\ndef g(x): return 값\n"
    assert reader.excerpt(text, "f") == "def f(x): return g(x)\n\n\ndef g(x): return 값"
