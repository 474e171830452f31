"""Render what the engine writes from a template: scripts, workflows, front pages, new lessons.

Pages have a separate environment with escaping (``render/page.py``).
"""

from __future__ import annotations

import functools
from typing import Any

import jinja2

from grader.core.files import templates


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=False,  # plain text, so no escaping
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )


def render_text(template: str, **values: Any) -> str:
    """Return a template, such as ``"handout/README.md"``, filled in; raise on an unknown name."""
    return _environment().get_template(template).render(values)
