"""Write everything that the program puts out for a class of 300, and compare two such folders.

    python tests/golden.py class CLASS          write the class: known answers, odd files
    python tests/golden.py write CLASS OUT      grade it, and write every kind of output to OUT
    python tests/golden.py compare OLD NEW      list what differs, except times and digests

For a change of the code that is to change nothing for users: write the outputs before and after it,
and compare them. All seeds are fixed. ``write`` takes some minutes and runs the program as users
do, in processes of its own, with the Python that runs it.
"""

from __future__ import annotations

import difflib
import io
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDENTS = 300
KINDS = ("accepted", "mistake", "mistake", "near miss", "mistake")
ODD = {
    "empty": b"",
    "no_colon": b"def broken(x)\n    return x\n",
    "null": b"x = 1\0\n",
    "missing_import": b"import nothing_of_this_name\n",
    "raises": b"raise KeyError('at import')\n",
    "latin_1": "# Mädchen\n".encode("latin-1"),
    "cp949": "# 역전파\nx = '한글'\n".encode("cp949"),
    "tabs": b"def f(x):\n\tif x:\n        return x\n",
    "exits": b"import sys\nsys.exit(3)\n",
    "crashes": b"import ctypes\nctypes.string_at(0)\n",
    "loops": b"while True:\n    pass\n",
    "prints": b"for i in range(100000):\n    print('noise', i)\n",
}
"""Files that are no answer, by name: each is handed in for one lesson."""
REPLAYS = int(os.environ.get("GOLDEN_REPLAYS", "50"))
TERMINALS = int(os.environ.get("GOLDEN_TERMINALS", "20"))
COMMANDS = (
    *("run", "init", "list", "next", "read", "watch", "hint", "replay", "reset", "solution"),
    *("graph", "batch", "adjust", "comment", "forget", "rename", "export", "feedback", "similar"),
    *("name", "release", "gradescope", "classroom50", "verify", "new"),
)
UNSTABLE = (
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?( UTC)?", "TIME"),
    (r'("(?:seconds|duration|elapsed|created|started|finished)\w*": )[\d.e-]+', r"\1N"),
    (r"(?m)^(grading|채점): .*\n", ""),
    (r"\b\d+(\.\d+)? ?(ms|s|초)\b", "N s"),
    (r",\d+\.\d+(e-\d+)?(?=\);|,'\{)", ",N"),  # in the gradebook's dump
    (r"\b[0-9a-f]{16,64}\b", "HEX"),
    (r"gradlings[ /-]v?\d+\.\d+\.\d+", "gradlings VERSION"),
    (r'time="[\d.]+"', 'time="N"'),
    (r'"execution_time": [\d.]+', '"execution_time": N'),
    (r"/[\w./-]*/\.venv/", "VENV/"),
)
"""What differs from run to run: a pattern and what stands for it."""


