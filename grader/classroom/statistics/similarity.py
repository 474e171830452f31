"""Find texts of a lesson that share code which they need not share, and show them side by side.

A match shows where to look; it proves nothing.

Fingerprints (winnowing: Schleimer, Wilkerson, Aiken 2003, Winnowing: local algorithms for document
fingerprinting) of code without names, imports, comments and layout, made by copydetect. Code of the
stub, of known right answers and of many in the class does not count. Every fingerprint is kept (a
window of one), so results are reproducible. copydetect is an optional dependency because it depends
on matplotlib.

A wrong answer shares most of its code with right ones, so little of it counts. Wrong answers that
are equal, except perhaps for names, comments and layout, are therefore found apart.
"""

from __future__ import annotations

import builtins
import functools
import io
import itertools
import keyword
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.classroom.statistics.class_page import percent
from grader.core.errors import UsageError
from grader.core.files import inlined
from grader.render.page import environment, style_hash

NOISE = 25
"""The fewest characters of normalized code (about two lines) that have to agree."""
TELLING = 60
"""A text with fewer characters of its own is not compared: so little code may agree by chance."""
COMMON_SHARE, COMMON_FEWEST = 0.05, 5
"""Code counts as common to the lesson if more than this share of the class has it, and more than
this number.
"""
KEPT_AT_ONCE = 256
LAYOUT_TOKENS = frozenset(
    {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENCODING}
)
"""Tokens with which no statement begins."""


@dataclass(frozen=True, slots=True)
class Text:
    """A student's text of a lesson; ``earlier`` if it is from the class compared with, ``wrong`` if
    it fails a check.
    """

    owner: str
    text: str
    earlier: bool = False
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """One text of a pair, in pieces, each marked if shared; ``share`` is how much is shared."""

    owner: str
    earlier: bool
    share: float
    pieces: tuple[tuple[str, bool], ...]

    @property
    def shared_lines(self) -> int:
        marked = (text for text, shared in self.pieces if shared)
        return sum(bool(line.strip()) for text in marked for line in text.splitlines())


