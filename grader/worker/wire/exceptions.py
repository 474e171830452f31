"""Turn an exception into plain data."""

from __future__ import annotations

import linecache
from typing import Any

from grader.worker.wire.values import MAX_TEXT


def explain(error: BaseException, filename: str) -> dict[str, Any]:
    """Return an exception as plain data: type, ancestors, message, the innermost line of the
    student's file in its traceback.

    ``raised_here``: the exception comes from a ``raise NotImplementedError`` in that file, as the
    stubs have it.
    """
    line, innermost, trace = None, "", error.__traceback__
    while trace is not None:
        innermost = trace.tb_frame.f_code.co_filename
        if innermost == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    info: dict[str, Any] = {
        "type": type(error).__name__[:200],
        "ancestors": [base.__name__[:200] for base in type(error).__mro__[1:20]],
        "message": _text(error),
        "line": line,
    }
    if isinstance(error, SyntaxError) and error.filename == filename:
        info["line"], info["message"] = error.lineno, str(error.msg)[:MAX_TEXT]
        info["column"] = error.offset
    statement = linecache.getline(filename, line or 0).strip()
    info["raised_here"] = innermost == filename and "raise NotImplementedError" in statement
    return info


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except BaseException:  # the student's __str__ may raise
        return "(an exception without text: its __str__ raised)"
