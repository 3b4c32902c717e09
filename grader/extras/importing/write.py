"""Writes an imported notebook as an assignment of a course: all of its files, or none.

Checks are drafts, with a TODO wherever a person decides.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from grader.authoring.scaffold import (
    camel,
    next_number,
    rendered,
    taken_by,
    with_assignment,
    with_generated,
)
from grader.core.errors import UsageError
from grader.core.files import OutputFile, write_all
from grader.course.course import (
    CHECKS,
    MANIFEST,
    SOLUTIONS,
    WORK,
    Assignment,
    Course,
    Exercise,
    load_course,
)
from grader.course.settings import ASSIGNMENT_ID
from grader.course.toml_table import toml_text
from grader.extras.importing.drafts import KINDS, NOT_WRITTEN, Draft, draft
from grader.extras.importing.exercises import NewExercise, Outline, outline
from grader.extras.importing.nbgrader import Case, read_nbgrader
from grader.extras.importing.otter import read_otter
from grader.release.prose import in_comment
from grader.release.solution_cells import REGION

MOST_WEIGHT = 10
TITLE = 60
"""The most characters of a test that its check's title repeats."""


Drafts = list[tuple[Case, Draft]]


@dataclass(frozen=True, slots=True)
class _Check:
    """A check as its template writes it."""

    name: str
    title: str
    lines: Sequence[str]
    marks: Sequence[str]
    fixtures: str = "student, judge"


def _check_files(made: Outline, assignment: str) -> tuple[list[str], list[bool]]:
    """The files of visible and of hidden checks; of each test, whether it was carried over whole."""
    drafts = {
        name: [(case, draft(case, made.names)) for case in exercise.cases]
        for name, exercise in made.exercises.items()
    }
    texts = []
    for hidden, what in ((False, "as students see it"), (True, "on inputs nobody has seen")):
        exercises, used = [], {"pytest"}
        for name, exercise in made.exercises.items():
            pairs = [pair for pair in drafts[name] if pair[0].is_hidden is hidden]
            # Of a constant there is nothing that nobody has seen.
            if hidden and not pairs and exercise.kind == "constant":
                continue
            marks = [f'exercise("{name}")']
            # A constant that students see all checks of can be found by trying.
            if exercise.kind == "constant" and not any(c.is_hidden for c in exercise.cases):
                marks.append('guessable("It is a constant, and every check of it is visible.")')
            seen = next((_name(case) for case in exercise.cases if not case.is_hidden), "")
            checks = [*(_hidden(seen, pairs) if hidden else _visible(exercise, pairs))]
            title = camel(name.lower() if name.isupper() else name)
            exercises.append({"marks": marks, "title": title, "checks": checks})
            used |= {module for _, body in pairs for module in body.modules}
        modules = [name for name in ("math", "pytest", "torch") if name in used]
        words = {"number": assignment[:2], "what": what, "modules": modules}
        texts.append(rendered("import/test.py", exercises=exercises, **words))
    return texts, [body.is_whole for pairs in drafts.values() for _, body in pairs]


def _visible(exercise: NewExercise, pairs: Drafts) -> Iterator[_Check]:
    """The gate first: what kind of thing comes back, else the first test."""
    judged = next((body for _, body in pairs if body.asks and body.kind in KINDS), None)
    if judged is not None and judged.kind is not None:
        kind, words = judged.kind.__name__, KINDS[judged.kind]
        result = exercise.name if exercise.kind == "constant" else "The result"
        condition = f'judge.that(isinstance(value, {kind}), "It is not {words}")'
        lines, title = [f"value = {judged.asks}", condition], f"{result} should be {words}."
        yield _Check("test_what_comes_back", title, lines, ["gate", "conduct"])
    elif not pairs:
        todo = "TODO: say what should hold of the right kind of result."
        yield _Check("test_what_comes_back", todo, [NOT_WRITTEN], ["gate", "conduct"])
    for number, (case, body) in enumerate(pairs):
        is_gate = judged is None and number == 0
        yield _of(case, body, _weights(pairs)[number], ["gate"] if is_gate else [])


def _hidden(seen: str, pairs: Drafts) -> Iterator[_Check]:
    """Each deepens the first visible test, where there is one."""
    seen = seen or "TODO: the name of a visible check, or a sentence of the docstring"
    marks = [f'deepens("{seen}")']
    if not pairs:
        todo = "TODO: say what should hold on inputs that nobody has seen."
        fixtures = "student, reference, judge, draw"
        yield _Check("test_unseen_inputs", todo, [NOT_WRITTEN], marks, fixtures)
    for number, (case, body) in enumerate(pairs):
        yield _of(case, body, _weights(pairs)[number], marks)


def _of(case: Case, body: Draft, weight: int, marks: list[str]) -> _Check:
    """The check that a test became."""
    was = " ".join(body.was.split()).replace("\\", "").replace('"', "'")
    was = was if len(was) <= TITLE else f"{was[:TITLE].rstrip()}…"
    title = f"TODO: say what should hold; cell {case.cell} has: {was}"
    marks = [f"weight({weight})", *marks] if weight > 1 else marks
    return _Check(_name(case), title, body.lines, marks + ["conduct"] * body.is_conduct)


def _name(case: Case) -> str:
    return f"test_cell_{case.cell}"


def _weights(pairs: Drafts) -> list[int]:
    """The tests' shares of the points, where they are small whole numbers."""
    least = min((case.points for case, _ in pairs if case.points), default=None)
    shares = [case.points / least if least else 1 for case, _ in pairs]
    is_whole = all(share == int(share) and share <= MOST_WEIGHT for share in shares)
    return [max(int(share), 1) if is_whole else 1 for share in shares]


