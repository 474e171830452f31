"""What students begin with: a lesson's stub, as a script or as a notebook, in each language."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from pathlib import Path

from grader.core.i18n import ENGLISH, Catalogue, engine_catalogue, languages, load_catalogue
from grader.course.course import Lesson
from grader.course.notebook import SUFFIX, lesson_notebook
from grader.course.stubs import runnable, stub_in

Untouched = Callable[[str, bytes], bool]
"""Whether a lesson's file is as students began with it."""


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


def untouched_in(lessons: Iterable[Lesson]) -> Untouched:
    """Return a function that knows what students of these lessons begin with. A course without the
    files of a lesson knows nothing of it.
    """
    by_id = {lesson.id: lesson for lesson in lessons}

    @functools.cache
    def beginnings(id: str) -> set[str]:
        lesson = by_id[id]
        if not lesson.stub_source.exists():
            return set()
        scripts_and_notebooks = {
            fresh(lesson, lesson.folder / f"{id}{suffix}", engine_catalogue(lang))
            for lang in languages()
            for suffix in (".py", SUFFIX)
        }
        return {lesson.stub_text, *scripts_and_notebooks}

    def untouched(id: str, data: bytes) -> bool:
        return data.decode("utf-8", "replace").replace("\r\n", "\n") in beginnings(id)

    return untouched
