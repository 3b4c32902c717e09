"""What `grader new` writes: a course, an assignment, an exercise. Pure: files come back."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from pathlib import Path

from grader.authoring.own_wheel import own_wheel
from grader.authoring.scaffold import (
    camel,
    dashed,
    next_number,
    rendered,
    rendered_folder,
    taken_by,
    with_assignment,
    with_exercise,
    with_generated,
)
from grader.core.errors import UsageError
from grader.core.files import OutputFile
from grader.core.kit import is_of_this_machine, requirement
from grader.core.records import added
from grader.course.course import MANIFEST, Assignment, Course
from grader.course.settings import ASSIGNMENT_ID
from grader.course.toml_table import toml_text

POINTS = 2
KIT = "kit"
"""The folder of a course that has the kit's wheel."""
EXTRA = "author"
KINDS = ("torch", "numpy", "plain")
"""What the exercises of a course compute with: tensors, arrays, or Python's own values."""
SIGNS = {
    "torch": re.compile(r"\bTensor\b|\b(?:import|from) torch\b"),
    "numpy": re.compile(r"\bnp\.|\b(?:import|from) numpy\b"),
}
"""What a solution of a kind has in its text."""
STARTER, STARTER_TITLE = "first_steps", re.compile(r"First steps: a function and a \w+")
"""The assignment of the templates."""
CELL = re.compile(r"(?m)^# %%")
FROM_TORCH = re.compile(r"(?m)^from torch import (\w+(?:, \w+)*)$")


@dataclass(frozen=True, slots=True)
class NewExercise:
    """An exercise to add.

    Args:
        name: what the student is to define.
        points: what it is worth.
        is_class: whether that is a class.
        after: the exercise that it follows; the assignment's last one unless given.
        kind: what it computes with, one of `KINDS`.
    """

    name: str
    points: float = POINTS
    is_class: bool = False
    after: str = ""
    kind: str = "torch"

    @property
    def needs(self) -> tuple[str, ...]:
        """What its cell takes from torch, or numpy itself."""
        of_torch = ("Tensor", "nn") if self.is_class else ("Tensor",)
        return {"torch": of_torch, "numpy": ("np",)}.get(self.kind, ())

    def part(self, kind: str, before: str) -> str:
        """Its part of one of the assignment's files.

        Args:
            kind: the file's template.
            before: the file as it is.
        """
        of_checks = f"Test{camel(self.name)}"
        if f"class {of_checks}:" in before:  # of a function beside a class, or the other way round
            of_checks += "Class" if self.is_class else "Function"
        mistake = f"{dashed(self.name)}-todo"
        if f'"{mistake}"' in before:
            mistake += "-2"
        words = {"of_checks": of_checks, "mistake": mistake, "kind": self.kind}
        return rendered(f"exercise/{kind}", name=self.name, is_class=self.is_class, **words)


def class_like(name: str) -> bool:
    """Whether a name looks like a class's: `RowSums`, and neither `row_sums` nor `ROW_SUMS`."""
    return name[:1].isupper() and not name.isupper()


def new_course(title: str, assignment: str = STARTER, kind: str = KINDS[0]) -> list[OutputFile]:
    """The files of a small complete course of this title.

    They name where the kit came from; one that no other machine could install is among them.

    Args:
        title: the course's.
        assignment: the name of its assignment.
        kind: what its exercises compute with.
    """
    kit, wheels = own_kit()
    words = {"title": " ".join(title.split()), "kit": kit, "kind": kind}
    folders = ("course",) if kind == KINDS[0] else ("course", "course_plain")
    files = {f.path: f for folder in folders for f in rendered_folder(folder, **words)}
    named = (
        [_renamed(file, assignment) for file in files.values()] if assignment else files.values()
    )
    return [*with_generated(None, [*named]), *wheels]


def _renamed(file: OutputFile, assignment: str) -> OutputFile:
    """A file of the templates' course, where its assignment may have another name."""
    if assignment == STARTER:
        return file
    module = re.sub(r"^\d\d_", "", assignment)
    if re.fullmatch(ASSIGNMENT_ID, f"01_{module}") is None:
        raise UsageError(f"{assignment!r} cannot be an assignment's name. Write it like row_sums.")
    title = module.replace("_", " ").capitalize()
    text = STARTER_TITLE.sub(title, str(file.content)).replace(STARTER, module)
    return OutputFile(file.path.replace(STARTER, module), text)


