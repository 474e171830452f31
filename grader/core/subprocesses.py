"""The environment and the command line of the engine's other processes."""

from __future__ import annotations

import os
import sys

from grader.core.paths import PACKAGE

ALLOWED_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "WINDIR",
)
"""The environment variables that a fork server or a worker keeps; others are dropped."""


def scrubbed_environment() -> dict[str, str]:
    """Return a fork server's environment: the allowed names, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ALLOWED_ENVIRONMENT if name in os.environ}
    single = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    )
    hidden = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}
    return {**kept, **single, **hidden}


def users_environment() -> dict[str, str]:
    """Return the environment for a file that users run with their own rights.

    It is their environment, except that characters which their terminal can't show are replaced.
    """
    encoding = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    return {**os.environ, "PYTHONIOENCODING": f"{encoding}:replace"}


def isolated_command(module: str, *args: str) -> list[str]:
    """Return a command that runs ``module.main()`` with only this package added to the path.

    ``-I`` would ignore ``PYTHONHASHSEED``, which makes the order of sets reproducible. Text is
    UTF-8 on every system, so a student's ``print`` works on Windows too.
    """
    home = str(PACKAGE.parent)
    code = f"import sys; sys.path.insert(0, {home!r}); from {module} import main; main()"
    return [sys.executable, "-s", "-P", "-X", "utf8", "-c", code, *args]
