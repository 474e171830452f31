"""Beginners' syntax errors get a sentence that says what to do, whatever this Python's own message
is.
"""

from __future__ import annotations

import pytest

from grader.core.i18n import engine_catalogue
from grader.course.source import Source
from grader.course.syntax_errors import RULES, explain

EXAMPLES = [
    ("def f(x)\n    return x\n", "A colon is missing", 1),
    ("def f(x):\n    return (x + 1\n\ny = 2\n", "bracket ( that this line opens", 2),
    ("def f(x):\n    return [x)\n", "does not fit the bracket [", 2),
    ("x = (1,\n     2]\n", "] does not fit the bracket (", 2),
    ("x = 1)\n", ") closes a bracket", 1),
    ("if x = 1:\n    pass\n", "To compare, write ==", 1),
    ("x = 'text\n", "closing quotation mark is missing", 1),
    ('x = """text\n\n', "triple-quoted string begins here", 1),
    ("x = “text”\n", "“ is a curly quotation mark", 1),
    ("x = 3 × 4\n", "does not know the character ×", 1),
    ("x = 3\u00a0+ 4\n", "An invisible character", 1),
    ("def f(x):\n    y = x\n\treturn y\n", "indented with tabs", 3),
    ("x = 1\n    y = 2\n", "indented further than the one before", 2),
    ("def f(x):\nreturn x\n", "The block that line 1 opens is empty", 2),
    ("def f(x):\n        y = x\n    return y\n", "indented less than the one before", 3),
    ("x = [1 2]\n", "A comma is missing", 1),
    ("return 1\n", "return is outside a function", 1),
    ("break\n", "break is outside a loop", 1),
    ("f(a=1, 2)\n", "Arguments with a name come after", 1),
    ("def f(a=1, b):\n    pass\n", "Parameters with a default value", 1),
    ("print x\n", "print is a function", 1),
    ("1st = 2\n", "can't begin with a digit", 1),
    ("try:\n    x = 1\ny = 2\n", "try needs except", 3),
    ("f(x) = 2\n", "to the left of =", 1),
    ("x = 1 + \\ \n    2\n", "After a backslash", 1),
    ("```python\nx = 1\n```\n", "This line is Markdown", 1),
    (">>> x = 1\n", "delete >>>", 1),
    ("<<<<<<< HEAD\nx = 1\n=======\n", "Git left a conflict", 1),
    ("if x:\n    pass\nelse if y:\n    pass\n", "else if is written elif", 3),
    ("x++\n", "write += 1", 1),
    ("if a && b:\n    pass\n", "&& is written `and`", 1),
    ("if a || b:\n    pass\n", "|| is written `or`", 1),
    ("if !a:\n    pass\n", "! is written `not`", 1),
    ("x = f'{1 +}'\n", "braces of this f-string", 1),
    ("def f(x):\n    Return dz/dx of z = x ** 2 for each element of x.\n", "text, not Python", 2),
    ("def f(x):\n    Return the gradient of f.\n", "text, not Python", 2),
    ("def f(x):\n    Return x + y\n", "Did you mean return?", 2),
    ("form torch import nn\n", "Did you mean from?", 1),
    ("def f(x):\n    whille x in y:\n        pass\n", "Did you mean while?", 2),
]


@pytest.mark.parametrize(("code", "said", "line"), EXAMPLES)
def test_a_syntax_error_says_what_to_do(code: str, said: str, line: int) -> None:
    with pytest.raises(SyntaxError) as raised:
        compile(code, "lesson.py", "exec")
    error = raised.value
    assert error.lineno == line
    explained = explain(str(error.msg), Source(code, "lesson.py").line(error.lineno))
    assert explained is not None, error.msg
    assert said in explained.template.format(**explained.facts)


def test_what_no_rule_fits_is_left_to_python() -> None:
    assert explain("invalid syntax", "x = = 1") is None


def test_every_sentence_has_korean_words_with_the_same_facts() -> None:
    tr = engine_catalogue("ko")
    for rule in RULES:
        assert tr(rule.template) != rule.template
    assert tr.missing == set()


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("def f(x)\n    return x\n", (1, 9)),
        ("def f(x):\n    return x +\n", (2, 11)),
        ("x = 1\n", None),
        ("\0", None),
        ("-" * 100_000 + "1", None),
    ],
)
def test_the_place_is_counted_without_the_indentation(
    code: str, place: tuple[int, int] | None
) -> None:
    """A caret is placed below the line as it is shown."""
    assert Source(code, "lesson.py").error_column == place
