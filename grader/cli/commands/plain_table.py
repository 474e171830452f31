"""Print tables, for the instructors' commands."""

from __future__ import annotations

from rich.table import Table


def plain_table(*headers: str) -> Table:
    return Table(*headers, box=None, pad_edge=False, header_style="bold")
