"""Times are read as Moodle and spreadsheet programs write them, in the class's zone, or refused."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from grader.classroom.imports.times import read_time

BERLIN = ZoneInfo("Europe/Berlin")
LAST_MINUTE = "2026-12-03T23:59:00+01:00"


@pytest.mark.parametrize(
    "text",
    [
        "Thursday, 3 December 2026, 11:59 PM",
        "Thursday, December 3, 2026, 11:59 PM",
        "3 December 2026, 11:59 p. m.",
        "Donnerstag, 3. Dezember 2026, 23:59",
        "jeudi 3 décembre 2026, 23:59",
        "jueves, 3 de diciembre de 2026, 23:59",
        "목요일, 3 12월 2026, 11:59 PM",
        "목요일, 3 12월 2026, 11:59 오후",
        "2026년 12월 3일 목요일 오후 11:59",
        "2026년 12월 3일(목) 23:59",
        "2026. 12. 3. 오후 11:59",
        "2026/12/03 23:59",
        "2026-12-03 23:59",
        "3.12.2026 23:59:00",
        "2026-12-04T07:59+09:00",
        "2026-12-03 22:59:00 UTC",
    ],
)
def test_one_time_in_many_writings(text: str) -> None:
    assert read_time(text, BERLIN).astimezone(BERLIN).isoformat() == LAST_MINUTE


@pytest.mark.parametrize(
    ("text", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 AM", 1), ("오전 12:05", 0)]
)
def test_twelve_is_the_first_hour_of_each_half_of_the_day(text: str, hour: int) -> None:
    assert read_time(f"3 December 2026, {text}", BERLIN).hour == hour


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow",
        "12/3/2026 23:59",
        "Friday, 3 December 2026, 11:59 PM",
        "3 Dezembro 2026, 23:59",
        "3 December 2026, 23:59, 10:00",
        "3 December, 23:59",
        "30 February 2026, 23:59",
        "3 December 2026, 13:00 AM",
        "2026-13-03 10:00",
        "2026-12-03",
        "",
    ],
)
def test_no_time_is_guessed(text: str) -> None:
    """A day and a month in figures, a wrong weekday, an unknown word, or a part too few."""
    with pytest.raises(ValueError, match="Write it like"):
        read_time(text, BERLIN)


@pytest.mark.parametrize(
    ("text", "zone", "said"),
    [
        ("3 December 2026, 23:59", None, "has no offset from UTC.*--zone Europe/Berlin"),
        ("2026-10-25T02:30", BERLIN, r"twice .*2026-10-25T02:30\+02:00 or 2026-10-25T02:30\+01:00"),
        ("2026-03-29T02:30", BERLIN, "does not exist in Europe/Berlin"),
    ],
)
def test_a_time_that_is_none_or_two_asks_for_the_offset(
    text: str, zone: ZoneInfo | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read_time(text, zone)
    assert read_time("2026-10-25T02:30+01:00", zone)
    assert read_time("2026-10-25T03:00", BERLIN)