def write_class(folder: Path) -> None:
    from grader.course.course import find_course, load_course
    from grader.verify.verify import cases_of

    lessons = load_course(find_course()).lessons
    number = 0
    for lesson, (name, text) in zip(lessons * 2, ODD.items(), strict=False):
        put(folder / f"odd_{name}" / lesson.filename, text)
        number += 1
    queues = {lesson.id: {kind: [] for kind in KINDS} for lesson in lessons}
    for lesson in lessons:
        for case in cases_of(lesson):
            if case.kind in KINDS:
                queues[lesson.id][case.kind].append(case)
    while number < STUDENTS:
        lesson = lessons[number % len(lessons)]
        kind = KINDS[number // len(lessons) % len(KINDS)]
        found = queues[lesson.id][kind]
        case = found.pop(7 * number % len(found))
        put(folder / f"s{number:03}_{kind[:4]}" / lesson.filename, case.source.encode())
        number += 1


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def write_outputs(members: Path, out: Path) -> None:
    out.mkdir(parents=True)
    for lang in ("en", "ko"):
        for command in ("", *COMMANDS):
            said = grade(*command.split(), "--help", lang=lang)
            put(out / "help" / lang / f"{command or 'grade'}.txt", said)
    grades = out / "grades"
    late = ("--due", "2020-01-01T00:00+00:00", "--late", "10%/day,cap=50%")
    words = ("--seed", 11, "--accept-near-names", "--workers", 1)  # attempts are numbered in order
    put(out / "batch.txt", grade("batch", members, "--out", grades, *words))
    grade("adjust", grades, "s020_mist", "--points", "2", "--reason", "golden", may_fail=True)
    grade("comment", grades, "s021_mist", "Well done.", may_fail=True)
    for form in ("csv", "gradescope", "junit", "json"):
        to = out / "exports" / form
        put(
            out / "exports" / f"{form}.txt",
            grade("export", grades, "--to", form, "--output", to, may_fail=True),
        )
    for system in ("moodle", "canvas", "folder"):
        to = out / "feedback" / (system if system == "folder" else f"{system}.zip")
        to.parent.mkdir(exist_ok=True)
        words = ("feedback", grades, "--to", system, "--output", to)
        put(out / "feedback" / f"{system}.txt", grade(*words, may_fail=True))
    put(out / "similar.txt", grade("similar", grades, may_fail=True))
    put(out / "release.txt", grade("release", out / "handout", may_fail=True))
    with sqlite3.connect(next(grades.glob("*.sqlite"))) as book:
        put(out / "dump.sql", "\n".join(book.iterdump()).encode())
    put(
        out / "batch_ko.txt",
        grade(
            *("batch", members, "--out", out / "grades_ko", "--seed", 12, *late),
            *("--workers", 1, "--reveal", "--lang", "ko"),
            may_fail=True,
        ),
    )
    singles(members, out, grades)


def singles(members: Path, out: Path, grades: Path) -> None:
    """Grade single files as students do, in both languages, and replay failing checks."""
    folders = sorted(path for path in members.iterdir() if path.is_dir())
    for folder in folders[:: len(folders) // TERMINALS]:
        for lang in ("en", "ko"):
            place = out / "singles" / folder.name / lang
            place.mkdir(parents=True)
            names = ("--json", place / "report.json", "--html", place / "report.html")
            words = ("run", "--in", folder, "--seed", 5, *names)
            put(place / "terminal.txt", grade(*words, "--repair", lang=lang, may_fail=True))
            for form in ("github", "plain"):
                words = ("run", "--in", folder, "--seed", 5, "--no-html", "--format", form)
                put(place / f"{form}.txt", grade(*words, lang=lang, may_fail=True))
    entries = json.loads((grades / "results.json").read_text("utf-8"))
    failing = [
        (entry["submission"], check["id"], check["seed"])
        for entry in entries
        for lesson in entry["lessons"]
        for check in lesson["checks"]
        if check["outcome"] == "failed"
    ]
    for who, check, seed in failing[:: max(1, len(failing) // REPLAYS)]:
        words = ("replay", check, "--in", members / who, "--check-seed", seed, "--show")
        put(out / "replays" / f"{who}.{check}.txt", grade(*words, may_fail=True))


def grade(*words: object, lang: str = "en", may_fail: bool = False) -> bytes:
    """Run ``grade`` and return what it prints; with an error that it may have, its exit code."""
    command = [sys.executable, "-m", "grader", *map(str, words)]
    print("$ grade", shlex.join(command[3:]), flush=True)
    environment = {**os.environ, "GRADE_LANG": lang, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode > 1 and not may_fail:
        sys.exit(done.stdout.decode())
    return done.stdout + f"[{done.returncode}]\n".encode()


def compare(old: Path, new: Path) -> int:
    before, after = dict(texts(old)), dict(texts(new))
    differing = 0
    for name in sorted(before.keys() | after.keys()):
        one, two = before.get(name), after.get(name)
        if one == two:
            continue
        differing += 1
        print(f"== {name}", "" if one and two else "is in one of them only")
        if one is not None and two is not None:
            lines = difflib.unified_diff(
                one.splitlines(), two.splitlines(), "old", "new", "", "", 1
            )
            print("\n".join(line[:300] for line in list(lines)[2:14]))
    print(f"{len(before)} and {len(after)} outputs, {differing} differ")
    return int(differing > 0)


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each output's name and text, without what differs from run to run."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or "/grader/" in name or ".sqlite" in name or ".lock" in name:
            continue
        if path.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as packed:
                for member in packed.namelist():
                    yield f"{name}/{member}", stable(packed.read(member), folder)
        else:
            yield name, stable(path.read_bytes(), folder)


def stable(content: bytes, folder: Path) -> str:
    text = content.decode("utf-8", "backslashreplace").replace(str(folder), "OUT")
    for pattern, instead in UNSTABLE:
        text = re.sub(pattern, instead, text)
    return text


def main(words: list[str]) -> int:
    match words:
        case ["class", folder]:
            write_class(Path(folder))
        case ["write", members, out]:
            write_outputs(Path(members).resolve(), Path(out).resolve())
        case ["compare", old, new]:
            return compare(Path(old).resolve(), Path(new).resolve())
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
