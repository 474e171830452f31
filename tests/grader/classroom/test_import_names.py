"""Names of submissions are readable, valid file names on every system, and different for different
people.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grader.classroom.imports.names import (
    MAX_NAME_BYTES,
    file_name,
    forms_of,
    readable,
    unique_names,
)

RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    "CLOCK$",
    *(f"{port}{number}" for port in ("COM", "LPT") for number in "123456789¹²³"),
}
TEXTS = st.text(max_size=80) | st.text(
    alphabet="con.aux /\\:\u202e\u200d 김é\u0301\ud800\n1-", max_size=200
)


@given(TEXTS)
@example("김" * 100)
@example("a" * 119 + "e\u0301")
@example("👩\u200d" * 60)
@example("com1.김")
@example(".con")
@example("con." + "a" * 200)
@example("A\u202a\u0300")
def test_any_text_becomes_a_name_that_every_system_takes(text: str) -> None:
    name = file_name(text)
    assert name
    assert len(name.encode("utf-8")) <= MAX_NAME_BYTES
    assert not set(name) & set('/\\:*?"<>|')
    assert name.strip(". ") == name
    assert name.partition(".")[0].upper() not in RESERVED
    assert unicodedata.normalize("NFC", name) == name
    assert not {
        unicodedata.category(letter) for letter in name.replace("\u200d", "").replace("\u200c", "")
    } & {"Cc", "Cf", "Cs", "Cn"}
    assert file_name(name) == name


@pytest.mark.parametrize(
    "text",
    [
        "alice",
        "김민준",
        "محمد",
        "Zoë O’Neil",
        "Анна",
        "李小龙",
        "👩\u200d💻",
        "می\u200cخواهم",
        "Doe, Jane",
        "a.b",
        "alice (2)",
        "O'Neil & Söhne",
    ],
)
def test_names_of_every_script_stay_as_they_are(text: str) -> None:
    assert file_name(text) == text
    assert readable(text) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("con", "con_"),
        ("Aux.tar.gz", "Aux_.tar.gz"),
        ("a/b\\c", "a_b_c"),
        ("..", "nameless"),
        ("../../etc/passwd", "_.._etc_passwd"),
        (".hidden. ", "hidden"),
        ("", "nameless"),
        ("a\nb\tc", "a b c"),
        ("\u202eecila", "ecila"),
        ("e\u0301", "é"),
        ("\x1b[2Jx", "[2Jx"),
    ],
)
def test_what_a_system_would_stumble_over_is_replaced(text: str, name: str) -> None:
    assert file_name(text) == name


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(["a", "A", "a-2", "a-1", "ß", "ss", "김", "é", "e\u0301", "x" * 200, ""]),
        st.sampled_from(["", "1", "2"]),
    )
)


@given(PAIRS)
def test_no_two_names_are_one_file_even_where_capitals_are_small_letters(
    wanted: list[tuple[str, str]],
) -> None:
    names = unique_names(wanted)
    assert len(names) == len(wanted)
    assert len({unicodedata.normalize("NFC", name.casefold()) for name in names}) == len(names)
    assert all(len(name.encode()) <= MAX_NAME_BYTES for name in names)


def test_people_of_one_name_are_all_told_apart_by_their_ids() -> None:
    """So a name can't mean another person in the next download."""
    assert unique_names([("Kim", "7"), ("kim", "12"), ("Lee", "3")]) == ["Kim-7", "kim-12", "Lee"]


def test_long_names_keep_what_tells_them_apart() -> None:
    first, second = unique_names([("김" * 90, "1001"), ("김" * 90, "1002")])
    assert (first[-5:], second[-5:]) == ("-1001", "-1002")


def test_names_without_ids_are_numbered() -> None:
    assert unique_names([("a", ""), ("A", ""), ("a-2", "")]) == ["a", "A-3", "a-2"]


def test_a_name_can_be_written_to_disk(tmp_path: Path) -> None:
    for text in ("김" * 200, "a/b", "\ud800", "nul"):
        (tmp_path / f"{file_name(text)}.html").write_text("x")


# ------------------------------------------------------------------------------ spellings of a name


@pytest.mark.parametrize(
    "name", ["Doe, Alice", "alice doe", "Ａlice  Doe", "doealice", "ALICE DOE"]
)
def test_spellings_of_one_name_meet(name: str) -> None:
    assert forms_of(name) & forms_of("Doe, Alice")


def test_a_name_has_the_same_forms_in_every_order_and_script() -> None:
    assert forms_of("Müller, Jörg") & forms_of("jorg muller")
    assert forms_of("O'Brien, Dan") & forms_of("danobrien")
    assert forms_of("Núñez Peña, María José") & forms_of("maríajosénúñezpeña")
    assert forms_of("김민준") == forms_of(unicodedata.normalize("NFD", "김민준")) == {"김민준"}
    assert forms_of("...") == frozenset()


def test_other_names_do_not_meet() -> None:
    assert not forms_of("Doe, Alice") & forms_of("Alice Do")
