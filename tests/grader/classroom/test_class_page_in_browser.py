"""The class page in a real browser: it breaks no policy, fits a phone, is accessible, and its table
works.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from factories.random_gradebook import LESSONS, random_columns, random_entries

from grader.classroom.statistics.class_page import render_class
from grader.classroom.statistics.collect import collect_statistics

SIZE, SMALL, SEED = 40, 12, 12


def write_page(folder: Path, size: int, lessons: int = len(LESSONS)) -> Path:
    entries = random_entries(size, seed=SEED, lessons=lessons)
    path = folder / "class.html"
    room = collect_statistics(entries, random_columns(lessons))
    path.write_text("".join(render_class(room)), "utf-8")
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a class in which everything occurs that the page can show."""
    return write_page(tmp_path_factory.mktemp("class"), SIZE)


def shown(tab: Any) -> int:
    """Return how many rows the table shows."""
    return int(tab.locator("#table tbody tr:visible").count())


def names(tab: Any) -> list[str]:
    """Return the names in the table, in its order."""
    # all_text_contents also reads rows that are scrolled out of sight.
    return list(tab.locator("#table tbody tr:visible th").all_text_contents())


@pytest.mark.parametrize(
    ("size", "width", "dark"), [(SMALL, 1280, False), (SMALL, 375, True), (0, 1280, False)]
)
def test_the_class_page_is_accessible_and_does_not_overflow(
    browser: Browser, tmp_path: Path, size: int, width: int, dark: bool
) -> None:
    """axe finds nothing serious, in light and dark, wide and narrow; nothing overflows."""
    tab = browser.open(write_page(tmp_path, size, lessons=4), width=width, dark=dark)
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert browser.errors == []


def test_the_first_screen_says_who_needs_help_and_what_to_reteach(
    browser: Browser, page: Path
) -> None:
    tab = browser.open(page)
    for part in ("#help .people li", "#reteach #doubt li", "#reteach .topics h3"):
        assert tab.locator(part).first.bounding_box()["y"] < 900
    tab.locator("#help a[href='#state-behind']").click()
    assert names(tab) and shown(tab) == tab.locator("#table .is-behind").count() < SIZE


def test_on_paper_the_page_is_light_and_its_header_is_repeated(
    browser: Browser, page: Path
) -> None:
    """Closed sections are printed, and nothing is wider than the paper."""
    tab = browser.open(page, width=688, dark=True)  # the width of A4 without its margins
    tab.emulate_media(media="print")
    style = "one => getComputedStyle(document.querySelector(one))"
    assert tab.evaluate(f"({style})('body').backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate(f"({style})('#table thead').display") == "table-header-group"
    assert tab.evaluate(f"({style})('#table th button').display") == "contents"
    assert tab.evaluate(f"({style})('#table tbody tr').breakInside") == "avoid"
    assert tab.locator("table.checks").first.bounding_box()["height"] > 0
    assert not browser.overflows(tab)


def test_a_section_is_shown_alone(browser: Browser, page: Path) -> None:
    tab = browser.open(page)
    everybody = shown(tab)
    tab.locator("#section").select_option("Group B")
    assert 0 < shown(tab) < everybody
    assert all("Group B" in name for name in names(tab))
    assert "1 → 2.5" in tab.locator("#table").text_content()
    tab.locator("#clear").click()
    assert shown(tab) == everybody


def test_the_class_page_loads_nothing_and_runs_no_foreign_script(
    browser: Browser, page: Path
) -> None:
    """Its own script runs, a foreign one does not."""
    tab = browser.open(page)
    assert tab.locator("#tools").is_visible()
    assert browser.errors == []
    assert browser.requests == [page.as_uri()]
    foreign = page.with_name("foreign.html")
    script = "<script>document.title = 'ran'</script></body>"
    foreign.write_text(page.read_text("utf-8").replace("</body>", script), "utf-8")
    assert browser.open(foreign).title() != "ran"
    assert any("Content Security Policy" in complaint for complaint in browser.errors)


def test_the_table_is_searched_by_name_and_filtered_by_state(browser: Browser, page: Path) -> None:
    tab = browser.open(page)
    everybody = [entry.label for entry in random_entries(SIZE, seed=SEED)]
    tab.fill("#search", everybody[7].upper())
    assert shown(tab) == everybody.count(everybody[7])
    tab.click("#clear")
    assert shown(tab) == SIZE
    tab.select_option("#state", "missing")
    assert shown(tab) == sum(entry.missing for entry in random_entries(SIZE, seed=SEED)) > 0
    tab.fill("#search", "nobody is called this")
    assert tab.locator("#nobody").is_visible()


def test_all_of_the_page_can_be_used_with_the_keyboard(browser: Browser, page: Path) -> None:
    assert browser.shut_out(browser.open(page)) == []


def test_the_table_is_sorted_by_keyboard(browser: Browser, page: Path) -> None:
    """Most points come first, then fewest, then names again; screen readers get it too."""
    tab = browser.open(page)
    before = names(tab)
    heading = tab.locator("[data-key=score]")
    for direction in ("descending", "ascending"):
        heading.locator("button").press("Enter")
        assert heading.get_attribute("aria-sort") == direction
        rows = tab.locator("#table tbody tr").all()
        scores = [float(row.get_attribute("data-score")) for row in rows]
        assert scores == sorted(scores, reverse=direction == "descending")
    tab.locator("[data-key=name] button").press("Enter")
    assert names(tab) == before


def test_a_mistake_leads_to_all_who_made_it(browser: Browser, page: Path) -> None:
    """This also holds if the same link is followed again after another filter."""
    tab = browser.open(page)
    topic = tab.locator(".topics li").first
    many = int(topic.locator(".meta b").inner_text())
    topic.locator("a.show").click()
    tab.locator("#shown", has_text=topic.locator("h3").inner_text()).wait_for()
    assert shown(tab) == many > 1
    tab.fill("#search", "0001")
    topic.locator("a.show").click()
    assert shown(tab) == many


def test_an_address_opens_what_it_names(browser: Browser, page: Path) -> None:
    """A link to a check unfolds the lesson that contains it."""
    browser.open(f"{page.as_uri()}#check-9").locator("#check-9").wait_for()
    tab = browser.open(page)
    tab.locator(".topics .meta a").first.click()
    tab.locator("details.lesson[open] table").wait_for()
    tab = browser.open(f"{page.as_uri()}#state-late")
    assert 0 < shown(tab) < SIZE
