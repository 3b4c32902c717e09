"""Proofs that need no check to be run: the course's files agree, and a release keeps its secrets.

Each function yields a sentence for every fault it finds; `PROOFS` has them in order.
"""

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.authoring.translations import translation_files
from grader.core.errors import CourseError
from grader.core.files import OutputFile
from grader.course.check_helpers import helpers_of, hidden_data, views_of
from grader.course.course import CHECKS, SOLUTIONS, WORK, Course, Exercise
from grader.course.hints import read_hints
from grader.course.styles import read_styles
from grader.judging.known_mistakes import LiveMistakes
from grader.release.solution_cells import BEGIN, END, REGION
from grader.release.stubs import generate, stale
from grader.release.students import student_files

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
    declared.update(hidden_data(course))
    for assignment in course.assignments:
        paths = course.paths(assignment)
        needed = [paths.stub, paths.notebook, paths.solution, paths.misconceptions, paths.hints]
        needed += [paths.visible_checks, paths.hidden_checks]
        declared.update((*needed, paths.equivalent, paths.styles))
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
    try:
        for file in stale(course):
            yield f"{file.path}: it differs from what the solution makes; run `grader generate`"
    except CourseError as error:
        yield from error.problems


def stubs_do_the_same_in_every_language(course: Course) -> Iterator[str]:
    """Where there are translations, they change the words of stubs and not their code."""
    try:
        for code in course.languages:
            generate(course, code)
    except CourseError as error:
        yield from error.problems


def open_translations(course: Course) -> Iterator[str]:
    """What is still to be translated, where there are translations; it is shown in English.

    Raises:
        CourseError: when a check puts words together in a way that cannot be translated.
    """
    for found in translation_files(course) if course.languages else ():
        for file in found.files:
            if not file.is_current(course.root):
                yield f"{file.path}: it is not up to date; run `grader catalogues`"
            if file is found.readable and found.untranslated:
                yield f"{file.path}: {found.untranslated} texts are still to be translated"


PROOFS = (
    points_agree,
    hints_are_complete,
    files_are_declared,
    stubs_are_current,
    stubs_do_the_same_in_every_language,
)


DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def definitions(course: Course, exercise: Exercise) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that an exercise is; none for a constant."""
    solution = course.paths(course.by_id[exercise.assignment]).solution
    tree = ast.parse(solution.read_text("utf-8"))
    return [n for n in tree.body if isinstance(n, DEFINITIONS) and n.name == exercise.name]


def docstrings(course: Course, exercise: Exercise) -> str:
    """What an exercise's docstrings tell the student, those of its methods included, in one line."""
    found = definitions(course, exercise)
    parts = [part for node in found for part in ast.walk(node) if isinstance(part, DEFINITIONS)]
    return " ".join(" ".join((ast.get_docstring(part) or "").split()) for part in parts)


def ids_are_unique(mistakes: LiveMistakes) -> Iterator[str]:
    """No two misconceptions of the course have the same id."""
    first: dict[str, str] = {}
    for misconceptions in mistakes.misconceptions.values():
        for one in misconceptions:
            if one.id in first:
                yield f"{one.exercise}: the id {one.id!r} is {first[one.id]}'s already"
            first.setdefault(one.id, one.exercise)


def release_keeps_secrets(course: Course) -> Iterator[str]:
    """No solution's text, no hidden check and no edit is in a release."""
    yield from secrets_in(course, student_files(course))


def secrets_in(course: Course, files: Iterable[OutputFile]) -> Iterator[str]:
    """What some files of a release should not tell.

    Args:
        course: whose solutions are secret.
        files: of the release.
    """
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
    """The lines of a released file; those of a notebook without JSON's signs."""
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
