"""Open pages in a real browser, keep its complaints, and check accessibility.

The fixture belongs to a module, never to the session: the browser's driver keeps a thread, and
other tests fork this process.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
HIDE = "--hide-scrollbars"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", HIDE]
USABLE = """() => {
  const usable = 'a[href], button, summary, input, select, [tabindex="0"]';
  window.usable = [...document.querySelectorAll(usable)].filter(one => one.checkVisibility());
  window.reached = new Set();
  return window.usable.length;
}"""
NOTE_FOCUS = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  if (style.outlineStyle !== 'none' || style.boxShadow !== 'none') window.reached.add(one);
}"""
NOT_REACHED = """() => window.usable.filter(one => !window.reached.has(one))
  .map(one => one.outerHTML.slice(0, 120))"""
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"


class Browser:
    """Headless Chromium. ``errors`` are messages of its console and of scripts, ``requests`` the
    addresses that it fetched.
    """

    def __init__(self, chromium: Any) -> None:
        self.chromium = chromium
        self.errors: list[str] = []
        self.requests: list[str] = []

    def open(
        self, page: Path | str, *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> Any:
        """Return a tab (playwright's ``Page``) that shows a
        file, or a file's URL with a fragment.
        """
        self.errors.clear()
        self.requests.clear()
        context = self.chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        tab = context.new_page()
        tab.on("console", lambda message: self.errors.append(message.text))
        tab.on("pageerror", lambda error: self.errors.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.goto(page.as_uri() if isinstance(page, Path) else page)
        return tab

    def with_scrollbars(self, page: Path, script: str) -> Any:
        """Return the result of a script on a narrow page, in a browser that draws scroll bars."""
        chromium = self.chromium.browser_type.launch(
            executable_path=CHROMIUM,
            args=[flag for flag in FLAGS if flag != HIDE],
            ignore_default_args=[HIDE],
        )
        try:
            tab = chromium.new_page(viewport={"width": 375, "height": 900})
            tab.goto(page.as_uri())
            return tab.evaluate(script)
        finally:
            chromium.close()

    def accessibility_violations(self, tab: Any, *, unfold: bool = True) -> list[str]:
        """Return what axe finds, with the places; ``unfold`` opens all details first."""
        from axe_playwright_python.sync_playwright import Axe

        if unfold:
            tab.evaluate(OPEN_ALL)
        found = Axe().run(tab).response["violations"]
        return [
            f"{rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in found
            for node in rule["nodes"]
        ]

    def shut_out(self, tab: Any) -> list[str]:
        """Return what can be used on the page, but not with the keyboard alone: Tab does not reach
        it, or nothing shows that it did.
        """
        tab.evaluate(OPEN_ALL)
        count = tab.evaluate(USABLE)
        for _ in range(count + 1):
            tab.keyboard.press("Tab")
            tab.evaluate(NOTE_FOCUS)
        return list(tab.evaluate(NOT_REACHED))

    def overflows(self, tab: Any) -> bool:
        """Return whether the page is wider than the window."""
        return bool(tab.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start headless Chromium, driven by playwright; skip the test if there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here; .ci/run installs it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield Browser(chromium)
        chromium.close()