def own_kit() -> tuple[str, list[OutputFile]]:
    """What a course's requirements call the kit, and its wheel where no other machine could install it."""
    wheels = [own_wheel(KIT)] if is_of_this_machine() else []
    return f"./{wheels[0].path}[{EXTRA}]" if wheels else requirement(EXTRA), wheels


def new_assignment(
    course: Course, name: str, title: str, exercises: Sequence[str], points: float = POINTS
) -> list[OutputFile]:
    """The files that an assignment more changes.

    Args:
        course: the course.
        name: `12_name`, or without a number for the next one.
        title: the assignment's; made from the name where it is "".
        exercises: the names of those it begins with; its module's name where there are none.
        points: what each is worth.

    Raises:
        UsageError: when the name cannot be one, or is there already.
        CourseError: when the course would not be read with it.
    """
    assignment = _named(course, name, title)
    names = exercises or (assignment.module,)
    for exercise in names:
        _forbid_wrong_name(exercise)
    manifest = (course.root / MANIFEST).read_text("utf-8")
    worth = dict.fromkeys(names, added((points,)))
    changed = with_assignment(manifest, assignment.id, toml_text(assignment.title), worth)
    head = {"number": int(assignment.id[:2]), "title": assignment.title}
    texts = {}
    for path, kind in _files(course, assignment).items():
        if path.exists():
            raise UsageError(f"{course.inner(path)} is there already. Nothing was written.")
        texts[path] = rendered(f"assignment/{kind}", **head)
    kind = _kind_of(course, "")
    for exercise in names:
        made_of = NewExercise(exercise, points, class_like(exercise), kind=kind)
        _add(course, assignment, made_of, texts)
    return _with_manifest(course, changed, texts)


def new_exercise(course: Course, target: str, exercise: NewExercise) -> list[OutputFile]:
    """The files that an exercise more changes.

    Args:
        course: the course.
        target: its assignment.
        exercise: what to add.

    Raises:
        UsageError: when its name cannot be one or is there already, or there is no such assignment.
        CourseError: when the course would not be read with it.
    """
    assignment = course.assignment(target)
    _forbid_wrong_name(exercise.name)
    names = [other.name for other in assignment.exercises]
    if exercise.name in names:
        raise UsageError(f"{assignment.id}/{exercise.name} is there already. Nothing was written.")
    if exercise.after and exercise.after not in names:
        known = ", ".join(names)
        raise UsageError(f"{assignment.id} has no exercise {exercise.after!r}; it has {known}.")
    texts = {}
    for path in _files(course, assignment):
        if not path.is_file():
            raise UsageError(f"{course.inner(path)} is missing. `grader validate` says what else.")
        texts[path] = path.read_text("utf-8")
    solution = course.paths(assignment).solution
    _forbid_bound(course.inner(solution), exercise.name, texts)
    exercise = replace(exercise, kind=_kind_of(course, texts[solution]))
    text, points = (course.root / MANIFEST).read_text("utf-8"), added((exercise.points,))
    changed = with_exercise(text, assignment.id, exercise.name, points, exercise.after)
    _add(course, assignment, exercise, texts)
    return _with_manifest(course, changed, texts)


def _named(course: Course, name: str, title: str) -> Assignment:
    """An assignment that is not there yet, by its name with or without a number.

    Raises:
        UsageError: when there cannot be one of this name.
    """
    id_ = name if name[:1].isdigit() else f"{next_number(course.by_id)}_{name}"
    match = re.fullmatch(ASSIGNMENT_ID, id_)
    if match is None:
        raise UsageError(
            f"{name!r} cannot be an assignment's name. Write small letters, digits and `_`, after "
            "two digits or without them, like 12_row_sums or row_sums."
        )
    if other := taken_by(course.by_id, id_):
        what = f"the number {id_[:2]}" if id_[:2] == other[:2] else f"the name {match[1]}"
        raise UsageError(f"{other} has {what} already. Nothing was written.")
    words = " ".join((title or match[1].replace("_", " ").capitalize()).split())
    return Assignment(id_, words, ())


