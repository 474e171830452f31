"""The failed call as Python to paste: when it is run, it repeats the call with the same inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from graded import by_name
from plain_python import PlainPython

from grader.classroom.public_report import withheld
from grader.core.messages import Settings
from grader.core.report import CheckResult
from grader.course.course import Course
from grader.course.submission import decode
from grader.judge.remote.proxies import LastCall
from grader.judge.replay import MAX_CHARACTERS, literal, snippet
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission
from grader.worker.wire.values import Opaque, StudentRef


def snippet_for(
    *args: Any, inputs: dict[str, Any] | None = None, gradcheck: bool = False, **more: Any
) -> str | None:
    """Return the snippet of a call of ``f``."""
    asked = LastCall("f", args, {}, **{"grad": True} | more)
    return snippet(asked, module="tiny", inputs=inputs or {}, gradcheck=gradcheck)


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(2.5, dtype=torch.float64),
        torch.tensor([[0.1, -2.0], [3.0, 1e-9]], dtype=torch.float64),
        torch.tensor([0.1, 0.7]),
        torch.tensor([1, 2]),
        torch.tensor([True, False]),
        torch.tensor([float("nan"), float("-inf")]),
        torch.tensor([1 + 2j]),
        torch.zeros(0, 3),
        torch.arange(6.0).reshape(2, 3).t(),
        torch.arange(12.0).reshape(3, 4)[:, 1:3],
        torch.tensor([1.5]).expand(4),
        torch.tensor([0.25, 1.0], requires_grad=True),
        torch.arange(4.0).reshape(2, 2).t().requires_grad_(),
    ],
    ids=str,
)
def test_a_tensor_written_down_is_that_tensor(tensor: torch.Tensor) -> None:
    """Numbers, dtype, shape and strides agree bit by bit, and so does being a leaf that requires
    grad.
    """
    made = eval(literal(tensor), {"torch": torch})
    assert (made.dtype, made.shape, made.stride(), made.requires_grad) == (
        tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad,
    )  # fmt: skip
    assert made.is_leaf
    assert torch.equal(torch.nan_to_num(made.detach()), torch.nan_to_num(tensor.detach()))


def test_a_tensor_is_called_as_the_report_calls_it() -> None:
    """This also holds if the check passed a copy of what it shows."""
    t = torch.tensor([1.5])
    assert "online = torch.tensor" in str(snippet_for(t, inputs={"online": t.clone()}))


def test_two_tensors_have_two_names_and_one_has_one() -> None:
    a, b = torch.tensor([1.0]), torch.tensor([2.0])
    assert "y = tiny.f(t, t2, t)" in str(snippet_for(a, b, a))


def test_a_gradient_that_was_asked_for_is_asked_for_again() -> None:
    x, v = torch.tensor([1.0], requires_grad=True), torch.tensor([0.5])
    text = str(snippet_for(x, inputs={"x": x, "v": v}, incoming=v))
    assert "y = tiny.f(x)\n" in text
    assert "y2 = torch.autograd.grad(y, [x], v, allow_unused=True)\n" in text


def test_copies_that_require_grad_have_the_names_of_what_they_copy() -> None:
    """Checks hand over copies, of which the gradient is asked; two that are equal stay two."""
    x, q = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
    v = torch.tensor([0.5])
    text = str(snippet_for(x.clone(), q.clone(), inputs={"x": x, "q": q, "v": v}, incoming=v))
    assert "y = tiny.f(x, q)\n" in text
    assert "y2 = torch.autograd.grad(y, [x, q], v, allow_unused=True)\n" in text


def test_gradcheck_is_gradcheck_again() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    assert "torch.autograd.gradcheck(tiny.f, (t,))" in str(snippet_for(x, gradcheck=True))
    assert "torch.autograd.gradgradcheck(tiny.f, (t,))" in str(
        snippet_for(x, gradcheck=True, deeper=True)
    )


def test_a_call_under_no_grad_is_shown_under_no_grad() -> None:
    assert "with torch.no_grad():\n    y = tiny.f(1.5)" in str(snippet_for(1.5, grad=False))


def test_what_is_the_students_is_named() -> None:
    assert "y = tiny.f(tiny.Double.apply, [1, (2,), {'a': None}])" in str(
        snippet_for(StudentRef("Double.apply"), [1, (2,), {"a": None}])
    )


@pytest.mark.parametrize(
    "argument",
    [torch.zeros(MAX_CHARACTERS), Opaque("Strange"), ["x" * 5000], object()],
    ids=["large", "opaque", "long", "object"],
)
def test_what_can_not_be_written_in_a_few_lines_makes_no_snippet(argument: Any) -> None:
    assert snippet_for(argument) is None


# -------------------------------------------------------------------------------------- in a report


def results(host: ForkServerClient, course: Course, source: str) -> dict[str, CheckResult]:
    """Return the checks of the small course's lesson, by the part of their id after the dot."""
    files = {"tiny": decode("tiny", "tiny.py", source.encode())}
    report = grade_submission(
        host, course, course.lessons, files, Settings(1, "auto", course.limits), name="x"
    )
    hidden = [check for check in withheld(report).lessons[0].checks if check.hidden]
    assert not any(check.call for check in hidden), "a call is withheld with its inputs"
    return by_name(report.lessons[0])


def test_a_failed_check_has_its_call_and_it_runs(
    tmp_path: Path, host: ForkServerClient, small_course: Course, plain_python: PlainPython
) -> None:
    """Beside the learner's file, it shows the report's value; a passing check has none."""
    source = "def double(x): return x * x\ndef triple(x): return 3 * x\nLIMIT = 19.0\n"
    found = results(host, small_course, source)
    failed = [check for check in found.values() if check.function == "double" and check.call]
    assert failed
    assert all(check.call is None for check in found.values() if check.outcome == "passed")
    (tmp_path / "tiny.py").write_text(source)
    # Isolated Python does not look for modules beside a script.
    (tmp_path / "again.py").write_text(f"import sys; sys.path.append('.')\n{failed[0].call}")
    done = plain_python.run(tmp_path / "again.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert str(torch.tensor(failed[0].actual["tensor"], dtype=torch.float64)) in done.stdout


def test_a_call_that_wrote_into_its_input_is_shown_with_what_was_passed(
    host: ForkServerClient, small_course: Course
) -> None:
    """If only the write is wrong, no call is shown, because its result is right."""
    rest = "def triple(x): return 3 * x\nLIMIT = 17.0\n"
    found = results(host, small_course, f"def double(x): return x.mul_(x)\n{rest}")["double"]
    assert found.call is not None
    x = torch.tensor(found.inputs["x"]["tensor"], dtype=torch.float64)
    assert f"x = {literal(x)}" in found.call
    assert found.actual["tensor"] == (x * x).tolist()
    zeroed = "def double(x):\n    y = 2 * x\n    x.zero_()\n    return y\n"
    assert results(host, small_course, zeroed + rest)["double"].call is None
