"""Commands to debug code, ``grade replay`` and ``grade graph``, and their options."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.help import TranslatedCommand
from grader.cli.options import (
    PATH,
    check_names,
    course,
    course_option,
    lang_option,
    place_option,
    sandbox_option,
    seed_option,
)


@click.command(short_help="Run a check again from its seed, or debug it.", cls=TranslatedCommand)
@click.argument("target", metavar="[LESSON[.CHECK]]", default="", shell_complete=check_names)
@place_option
@seed_option
@click.option(
    "--check-seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="The check's own seed, from a report, instead of the run's.",
)
@click.option(
    "--show", "way", flag_value="show", help="Print a script that does the same without the grader."
)
@click.option(
    "--pdb",
    "way",
    flag_value="pdb",
    help="Debug your code where it raises or is called. It runs unconfined.",
)
@click.option(
    "--break", "stop", is_flag=True, help="With --pdb: always stop at the function's first line."
)
@sandbox_option
@lang_option
@course_option
def replay(
    target: str,
    place: Path,
    seed: int | None,
    check_seed: int | None,
    way: str | None,
    stop: bool,
    sandbox: str,
    lang: str | None,
    course_root: Path | None,
) -> None:
    """Run a check again from its seed: judged, as a script, or in a debugger. For a lesson, run its
    failing check.

    Without a lesson, use the one in this folder, or the one that failed last. If there are several,
    list a command for each.

    Example: grade replay custom_sigmoid.gradcheck_agrees --seed 5 --show
    """
    from grader.cli.commands.replay import ReplayRequest
    from grader.cli.commands.replay import replay as judge_again
    from grader.cli.commands.replay_debug import debug
    from grader.cli.commands.replay_script import show_script
    from grader.cli.commands.replay_target import resolve_target
    from grader.core.errors import ExitCode

    flags = {"--show": way == "show", "--pdb": way == "pdb", "--break": stop}
    values = {"--in": place if place != Path() else None, "--course": course_root, "--lang": lang}
    options = (
        *(name for name, given in flags.items() if given),
        *(
            word
            for name, value in values.items()
            if value is not None
            for word in (name, str(value))
        ),
    )
    found = course(course_root)
    request = resolve_target(
        found, ReplayRequest(target, place, seed, check_seed, sandbox, lang, options)
    )
    if request is None:
        sys.exit(ExitCode.NOT_FULL_MARKS)
    if way == "pdb" or stop:
        sys.exit(debug(found, request, stop=stop))
    sys.exit(show_script(found, request) if way == "show" else judge_again(found, request))


@click.command(cls=TranslatedCommand)
@click.argument("target", metavar="FILE:FUNCTION")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NUMBERS",
    help="An argument, such as 2.0 or 2.0,3.0; once for each. [2, 3] by default.",
)
@click.option(
    "--backward", is_flag=True, help="Run backward first, to see which saved tensors it frees."
)
@click.option("--svg", type=PATH, help="Write the drawing to this file.")
@click.option("--html", type=PATH, help="Write a page with the drawing to this file.")
@lang_option
def graph(
    target: str,
    inputs: tuple[str, ...],
    backward: bool,
    svg: Path | None,
    html: Path | None,
    lang: str | None,
) -> None:
    """Draw the graph that your function builds. This runs your file, unconfined.

    Example: grade graph model.py:loss --input 2.0,3.0 --svg loss.svg
    """
    from grader.cli.commands.graph import show_graph, wanted

    show_graph(wanted(target, inputs, backward=backward), svg=svg, html=html, lang=lang)