@dataclass(frozen=True, slots=True)
class Written:
    """What an import made.

    Args:
        assignment: the new one.
        paths: the files, in the course's folder.
        whole: how many tests became checks.
        open: how many are still to be written.
        notes: what could not be carried over, in sentences.
    """

    assignment: Assignment
    paths: tuple[str, ...]
    whole: int
    open: int
    notes: tuple[str, ...]


def import_notebook(system: str, path: Path, root: Path, assignment: str = "") -> Written:
    """Write a notebook into a course as its next assignment; into an empty folder as a course.

    Args:
        system: "otter" or "nbgrader".
        path: the notebook.
        root: the course's folder, or an empty one, or one that is not there yet.
        assignment: the new assignment's id; made of the notebook's name unless said.

    Raises:
        UsageError: when the notebook cannot be read, or something is there already.
        CourseError: when the course's manifest is wrong.
    """
    read = read_otter if system == "otter" else read_nbgrader
    made = outline(read(path))
    if not made.exercises:
        lines = "\n".join(f"  {note}" for note in made.notes.lines())
        raise UsageError(f"Nothing in {path} can be made an exercise:\n{lines}")
    is_new = not (root / MANIFEST).is_file()
    if is_new and root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is not an empty folder. Give one that is, or does not exist.")
    course = None if is_new else load_course(root)
    id_ = _new_id(assignment, path, course)
    title = made.title or id_.partition("_")[2].replace("_", " ").capitalize()
    empty = f"[course]\ntitle = {toml_text(title)}\n"
    manifest = empty if is_new else (root / MANIFEST).read_text("utf-8")
    points = {name: exercise.points for name, exercise in made.exercises.items()}
    manifest = with_assignment(manifest, id_, toml_text(title), points)
    (visible, hidden), whole = _check_files(made, id_)
    _require_no_cell_marks(made)
    new = Assignment(id_, title, tuple(Exercise(id_, *worth) for worth in points.items()))
    solution = OutputFile(f"{SOLUTIONS}/{id_}/{new.module}.py", _percent(made.cells))
    manifest_file, *files = with_generated(None, [OutputFile(MANIFEST, manifest), solution])
    folder = f"{CHECKS}/{id_}"
    files += [
        OutputFile(
            f"{SOLUTIONS}/{id_}/hints.toml", rendered("import/hints.toml", names=made.exercises)
        ),
        OutputFile(
            f"{SOLUTIONS}/{id_}/misconceptions.toml",
            rendered(
                "import/misconceptions.toml",
                mistakes=[_edit(exercise, solution.text) for exercise in made.exercises.values()],
            ),
        ),
        OutputFile(f"{folder}/test_visible.py", visible),
        OutputFile(f"{folder}/test_hidden.py", hidden),
    ]
    files.append(manifest_file)
    for taken in (SOLUTIONS, CHECKS, WORK):
        if (root / taken / id_).exists():
            raise UsageError(f"{root / taken / id_} is there already; nothing was written.")
    write_all(files, root)
    return Written(
        new,
        tuple(file.path for file in files),
        whole.count(True),
        whole.count(False),
        tuple(made.notes.lines()),
    )


def _new_id(given: str, path: Path, course: Course | None) -> str:
    """The id of the new assignment.

    Raises:
        UsageError: when what was given is no id, or the course has it, its number or its name.
    """
    taken = [] if course is None else [*course.by_id]
    words = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_0123456789")
    number = next_number(taken)
    id_ = given or f"{number}_{words or 'notebook'}"
    if not re.fullmatch(ASSIGNMENT_ID, id_):
        raise UsageError(f"{id_!r} is no assignment's id; write one like {number}_first_steps.")
    if other := taken_by(taken, id_):
        raise UsageError(
            f"{id_} has the number or the name of {other}, which is there already. "
            f"Give another one: --assignment {number}_NAME"
        )
    return id_


def _percent(cells: Iterable[tuple[str, str, str]]) -> str:
    """Cells as a script in percent form."""
    parts = []
    for kind, text, exercise in cells:
        if kind == "markdown":
            parts.append(f"# %% [markdown]\n{in_comment(text)}\n")
        elif exercise:
            parts.append(f'\n# %% exercise="{exercise}"\n{text}\n')
        else:
            parts.append(f"# %%\n{text}\n")
    return "\n".join(parts).lstrip("\n")


def _require_no_cell_marks(made: Outline) -> None:
    for kind, text, _exercise in made.cells:
        mark = "%%" if kind == "markdown" else "# %%"
        if any(line.lstrip().startswith(mark) for line in text.split("\n")):
            first = text.partition("\n")[0][:60]
            raise UsageError(
                f"The cell that begins {first!r} has a line that begins with `{mark}`, which would "
                "begin a cell of a script. Change that line in the notebook."
            )


def _edit(exercise: NewExercise, text: str) -> dict[str, str]:
    """The last statement of a solution, with the lines before it that make it unique; an edit of it."""
    body = list(REGION.finditer(exercise.text))[-1]["body"]
    lines = body.rstrip("\n").split("\n")
    last = ast.parse(dedent(body)).body[-1]
    first = last.lineno - 1
    margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    mistake = (
        f"{exercise.name} = 'TODO'" if exercise.kind == "constant" else "raise ValueError('TODO')"
    )
    statement = "\n".join(lines[first : last.end_lineno])
    before = exercise.text[: exercise.text.rindex(statement)].split("\n")[:-1]
    find = f"{statement}\n"
    replacement = f"{margin}{mistake}\n"
    while text.count(find) > 1 and before:
        line = before.pop()
        find, replacement = f"{line}\n{find}", f"{line}\n{replacement}"
    texts = {"find": find, "replace": replacement}
    written = {k: toml_text(t) if "'''" in t else f"'''\n{t}'''" for k, t in texts.items()}
    return {"exercise": exercise.name, **written}
