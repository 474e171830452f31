"""Make autograders for other systems: the zip for Gradescope, the folder for Classroom 50.

Gradescope (https://gradescope-autograders.readthedocs.io/en/latest/specs/) runs ``setup.sh`` when
the image is built, and ``run_autograder`` (``gradescope_main``) for each submission. The course in
the zip is complete and readable, so only the sandbox prevents submissions from reading it; every
``results.json`` says whether the sandbox held.

A teacher commits a folder for each assignment of Classroom 50. Formats:
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, "Writing an autograder.py",
"The runtime block" and "Attaching files to submission Releases".

::

    autograder.py       what Classroom 50 starts: ``classroom50_start``
    autograder.json     lessons, language, what to install
    engine/, course/    what grades
    runtime.json        for ``gh teacher assignment add --runtime``
    assignment.json     the fields that the assignment's entry in ``assignments.json`` needs

Classroom 50 publishes the folder on GitHub Pages, where its runner fetches it and anybody with the
address can read it. So the folder contains the course of a students' bundle, without solutions and
hidden checks; with ``whole_course``, it contains the whole course.
"""

from __future__ import annotations

import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.classroom.exports.common import PAGE, as_bytes
from grader.classroom.publish import CLASSROOM50_MAIN, GRADESCOPE_MAIN
from grader.classroom.publish.engine_files import (
    AUTOGRADER_SECONDS,
    CPU_INDEX,
    SETTINGS,
    AutograderSettings,
    autograder_files,
    install_torch,
    refuse_bundle,
    torch_requirement,
    writing,
)
from grader.classroom.publish.release import released_points, write_release
from grader.core.errors import UsageError
from grader.core.files import PACKAGE, replacing
from grader.core.templates import render_text
from grader.course.course import BUNDLED, Course, Lesson


def gradescope_zip(
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
    with writing(target), replacing(target) as file, zipfile.ZipFile(file, "w") as archive:
        for path, data in zip_files(course, lessons, settings):
            archive.writestr(member(path), data)


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


SLUG = re.compile(r"[a-z0-9][a-z0-9-]{1,38}")
"""An assignment's name in Classroom 50 (wiki, CLI Teacher Guide, "Add assignments")."""
RUNTIME = {"python": "3.13"}
"""GitHub's Ubuntu, with a Python for which every supported torch has wheels."""
ENTRYPOINT, RUNTIME_FILE, ENTRY_FILE = "autograder.py", "runtime.json", "assignment.json"
OURS = (ENTRYPOINT, SETTINGS, RUNTIME_FILE, ENTRY_FILE, "engine", BUNDLED)
START = PACKAGE / "classroom" / "publish" / "classroom50_start.py"


def classroom50_folder(
    course: Course,
    lessons: Sequence[Lesson],
    folder: Path,
    *,
    assignment: str,
    lang: str,
    accept_near_names: bool = False,
    whole_course: bool = False,
) -> float:
    """Write the folder, replacing an earlier one; return the points that it holds back.

    Raise UsageError if it can't be written.
    """
    if not SLUG.fullmatch(assignment):
        raise UsageError(
            f"--assignment {assignment!r} is not a name that Classroom 50 accepts. Use 2 to 39"
            " lowercase letters, digits and hyphens, and do not begin with a hyphen"
        )
    refuse_bundle(course, lessons)
    settings = AutograderSettings(
        tuple(lesson.id for lesson in lessons),
        lang=lang,
        accept_near_names=accept_near_names,
        main=CLASSROOM50_MAIN,
        seconds=AUTOGRADER_SECONDS,
        pip=((torch_requirement(), "--index-url", CPU_INDEX), ("-r", "engine/requirements.txt")),
    )
    refuse_others(folder)
    held = 0.0
    with (
        writing(folder),
        tempfile.TemporaryDirectory(prefix=".classroom50-", dir=folder.parent) as place,
    ):
        made = Path(place) / "made"
        for path, data in folder_files(course, lessons, settings, assignment):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(data)
        if not whole_course:
            _, held = released_points(write_release(course, lessons, Path(place) / "released"))
            shutil.rmtree(made / BUNDLED)
            shutil.move(Path(place) / "released" / BUNDLED, made / BUNDLED)
        replace(folder, made)
    return held


def folder_files(
    course: Course, lessons: Sequence[Lesson], settings: AutograderSettings, assignment: str
) -> Iterator[tuple[str, bytes]]:
    yield ENTRYPOINT, START.read_bytes()
    yield RUNTIME_FILE, as_bytes(RUNTIME)
    entry = {"slug": assignment, "runtime": RUNTIME, "release_assets": [PAGE]}
    yield ENTRY_FILE, as_bytes(entry)
    yield from autograder_files(course, lessons, settings)


def refuse_others(folder: Path) -> None:
    """Raise UsageError if the folder has files and was not made by this command."""
    if folder.exists() and not (
        folder.is_dir() and ((folder / SETTINGS).is_file() or not any(folder.iterdir()))
    ):
        raise UsageError(
            f"{folder} exists and was not made by grade classroom50. Choose another name; nothing"
            " was changed"
        )


def replace(folder: Path, made: Path) -> None:
    """Put the new files into the folder; the teacher's own files stay."""
    folder.mkdir(exist_ok=True)
    for name in OURS:
        target = folder / name
        if target.is_dir():
            shutil.rmtree(target)
        shutil.move(made / name, target)
