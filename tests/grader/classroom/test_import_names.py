"""Names of submissions: readable, valid on every system, and different for different people."""

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

PORTS = {f"{port}{number}" for port in ("COM", "LPT") for number in "123456789¹²³"}
RESERVED = {"CON", "PRN", "AUX", "NUL", "CLOCK$"} | PORTS
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


def test_names_of_every_script_stay_as_they_are() -> None:
    latin = ("alice", "Zoë O’Neil", "Doe, Jane", "a.b", "alice (2)", "O'Neil & Söhne")
    others = ("김민준", "محمد", "Анна", "李小龙", "👩\u200d💻", "می\u200cخواهم")
    for text in (*latin, *others):
        assert (file_name(text), readable(text)) == (text, text)


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
    """So a name can't mean another person in the next download. Names without ids are numbered."""
    assert unique_names([("Kim", "7"), ("kim", "12"), ("Lee", "3")]) == ["Kim-7", "kim-12", "Lee"]
    assert unique_names([("a", ""), ("A", ""), ("a-2", "")]) == ["a", "A-3", "a-2"]
    first, second = unique_names([("김" * 90, "1001"), ("김" * 90, "1002")])
    assert (first[-5:], second[-5:]) == ("-1001", "-1002")


def test_a_name_can_be_written_to_disk(tmp_path: Path) -> None:
    for text in ("김" * 200, "a/b", "\ud800", "nul"):
        (tmp_path / f"{file_name(text)}.html").write_text("x")


# ------------------------------------------------------------------------------ spellings of a name


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("Doe, Alice", ["Doe, Alice", "alice doe", "Ａlice  Doe", "doealice", "ALICE DOE"]),
        ("Müller, Jörg", ["jorg muller"]),
        ("O'Brien, Dan", ["danobrien"]),
        ("Núñez Peña, María José", ["maríajosénúñezpeña"]),
    ],
)
def test_spellings_of_one_name_meet(name: str, spellings: list[str]) -> None:
    for spelling in spellings:
        assert forms_of(spelling) & forms_of(name), spelling


def test_other_names_do_not_meet() -> None:
    assert not forms_of("Doe, Alice") & forms_of("Alice Do")
    assert forms_of("김민준") == forms_of(unicodedata.normalize("NFD", "김민준")) == {"김민준"}
    assert forms_of("...") == frozenset()
