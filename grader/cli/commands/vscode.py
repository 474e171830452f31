"""Make the tasks for VS Code that ``grade init --vscode`` adds to a folder; no extension is needed.

The task ``grade`` runs ``grade watch --plain`` in the background, and its problem matcher turns the
lines into squiggles. Format: VS Code's "Integrate with External Tools via Tasks".
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from grader.render.editors import BEGIN, END, PATTERN

FILE = ".vscode/tasks.json"


def tasks() -> dict[str, Any]:
    """Return the content of ``tasks.json``."""
    matcher = {
        "owner": "grade",
        "fileLocation": ["relative", "${workspaceFolder}"],
        "pattern": {"regexp": PATTERN, "file": 1, "line": 2, "column": 3, "message": 4},
        "background": {
            "activeOnStart": False,
            "beginsPattern": f"^{BEGIN}",
            "endsPattern": f"^{END}",
        },
    }
    common = {"type": "process", "command": sys.executable}
    return {
        "version": "2.0.0",
        "tasks": [
            {
                **common,
                "label": "grade",
                "args": ["-m", "grader", "watch", "--plain"],
                "isBackground": True,
                "problemMatcher": matcher,
                "runOptions": {"runOn": "folderOpen"},
                "presentation": {"reveal": "silent", "panel": "dedicated"},
            },
            {
                **common,
                "label": "open report",
                "args": ["-m", "webbrowser", "-t", "${workspaceFolder}/report.html"],
                "dependsOn": "write report",
                "problemMatcher": [],
            },
            {
                **common,
                "label": "write report",
                "args": ["-m", "grader", "run", "--html", "report.html", "--format", "plain"],
                "problemMatcher": [],
            },
        ],
    }


def write_tasks(folder: Path) -> None:
    path = folder / FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(tasks(), indent=2) + "\n", "utf-8", newline="\n")
