"""The file that keeps a learner's progress: read with care, written whole."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.course.progress import (
    HISTORY_LENGTH,
    LAST_STEP,
    VERSION,
    LessonProgress,
    MistakeRecord,
    Progress,
    ScorePoint,
)

FILE = ".gradlings.json"
MAX_BYTES = 1 << 20
"""No progress is larger; what is, is none."""


def find_workspace(place: Path) -> Path | None:
    """The folder ``place`` or the nearest above it that ``grade init`` made; None where none is."""
    here = place.resolve()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def read_progress(workspace: Path) -> Progress:
    """What the workspace's file says; nothing where it is missing or damaged."""
    data = _data(workspace / FILE)
    if data is None:
        return Progress()
    lessons = {name: _lesson(one) for name, one in _table(data.get("lessons")).items()}
    kept = {key: value for key, value in data.items() if key not in ("version", "lessons")}
    return Progress(lessons, int(_number(data.get("version"), VERSION)), kept)


def update_progress(workspace: Path, change: Callable[[Progress], Progress]) -> Progress:
    """Change the file; raises OSError. A damaged one is kept as ``.damaged``."""
    path = workspace / FILE
    if path.exists() and _data(path) is None:
        with contextlib.suppress(OSError):
            path.replace(path.with_name(FILE + ".damaged"))
    changed = change(read_progress(workspace))
    _write(
        path, json.dumps(_as_json(changed), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    )
    return changed


def _write(path: Path, text: str) -> None:
    """The file with that text, or as it was."""
    handle, name = tempfile.mkstemp(prefix=FILE, dir=path.parent)
    try:
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
        ) as stream:
            stream.write(text)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _as_json(progress: Progress) -> dict[str, Any]:
    lessons = {name: _lesson_as_json(one) for name, one in progress.lessons.items()}
    return {"version": max(VERSION, progress.version), **progress.kept, "lessons": lessons}


def _lesson_as_json(one: LessonProgress) -> dict[str, Any]:
    plain = (
        "attempts",
        "best",
        "last",
        "bonus",
        "completed_at",
        "gave_up_at",
        "stuck_on",
        "wrong",
        "hints",
    )
    mistakes = {
        name: {"check": s.check, "seen_at": s.seen_at, "cleared_at": s.cleared_at, "title": s.title}
        for name, s in one.mistakes.items()
    }
    history = [[point.at, point.score] for point in one.history]
    return {
        **one.kept,
        **{key: getattr(one, key) for key in plain},
        "mistakes": mistakes,
        "history": history,
    }


def _data(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


KNOWN = (
    "attempts",
    "best",
    "last",
    "bonus",
    "completed_at",
    "gave_up_at",
    "stuck_on",
    "wrong",
    "hints",
    "mistakes",
    "history",
)


def _lesson(data: Any) -> LessonProgress:
    data = _table(data)
    mistakes = {
        name: MistakeRecord(
            _text(one.get("check")) or "",
            _text(one.get("seen_at")) or "",
            _text(one.get("cleared_at")),
            _text(one.get("title")),
        )
        for name, one in ((name, _table(one)) for name, one in _table(data.get("mistakes")).items())
    }
    pairs = [
        pair for pair in _list(data.get("history")) if isinstance(pair, list) and len(pair) == 2
    ]
    return LessonProgress(
        attempts=int(_number(data.get("attempts"))),
        best=_number(data.get("best")),
        last=_number(data.get("last")),
        bonus=_number(data.get("bonus")),
        completed_at=_text(data.get("completed_at")),
        gave_up_at=_text(data.get("gave_up_at")),
        stuck_on=_text(data.get("stuck_on")),
        wrong={
            name: int(_number(seed, most=2**32)) for name, seed in _table(data.get("wrong")).items()
        },
        hints={
            name: min(LAST_STEP, int(_number(step)))
            for name, step in _table(data.get("hints")).items()
        },
        mistakes=mistakes,
        history=tuple(ScorePoint(_text(at) or "", _number(score)) for at, score in pairs)[
            -HISTORY_LENGTH:
        ],
        kept={key: value for key, value in data.items() if key not in KNOWN},
    )


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any, default: float = 0.0, *, most: float = 1e9) -> float:
    """A number that is one, finite, not negative, and below ``most``."""
    good = (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value < most
        and math.isfinite(value)
    )
    return value if good else default
