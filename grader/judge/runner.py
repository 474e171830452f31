"""Run one lesson's checks against one submission and decide the outcome of each: the judge.

It holds the checks, the solution and the expected values. It has the student's file only as text,
and a worker runs it. pytest runs the checks. What a file of the course itself raises is reported
with its line (``course_errors``), before any submission is judged.

The judge also flags what looks like tampering, for a person to check; a flag never changes points.
There are two sources, and neither is proof: the text of the file, read here without executing it
(``flags_in``), and names that were replaced in torch and in the builtins while the file was loaded.
The worker reports these (``Worker.do_load``), so the file could hide them.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_jsonreport.plugin
from pytest_jsonreport.plugin import JSONReport

from grader.core.errors import CourseError, EngineFault, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue
from grader.core.messages import Answer, FileProblem, JudgeResult, LessonSpec, Task
from grader.core.report import CheckResult, Outcome
from grader.course.course import Lesson, lesson_of
from grader.course.source import Source, bound_names, dotted_name
from grader.course.stubs import without_markers
from grader.course.syntax_errors import sentence
from grader.judge.common_mistakes import explain_error
from grader.judge.examples import SubmissionRun, find_returned_lines, sign
from grader.judge.plugin import LessonPlugin
from grader.judge.random_inputs import Seeds
from grader.judge.remote.plans import Plan
from grader.judge.remote.session import StudentSession
from grader.judge.remote.workers import WorkerSource
from grader.judge.repair.trials import Trials
from grader.worker.wire.compat import PLUGINS_LEFT_OUT, json_report_of

UNREADABLE = (
    "it is too long, or its expressions are nested too deeply, to be read before it is run. Write"
    " it in shorter pieces"
)


class Judge:
    """One lesson's checks, collected once, and everything needed to judge submissions by them."""

    def __init__(self, spec: LessonSpec) -> None:
        """Read the lesson; raise CourseError if one of its files can't be used."""
        self.lesson = lesson_of(spec)
        with course_errors(self.lesson):
            self.plugin = LessonPlugin(self.lesson, spec.lang)
        self.plans: dict[str, Mapping[str, Plan]] = {}

    def run(self, serve: Callable[[Judging], None]) -> None:
        """Collect the checks, then call ``serve`` with a function that judges a submission.

        Raise CourseError if the checks can't be collected, and pass on what ``serve`` raises.
        """
        engine = _Engine(lambda checks: serve(functools.partial(self.judge, checks)))
        try:
            run_pytest(self.lesson.check_files, engine, self.plugin)
        except EngineFault:
            for error in engine.uncollected:
                raise course_error(error, self.lesson) or error from None
            raise

    def judge(self, checks: pytest.Session, task: Task, workers: WorkerSource) -> JudgeResult:
        """Run the collected checks on a submission and return all results.

        If the task has ``unlocated`` failures, it was judged before: only search for repairs.
        """
        if task.unlocated:
            trials = Trials(self.plugin, checks.items, task, workers)
            return JudgeResult((), repairs=tuple(trials.repairs()), nonce=task.nonce)
        settings = task.settings
        plans = self.plans_for(checks, task, workers)
        with contextlib.closing(self.session_for(task, workers)) as session:
            session.plans = plans
            run = SubmissionRun(
                session,
                Seeds(settings.seed, settings.seeds),
                self.plugin.tr.fresh(),
                settings.recorded,
                naming_off=settings.naming_off,
            )
            invalid = load_submission(session, run.tr, task.problem)
            with self.plugin.judging(run):
                run_checks(checks, run)
            if run.failures and "example" not in settings.naming_off:
                self.plugin.examples.name(run, workers)
            if run.unsure_of_line:
                find_returned_lines(run, session, self.plugin.solved)
            if run.failures and settings.signed:
                sign(run, self.plugin.solved)
        guarantees, missing = session.guarantees
        replaced = [
            run.tr("{file} replaced {name} while it was loaded", file=task.filename, name=name)
            for name in session.replaced
        ]
        return JudgeResult(
            tuple(run.results.values()),
            invalid,
            guarantees,
            missing,
            session.limits,
            flags=(*flags_in(session.source, run.tr), *replaced),
            untranslated=tuple(sorted(run.tr.missing)),
            script=run.script,
            unnamed=run.unnamed,
            catalogue={one.id: tuple(one.about) for one in self.plugin.results.mistakes},
            nonce=task.nonce,
            defines_instead=None
            if invalid
            else defined_instead(session.source, run.results.values()),
        )

    def plans_for(
        self, checks: pytest.Session, task: Task, workers: WorkerSource
    ) -> Mapping[str, Plan]:
        """Return what to ask ahead in each check; nothing if the file may keep state."""
        settings = task.settings
        source = Source(task.source, task.filename, task.cells)
        if not settings.planned or self.lesson.held or not source.keeps_no_state:
            return {}
        key = repr((settings.seed, settings.seeds))
        if key not in self.plans:
            self.plans = {key: {}}
            with contextlib.suppress(EngineFault):  # then without plans
                self.plans = {key: self.recorded(checks, task, workers)}
        return self.plans[key]

    def recorded(
        self, checks: pytest.Session, task: Task, workers: WorkerSource
    ) -> Mapping[str, Plan]:
        """Judge the solution with a task's settings; return what each check asked."""
        solution = without_markers(self.lesson.solution.read_text("utf-8"))
        task = replace(task, source=solution, cells=(), problem=None)
        with contextlib.closing(self.session_for(task, workers)) as session:
            session.recorded = {}
            settings = task.settings
            run = SubmissionRun(
                session, Seeds(settings.seed, settings.seeds), self.plugin.tr.fresh()
            )
            load_submission(session, run.tr, None)
            with self.plugin.judging(run):
                run_checks(checks, run)
            passed = [id for id, one in run.results.items() if one.outcome is Outcome.PASSED]
            return {id: tuple(session.recorded[id]) for id in passed}

    def session_for(self, task: Task, workers: WorkerSource) -> StudentSession:
        """Return a session for a submission; it starts no worker yet."""
        problem = None
        if task.problem is not None:
            problem = StudentCodeError("invalid file", task.problem.message, line=task.problem.line)
        source = Source(task.source, task.filename, task.cells)
        asked = self.plugin.stub.definitions
        return StudentSession(
            workers,
            source=source,
            scenarios=self.plugin.scenarios,
            limits=task.settings.limits,
            unloadable=problem,
            optional_after=source.end_of_definitions(asked) if source.cells else None,
        )


