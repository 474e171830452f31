"""Measure how well ``grade similar`` finds planted copies.

    python tests/benchmarks/planted_copies.py [LESSON]...

The class of a lesson is its accepted answers. They share what the lesson asks for, but none is a
copy. One copy at a time is planted in it, with names changed, comments and
spacing changed, definitions in another order, ``for`` as ``while``, or with a function split in
two. The script counts the copies that are found as a pair with their source, and the pairs without
a copy.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Callable

from grader.classroom.statistics.similarity import Text, similar_pairs
from grader.course.course import Lesson, find_course, load_course

THRESHOLD = 0.6
"""The default of ``grade similar``."""


class Renamed(ast.NodeTransformer):
    """Every argument and local variable gets another name, ``self`` and ``ctx`` too."""

    def __init__(self, tree: ast.AST) -> None:
        bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        bound |= {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.names = {name: f"renamed_{place}" for place, name in enumerate(sorted(bound))}

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names[node.arg]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node


class Looped(ast.NodeTransformer):
    """``for`` over anything becomes ``while`` over its iterator."""

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        code = "todo = list({})\nwhile todo:\n    {} = todo.pop(0)"
        begin, loop = ast.parse(code.format(ast.unparse(node.iter), ast.unparse(node.target))).body
        assert isinstance(loop, ast.While)
        loop.body += node.body
        return [begin, loop]


def renamed(source: str) -> str:
    tree = ast.parse(source)
    return ast.unparse(Renamed(tree).visit(tree))


def recommented(source: str) -> str:
    """Docstrings and comments change, and every line gets a comment of its own."""
    lines = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NEWLINE:
            lines.append(token.end[0])
    text = source.replace('"""', '"""Mine. ').split("\n")
    for number in lines:
        if '"' not in text[number - 1]:
            text[number - 1] += "  # this line does what it should"
    return "\n".join(text)


def reordered(source: str) -> str:
    tree = ast.parse(source)
    defined: list[ast.stmt] = [
        one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))
    ]
    for one in defined:
        if isinstance(one, ast.ClassDef):
            one.body.reverse()
    tree.body = [one for one in tree.body if one not in defined] + defined[::-1]
    return ast.unparse(tree)


def with_while(source: str) -> str:
    tree = ast.parse(source)
    return ast.unparse(ast.fix_missing_locations(Looped().visit(tree)))


def split(source: str) -> str:
    """The second half of each function's body moves into a function inside it."""
    tree = ast.parse(source)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef) and len(node.body) > 2:
            middle = len(node.body) // 2
            helper, call = ast.parse("def rest():\n    pass\nreturn rest()").body
            assert isinstance(helper, ast.FunctionDef)
            helper.body, node.body = node.body[middle:], [*node.body[:middle], helper, call]
    return ast.unparse(ast.fix_missing_locations(tree))


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda source: source,
    "renamed": renamed,
    "re-commented": recommented,
    "reordered": reordered,
    "for to while": with_while,
    "functions split": split,
    "all of it": lambda source: recommented(renamed(split(with_while(reordered(source))))),
}


def count(lesson: Lesson) -> tuple[Counter[str], Counter[str], int]:
    """Return how many copies were found and planted, and how many pairs have no copy."""
    sources = [cell.source for cell in lesson.accepted]
    texts = [Text(f"hand {place}", source) for place, source in enumerate(sources)]
    stub, known = lesson.stub.read_text("utf-8"), [lesson.solution.read_text("utf-8")]
    false = len(similar_pairs(lesson.id, texts, stub, known, THRESHOLD))
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    for name, disguise in DISGUISES.items():
        for text in texts:
            made = disguise(text.text)
            if name != "as it is" and ast.unparse(ast.parse(text.text)) in (made, text.text):
                continue  # nothing in it to disguise
            planted[name] += 1
            pairs = similar_pairs(lesson.id, [*texts, Text("copy", made)], stub, known, THRESHOLD)
            found[name] += any(
                {text.owner, "copy"} == {pair.one.owner, pair.other.owner} for pair in pairs
            )
    return found, planted, false


def main() -> None:
    course = load_course(find_course())
    lessons = [course.lesson(name) for name in sys.argv[1:]] or course.lessons
    found: Counter[str] = Counter()
    planted: Counter[str] = Counter()
    false = 0
    for lesson in lessons:
        one, all_of_them, wrong = count(lesson)
        found, planted, false = found + one, planted + all_of_them, false + wrong
        print(f"{lesson.id}: {dict(one)} of {dict(all_of_them)}, {wrong} false", file=sys.stderr)
    for name, number in planted.items():
        print(f"{name}: {found[name]} of {number} found")
    print(f"pairs that nobody copied: {false}")


if __name__ == "__main__":
    main()
