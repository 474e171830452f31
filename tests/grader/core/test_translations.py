"""Learners' texts are in the catalogue, errors included; none is assembled before."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import polib
import pytest

import grader
from grader.cli import COMMANDS, SECTIONS, cli, help, notebook
from grader.core.i18n import Catalogue, engine_catalogue
from grader.judge import runner
from grader.judge.diagnosis import fill_text

PACKAGE = Path(grader.__file__).parent
ROOT = PACKAGE.parent
MODULES = """
    classroom/exports/classroom50
    cli/__init__ cli/grade cli/graph cli/help cli/learner cli/notebook cli/options cli/replay
    cli/selection cli/watch cli/watch_screen cli/workspace core/i18n course/course
    course/files course/handed_in course/notebook course/submission judge/debugger judge/runner
    judge/remote/workers render/graph/tracing_process render/terminal
""".split()
RAISED = {"UsageError", "SubmissionError", "SandboxRefused", "GraphRequestError"}
SAID = RAISED | {"tr", "wrong", "phrase"}
CATALOGUES = sorted([*PACKAGE.glob("locale/*.po"), *ROOT.glob("exercises/*/*.po")])
TRANSLATED = re.compile(
    r"(?<!there )(?<!There )\bis no (?!longer|more)"
    r"|\b(?:anew|whoever|foretells?|told in full|but for rounding)\b"
)
"""Phrases that sound translated: "is no tensor" instead of "is not a tensor", and single words."""
TEMPLATE_AT = {"wrong": 2}
"""The position of the template among the arguments, if it is not the first."""


def texts(node: ast.AST, names: dict[str, list[ast.expr]]) -> Iterator[str | None]:
    """Return the constant texts that an expression may have; None for an assembled one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield None
    elif isinstance(node, ast.IfExp):
        yield from (*texts(node.body, names), *texts(node.orelse, names))
    elif isinstance(node, ast.BinOp):
        for left in texts(node.left, names):
            for right in texts(node.right, names):
                yield None if left is None or right is None else left + right
    elif isinstance(node, ast.Name):
        for value in names.get(node.id, ()):
            yield from texts(value, names)


def spoken(path: Path) -> set[str | None]:
    """Return the templates of all texts that a module prints or raises for people."""
    tree = ast.parse(path.read_text("utf-8"))
    names: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, []).append(node.value)
    found: set[str | None] = set()
    for call in ast.walk(tree):
        name = ast.unparse(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        at = TEMPLATE_AT.get(name, 0)
        if isinstance(call, ast.Call) and name in SAID and len(call.args) > at:
            found |= set(texts(call.args[at], names))
    return found


@pytest.mark.parametrize("module", MODULES)
def test_everything_that_a_learner_may_be_told_has_korean_words(module: str) -> None:
    known = {
        entry.msgid for entry in polib.pofile(str(PACKAGE / "locale" / "ko.po")) if entry.msgstr
    }
    assert spoken(PACKAGE / f"{module}.py") - known == set()


def test_what_a_person_should_look_at_has_korean_words() -> None:
    reasons = {*runner.REACHING_OUT.values(), *runner.MODULES.values(), *runner.BUILTINS.values()}
    tr = engine_catalogue("ko")
    for reason in (*reasons, runner.REPLACES, runner.DEFINES):
        tr(reason)
    assert not tr.missing


def write_all_help(command: click.Command, tr: Catalogue) -> None:
    context = click.Context(command, info_name="grade")
    help.write_help(command, context.make_formatter(), tr)
    help.write_options(command, context, context.make_formatter(), tr)


def test_help_has_korean_words() -> None:
    tr = engine_catalogue("ko")
    root = click.Context(cli, info_name="grade")
    learners = (cli.get_command(root, name) for name in SECTIONS["For learners"])
    for command in (cli, *filter(None, learners), notebook.magic_command):
        write_all_help(command, tr)
    for text in (*SECTIONS, *(command.about for command in COMMANDS.values())):
        tr(text)
    assert tr.missing == set()


def test_an_option_without_korean_words_is_found() -> None:
    tr = engine_catalogue("ko")
    option = click.Option(["--two"], help="Do three.")
    write_all_help(click.Command("one", params=[option], help="Do one."), tr)
    assert tr.missing == {"Do one.", "Do three."}


def test_a_text_that_is_put_together_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        'REST = "b"\n'
        'raise UsageError("a" + REST, x=1)\n'
        'raise UsageError(f"{x}")\n'
        'tr("c" if x else "d")\n'
    )
    assert spoken(tmp_path / "one.py") == {"ab", None, "c", "d"}


def test_korean_texts_keep_to_the_glossary() -> None:
    """``grader/locale/glossary.toml`` has one Korean word for each term; each is in use."""
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for pattern in ("grader/locale/ko.po", "exercises/*/*ko*", "templates/handout/*.ko.md")
        for path in ROOT.glob(pattern)
    }
    glossary = tomllib.loads((PACKAGE / "locale" / "glossary.toml").read_text("utf-8"))
    banned = {word for term in glossary.values() for word in term["not"]}
    assert [(name, word) for name, text in texts.items() for word in banned if word in text] == []
    everything = "\n".join(texts.values())
    assert [term for term, words in glossary.items() if words["ko"] not in everything] == []


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.name)
def test_no_text_is_translated_twice_or_sounds_translated(path: Path) -> None:
    """Catalogues contain every sentence that learners read; reading raises for a second one."""
    texts = [entry.msgid for entry in polib.pofile(str(path), check_for_duplicates=True)]
    assert texts
    assert [text for text in texts if TRANSLATED.search(text)] == []


@pytest.mark.parametrize(
    ("word", "filled"),
    [
        ("tuple", "tuple이 tuple을 tuple로"),
        ("list", "list가 list를 list로"),
        ("None", "None이 None을 None으로"),
        ("목록", "목록이 목록을 목록으로"),
        ("값", "값이 값을 값으로"),
        ("지수", "지수가 지수를 지수로"),
        ("my_list", "my_list이(가) my_list을(를) my_list(으)로"),
        ("x", "x이(가) x을(를) x(으)로"),
    ],
)
def test_korean_particles_fit_the_word_before_them(word: str, filled: str) -> None:
    template = "{word}이(가) {word}을(를) {word}(으)로"
    assert Catalogue("ko", {template: template})(template, word=word) == filled
    assert fill_text(template, {"word": word}, Catalogue("ko", {template: template})) == filled
    assert "이(가)" in Catalogue()(template, word=word)
