"""Grade one submission in Classroom 50's runner, as a program of its own.

Its arguments are the folder with settings, engine and course, the student's checkout, and the
output folder: ``result.json``, ``release-body.md``, ``report.html``, and ``outputs`` with the lines
for ``$GITHUB_OUTPUT``. After a grader fault it writes nothing and fails.

Format: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from grader.classroom.exports.classroom50 import release_body, result, status_line, status_of
from grader.classroom.exports.common import as_bytes
from grader.classroom.gradebook.entry import PersonalPart
from grader.classroom.publish.classroom50_start import BODY, OUTPUTS, PAGE, RESULT
from grader.classroom.publish.engine_files import read_settings
from grader.classroom.publish.gradescope_main import grade_folder
from grader.core.errors import EngineFault, ExitCode, GraderError
from grader.core.i18n import engine_catalogue
from grader.course.course import load_course
from grader.render.page import render_page

TAKEN = {
    "classroom": ("CLASSROOM",),
    "assignment": ("ASSIGNMENT",),
    "assignment_type": ("ASSIGNMENT_TYPE",),
    "owner": ("OWNER", "USERNAME"),
    "submission": ("SUBMISSION_TAG",),
    "commit": ("COMMIT_URL",),
    "release": ("RELEASE_URL",),
    "review": ("REVIEW_URL", "COMMIT_URL"),
}
"""The result's keys, and the runner's variables for each; the first one that is set counts."""
STAMPED = ("assignment_type", "owner")
"""Keys that the runner writes itself; older runners do not set their variables."""


def main() -> None:
    try:
        grade(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
    except GraderError as error:
        print(error)
        sys.exit(ExitCode.ENGINE_FAULT)


def grade(source: Path, checkout: Path, target: Path) -> None:
    """Grade the checkout; raise EngineFault if a grader fault left something without a verdict."""
    fields = fields_from(os.environ, checkout)
    entry = grade_folder(source, checkout)
    if entry.grader_faults:
        raise EngineFault("A check could not be graded because of the grader's own fault.")
    if entry.report is not None:
        entry = replace(entry, report=replace(entry.report, submission=fields["assignment"]))
    tr = engine_catalogue(read_settings(source).lang)
    lessons = load_course(source / "course").lessons
    held = {lesson.id: lesson.held.points for lesson in lessons if lesson.held}
    data = result(entry.public(), fields, held)
    shown = entry.public(tr)
    made = {
        RESULT: as_bytes(data),
        BODY: encoded(release_body(shown, data, tr)),
        OUTPUTS: encoded(
            f"status={status_of(shown, data)}\nsummary={status_line(shown, data, tr)}\n"
        ),
    }
    if shown.report is not None:
        page = render_page(shown.report, tr, personal=PersonalPart(fields.get("owner", "")))
        made[PAGE] = encoded(page)
    for name, content in made.items():
        (target / name).write_bytes(content)


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def fields_from(environment: Mapping[str, str], checkout: Path) -> dict[str, str]:
    """Return what identifies the submission; raise EngineFault if the runner did not say."""
    fields = {}
    for key, names in TAKEN.items():
        found = [environment[name] for name in names if environment.get(name)]
        if found:
            fields[key] = found[0]
        elif key not in STAMPED:
            raise EngineFault(
                f"{names[0]} is not set. Classroom 50's runner sets it; start autograder.py there"
            )
    return {**fields, "datetime": committed_at(environment.get("GITHUB_SHA", ""), checkout)}


def committed_at(commit: str, checkout: Path) -> str:
    """Return when the graded commit was made, in UTC; without such a commit, the present time."""
    command = ["git", "-c", "safe.directory=*", "-C", str(checkout), "show", "-s", "--format=%cI"]
    moment = datetime.datetime.now(datetime.UTC)
    try:
        shown = subprocess.run(
            [*command, commit, "--"], capture_output=True, text=True, check=True, timeout=30
        )
        moment = datetime.datetime.fromisoformat(shown.stdout.strip())
    except (OSError, ValueError, subprocess.SubprocessError):
        print("The time of the commit is not known, so the current time is used.")
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
