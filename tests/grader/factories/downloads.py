"""Write a class to disk as each system's download has it: Canvas, Moodle, Gradescope, GitHub."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

Files = dict[str, str | bytes]
"""A file's text by its path; zips are bytes."""
Students = dict[str, Files]
"""A student's files by the student's name."""
Download = tuple[Path, Files]
"""The argument for ``find_class``, and the files to write below it."""
FIRST_CANVAS_USER, FIRST_MOODLE_PARTICIPANT, FIRST_GRADESCOPE_SUBMISSION = 500, 2000, 90000


def write_class(layout: str, folder: Path, students: Students) -> Path:
    """Write the class into a folder and return the path to give to ``find_class``."""
    folder.mkdir(parents=True, exist_ok=True)
    place, files = LAYOUTS[layout](folder, students)
    for path, data in files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def zip_folder(folder: Path, target: Path) -> Path:
    """Zip a folder's contents, as a download is before it is unpacked."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder).as_posix())
    return target


def zipped(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip with those members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def encrypted(data: bytes, name: str = "") -> bytes:
    """Return the zip with its members, or one of them, marked as encrypted, in both places that say
    so.
    """
    out = bytearray(data)
    for signature, flags, start in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        for found in re.finditer(re.escape(signature), data):
            if data[found.start() + start :].startswith(name.encode()):
                out[found.start() + flags] |= 1
    return bytes(out)


def _plain(folder: Path, students: Students) -> Download:
    return folder, {
        f"{name}/{path}": data for name, files in students.items() for path, data in files.items()
    }


def _canvas(folder: Path, students: Students) -> Download:
    """Canvas drops the folders within a submission: only the last part of a path is left."""
    files: Files = {}
    attachment = 70000
    for user, (name, own) in enumerate(students.items(), FIRST_CANVAS_USER):
        for path, data in own.items():
            attachment += 1
            files[f"{_canvas_name(name)}_{user}_{attachment}_{Path(path).name}"] = data
    return folder, files


def _canvas_name(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == "_")


def _moodle(folder: Path, students: Students) -> Download:
    return folder, {
        f"{name.replace('_', ' ')}_{participant}_assignsubmission_file/{path}": data
        for participant, (name, own) in enumerate(students.items(), FIRST_MOODLE_PARTICIPANT)
        for path, data in own.items()
    }


def _gradescope(folder: Path, students: Students) -> Download:
    lines = ["---"]
    files: Files = {}
    for number, (name, own) in enumerate(students.items(), FIRST_GRADESCOPE_SUBMISSION):
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
    metadata = {"submission_metadata.yml": "\n".join(lines) + "\n"}
    return folder / "assignment_77_export", metadata | files


def _github(folder: Path, students: Students) -> Download:
    files: Files = {}
    for name, own in students.items():
        files |= {f"hw1-{name}/{path}": data for path, data in own.items()}
        files[f"hw1-{name}/.git/HEAD"] = "ref: refs/heads/main\n"
    return folder / "hw1-submissions", files


LAYOUTS: dict[str, Callable[[Path, Students], Download]] = {
    "plain": _plain,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
    "github": _github,
}