Judging = Callable[[Task, WorkerSource], Answer]


def judge_once(spec: LessonSpec, task: Task, workers: WorkerSource) -> Answer:
    """Collect a lesson's checks for a single submission and judge it."""
    answers: list[Answer] = []
    Judge(spec).run(lambda judge: answers.append(judge(task, workers)))
    return answers[0]


def load_submission(
    session: StudentSession, tr: Catalogue, problem: FileProblem | None
) -> FileProblem | None:
    """Have a worker load the file. Return why it can't be loaded, or None."""
    unreadable = StudentCodeError(tr("unreadable file"), tr(UNREADABLE))
    try:
        if session.loadable and session.source.too_long:  # compiling it may take long, too
            session.make_unloadable(unreadable)
        session.load()
        if session.source.unreadable:  # rules that read the source would have nothing to read
            session.make_unloadable(unreadable)
            session.load()
    except StudentCodeError as error:
        return problem or FileProblem(load_error_text(error, session.source, tr), error.line)
    except WorkerLost as lost:
        reason = tr(lost.template, **lost.facts)
        return FileProblem(tr("loading the file: {reason}", reason=reason), lost.line)
    return None


MOST_NAMES = 20


def defined_instead(source: Source, results: Collection[CheckResult]) -> tuple[str, ...] | None:
    """Return the first public names that a file defines if it defines none of the functions that
    the checks are about; else None.
    """
    asked = {result.function.split(".")[0] for result in results}
    if asked & {*bound_names(source.tree), *source.imports}:
        return None
    if any(result.outcome not in (Outcome.FAILED, Outcome.SKIPPED) for result in results):
        return None  # they come from elsewhere, such as an import of everything
    return tuple(name for name in source.definitions if not name.startswith("_"))[:MOST_NAMES]


def load_error_text(error: StudentCodeError, source: Source, tr: Catalogue) -> str:
    """Return the text of an exception from loading a file, its explanation first."""
    if error.is_a("SyntaxError"):
        return sentence(error.type_name, error.message, source.line(error.line), tr)
    explained = explain_error(error, source, tr)
    return f"{explained} ({error})" if explained else str(error)


PYTEST_OPTIONS = (
    "--noconftest",
    "--import-mode=importlib",
    "--assert=plain",
    *(word for name in PLUGINS_LEFT_OUT for word in ("-p", f"no:{name}")),
    "--json-report-file=none",
    "--json-report-omit",
    *("log", "keywords", "streams", "warnings", "collectors", "traceback"),
)
"""pytest's options: it prints, captures and rewrites nothing, and reads no settings."""


