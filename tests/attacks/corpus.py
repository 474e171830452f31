"""Read the attacks, set each up in a separate folder, grade it beside an honest neighbour, and
detect its effects.

An attack's folder has ``attack.toml`` and ``submission/`` (or ``archive.py``, which makes one file
that is the submission)::

    category = "hunting"           # one of CATEGORIES
    most = 0                       # the most points, of custom_sigmoid's 10, that it deserves
    effects = ["points"]           # of EFFECTS: each is seen against the naive grader
    layer = "landlock"             # only if exactly one layer of the sandbox stops it
    limits = { call_seconds = 1 }  # only if the course's limits would make it slow

In its files, placeholders stand for paths and values: ``@MARK@`` for a folder in which nothing may
appear, ``@SECRET@`` for a file whose content may not be seen, ``@CLAIM@`` for that content,
``@LINK@`` for a symbolic link to a file of that name, ``@PORT@`` for a port on which somebody
listens, ``@COURSE@`` for the course's root, and ``@NEIGHBOUR@`` for the neighbour's folder.
"""

from __future__ import annotations

import ast
import contextlib
import html.parser
import json
import os
import re
import runpy
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COURSE = HERE.parents[1]
CATEGORIES = {
    "patched": "replaces functions that the grader compares with",
    "shadowed": "puts files beside the submission that the grader would load",
    "exits": "ends the grading early",
    "frames": "answers in the worker's place",
    "hunting": "looks for the expected values",
    "tampering": "changes state that later submissions depend on",
    "resources": "uses more than its limits allow",
    "escaping": "reaches beyond its process, or outlives it",
    "injection": "produces output that acts as markup or as commands",
    "malformed": "is not a proper submission",
    "unearned": "gets right values in a way that the lesson forbids",
}
EFFECTS = {
    "points": "more points than it deserves",
    "neighbour": "the neighbour's grades change",
    "file": "a file appears in the marked folder",
    "process": "a process stays alive",
    "connection": "a listening socket is reached",
    "claim": "its claim or the secret appears in the result",
    "markup": "its markup becomes part of the page",
    "terminal": "its control sequences reach the terminal",
    "flood": "all of its output is kept",
}
MARKER = "forged"
"""The id that injected markup has, and the title that injected control sequences set."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack of the corpus."""

    name: str
    folder: Path
    category: str
    most: float
    effects: tuple[str, ...]
    layer: str | None = None
    limits: dict[str, float] = field(default_factory=dict)


def read_attack(folder: Path) -> Attack:
    """Return the attack in a folder; raise if its description is malformed."""
    data = tomllib.loads((folder / "attack.toml").read_text("utf-8"))
    attack = Attack(folder.name, folder, **{**data, "effects": tuple(data["effects"])})
    assert attack.category in CATEGORIES, attack
    assert attack.effects and set(attack.effects) <= EFFECTS.keys(), attack
    return attack


def all_attacks() -> list[Attack]:
    """Return every attack, by category."""
    attacks = [read_attack(path.parent) for path in HERE.glob("*/attack.toml")]
    return sorted(
        attacks, key=lambda attack: (list(CATEGORIES).index(attack.category), attack.name)
    )


def table(attacks: list[Attack]) -> str:
    """Return the table of attacks in Markdown: what each does, its effects, the layer that stops
    it.
    """
    rows = [
        "| attack | what it does | success would be | stopped by one layer alone |",
        "|---|---|---|---|",
    ]
    category = None
    for attack in attacks:
        if attack.category != category:
            category = attack.category
            rows.append(f"| **{category}** | *{CATEGORIES[category]}* | | |")
        source = next(attack.folder.rglob("*.py"))
        for name in ("archive.py", "submission/custom_sigmoid.py"):
            source = attack.folder / name if (attack.folder / name).exists() else source
        does = ast.get_docstring(ast.parse(re.sub(rb"@\w+@", b"0", source.read_bytes()))) or ""
        success = "; ".join(EFFECTS[effect] for effect in attack.effects)
        cells = attack.name, " ".join(does.split()), success, attack.layer or ""
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


