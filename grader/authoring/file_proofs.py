"""Proofs that need no check to be run: the course's files agree, and a release keeps its secrets."""

import ast
import doctest
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.authoring.translations import translation_files
from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.core.text import clean
from grader.course.check_helpers import helpers_of, hidden_data, views_of
from grader.course.course import CHECKS, SOLUTIONS, WORK, Assignment, Course, Exercise
from grader.course.hints import read_hints
from grader.course.styles import read_styles
from grader.release.solution_cells import BEGIN, END, REGION, loaded
from grader.release.stubs import generate, handed_out, stale
from grader.sessions import own_time

SHORT_LINE = 12
"""Lines of a solution shorter than this give nothing away."""

GENERATED = ("__pycache__", ".ipynb_checkpoints")
SECRET_FILES = ("test_hidden.py", "misconceptions.toml", "equivalent.toml", "styles.toml")


def points_agree(course: Course) -> Iterator[str]:
    """The manifest's total agrees with the exercises' points."""
    if course.points_problem:
        yield course.points_problem


def hints_are_complete(course: Course) -> Iterator[str]:
    """Every exercise has its hints."""
    for assignment in course.assignments:
        try:
            read_hints(assignment, course.paths(assignment).hints)
        except CourseError as error:
            yield from error.problems


def files_are_declared(course: Course) -> Iterator[str]:
    """Nothing undeclared lies among the course's files, and nothing declared is missing."""
    declared: set[Path] = {*course.ledger_files, *helpers_of(course), *views_of(course)}
    declared.update((*hidden_data(course), *course.data_files.values()))
    declared.update(course.root / file.path for file in handed_out(course))
    for assignment in course.assignments:
        paths = course.paths(assignment)
        needed = [paths.stub, paths.notebook, paths.solution, paths.hints]
        needed += [paths.visible_checks, paths.hidden_checks]
        declared.update((*needed, paths.misconceptions, paths.equivalent, paths.styles))
        if paths.drawing.is_file():
            declared.update((paths.drawing, paths.picture))
        yield from (f"{course.inner(p)}: it is missing" for p in needed if not p.is_file())
    if course.guide and not (course.root / course.guide).is_file():
        yield f"{course.guide}: it is missing"
    for folder in (SOLUTIONS, WORK, CHECKS):
        for path in course.files_of(folder):
            is_ours = path.is_dir() or any(part in GENERATED for part in path.parts)
            if not is_ours and path not in declared:
                yield f"{course.inner(path)}: course.toml does not declare it"


def stubs_are_current(course: Course) -> Iterator[str]:
    """Stubs and notebooks are what the solutions make."""
    for file in stale(course):
        yield f"{file.path}: it differs from what the solution makes; run `grader generate`"


def stubs_do_the_same_in_every_language(course: Course) -> Iterator[str]:
    """Where there are translations, they change the words of stubs and not their code."""
    for code in course.languages:
        generate(course, code)
    yield from ()


def open_translations(course: Course) -> Iterator[str]:
    """What is still to be translated, where there are translations; it is shown in English.

    Raises:
        CourseError: when a check puts words together in a way that cannot be translated.
    """
    for translation in translation_files(course) if course.languages else ():
        for file in translation.files:
            if not file.is_current(course.root):
                yield f"{file.path}: it is not up to date; run `grader catalogues`"
            if file is translation.readable and translation.untranslated:
                yield f"{file.path}: {translation.untranslated} texts are still to be translated"


DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def _definitions(course: Course, exercise: Exercise) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that an exercise is; none for a constant."""
    solution = course.paths(course.by_id[exercise.assignment]).solution
    tree = ast.parse(solution.read_text("utf-8"))
    return [n for n in tree.body if isinstance(n, DEFINITIONS) and n.name == exercise.name]


def is_constant(course: Course, exercise: Exercise) -> bool:
    """Whether an exercise is neither a function nor a class."""
    return not _definitions(course, exercise)


def docstrings(course: Course, exercise: Exercise) -> str:
    """What an exercise's docstrings tell the student, those of its methods included, in one line."""
    nodes = (node for part in _definitions(course, exercise) for node in ast.walk(part))
    texts = (ast.get_docstring(node) or "" for node in nodes if isinstance(node, DEFINITIONS))
    return " ".join(" ".join(text.split()) for text in texts)