class SubmissionReport(JSONReport):  # type: ignore[misc]
    """A pytest-json-report that starts again for each submission; ``_Engine`` adds its hooks."""

    pytest_addhooks = None

    def begin(self, checks: pytest.Session) -> None:
        JSONReport.__init__(self, checks.config)
        self.pytest_sessionstart(checks)


class _Engine:
    """Hooks that let pytest collect and then leave the loop over submissions to ``serve``."""

    def __init__(self, serve: Callable[[pytest.Session], None]) -> None:
        self._serve = serve
        self.error: Exception | None = None
        self.served = False
        self.uncollected: list[BaseException] = []

    def pytest_addhooks(self, pluginmanager: pytest.PytestPluginManager) -> None:
        pluginmanager.add_hookspecs(pytest_jsonreport.plugin.Hooks)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Set the one option of pytest's terminal that pytest-json-report reads."""
        config.option.tbstyle = "no"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Serve submissions after collection. Keep errors away from pytest and raise them later."""
        if session.testsfailed:
            return None
        self.served = True
        try:
            self._serve(session)
        except Exception as error:
            self.error = error
        return True

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        """Note why a check file can't be imported; pytest wraps the cause of some errors."""
        if not self.served and call.excinfo is not None:
            self.uncollected.append(call.excinfo.value.__cause__ or call.excinfo.value)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note what our own hooks raise about the collected checks."""
        self.uncollected.append(excinfo.value)

    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, str]:
        """Answer the hook that pytest's terminal plugin, which is not loaded, would answer."""
        return report.outcome, "", ""


def run_pytest(files: Sequence[Path], engine: _Engine, plugin: LessonPlugin) -> None:
    """Collect check files and serve submissions. Raise EngineFault if pytest itself failed."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for file in files:  # without fork, one process collects several lessons' files
        sys.modules.pop(file.stem, None)
    printed = io.StringIO()
    root = str(files[0].parent)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        options = ["-c", os.devnull, "--rootdir", root, *PYTEST_OPTIONS]
        code = pytest.main(
            [*map(str, files), *options],
            plugins=[pytest_jsonreport.plugin, SubmissionReport(), engine, plugin],
        )
    if engine.error is not None:
        raise engine.error
    if not engine.served:
        raise EngineFault(f"{printed.getvalue()[-4000:]}\npytest ended with {code!r}")


def run_checks(checks: pytest.Session, run: SubmissionRun) -> None:
    """Run the collected checks once. Raise EngineFault for a reported check without a result."""
    report: SubmissionReport = json_report_of(checks.config)
    report.begin(checks)
    for item, following in itertools.zip_longest(checks.items, checks.items[1:]):
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    report.pytest_sessionfinish(checks)
    for test in report.report.get("tests", ()):
        if test.get("metadata", {}).get("check") not in run.results:
            raise EngineFault(f"pytest reported {test.get('nodeid')} without a result: {test}")


def warm_up() -> None:
    """Make pytest load now what it loads at its first run, so that forks have it."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(
            ["--version", "-c", os.devnull, *PYTEST_OPTIONS], plugins=[pytest_jsonreport.plugin]
        )


BROKEN = "{where}: {raised}. This file is part of the course, so {lesson} can't be graded"


def course_error(error: BaseException, lesson: Lesson) -> CourseError | None:
    """Return what a person has to mend; None if no file of the lesson is involved."""
    if isinstance(error, CourseError):
        return error
    where = place_in_course(error, lesson)
    if where is None:
        return None
    text = str(error.msg if isinstance(error, SyntaxError) else error).strip()
    raised = f"{type(error).__name__}: {text}" if text else type(error).__name__
    first = raised.splitlines()[0].rstrip(".")
    return CourseError(BROKEN, where=where, raised=first, lesson=lesson.id)


