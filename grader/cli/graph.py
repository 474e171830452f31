"""Run ``grade graph``: draw the graph behind a function's result.

The function runs in a child process with the user's own rights.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from grader.cli.help import TranslatedCommand
from grader.cli.options import PATH, lang_option, write_file
from grader.core.errors import UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import TraceProblem, TraceRequest, read_traced
from grader.core.pictures import GraphPicture
from grader.core.processes import users_environment
from grader.core.text import clean
from grader.render.figures import legend_lines, tree_line
from grader.render.graph import TRACING_PROCESS
from grader.render.graph.draw import draw_svg, legend, tree_lines
from grader.render.terminal import make_console


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
    request = trace_request(target, inputs, backward=backward)
    tr = engine_catalogue(wanted_language(lang))
    name = Path(request.file).name
    warning = tr("{file} is run here, with your rights: this is not a sandbox", file=name)
    make_console(stderr=True).print(Text(warning, "dim"))
    picture, called = run_function(request)
    title = tr("The graph behind {name}", name=called)
    console = make_console()
    console.print(Text(title, "bold"))
    for line in tree_lines(picture, tr, width=max(40, console.width)):
        console.print(tree_line(line))
    without_graph = {
        "constant": tr(
            "There is no graph behind the result: it is a constant, with requires_grad=False and no"
            " grad_fn. No input requires grad, or something on the way cuts the graph."
        ),
        "leaf": tr(
            "There is no graph behind the result: it is a leaf, with requires_grad=True and no"
            " grad_fn. No operation made it."
        ),
    }
    if picture.nodes[0].kind in without_graph:
        console.print(Text(without_graph[picture.nodes[0].kind], "yellow"))
    else:
        console.print()
        for mark in legend_lines([picture], tr):
            console.print(mark)
    write_file(
        svg,
        lambda: draw_svg(picture, tr, title=title, own_style=True) + "\n",
        options="--svg, --html",
    )
    write_file(html, lambda: graph_page(picture, tr, title), options="--svg, --html")
    for place in (svg, html):
        if place is not None:
            console.print(Text(str(place), "dim"))


def trace_request(target: str, inputs: tuple[str, ...], *, backward: bool) -> TraceRequest:
    """Parse ``FILE:FUNCTION`` and texts such as ``2.0,3.0``; raise UsageError."""
    place, colon, function = target.rpartition(":")
    if not colon or not place or not function:
        message = "{target} names no function. Write FILE:FUNCTION, such as {example}"
        raise UsageError(message, target=repr(target), example="my_lesson/my_lesson.py:my_function")
    file = Path(place)
    if not file.is_file():
        raise UsageError(
            "{path} is not a file. Write FILE:FUNCTION, with a Python file that is there",
            path=str(file),
        )
    return TraceRequest(str(file.resolve()), function, tuple(map(numbers, inputs)), backward)


def numbers(text: str) -> Any:
    """Parse ``2.0``, ``2.0,3.0`` or ``[[1, 2], [3, 4]]``; raise UsageError."""
    try:
        value = json.loads(
            text if "[" in text or "," not in text else f"[{text}]", parse_constant=_no_number
        )
        if not _numeric(value):
            raise ValueError(text)
    except ValueError:
        message = "--input {value} is not a tensor. Write numbers, such as {examples}"
        raise UsageError(
            message, value=repr(text), examples='2.0 or 2.0,3.0 or "[[1, 2], [3, 4]]"'
        ) from None
    return value


def _no_number(text: str) -> float:
    raise ValueError(text)


def _numeric(value: Any) -> bool:
    if isinstance(value, list):
        lengths = {len(item) if isinstance(item, list) else -1 for item in value}
        return len(lengths) < 2 and all(map(_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


LONGEST_SECONDS = 60
"""How long a function may run, torch's import included."""


def run_function(request: TraceRequest) -> tuple[GraphPicture, str]:
    """Return the graph behind a function's result, and the call; raise UsageError."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        try:
            done = subprocess.run(
                [sys.executable, "-m", TRACING_PROCESS, str(answer)],
                input=json.dumps(request.as_json()),
                encoding="utf-8",
                env=users_environment(),
                check=False,
                start_new_session=True,  # Ctrl-C reaches only this process, which ends the other
                timeout=LONGEST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            message = "{path}: {name} still ran after {seconds} s and was stopped: is there a loop?"
            facts = {"path": request.file, "name": request.function, "seconds": LONGEST_SECONDS}
            raise UsageError(message, **facts) from None
        if not answer.exists():
            message = "{path}: the process ended ({code}) before {name} returned"
            raise UsageError(
                message, path=request.file, code=str(done.returncode), name=request.function
            )
        found = read_traced(json.loads(answer.read_text("utf-8")))
    if isinstance(found, TraceProblem):
        raise UsageError(
            found.template, **{name: clean(fact) for name, fact in found.facts.items()}
        )
    return GraphPicture.from_json(found.picture), clean(found.called)


def graph_page(picture: GraphPicture, tr: Catalogue, title: str) -> str:
    from grader.render.page import environment, style, style_hash

    lines = "\n".join(map(str, tree_lines(picture, tr)))
    sheet = style()
    page = environment().get_template("graph.html")
    return page.render(
        title=title,
        svg=draw_svg(picture, tr, title=title),
        tree=lines,
        marks=legend([picture], tr),
        style=sheet,
        style_hash=style_hash(sheet),
        tr=tr,
    )
