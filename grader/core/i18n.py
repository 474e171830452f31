"""Translate texts into the reader's language by gettext catalogues (.po): one for the engine and
one for each lesson.

The English texts are in the code. ``grader/locale/ko.po`` translates the engine,
``exercises/<lesson>/ko.po`` a lesson's texts, and ``README.ko.md`` is its README.
"""

from __future__ import annotations

import os
import re
import string
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from grader.core.errors import Facts, UsageError
from grader.core.files import LOCALE

ENGLISH = "en"
SOUNDS = {
    **{"None": "논", "True": "트루", "False": "폴스", "Tensor": "텐서", "tuple": "튜플"},
    **{"list": "리스트", "dict": "딕트", "set": "세트", "float": "플로트", "int": "인트"},
    **{"bool": "불", "ndarray": "어레이"},
}
"""How English words sound in Korean that often fill a text."""
PARTICLES = {
    **{"을(를)": ("을", "를"), "이(가)": ("이", "가"), "은(는)": ("은", "는")},
    **{"과(와)": ("과", "와"), "와(과)": ("과", "와"), "(으)로": ("으로", "로")},
}
"""Korean particles after a consonant and after a vowel."""
PARTICLE = re.compile(rf"(\b(?:{'|'.join(SOUNDS)})|[가-힣])({'|'.join(map(re.escape, PARTICLES))})")
LIEUL = 8
"""The number of the consonant after which (으)로 is as after a vowel."""


class Phrase:
    """A text with ``{names}`` to fill that is itself a fact in another text, so that it can be
    translated. It is not a dataclass, which msgspec would write as an object instead of asking.
    """

    __slots__ = ("facts", "template")

    def __init__(self, template: str, facts: Facts) -> None:
        self.template, self.facts = template, facts

    def __str__(self) -> str:
        return self.template.format(**self.facts)


def phrase(template: str, **facts: Any) -> Phrase:
    return Phrase(template, facts)


def placeholders(text: str) -> set[str]:
    """Return the ``{names}`` in a text; none if it is not a template."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}
    except ValueError:
        return set()


class Catalogue:
    """Translates texts. A text without a translation stays English and is added to ``missing``."""

    def __init__(self, lang: str = ENGLISH, texts: Mapping[str, str] | None = None) -> None:
        self.lang = lang
        self.texts = texts or {}
        self.missing: set[str] = set()

    def __call__(self, text: str, /, **values: object) -> str:
        """Return the text in this language, its ``{names}`` filled from ``values``."""
        found = self.texts.get(text)
        if not found and self.lang != ENGLISH:
            self.missing.add(text)
        if not values:
            return found or text
        return self.with_particles(string.Formatter().vformat(found or text, (), values))

    def with_particles(self, text: str) -> str:
        """Return a filled text with the Korean particles that the words before them take. After a
        word whose sound is not known, both forms stay.
        """
        return PARTICLE.sub(_particle, text) if self.lang == "ko" else text

    def fresh(self) -> Catalogue:
        """Return a catalogue with the same texts and nothing in ``missing``."""
        return Catalogue(self.lang, self.texts)

    def known(self, text: str) -> str:
        """Translate a text that need not have a translation, such as a name or a number."""
        return self.texts.get(text) or text


def _particle(found: re.Match[str]) -> str:
    word, particle = found.groups()
    ending = (ord(SOUNDS.get(word, word)[-1]) - ord("가")) % 28  # the last consonant, 0 if none
    after_vowel = ending == 0 or (particle == "(으)로" and ending == LIEUL)
    return word + PARTICLES[particle][after_vowel]


def languages() -> list[str]:
    """Return English and every language that the engine has a catalogue for."""
    return [ENGLISH, *sorted(path.stem for path in LOCALE.glob("*.po"))]


def wanted_language(asked: str | None) -> str:
    """Return the language: as named, else GRADE_LANG's, else the locale's, else English.

    Raise UsageError for a named language without a catalogue.
    """
    named = asked or os.environ.get("GRADE_LANG")
    if named:
        if named not in languages():
            raise UsageError(
                "There is no translation into {name}. Languages: {names}",
                name=repr(named),
                names=", ".join(languages()),
            )
        return named
    values = (os.environ.get(variable) for variable in ("LC_ALL", "LC_MESSAGES", "LANG"))
    lang = (next(filter(None, values), None) or windows_locale()).split(".")[0].split("_")[0]
    return lang if lang in languages() else ENGLISH


def windows_locale() -> str:
    """Return the language of Windows' user interface, such as ``ko_KR``; empty elsewhere."""
    if sys.platform == "win32":
        import ctypes
        import locale

        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    return ""


def load_catalogue(lang: str, paths: Iterable[Path]) -> Catalogue:
    """Load a catalogue from several files; later files win, and a missing file has no texts."""
    if lang == ENGLISH:
        return Catalogue()
    import polib

    texts: dict[str, str] = {}
    for path in paths:
        if path.exists():
            entries = polib.pofile(str(path)).translated_entries()
            texts |= {entry.msgid: entry.msgstr for entry in entries}
    return Catalogue(lang, texts)


def engine_catalogue(lang: str) -> Catalogue:
    return load_catalogue(lang, [LOCALE / f"{lang}.po"])
