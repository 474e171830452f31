"""Names of people and submissions: readable, as file names, compared across spellings."""

from __future__ import annotations

import collections
import itertools
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from pathvalidate import sanitize_filename

MAX_NAME_BYTES = 120
"""Short enough for every file system, even with an ending and a number after it."""
NAMELESS = "nameless"
JOINERS = "\u200c\u200d"
"""Invisible characters that are kept, because Persian and emoji families are spelled with them."""


def readable(text: str) -> str:
    """Return the text on one line, NFC, without control and direction characters."""
    shown = "".join(map(_shown, text))
    return unicodedata.normalize("NFC", " ".join(shown.split()).strip(f" {JOINERS}"))


def _shown(letter: str) -> str:
    if letter in JOINERS:
        return letter
    match unicodedata.category(letter):
        case "Cc" | "Zs" | "Zl" | "Zp":
            return " "
        case "Cf" | "Cn":
            return ""
        case "Cs":
            return "\N{REPLACEMENT CHARACTER}"
        case _:
            return letter


def name_list(names: Iterable[str], most: int = sys.maxsize) -> str:
    """Return names as a list, with semicolons if one has a comma; count those after ``most``."""
    names = list(names)
    listed, more = names[:most], len(names) - most
    text = ("; " if any("," in name for name in listed) else ", ").join(listed)
    return f"{text} and {more} more" if more > 0 else text


def file_name(text: str) -> str:
    """Return a file name, without a suffix, that is as near to the text as all systems allow.

    Separators and reserved characters become ``_``, names that Windows reserves get a ``_``
    appended. At most MAX_NAME_BYTES bytes of UTF-8 are kept. The function is idempotent.
    """
    short = _fitting(readable(text))
    valid = sanitize_filename(short, replacement_text="_", platform="universal")
    return _fitting(valid) or NAMELESS


def _fitting(name: str, size: int = MAX_NAME_BYTES) -> str:
    return name.encode()[:size].decode(errors="ignore").strip(f". {JOINERS}")


def unique_names(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Return a file name for each (name, id), all different even if case is ignored.

    People with the same name are distinguished by their ids, in the same way in every download;
    without ids, by numbers.
    """
    plain = [file_name(name) for name, _ in wanted]
    count = collections.Counter(map(_same, plain))
    taken = {name for name in count if count[name] == 1}
    names = []
    for name, (_, person_id) in zip(plain, wanted, strict=True):
        if count[_same(name)] > 1:
            name = next(one for one in _variants(name, person_id) if _same(one) not in taken)
            taken.add(_same(name))
        names.append(name)
    return names


def _variants(name: str, person_id: str) -> Iterator[str]:
    first = _tagged(name, person_id) if person_id else name
    yield first
    for number in itertools.count(2):
        yield _tagged(first, str(number))


def _tagged(name: str, tag: str) -> str:
    """Return the name followed by the tag, which is never truncated."""
    tag = _fitting(file_name(tag), MAX_NAME_BYTES // 2)
    return f"{_fitting(name, MAX_NAME_BYTES - len(tag.encode()) - 1)}-{tag}"


def _same(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def forms_of(name: str) -> frozenset[str]:
    """Return a name's spellings (``Doe, Alice``, ``doealice``), without accents, case, signs."""
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(c)
    )
    plain = unicodedata.normalize("NFC", plain)
    family, _, given = plain.partition(",")  # a family may have two names: Núñez Peña, María
    words = _words(plain)
    orders = (words, words[-1:] + words[:-1], words[1:] + words[:1], _words(given) + _words(family))
    return frozenset("".join(order) for order in orders) - {""}


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


def letters(text: str) -> str:
    """Return a name's letters and digits: file names of a download lack other characters."""
    plain = unicodedata.normalize("NFC", text).casefold()
    return "".join(filter(str.isalnum, plain))