FILE, CODE = "same file", "same code"
BRACKETS = tuple("([{"), tuple(")]}")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts that share code; ``share`` is the greater of both sides' shares.

    Of equal wrong answers, ``same`` says what is equal, the ``FILE`` or the ``CODE``, and
    ``others`` are further people with it.
    """

    lesson: str
    one: Side
    other: Side
    same: str = ""
    others: tuple[Side, ...] = ()

    @property
    def lines(self) -> int:
        """How many lines are shared; the smaller number of the two sides."""
        return min(self.one.shared_lines, self.other.shared_lines)

    @property
    def share(self) -> float:
        """The share of the side that added less code of its own."""
        return max(self.one.share, self.other.share)


def library() -> Any:
    """Return copydetect; raise UsageError that says how to install it."""
    try:
        import copydetect
    except ImportError:
        raise UsageError(
            "Comparing code takes copydetect, which is not installed. Get it, in your clone: pip"
            " install '.[similar]'"
        ) from None
    return copydetect


def fingerprint(text: str) -> Any:
    """Return a text's fingerprints and their positions (copydetect's ``CodeFingerprint``)."""
    made = io.StringIO(masked(text))
    return library().CodeFingerprint("lesson.py", NOISE, 1, fp=made, language="python")


def masked(text: str) -> str:
    """Return code of the same length, with every name replaced by ``x``s and imports by blanks.

    copydetect masks names too, but not ``self`` and other built-in ones. Text that is not Python is
    returned as it is.
    """
    letters = list(text)
    starts = [0, *itertools.accumulate(len(line) + 1 for line in text.split("\n"))]
    blank_until_newline = begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            begin = starts[token.start[0] - 1] + token.start[1]
            end = starts[token.end[0] - 1] + token.end[1]
            if begins and token.type not in LAYOUT_TOKENS:
                blank_until_newline = token.string in ("import", "from")
                begins = False
            if token.type == tokenize.NEWLINE:
                begins = True
            elif blank_until_newline and not begins:
                letters[begin:end] = " " * (end - begin)
            elif token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                letters[begin:end] = "x" * (end - begin)
    except (tokenize.TokenError, SyntaxError):
        return text
    return "".join(letters)


Tracker = Callable[[str, Collection[Any]], Iterable[Any]]
"""A function that returns the items of a named part of the work, and may report progress."""


def similar_pairs(
    lesson: str,
    texts: Sequence[Text],
    stub: str,
    known: Iterable[str],
    threshold: float,
    track: Tracker = lambda what, things: things,
) -> list[Pair]:
    """Return the pairs with a share of at least ``threshold``, and equal wrong answers; none within
    an earlier class.

    The pairs are in the order of ``rank``. Code of the ``stub`` and of ``known`` right answers
    does not count; ``track`` shows progress.
    """
    given = frozenset(line.strip() for line in stub.split("\n"))
    codes = wrong_codes(texts, given, track)
    pairs = [
        equal_pair(lesson, same, [texts[place] for place in alike], given)
        for same, alike in equal_answers(texts, codes)
    ]
    places, ignored = candidates(texts, [stub, *known], threshold, track)
    places = [
        (one, other) for one, other in places if one not in codes or codes[one] != codes.get(other)
    ]

    @functools.lru_cache(KEPT_AT_ONCE)
    def own_fingerprint(place: int) -> Any:
        return without(fingerprint(texts[place].text), ignored)

    for one, other in track("comparing pairs", places):
        overlap, shares, slices = library().compare_files(
            own_fingerprint(one), own_fingerprint(other)
        )
        if overlap and max(shares) >= threshold:
            sides = [
                Side(
                    texts[place].owner,
                    texts[place].earlier,
                    min(1.0, float(share)),
                    in_pieces(texts[place].text, marked),
                )
                for place, share, marked in zip((one, other), shares, slices, strict=True)
            ]
            pairs.append(Pair(lesson, sides[0], sides[1]))
    return sorted(pairs, key=rank)


def wrong_codes(
    texts: Sequence[Text], given: Collection[str], track: Tracker
) -> dict[int, tuple[str, ...]]:
    """Return the code of each wrong answer (``renamed``), by its place, if enough of it is its own:
    not in the stub, whose lines are ``given``.
    """
    wrong = [place for place, text in enumerate(texts) if text.wrong]
    return {
        place: renamed(texts[place].text)
        for place in track("looking for equal answers", wrong)
        if sum(end - begin for begin, end in own_lines(texts[place].text, given)) >= TELLING
    }


def equal_answers(
    texts: Sequence[Text], codes: Mapping[int, tuple[str, ...]]
) -> list[tuple[str, list[int]]]:
    """Return the places of answers that are the same ``FILE``; then, one of each file, of those
    that are the same ``CODE``.
    """
    alike: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, code in codes.items():
        alike.setdefault(code, {}).setdefault(texts[place].text.strip(), []).append(place)
    found = []
    for files in alike.values():
        found += [(FILE, places) for places in files.values()]
        found.append((CODE, [places[0] for places in files.values()]))
    return [
        (same, places)
        for same, places in found
        if len(places) > 1 and not all(texts[place].earlier for place in places)
    ]


def equal_pair(lesson: str, same: str, texts: Sequence[Text], given: Collection[str]) -> Pair:
    sides = []
    for text in texts:
        places = zip(*own_lines(text.text, given), strict=True)
        sides.append(Side(text.owner, text.earlier, 1.0, in_pieces(text.text, places)))
    return Pair(lesson, sides[0], sides[1], same, tuple(sides[2:]))


def own_lines(text: str, given: Collection[str]) -> list[tuple[int, int]]:
    """Return where lines of code begin and end that are not given; comments do not count."""
    found, position = [], 0
    for line in text.split("\n"):
        code = line.strip()
        if code and not code.startswith("#") and code not in given:
            begin = position + line.index(code)
            found.append((begin, begin + len(code)))
        position += len(line) + 1
    return found


def renamed(text: str) -> tuple[str, ...]:
    """Return code as tokens without comments, docstrings and imports, its names as numbers.

    Names that a copy can't change are kept: those of built-ins, of the arguments of others'
    functions, and of attributes that the text does not assign. Text that is not Python is returned
    as it is.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return (text.strip(),)
    own = {
        name.string
        for dot, name, sign in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if dot.string == "." and sign.string == "="
    }
    defined = {
        name.string for word, name in itertools.pairwise(tokens) if word.string in ("def", "class")
    }
    names: dict[str, str] = {}
    code: list[str] = []
    statement: list[str] = []
    before = ""
    called: list[str] = []
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        word = token.string
        if word in BRACKETS[0]:
            called.append(before)
        elif word in BRACKETS[1] and called:
            called.pop()
        if token.type == tokenize.NAME and not keyword.iskeyword(word):
            by_name = called and called[-1] not in defined and after.string == "="
            if word in own or not (before == "." or by_name or hasattr(builtins, word)):
                word = names.setdefault(word, str(len(names)))
        elif token.type in (tokenize.INDENT, tokenize.DEDENT):
            code.append(tokenize.tok_name[token.type])
            continue
        elif token.type in LAYOUT_TOKENS:
            continue
        statement.append(word)
        before = token.string
        if token.type == tokenize.NEWLINE:
            docstring = len(statement) == 2 and statement[0][-1] in "\"'"
            if statement[0] not in ("import", "from") and not docstring:
                code += statement
            statement = []
    return (*code, *statement)