def _kind_of(course: Course, text: str) -> str:
    """What an assignment computes with, as its solution says, or the other ones of the course."""
    paths = [course.paths(assignment).solution for assignment in course.assignments]
    text = text or "\n".join(path.read_text("utf-8") for path in paths if path.is_file())
    return next((kind for kind, sign in SIGNS.items() if sign.search(text)), "plain")


def _forbid_wrong_name(name: str) -> None:
    if not name.isidentifier() or iskeyword(name):
        raise UsageError(f"{name!r} cannot be an exercise's name: Python allows no such name.")


def _forbid_bound(path: str, name: str, texts: dict[Path, str]) -> None:
    """Refuse a name that the solution defines or imports for something else."""
    source = next(text for file, text in texts.items() if file.as_posix().endswith(path))
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}. Mend that first.") from error
    if name in _bound(tree):
        raise UsageError(f"{path} defines {name} already. Nothing was written.")


def _bound(tree: ast.Module) -> set[str]:
    """The names that a module defines or imports at its top level."""
    names = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
            case ast.Assign() | ast.AnnAssign():
                names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names


def _files(course: Course, assignment: Assignment) -> dict[Path, str]:
    """An author's files of an assignment, and the template of each."""
    paths = course.paths(assignment)
    return {
        paths.solution: "solution.py",
        paths.misconceptions: "misconceptions.toml",
        paths.hints: "hints.toml",
        paths.visible_checks: "test_visible.py",
        paths.hidden_checks: "test_hidden.py",
    }


def _add(
    course: Course, assignment: Assignment, exercise: NewExercise, texts: dict[Path, str]
) -> None:
    """Add an exercise to the texts of its assignment's files."""
    solution = course.paths(assignment).solution
    for path, kind in _files(course, assignment).items():
        part, text = exercise.part(kind, texts[path]), texts[path]
        if path == solution:
            texts[path] = _with_cell(_with_names(text, exercise.needs), part, exercise.after)
        else:
            is_next = text.rstrip().endswith("]")  # after another one's hints
            space = "\n" * (3 if path.suffix == ".py" else 1 if is_next else 2)
            texts[path] = f"{text.rstrip()}{space}{part}"


def _with_cell(text: str, cell: str, after: str) -> str:
    """A solution with a cell more: after another exercise's cell, or after the last one's."""
    name = after or r"\w+"
    marks = list(re.finditer(rf'(?m)^# %% exercise="{name}"', text))
    following = CELL.search(text, marks[-1].end()) if marks else None
    end = following.start() if following else len(text)
    rest = f"\n\n{text[end:]}" if text[end:] else ""
    return f"{text[:end].rstrip()}\n\n\n{cell.rstrip()}\n{rest}"


def _with_names(text: str, names: Sequence[str]) -> str:
    """A solution that imports these names of torch, or numpy as `np`."""
    tree = ast.parse(text)
    missing = [name for name in names if name not in _bound(tree)]
    if not missing:
        return text
    if names[0] != "np" and (match := FROM_TORCH.search(text)):
        # Classes first, as ruff sorts them.
        both = sorted({*match[1].split(", "), *missing}, key=lambda name: (name.islower(), name))
        return text.replace(match[0], f"from torch import {', '.join(both)}", 1)
    line = f"from torch import {', '.join(missing)}\n"
    line = "import numpy as np\n" if names[0] == "np" else line
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = text.splitlines(keepends=True)
    if imports:
        lines.insert(imports[-1].end_lineno or 0, line)
        return "".join(lines)
    first = re.search(r"(?m)^# %% exercise=|\Z", text)
    start = first.start() if first else len(text)
    return f"{text[:start].rstrip()}\n\n# %%\n{line}\n\n{text[start:]}"


def _with_manifest(course: Course, manifest: str, texts: dict[Path, str]) -> list[OutputFile]:
    """The manifest and other files of a course, as they are to be, with what is generated."""
    files = [OutputFile(course.inner(path), text) for path, text in texts.items()]
    return with_generated(course.root, [OutputFile(MANIFEST, manifest), *files])
