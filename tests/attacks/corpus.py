"""The corpus of attacks: each read from its folder, set up in a place of its own, graded beside an
honest neighbour, and looked for.

A folder holds ``attack.toml`` and ``submission/`` (or ``archive.py``, which makes one file that
stands for the submission)::

    category = "hunting"                  # one of CATEGORIES
    most = 0                              # the most points, of custom_sigmoid's 10, that it honestly deserves
    effects = ["points"]                  # what success looks like: see EFFECTS; each is seen against the naive grader
    layer = "landlock"                    # only where one layer of the sandbox, and no other, stops it
    limits = { call_seconds = 1 }         # where the course's limits would only make it slow

In its files ``@MARK@`` stands for a folder in which nothing may appear, ``@SECRET@`` for a file
whose content may not be seen, ``@CLAIM@`` for that content, ``@LINK@`` for a symbolic link to a file
of that name, ``@PORT@`` for a port on which somebody listens, ``@COURSE@`` for the course's root and
``@NEIGHBOUR@`` for the neighbour's folder.
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
    "patched": "replaces what the comparison is made with",
    "shadowed": "puts files beside the submission that the grader would load",
    "exits": "ends early, on its own terms",
    "frames": "answers in the worker's place",
    "hunting": "looks for the expected values",
    "tampering": "changes what others will find",
    "resources": "uses more than its share",
    "escaping": "gets out, or stays behind",
    "injection": "says more than text",
    "malformed": "is no submission at all",
    "unearned": "is right without having done the work",
}
EFFECTS = {
    "points": "more points than it deserves",
    "neighbour": "the neighbour's grades are not what they would be",
    "file": "something appears in the marked folder",
    "process": "a process lives on",
    "connection": "somebody who listens is called",
    "claim": "what it claims, or what is secret, is to be read in the result",
    "markup": "its markup is alive in the page",
    "terminal": "its control sequences reach the terminal",
    "flood": "its output is kept, all of it",
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
    """The attack in a folder; raises where its description is not what it should be."""
    data = tomllib.loads((folder / "attack.toml").read_text("utf-8"))
    attack = Attack(folder.name, folder, **{**data, "effects": tuple(data["effects"])})
    assert attack.category in CATEGORIES, attack
    assert attack.effects and set(attack.effects) <= EFFECTS.keys(), attack
    return attack


def all_attacks() -> list[Attack]:
    """Every attack, by category."""
    attacks = [read_attack(path.parent) for path in HERE.glob("*/attack.toml")]
    return sorted(attacks, key=lambda attack: (list(CATEGORIES).index(attack.category), attack.name))


def table(attacks: list[Attack]) -> str:
    """The corpus in Markdown: what each attack does, what success is, which layer alone stops it.
    """
    rows = ["| attack | what it does | success would be | stopped by one layer alone |", "|---|---|---|---|"]
    category = None
    for attack in attacks:
        if attack.category != category:
            category = attack.category
            rows.append(f"| **{category}** | *{CATEGORIES[category]}* | | |")
        source = next(attack.folder.rglob("*.py"))
        for name in ("archive.py", "submission/custom_sigmoid.py"):
            source = attack.folder / name if (attack.folder / name).exists() else source
        does = ast.get_docstring(ast.parse(re.sub(rb"@\w+@", b"0", source.read_bytes()))) or ""
        rows.append(
            f"| {attack.name} | {' '.join(does.split())} | {'; '.join(EFFECTS[effect] for effect in attack.effects)} | {attack.layer or ''} |"
        )
    return "\n".join(rows)


class Stage:
    """A place of its own for one attack: its files, the neighbour's, and what is watched."""

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
        for path in sorted((attack.folder / "submission").rglob("*")) if (attack.folder / "submission").exists() else ():
            if path.is_file():
                target = self.mallory / path.relative_to(attack.folder / "submission")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(self.filled(path.read_bytes()))
        if (attack.folder / "archive.py").exists():
            make = runpy.run_path(str(attack.folder / "archive.py"))["make"]
            self.submission = make(self.mallory, secret=self.secret) or self.mallory

    def filled(self, text: bytes) -> bytes:
        """A file's content with the placeholders filled."""
        values = {
            b"@MARK@": self.mark, b"@SECRET@": self.secret, b"@LINK@": self.link, b"@CLAIM@": self.claim, b"@COURSE@": COURSE, b"@NEIGHBOUR@": self.neighbour,
            b"@PORT@": self.listeners[0].getsockname()[1],
        }  # fmt: skip
        for name, value in values.items():
            text = text.replace(name, str(value).encode())
        return text

    def listen(self) -> list[socket.socket]:
        """Somebody who listens on the loopback device by TCP and UDP, and in a Unix socket without
        a file.
        """
        tcp = socket.socket()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(tcp.getsockname())
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(f"\0{self.claim}")
        unix.listen()
        return [tcp, udp, unix]

    def effects(self, *, score: float, neighbour: bool, said: str, page: str, terminal: str) -> set[str]:
        """What was seen to happen. ``neighbour``: whether the neighbour's grades are right; the
        rest is what people would read.
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
        """Kill whatever has made the marked folder its own; whether there was anything."""
        found = False
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "cwd").readlink().is_relative_to(self.mark):
                    os.kill(int(path.name), signal.SIGKILL)
                    found = True
        return found

    def close(self) -> None:
        """Stop listening, end what was left."""
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
    """The ids of the elements that a page really has."""
    parser = _Ids()
    parser.feed(page)
    return parser.found


class NaiveGrader:
    """The process of ``naive.py``."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", str(HERE / "naive.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def grade(self, stage: Stage, *, seconds: float = 8.0) -> set[str]:
        """Grade attack and neighbour; the effects that were seen."""
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
        page = (stage.out / "report.html").read_text("utf-8", "replace") if (stage.out / "report.html").exists() else ""
        results: dict[str, float] = {}
        # the best counts, as where people may hand in several times
        for one in self.results(printed):
            results[one["submission"]] = max(one["score"], results.get(one["submission"], 0.0))
        time.sleep(0.05)  # what it left behind needs a moment to show
        return stage.effects(
            score=results.get("mallory", 0.0), neighbour=results.get("neighbour") == 10.0, said=printed, page=page, terminal=printed
        )

    @staticmethod
    def results(printed: str) -> Iterator[dict[str, Any]]:
        """Whatever looks like a result."""
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