def secrets_in(course: Course, files: Iterable[OutputFile]) -> Iterator[str]:
    """What some files of a release should not tell of a course."""
    secrets = dict(_secret_lines(course))
    for file in files:
        if file.path.startswith("grader/"):
            continue
        if "solutions/" in file.path or Path(file.path).name in SECRET_FILES:
            yield f"release: {file.path} must not be in it"
        lines = {line.strip().removeprefix("# ") for line in _released_lines(file)}
        for line in sorted(lines & secrets.keys()):
            yield f"release: {file.path} contains a line of {secrets[line]}: {line}"


def _released_lines(file: OutputFile) -> Iterator[str]:
    """The lines of a released file; those of a notebook without JSON's syntax."""
    text = file.text.replace("\0", "\n")
    if file.path.endswith(".ipynb"):
        for cell in json.loads(text)["cells"]:
            yield from "".join(cell["source"]).splitlines()
    else:
        yield from text.splitlines()


def _secret_lines(course: Course) -> Iterator[tuple[str, str]]:
    """Lines of solutions and styles that no release may contain, with where they are from."""
    for assignment in course.assignments:
        text = course.paths(assignment).solution.read_text("utf-8")
        outside = {line.strip() for line in REGION.sub("", text).splitlines()}
        for match in REGION.finditer(text):
            for raw in match["body"].splitlines():
                line = raw.strip()
                if len(line) > SHORT_LINE and line not in outside and line not in (BEGIN, END):
                    yield line, f"the solution of {assignment.id}"
        for styles in read_styles(course, assignment).values():
            lines = (raw.strip() for style in styles for raw in style.code.splitlines()[1:])
            for line in lines:
                if len(line) > SHORT_LINE and line not in outside:
                    yield line, f"the styles of {assignment.id}"


@dataclass
class _Examples(doctest.DocTestRunner):
    """Runs the examples of a file and keeps a sentence on each that is wrong."""

    path: str
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(verbose=False)

    def report_start(self, out: Any, test: doctest.DocTest, example: doctest.Example) -> None:
        """Print nothing."""

    def report_failure(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        """Keep that an example returns something else; blanks at the ends of lines are not seen."""
        shown, wanted = (
            [line.rstrip() for line in one.splitlines()] for one in (got, example.want)
        )
        if shown != wanted:
            self._keep(test, example, f"returns {_line(got)}, not {_line(example.want)}")

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Keep that an example raises; that its time is over ends all of them."""
        kind, error, _traceback = exc_info
        if isinstance(error, own_time.OwnTimeOver):
            raise error
        self._keep(test, example, f"raises {kind.__name__}: {clean(str(error))[:200]}")

    def _keep(self, test: doctest.DocTest, example: doctest.Example, what: str) -> None:
        place = f"{self.path}:{(test.lineno or 0) + example.lineno + 1}"
        self.wrong.append(f"{place}: the example `{_line(example.source)}` {what}")


def _line(text: str) -> str:
    """A text in one line, "nothing" where it is empty."""
    return clean(" ".join(text.split()))[:200] or "nothing"


def wrong_examples(course: Course, assignment: Assignment) -> list[str]:
    """What the docstrings of an assignment's solution show that is not so, each with its line."""
    path = course.inner(course.paths(assignment).solution)
    runner, seconds = _Examples(path), course.limits.submission_seconds
    try:
        with loaded(course, assignment) as module, own_time.limited(seconds):
            for test in doctest.DocTestFinder().find(module):
                runner.run(test, out=lambda _text: None)
    except own_time.OwnTimeOver:
        runner.wrong.append(f"{path}: its examples did not end within {seconds:g} seconds")
    except Exception as error:  # whatever loading the author's file raises
        reason = f"{type(error).__name__}: {clean(str(error))[:200]}"
        runner.wrong.append(f"{path}: its examples cannot be run: {reason}")
    return runner.wrong