def rank(pair: Pair) -> tuple[bool, float, float, str, str]:
    """Order pairs: equal files first, then by the number of shared lines, then by their share."""
    return (
        pair.same != FILE,
        -pair.lines,
        -(pair.one.share + pair.other.share),
        pair.one.owner,
        pair.other.owner,
    )


def candidates(
    texts: Sequence[Text], known: Iterable[str], threshold: float, track: Tracker
) -> tuple[list[tuple[int, int]], frozenset[int]]:
    """Return pairs of positions with enough common fingerprints, and the fingerprints that are too
    common to count. Not every pair of texts is compared.
    """
    owners: dict[int, list[int]] = {}
    ignored: set[int] = set()
    for code in known:
        ignored.update(map(int, fingerprint(code).hashes))
    for place, text in enumerate(track("reading texts", texts)):
        for one in fingerprint(text.text).hashes:
            owners.setdefault(int(one), []).append(place)
    common = max(COMMON_FEWEST, COMMON_SHARE * len(texts))
    ignored |= {one for one, places in owners.items() if len(places) > common}
    sizes: Counter[int] = Counter()
    shared: Counter[tuple[int, int]] = Counter()
    for one, places in track("finding pairs", owners.items()):
        if one not in ignored:
            sizes.update(places)
            shared.update(itertools.combinations(places, 2))
    enough = [
        (one, other)
        for (one, other), count in shared.items()
        # Equal places are close to each other, so the share of fingerprints is below that of
        # characters: the threshold is halved to leave a margin.
        if count >= threshold / 2 * min(sizes[one], sizes[other])
        and min(sizes[one], sizes[other]) + NOISE > TELLING
        and not (texts[one].earlier and texts[other].earlier)
    ]
    return sorted(enough), frozenset(ignored)


def without(made: Any, ignored: frozenset[int]) -> Any:
    """Return fingerprints without the uninformative ones; shares refer to what is left."""
    from copydetect.utils import get_token_coverage

    kept = {one: places for one, places in made.hash_idx.items() if int(one) not in ignored}
    made.hash_idx, made.hashes = kept, set(kept)
    made.token_coverage = get_token_coverage(kept, made.k, len(made.filtered_code))
    return made


def in_pieces(text: str, slices: Any) -> tuple[tuple[str, bool], ...]:
    pieces: list[tuple[str, bool]] = []
    position = 0
    for begin, end in sorted(zip(*(map(int, side) for side in slices), strict=True)):
        begin, end = max(position, begin), min(len(text), end)
        if begin < end:
            pieces += [(text[position:begin], False), (text[begin:end], True)]
            position = end
    pieces.append((text[position:], False))
    return tuple(piece for piece in pieces if piece[0])


SHOWN = 200
"""How many pairs the page has; more mean that the threshold is too low."""


def render_similar(
    pairs: Sequence[Pair],
    labels: Mapping[str, str],
    *,
    compared: int,
    threshold: float,
    earlier: str | None = None,
) -> str:
    """Render the page; ``labels`` are this class's names, ``earlier`` is the other class's name."""
    sheet = inlined("theme.css", "similar.css")
    return (
        environment()
        .get_template("similar.html")
        .render(
            pairs=pairs[:SHOWN],
            more=max(0, len(pairs) - SHOWN),
            labels=labels,
            compared=compared,
            threshold=threshold,
            file=FILE,
            earlier=earlier,
            percent=percent,
            style=sheet,
            style_hash=style_hash(sheet),
        )
    )
