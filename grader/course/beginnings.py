"""What students begin with: a lesson's stub, as a script or as a notebook, in each language."""

from __future__ import annotations

from pathlib import Path

from grader.core.i18n import ENGLISH, Catalogue, load_catalogue
from grader.course.course import Lesson
from grader.course.notebook import SUFFIX, lesson_notebook
from grader.course.stubs import runnable, stub_in


def fresh(lesson: Lesson, path: Path, tr: Catalogue) -> str:
    """Return the initial content of a lesson's file: its stub, or a notebook that teaches it."""
    stub = lesson.stub_text
    if tr.lang != ENGLISH:
        stub = stub_in(load_catalogue(tr.lang, lesson.texts(tr.lang)), stub, lesson.id)
    if path.suffix != SUFFIX:
        how = tr("To grade this file, type: {command}", command=f"grade {lesson.id}")
        return runnable(stub, how)
    # The course in a students' bundle has no READMEs; they are beside the notebook.
    readmes = [folder / readme_name(folder, tr.lang) for folder in (lesson.folder, path.parent)]
    readme = next((one for one in readmes if one.exists()), None)
    text = readme.read_text("utf-8") if readme else lesson.summary
    return lesson_notebook(lesson.id, stub, text, tr)


def readme_name(folder: Path, lang: str) -> str:
    """Return the name of a lesson's README in a language, or of the English one."""
    own = f"README.{lang}.md"
    return own if (folder / own).exists() else "README.md"
