"""Make the zip for Gradescope: two scripts, the engine, the course.

Format: https://gradescope-autograders.readthedocs.io/en/latest/specs/. ``setup.sh`` runs when the
image is built, ``run_autograder`` (``gradescope_main``) for each submission. The course in it is
complete and readable, so only the sandbox prevents submissions from reading it; every
``results.json`` says whether the sandbox held.
"""

from __future__ import annotations

import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.classroom.publish import GRADESCOPE_MAIN
from grader.classroom.publish.engine_files import (
    AUTOGRADER_SECONDS,
    AutograderSettings,
    autograder_files,
    install_torch,
    refuse_bundle,
    writing,
)
from grader.core.templates import render_text
from grader.course.course import Course, Lesson


def make_zip(
    course: Course,
    lessons: Sequence[Lesson],
    target: Path,
    *,
    hidden_checks: str,
    lang: str,
    accept_near_names: bool = False,
) -> None:
    """Write the zip, the same bytes for the same course; raise UsageError if that fails."""
    ids = tuple(lesson.id for lesson in lessons)
    settings = AutograderSettings(ids, hidden_checks, lang, accept_near_names)
    refuse_bundle(course, lessons)
    with writing(target):
        with tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as part:
            place = Path(part.name)
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
                for path, data in zip_files(course, lessons, settings):
                    archive.writestr(member(path), data)
        place.chmod(0o644)
        place.replace(target)


def member(path: str) -> zipfile.ZipInfo:
    """Return a zip's entry without a date; scripts are executable."""
    info = zipfile.ZipInfo(path)
    info.compress_type = zipfile.ZIP_DEFLATED
    mode = 0o755 if path in ("setup.sh", "run_autograder") else 0o644
    info.external_attr = (stat.S_IFREG | mode) << 16
    return info


def zip_files(
    course: Course, lessons: Sequence[Lesson], settings: AutograderSettings
) -> Iterator[tuple[str, bytes]]:
    setup = render_text("gradescope/setup.sh", torch=install_torch("--no-cache-dir"))
    yield "setup.sh", setup.encode()
    script = render_text(
        "gradescope/run_autograder", seconds=AUTOGRADER_SECONDS, main=GRADESCOPE_MAIN
    )
    yield "run_autograder", script.encode()
    yield from autograder_files(course, lessons, settings)
