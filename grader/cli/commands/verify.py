"""Verify a course, and print the proof as a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from rich.progress import Progress

from grader.cli.commands.interrupts import graceful_interrupt
from grader.core.errors import ExitCode
from grader.core.i18n import wanted_language
from grader.core.messages import Settings
from grader.core.text import counted
from grader.course.course import Course
from grader.course.stubs import stub_of
from grader.render.terminal import make_console
from grader.verify.verify import VerifyResult, missing_internals
from grader.verify.verify import verify as run_verification


def verify_course(
    course: Course,
    names: tuple[str, ...],
    *,
    seeds: int,
    workers: int | None,
    table: bool,
    write_stubs: bool,
    lang: str = "en",
    keep: Path | None = None,
) -> ExitCode:
    """Verify lessons and list all problems. After Ctrl-C, print
    what ``keep`` contains, then raise.
    """
    lessons = [course.lesson(name) for name in names] or list(course.lessons)
    for lesson in lessons if write_stubs else ():
        lesson.folder.mkdir(parents=True, exist_ok=True)
        stub = stub_of(lesson.solution.read_text("utf-8"), name=str(lesson.solution))
        lesson.stub.write_text(stub, "utf-8", newline="\n")
    language = wanted_language(lang)
    settings = Settings(0, "auto", course.limits, lang=language, prestart=True)
    console = make_console(stderr=True)
    with (
        ThreadPoolExecutor(1) as pool,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        internals = pool.submit(missing_internals)
        task = bar.add_task("grading")
        found = run_verification(
            course,
            lessons,
            seeds=range(1, seeds + 1),
            settings=settings,
            workers=workers or os.cpu_count() or 1,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            keep=keep,
            during=lambda hosts: (
                graceful_interrupt(console, hosts, what="grading") if keep else nullcontext()
            ),
        )
    if table and not found.left:
        print(proof_table(found))
    for line in completeness(found) if table or found.left else ():
        print(line)
    problems = (*internals.result(), *found.problems)
    for problem in problems:
        print(problem)
    if found.left:
        print(
            f"stopped: {found.kept:,} of {found.gradings:,} gradings are kept. Run the same"
            " command to continue"
        )
        raise KeyboardInterrupt
    counts = (len(lessons), "lesson"), (found.gradings, "grading"), (seeds, "seed")
    summary = counted(len(problems), "problem") if problems else "no problems"
    print(f"{', '.join(counted(count, noun) for count, noun in counts)}: {summary}")
    return ExitCode.NOT_FULL_MARKS if problems else ExitCode.OK


def completeness(found: VerifyResult) -> Iterator[str]:
    """Yield lines that say from how many seeds each lesson is complete in the file of verdicts.

    There are none without such a file.
    """
    names: dict[int, list[str]] = {}
    for lesson, seeds in found.complete:
        names.setdefault(seeds, []).append(lesson)
    for seeds, lessons in sorted(names.items(), reverse=True):
        listed = "all lessons" if len(names) == 1 and len(lessons) > 1 else ", ".join(lessons)
        yield (
            "complete from"
            f" {'no seed' if not seeds else 'seed 1' if seeds == 1 else f'seeds 1 to {seeds}'}:"
            f" {listed}"
        )


def proof_table(found: VerifyResult) -> str:
    rows = [
        (
            "| lesson | checks | mistakes caught | mistakes named | near misses told apart |"
            " accepted alternatives | promises held |"
        ),
        "|---|---|---|---|---|---|---|",
        *(
            f"| {p.lesson} | {p.checks} | {p.caught} of {p.mistakes} | {p.named} of {p.mistakes} |"
            f" {p.told_apart} of {p.near_misses} | {p.accepted_passed} of {p.accepted} |"
            f" {p.promises_shown} of {len(p.promises)} |"
            for p in found.proofs
        ),
        *promise_table(found),
    ]
    return "\n".join(rows)


def promise_table(found: VerifyResult) -> list[str]:
    """Return how the points of each lesson are spread over its promises, as a table."""
    rows = [
        f"| {proof.lesson} | {one.name} | {one.points:g} | {len(one.checks)} |"
        f" {len(one.shown_by)} |"
        for proof in found.proofs
        for one in proof.promises
    ]
    head = ["", "| lesson | promise | points | checks | wrong answers |", "|---|---|---|---|---|"]
    return head + rows if rows else []
