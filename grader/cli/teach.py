"""The instructor's commands: options and what they mean. The work is done in ``commands``; everything but click is imported when needed."""

from __future__ import annotations

import click

COMMANDS: tuple[click.Command, ...] = ()
