"""Made-up classes, written as the systems write them. ``write_class`` makes the same class in any
layout.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

Files = dict[str, str | bytes]
"""By path, the text."""
Students = dict[str, Files]
"""By a student's name, their files."""
CANVAS_USER, MOODLE_PARTICIPANT, GRADESCOPE_SUBMISSION = 500, 2000, 90000
"""The first student's id; the others follow."""


def write_class(layout: str, folder: Path, students: Students) -> Path:
    """The class in a new folder; what to give to find_class. Zips among the files may be written as
    bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place, files = LAYOUTS[layout](folder, students)
    for path, data in files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def zipped(folder: Path, target: Path) -> Path:
    """A folder's contents as a zip, as a download is before it is unpacked."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder).as_posix())
    return target


Written = tuple[Path, Files]


def _plain(folder: Path, students: Students) -> Written:
    return folder, {
        f"{name}/{path}": data for name, files in students.items() for path, data in files.items()
    }


def _canvas(folder: Path, students: Students) -> Written:
    """Canvas knows no folders within a submission, so only the last part of a path is left."""
    files: Files = {}
    attachment = 70000
    for user, (name, own) in enumerate(students.items(), CANVAS_USER):
        for path, data in own.items():
            attachment += 1
            files[f"{canvas_name(name)}_{user}_{attachment}_{Path(path).name}"] = data
    return folder, files


def canvas_name(name: str) -> str:
    """A name as Canvas writes it: small letters, nothing but them and digits."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == "_")


def _moodle(folder: Path, students: Students) -> Written:
    return folder, {
        f"{name.replace('_', ' ')}_{participant}_assignsubmission_file/{path}": data
        for participant, (name, own) in enumerate(students.items(), MOODLE_PARTICIPANT)
        for path, data in own.items()
    }


def _gradescope(folder: Path, students: Students) -> Written:
    lines = ["---"]
    files: Files = {}
    for number, (name, own) in enumerate(students.items(), GRADESCOPE_SUBMISSION):
        lines += [
            f"submission_{number}:",
            "  :submitters:",
            f"  - :name: {json.dumps(name, ensure_ascii=False)}",
            f"    :sid: 0{number}",
            f"    :email: s{number}@example.edu",
            "  :created_at: 2026-03-01 10:00:00.000000000 Z",
            "  :score: 0.0",
        ]
        files |= {f"submission_{number}/{path}": data for path, data in own.items()}
    return folder / "assignment_77_export", {
        "submission_metadata.yml": "\n".join(lines) + "\n",
        **files,
    }


def _github(folder: Path, students: Students) -> Written:
    files: Files = {}
    for name, own in students.items():
        files |= {f"hw1-{name}/{path}": data for path, data in own.items()}
        files[f"hw1-{name}/.git/HEAD"] = "ref: refs/heads/main\n"
    return folder / "hw1-submissions", files


LAYOUTS: dict[str, Callable[[Path, Students], Written]] = {
    "plain": _plain,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "github": _github,
}
