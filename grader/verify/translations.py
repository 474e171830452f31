"""Find what a lesson lacks in another language, and add it to the lesson's catalogue."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from grader.core.i18n import ENGLISH, Catalogue, load_catalogue, placeholders
from grader.course.course import Lesson
from grader.course.scaffold import MARK
from grader.course.stubs import stub_in
from grader.verify.slips import stale_translations

HEADER = """# The lesson {lesson} in the language {lang}.
msgid ""
msgstr ""
"Language: {lang}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"""


def catalogue_problems(lesson: Lesson, lang: str) -> Iterator[str]:
    """Yield what a language lacks: titles, hints, README, placeholders."""
    if lang == ENGLISH:
        return
    tr = load_catalogue(lang, lesson.texts(lang))
    for text in untranslated(lesson, tr):
        yield f"not translated: {text!r}"
    readme = lesson.folder / f"README.{lang}.md"
    if not readme.exists():
        yield f"there is no {readme.name}"
    for text, translation in tr.texts.items():
        if placeholders(text) != placeholders(translation):
            yield f"the translation has other placeholders: {text!r}"
    yield from stale_translations(lesson, lang)


def untranslated(lesson: Lesson, tr: Catalogue) -> list[str]:
    """Return the lesson's texts that no grading shows and the catalogue lacks."""
    for text in itertools.chain((lesson.title, lesson.summary), *lesson.hints().values()):
        tr(text)
    for promise in lesson.contract:
        tr(promise.terms.says[0])
    stub_in(tr, lesson.stub_text, lesson.id)
    return sorted(text for text in tr.missing if MARK not in text)


def add_texts(lesson: Lesson, lang: str, shown: Iterable[str]) -> int:
    """Add entries without a translation to the lesson's catalogue: for texts that gradings have
    ``shown``, and for others that it lacks. Return how many.
    """
    import polib

    path = lesson.folder / f"{lang}.po"
    lacking = untranslated(lesson, load_catalogue(lang, lesson.texts(lang)))
    text = path.read_text("utf-8") if path.exists() else HEADER.format(lesson=lesson.id, lang=lang)
    known = {entry.msgid for entry in polib.pofile(text)}
    added = [one for one in dict.fromkeys((*lacking, *shown)) if one not in known]
    entries = (str(polib.POEntry(msgid=one, msgstr="")).rstrip("\n") for one in added)
    if added:
        path.write_text("\n\n".join([text.rstrip("\n"), *entries]) + "\n", "utf-8", newline="\n")
    return len(added)