class Stage:
    """Separate folders for one attack: its files, the neighbour's, and the places to look for
    effects.
    """

    def __init__(self, root: Path, attack: Attack) -> None:
        self.attack = attack
        self.mark = root / "mark"
        self.mallory = root / "class" / "mallory"
        self.neighbour = root / "class" / "neighbour"
        self.out = root / "out"
        for folder in (self.mark, self.mallory, self.neighbour, self.out):
            folder.mkdir(parents=True)
        self.mark.chmod(0o777)
        self.claim = f"claim_{secrets.token_hex(8)}"
        self.secret = root / "secret.txt"
        self.secret.write_text(self.claim)
        self.link = root / "link"
        self.link.symlink_to(self.claim)
        self.listeners = self.listen()
        shutil.copy(COURSE / "solutions" / "custom_sigmoid.py", self.neighbour)
        self.submission = self.mallory
        for path in (
            sorted((attack.folder / "submission").rglob("*"))
            if (attack.folder / "submission").exists()
            else ()
        ):
            if path.is_file():
                target = self.mallory / path.relative_to(attack.folder / "submission")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.filled(path.read_bytes()))
        if (attack.folder / "archive.py").exists():
            make = runpy.run_path(str(attack.folder / "archive.py"))["make"]
            self.submission = make(self.mallory, secret=self.secret) or self.mallory

    def filled(self, text: bytes) -> bytes:
        """Return a file's content with the placeholders filled."""
        values = {
            b"@MARK@": self.mark,
            b"@SECRET@": self.secret,
            b"@LINK@": self.link,
            b"@CLAIM@": self.claim,
            b"@COURSE@": COURSE,
            b"@NEIGHBOUR@": self.neighbour,
            b"@PORT@": self.listeners[0].getsockname()[1],
        }
        for name, value in values.items():
            text = text.replace(name, str(value).encode())
        return text

    def listen(self) -> list[socket.socket]:
        """Listen on the loopback device by TCP and UDP, and on a Unix socket that has no file."""
        tcp = socket.socket()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(tcp.getsockname())
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(f"\0{self.claim}")
        unix.listen()
        return [tcp, udp, unix]

    def effects(
        self, *, score: float, neighbour: bool, said: str, page: str, terminal: str
    ) -> set[str]:
        """Return the effects that can be seen.

        ``neighbour`` says whether the neighbour's grades are right; the rest is what people would
        read.
        """
        seen = {
            "points": score > self.attack.most,
            "neighbour": not neighbour,
            "process": self.end_processes(),
            "file": any(self.mark.iterdir()),
            "connection": bool(select.select(self.listeners, [], [], 0)[0]),
            "claim": self.claim in said,
            "markup": MARKER in live_ids(page),
            "terminal": f"\x1b]0;{MARKER}" in terminal,
            "flood": len(said) > 1 << 20,
        }
        return {name for name, happened in seen.items() if happened}

    def end_processes(self) -> bool:
        """Kill every process that works in the marked folder; return whether there was one."""
        found = False
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "cwd").readlink().is_relative_to(self.mark):
                    os.kill(int(path.name), signal.SIGKILL)
                    found = True
        return found

    def close(self) -> None:
        """Stop listening and end what is left."""
        self.end_processes()
        for listener in self.listeners:
            listener.close()


class _Ids(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {value for name, value in attrs if name == "id"}


def live_ids(page: str) -> set[str | None]:
    """Return the ids of the elements that a page really has."""
    parser = _Ids()
    parser.feed(page)
    return parser.found


class NaiveGrader:
    """The process of ``naive.py``."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", str(HERE / "naive.py")]
        # Loading the plugins that are installed here would take longer than the checks.
        environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def grade(self, stage: Stage, *, seconds: float = 8.0) -> set[str]:
        """Grade attack and neighbour; return the effects."""
        assert self.process.stdin is not None and self.process.stdout is not None
        job = {
            "submissions": [str(stage.mallory), str(stage.neighbour)],
            "out": str(stage.out),
            "environment": {"GRADER_TOKEN": stage.claim},
            "seconds": seconds,
        }
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        json.loads(self.process.stdout.readline())
        printed = (stage.out / "printed.txt").read_text("utf-8", "replace")
        page = (
            (stage.out / "report.html").read_text("utf-8", "replace")
            if (stage.out / "report.html").exists()
            else ""
        )
        results: dict[str, float] = {}
        # the best counts, as on systems where people may hand in several times
        for one in self.results(printed):
            results[one["submission"]] = max(one["score"], results.get(one["submission"], 0.0))
        time.sleep(0.05)  # effects of what it left behind take a moment to show
        return stage.effects(
            score=results.get("mallory", 0.0),
            neighbour=results.get("neighbour") == 10.0,
            said=printed,
            page=page,
            terminal=printed,
        )

    @staticmethod
    def results(printed: str) -> Iterator[dict[str, Any]]:
        """Return everything that looks like a result."""
        for line in printed.splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError):
                found = json.loads(line)
                if found["submission"] in ("mallory", "neighbour") and float(found["score"]) <= 10:
                    yield found

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    print(table(all_attacks()))