def place_in_course(error: BaseException, lesson: Lesson) -> str | None:
    """Return the innermost file and line of the lesson in a traceback, or the missing file."""
    texts = {lesson.filename: lesson.solution, "<scenarios>": lesson.scenarios}  # as executed
    frames = [(one.filename, one.lineno) for one in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        frames.append((error.filename or "", error.lineno))
    for name, line in reversed(frames):
        path = texts.get(name, Path(name))
        if line and (name in texts or lesson.checks in path.parents):
            return f"{path}:{line}"
    if isinstance(error, FileNotFoundError) and lesson.root in Path(error.filename).parents:
        return str(error.filename)
    return None


@contextlib.contextmanager
def course_errors(lesson: Lesson) -> Iterator[None]:
    """Raise CourseError instead of what a file of the lesson raises during a block."""
    try:
        yield
    except Exception as error:
        found = course_error(error, lesson)
        if found is None:
            raise
        raise found from None


REACHING_OUT = {
    "sys._getframe": "walks the frames of the process",
    "sys._current_frames": "walks the frames of the process",
    "inspect.currentframe": "walks the frames of the process",
    "inspect.stack": "walks the frames of the process",
    "inspect.getouterframes": "walks the frames of the process",
    "gc.get_objects": "searches the memory of the process",
    "gc.get_referrers": "searches the memory of the process",
    "ctypes.CDLL": "calls into the C library",
    "ctypes.memmove": "writes to raw memory",
    "ctypes.string_at": "reads raw memory",
    "os._exit": "ends the process",
    "os.kill": "sends signals",
    "os.fork": "starts processes",
    "os.system": "starts processes",
    "os.execv": "starts programs",
    "os.write": "writes to descriptors",
    "os.fdopen": "writes to descriptors",
    "sys.exit": "ends the process",
    "atexit.register": "runs code at exit",
    "sys.settrace": "traces the process",
    "sys.setprofile": "traces the process",
    "sys.meta_path": "changes how modules are imported",
    "threading.Thread": "starts threads",
    **dict.fromkeys(
        (
            "torch._C._DisableTorchDispatch",
            "torch._C.DisableTorchFunction",
            "torch._C.DisableTorchFunctionSubclass",
            "torch._C._len_torch_dispatch_stack",
            "torch.utils._python_dispatch._disable_current_modes",
            "torch.library.custom_op",
            "torch.jit.CompilationUnit",
        ),
        "hides what torch computes",
    ),
}
TAILS = {name.rpartition(".")[2] for name in REACHING_OUT}
"""The last parts of those names, for a quick check of attributes."""
MODULES = {
    "subprocess": "starts programs",
    "socket": "opens connections",
    "multiprocessing": "starts processes",
    "requests": "opens connections",
    "urllib": "opens connections",
    "http": "opens connections",
    "pytest": "looks for the checks",
    "_pytest": "looks for the checks",
    "grader": "looks for the grader",
    "pickle": "makes objects that run code where they are loaded",
}
PATCHED_MODULES = ("torch", "builtins", "sys", "numpy", "math")
REPLACES = "replaces something outside the lesson"
DEFINES = "defines a special method"
HOOKS = ("__eq__", "__torch_function__", "__instancecheck__", "__reduce__")
BUILTINS = {
    "exec": "runs code from text",
    "eval": "runs code from text",
    "open": "opens files",
    "__import__": "imports by name",
}


def flags_in(source: Source, tr: Catalogue) -> list[str]:
    """Return a line of text, with place and name, for each thing that a person should check."""
    found: dict[tuple[str, str], int] = {}
    for node in source.nodes:
        for flag in _flags_of(node, source):
            found.setdefault(flag, getattr(node, "lineno", 0))
    return [f"{source.place(line)} {tr(reason)} ({name})" for (reason, name), line in found.items()]


def _flags_of(node: ast.AST, source: Source) -> list[tuple[str, str]]:
    """Return the reasons to flag a node, each with the name in question."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        aliases = [alias.name for alias in node.names]
        names = aliases if isinstance(node, ast.Import) else [node.module or ""]
        return [(MODULES[top], name) for name in names if (top := _top(name)) in MODULES]
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
        targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
        return [(REPLACES, name) for target in targets if (name := _outside(target, source))]
    if isinstance(node, ast.Call):
        name = resolved(node.func, source)
        owner = resolved(node.args[0], source) if name == "setattr" and node.args else None
        if owner and _top(owner) in PATCHED_MODULES:
            return [(REPLACES, owner)]
        if name in BUILTINS:
            return [(BUILTINS[name], name)]
    if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in TAILS):
        name = resolved(node, source)
        return [(REACHING_OUT[name], name)] if name in REACHING_OUT else []
    if isinstance(node, ast.FunctionDef) and node.name in HOOKS:
        return [(DEFINES, node.name)]
    return []


def resolved(node: ast.expr, source: Source) -> str | None:
    """Return a dotted name with its import resolved, or None."""
    dotted = dotted_name(node)
    if dotted is None:
        return None
    head, _, rest = dotted.partition(".")
    head = source.imports.get(head, head)
    return f"{head}.{rest}" if rest else head


def _outside(target: ast.expr, source: Source) -> str | None:
    """Return the name that an assignment replaces in a module that is not the student's."""
    if isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Attribute):
        return None
    name = resolved(target, source)
    return name if name and _top(name) in PATCHED_MODULES else None


def _top(name: str) -> str:
    return name.split(".")[0]
