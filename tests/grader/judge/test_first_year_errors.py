"""First-year slips in one lesson: what a student must read for each. Python's own words differ from
version to version; ours and the name that is meant may not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
from graded import Grade

from grader.core.report import LessonStatus
from grader.course.course import Course
from grader.course.stubs import without_markers

VALUE = "        y = 1 / (1 + torch.exp(-x))\n"
GRADIENT = "        return grad_output * y * (1 - y)\n"
IMPORT = "import torch\n"
APPLY = "    return Sigmoid.apply(x)\n"
DEFINITION = "def sigmoid(x: Tensor) -> Tensor:\n"
BACKWARD = "    @staticmethod\n    def backward(ctx, grad_output: Tensor) -> Tensor:\n"
OUTSIDE = (
    "\n@staticmethod\ndef backward(ctx, grad_output):\n    (y,) = ctx.saved_tensors\n"
    "    return grad_output * y * (1 - y)\n\ndef of_no_use():\n    def g():\n"
)
HEADER = "    @staticmethod\n    def forward(ctx, x: Tensor)"


@dataclass(frozen=True)
class Slip:
    """``old`` lines of the solution became ``new`` ones; the student reads ``words``, and not
    ``never``. ``line`` is a part of the line that is shown.
    """

    old: str
    new: str
    words: str
    line: str
    never: str = "Check the spelling"


def before(line: str, new: str) -> tuple[str, str]:
    return line, new + line


SLIPS = {
    # names
    "function of torch": Slip(
        VALUE, VALUE.replace("exp", "exq"), "Did you mean exp?", "torch.exq(-x)"
    ),
    "capital letter": Slip(
        VALUE, VALUE.replace("exp", "Exp"), "Did you mean exp?", "torch.Exp(-x)"
    ),
    "parameter": Slip(
        GRADIENT,
        GRADIENT.replace("output", "ouput"),
        "Did you mean grad_output?",
        "return grad_ouput",
    ),
    "parameter that is misspelt in the definition": Slip(
        "grad_output: Tensor",
        "grad_ouput: Tensor",
        "Elsewhere it is grad_output. Write grad_output in line",
        "def backward(ctx, grad_ouput",
        never="Did you mean",
    ),
    "backward of a Function": Slip(
        "def backward(",
        "def backwards(",
        "torch looks for a method named backward.",
        "def backwards",
    ),
    "forward of a Function": Slip(
        "def forward(", "def foward(", "torch looks for a method named forward.", "def foward"
    ),
    "backward inside forward": Slip(
        BACKWARD,
        "        @staticmethod\n        def backward(ctx, grad_output):\n            pass\n",
        "defines it inside forward.",
        "def backward",
    ),
    "function of the task": Slip(
        "def sigmoid(", "def sigmoyd(", "defines sigmoyd, not sigmoid", "def sigmoyd"
    ),
    "variable that is assigned to later": Slip(
        GRADIENT,
        "        garde = grad_output * y\n        grade = grade * (1 - y)\n        return grade\n",
        "garde is misspelt",
        "garde = grad_output",
    ),
    "method of a tensor": Slip(
        GRADIENT, GRADIENT.replace("y *", "y.nrom() *"), "Did you mean norm?", "y.nrom()"
    ),
    "method of a tensor in a tuple": Slip(
        *before(VALUE, "        (x, x).norm()\n"), "Use the element that you need", "(x, x).norm()"
    ),
    "dictionary for a set": Slip(
        *before(VALUE, "        seen = {}\n        seen.add(1)\n"),
        "an empty set is set()",
        "seen.add(1)",
    ),
    "apply with an argument": Slip(
        DEFINITION, "sigmoid = Sigmoid.apply(x)\ndef f(x):\n", "Leave out (x)", "Sigmoid.apply(x)"
    ),
    "method of ctx": Slip(
        "ctx.saved_tensors", "ctx.saved_tensor", "did you mean: 'saved_tensors'?", "ctx.saved_tens"
    ),
    "name of torch that is imported": Slip(
        "import Tensor", "import Tenser", "Did you mean Tensor?", "from torch import Tenser"
    ),
    "np without import": Slip(
        VALUE,
        VALUE.replace("torch", "np"),
        "does not import it. Write at the top: import numpy as np",
        "np.exp(-x)",
    ),
    "math without import": Slip(
        VALUE, VALUE.replace("torch", "math"), "at the top: import math", "math.exp(-x)"
    ),
    "Optional without import": Slip(
        "def sigmoid(x: Tensor)",
        "def sigmoid(x: Optional[Tensor])",
        "at the top: from typing import Optional",
        "def sigmoid(x: Optional",
    ),
    "name that is defined below": Slip(
        "def sigmoid(x: Tensor)",
        "A = B\nB = 1\n\ndef sigmoid(x: Tensor)",
        "B is defined further down, in line 41",
        "A = B",
    ),
    "F without import": Slip(
        VALUE,
        VALUE.replace("torch.exp", "F.softplus"),
        "import torch.nn.functional as F",
        "F.softplus",
    ),
    "torch without import": Slip(
        IMPORT, "", "at the top: import torch", "class Sigmoid(torch.autograd.Function)"
    ),
    "Tensor without import": Slip(
        "from torch import Tensor\n", "", "from torch import Tensor", "def forward(ctx, x: Tensor)"
    ),
    "function without torch": Slip(
        VALUE, VALUE.replace("torch.exp", "exp"), "Write torch.exp.", "exp(-x)"
    ),
    "method without ctx": Slip(
        "ctx.save_for_backward(y)",
        "save_for_backward(y)",
        "Write ctx.save_for_backward.",
        "save_for_backward(y)",
    ),
    "e": Slip(VALUE, VALUE.replace("torch.exp(-x)", "e ** (-x)"), "Write math.e.", "e ** (-x)"),
    "true": Slip(
        *before(VALUE, "        x = x.clone().requires_grad_(true)\n"),
        "Write True for true.",
        "requires_grad_(true)",
    ),
    "null": Slip(*before(VALUE, "        y = null\n"), "Write None for null.", "y = null"),
    "== for =": Slip(
        VALUE,
        VALUE.replace("y = ", "y == "),
        "compares y with == and drops the answer, so y gets no value. Write =",
        "y == 1",
    ),
    "variable of another method": Slip(
        GRADIENT, GRADIENT.replace("y", "s"), "s has no value yet", "return grad_output", never="~"
    ),
    # calls and types
    "self beside ctx": Slip(
        "def forward(ctx, x", "def forward(self, ctx, x", "never self", "def forward(self, ctx"
    ),
    "method that is not static": Slip(
        HEADER,
        "    def forward(self, ctx, x: Tensor)",
        "write @staticmethod above it",
        "def forward(self, ctx",
    ),
    "ctx behind x": Slip(
        "def forward(ctx, x: Tensor)",
        "def forward(x: Tensor, ctx)",
        "Write forward(ctx, x).",
        "def forward(x: Tensor, ctx)",
    ),
    "backward outside of the class": Slip(
        BACKWARD, OUTSIDE, "line 31 defines it outside", "def backward(ctx, grad_output)"
    ),
    "list for tensors": Slip(
        "ctx.save_for_backward(y)",
        "ctx.save_for_backward([y])",
        "Pass the tensors one by one",
        "ctx.save_for_backward([y])",
    ),
    "function for class": Slip(
        APPLY, APPLY.replace("Sig", "sig"), "Did you mean Sigmoid?", "return sigmoid.apply(x)"
    ),
    "class in small letters": Slip(
        "class Sigmoid", "class sigmoid", "defines sigmoid, not Sigmoid", "class sigmoid"
    ),
    "function that calls itself": Slip(
        APPLY, "    y = x\n    return sigmoid(y)\n", "calls itself", "return sigmoid(y)"
    ),
    "write into x": Slip(
        VALUE, VALUE.replace("-x", "x.neg_()"), "Compute a new tensor", "x.neg_()"
    ),
    "write into grad_output": Slip(
        *before(GRADIENT, "        grad_output.mul_(2)\n"), "Compute a new tensor", "mul_(2)"
    ),
    "requires_grad of x": Slip(
        *before(VALUE, "        x.requires_grad_()\n"), "switched on", "x.requires_grad_()"
    ),
    "object for apply": Slip(
        APPLY, APPLY.replace(".apply", ""), "call the class method Sigmoid.apply(x)", "Sigmoid(x)"
    ),
    "product without *": Slip(
        VALUE, "        y = 1 / 2(1 + torch.exp(-x))\n", "For a product, write *.", "1 / 2(1 +"
    ),
    "shape()": Slip(
        *before(VALUE, "        n = x.shape()\n"), "Write it without parentheses", "x.shape()"
    ),
    "requires_grad()": Slip(
        *before(VALUE, "        n = x.requires_grad()\n"),
        "requires_grad is an attribute, not a method",
        "x.requires_grad()",
    ),
    "no_grad without parentheses": Slip(
        VALUE,
        f"        with torch.no_grad:\n    {VALUE}",
        "Write parentheses behind it, as in: with torch.no_grad():",
        "with torch.no_grad:",
    ),
    "parameter of another name": Slip(
        "def sigmoid(x: Tensor)",
        "def sigmoid(value: Tensor)",
        "The stub has sigmoid(x).",
        "def sigmoid(value",
        never="inside an if",
    ),
    "size[0]": Slip(
        *before(VALUE, "        n = x.size[0]\n"), "Write parentheses behind it", "x.size[0]"
    ),
    "^ for **": Slip(
        VALUE, "        y = 1 / (1 + 2.718 ^ (-x))\n", "A power is written **", "2.718 ^ (-x)"
    ),
    "text + tensor": Slip(
        *before(VALUE, '        print("x is " + x)\n'), "write a comma between them", '"x is " + x'
    ),
    "list / tensor": Slip(
        VALUE, VALUE.replace("1 /", "[1] /"), "Make it a tensor first", "y = [1] /"
    ),
    "math for tensors": Slip(
        VALUE,
        "        import math\n" + VALUE.replace("torch", "math"),
        "such as torch.exp",
        "math.exp(-x)",
    ),
    # what waits, ends, or is not there
    "breakpoint()": Slip(
        *before(VALUE, "        breakpoint()\n"), "Delete the call", "breakpoint()"
    ),
    "pdb": Slip(
        *before(VALUE, "        import pdb; pdb.set_trace()\n"), "wait for keys", "set_trace()"
    ),
    "input()": Slip(
        *before(VALUE, "        n = int(input('n? '))\n"), "write the value into", "input('n? ')"
    ),
    "input() at the top": Slip(
        *before(IMPORT, "n = int(input('n? '))\n"), "Nobody can type", "input('n? ')"
    ),
    "exit()": Slip(*before(VALUE, "        exit()\n"), "Delete the call", "exit()"),
    "package": Slip(
        *before(IMPORT, "import sklearn_of_mine\n"),
        "Without sklearn_of_mine, torch and Python's own modules are enough",
        "import sklearn_of_mine",
    ),
    "file of one's own": Slip(
        *before(IMPORT, "from my_helpers import f\n"),
        "Only this file is graded: copy what it needs",
        "from my_helpers import f",
    ),
    "misspelt module": Slip(IMPORT, "import troch\n", "Did you mean torch?", "import troch"),
    # what Python can't read
    "prose of a chat": Slip(
        *before(IMPORT, "Here is the corrected code for your sigmoid function:\n"),
        "This line is text, not Python",
        "Here is the corrected",
    ),
    "prose with an apostrophe": Slip(
        *before(IMPORT, "Here's the code you need.\n"), "This line is text", "Here's the code"
    ),
    "prose with an exclamation mark": Slip(
        *before(DEFINITION, "Sure! This function applies the class.\n"), "is text", "Sure! This"
    ),
    "Korean prose": Slip(
        *before(DEFINITION, "이 함수는 클래스를 적용합니다.\n"), "This line is text", "이 함수는"
    ),
    "list of points": Slip(
        *before(DEFINITION, "- Save y in forward.\n"), "This line is text", "- Save y in forward."
    ),
    "rest of the code": Slip(
        *before(DEFINITION, "... rest of the code\n"), "This line is text", "... rest of the code"
    ),
    "fence": Slip(*before(IMPORT, "```python\n"), "This line is Markdown", "```python"),
    "command": Slip(*before(IMPORT, "pip install torch\n"), "command for a terminal", "pip inst"),
    "cell's command": Slip(*before(IMPORT, "!pip install torch\n"), "command for a", "!pip inst"),
    "full-width bracket": Slip(
        VALUE, VALUE.replace("(1 +", "（1 +"), "character （. Type ( instead.", "（1 +"
    ),
    "full-width comma": Slip(
        "forward(ctx, x", "forward(ctx， x", "character ，. Type , instead.", "ctx，"
    ),
    "minus sign U+2212": Slip(
        VALUE, VALUE.replace("-x", "−x"), "character −. Type - instead.", "exp(−x)"
    ),
    "dash": Slip(VALUE, VALUE.replace("-x", "–x"), "character –. Type - instead.", "exp(–x)"),
    "division sign": Slip(VALUE, VALUE.replace("/", "÷"), "Type / instead.", "y = 1 ÷"),
    "square": Slip(*before(VALUE, "        z = x²\n"), "Type **2 instead.", "z = x²"),
    "curly quotation marks": Slip(
        *before(DEFINITION, "print(“hello”)\n"), "Write a straight one", "print(“hello”)"
    ),
    "misspelt return": Slip(
        APPLY, APPLY.replace("return", "retrun"), "Did you mean return?", "retrun"
    ),
    "capitalized return": Slip(
        APPLY, APPLY.replace("return", "Return"), "Did you mean return?", "Return Sigmoid"
    ),
    "misspelt def": Slip(
        DEFINITION, DEFINITION.replace("def", "dfe"), "Did you mean def?", "dfe sigmoid"
    ),
    "-> for a dot": Slip(
        APPLY, APPLY.replace(".", "->"), "write Sigmoid.apply", "return Sigmoid->apply"
    ),
    "=>": Slip(
        *before(VALUE, "        if x.dim() => 1:\n            pass\n"), "equal >=", "x.dim() => 1"
    ),
    "let": Slip(*before(VALUE, "        let n = 1\n"), "delete let", "let n = 1"),
    "else without if": Slip(
        *before(GRADIENT, "        else:\n            pass\n"), "belongs to no block", "else:"
    ),
    "= in a condition": Slip(
        *before(VALUE, "        if x = 0:\n            pass\n"), "To compare, write ==", "if x = 0"
    ),
    "colon": Slip(DEFINITION, DEFINITION.replace(":\n", "\n"), "A colon is missing", "def sigmoid"),
    "bracket": Slip(VALUE, VALUE.replace("))", ")"), "is never closed", "y = 1 / (1"),
    "bracket before a method": Slip(
        GRADIENT,
        GRADIENT.replace("(1 - y)", "(y > 0.to(y.dtype)"),
        "A closing bracket is missing before the dot",
        "0.to(",
    ),
    "spaces and a tab": Slip(
        *before(DEFINITION, "def g(x):\n    \ty = x\n        return y\n\n\n"),
        "indented with tabs",
        "y = x",
    ),
    "tab": Slip(VALUE, "\t" + VALUE.lstrip(), "indented with tabs", "y = 1 /"),
}


ONLY_IN_ANNOTATIONS = {"Optional without import", "Tensor without import"}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_gets_the_advice_that_ends_it(name: str, grade_text: Grade, course: Course) -> None:
    if name in ONLY_IN_ANNOTATIONS and sys.version_info >= (3, 14):
        pytest.skip("this Python does not evaluate annotations, so it is no slip")
    slip, lesson = SLIPS[name], course.lesson("custom_sigmoid")
    solution = without_markers(lesson.solution.read_text("utf-8"))
    assert slip.old in solution
    result = grade_text(lesson, solution.replace(slip.old, slip.new, 1))
    assert result.score < 10
    shown = next(one for one in result.checks if not one.outcome.quiet)
    texts = (result.message, shown.message, shown.diagnosis_title, shown.evidence)
    read = "\n".join(filter(None, texts))
    assert slip.words in read
    assert slip.never not in read
    assert slip.line in (shown.source_text or "")
    assert (result.status is LessonStatus.INVALID) == (result.message is not None)
