"""Writes an imported notebook as an assignment of a course: all of its files, or none.

Its tests become checks, which are tried before: the solution passes each, and the stub fails.
"""

import ast
import re
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from grader.authoring.new import own_kit
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
from grader.core.records import Outcome, Visibility
from grader.course.course import (
    CHECKS,
    FILES,
    LARGEST_FILE,
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
from grader.extras.importing.drafts import Draft, draft, in_order, names_in, set_by, statements
from grader.extras.importing.exercises import RANDOM, NewExercise, Outline, outline
from grader.extras.importing.nbgrader import Case, Question, Reading, read_nbgrader
from grader.extras.importing.otter import read_otter
from grader.judging.collect import collect
from grader.judging.fixtures import CheckEnvironment, live_environment
from grader.judging.run import CheckRun
from grader.release.prose import in_comment
from grader.release.requirements import installed_distributions
from grader.release.solution_cells import REGION
from grader.sandbox.limits import libraries_in
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Launcher, default_launcher
from grader.submissions.submission import read_submission
from grader.testing.lookup import SubmissionHandle
from grader.testing.replies import Failure

MOST_WEIGHT = 10
REQUIREMENTS = "requirements.txt"

Key = tuple[int, bool]
"""A test: its cell, and whether it is hidden."""
NOT_SEEN = "All of its tests are visible."


@dataclass(frozen=True, slots=True)
class _Check:
    """A check as its template writes it."""

    name: str
    title: str
    lines: Sequence[str]
    marks: Sequence[str]


@dataclass(slots=True)
class _Tried:
    """What is known of the tests since they were run on the solution and on the stub.

    Args:
        left_out: those that are no checks, with the reason.
        forgeable: those with conditions that student code may forge, and one of these.
        empty: those that judge nothing, and prepare others.
        failing: the given code that does not run in the solution, with the reason.
    """

    left_out: dict[Key, str] = field(default_factory=dict)
    forgeable: dict[Key, str] = field(default_factory=dict)
    empty: set[Key] = field(default_factory=set)
    failing: dict[str, str] = field(default_factory=dict)


def _drafts(made: Outline, tried: _Tried) -> dict[Key, Draft]:
    """Each test as a check; hidden ones may need what visible ones set, and not the other way round."""
    found: dict[Key, Draft] = {}
    seen: list[ast.stmt] = []
    all_: list[ast.stmt] = []
    set_visibly: dict[int, set[str]] = defaultdict(set)
    names = {*made.given, *made.exercises}
    given = [n for n, is_same in made.given.items() if is_same and n not in made.exercises]
    cases = {name: exercise.cases for name, exercise in made.exercises.items()}
    for _name, case in in_order(cases):
        key = case.cell, case.is_hidden
        known = names - set_visibly[case.cell] if case.is_hidden else names
        one = draft(case, all_ if case.is_hidden else seen, known, given)
        if one is None:
            tried.left_out[key] = "it is no Python"
            continue
        if not one.judges and not names_in(case.text) & made.exercises.keys():
            tried.empty.add(key)
        found[key] = one
        body = statements(case) or []
        all_ += body
        if not case.is_hidden:
            seen += body
            set_visibly[case.cell] |= {name for node in body for name in set_by(node)}
    return found


def _check_files(
    made: Outline, assignment: str, drafts: Mapping[Key, Draft], tried: _Tried, *, is_last: bool
) -> list[str]:
    """The files of visible and of hidden checks.

    Args:
        made: the assignment.
        assignment: its id.
        drafts: the tests as checks.
        tried: what is known of them.
        is_last: whether they are to be written; else they are tried, each by itself.
    """
    texts = []
    for hidden, what in ((False, "as students see it"), (True, "on inputs nobody has seen")):
        exercises: list[dict[str, Any]] = []
        for name, exercise in made.exercises.items():
            cases = [
                case
                for case in exercise.cases
                if case.is_hidden is hidden and (case.cell, hidden) not in tried.empty
            ]
            marks = [f'exercise("{name}")']
            if not any(case.is_hidden for case in exercise.cases):
                marks.append(f'guessable("{NOT_SEEN}")')
            seen = [
                _name(case)
                for case in exercise.cases
                if not case.is_hidden and (case.cell, False) not in tried.empty
            ]
            deepened = seen[0] if seen else _first_sentence(exercise)
            checks = []
            for weight, case in zip(_weights(cases), cases, strict=True):
                key = case.cell, case.is_hidden
                made_draft = drafts[key]
                of_check = [f"weight({weight})"] if weight > 1 else []
                if is_last and case is cases[0] and (not hidden or not seen):
                    of_check.append("gate")
                of_check += [f"deepens({deepened!r})"] if hidden else []
                of_check += ["conduct"] if made_draft.is_conduct else []
                lines = made_draft.lines(forgeable=not is_last or key in tried.forgeable)
                checks.append(_Check(_name(case), made_draft.title, lines, of_check))
            if checks:
                title = camel(name.lower() if name.isupper() else name)
                while any(other["title"] == title for other in exercises):
                    title += "_"  # my_array2 and my_array_2
                exercises.append({"marks": marks, "title": title, "checks": checks})
        texts.append(
            rendered("import/test.py", exercises=exercises, number=assignment[:2], what=what)
        )
    return texts


def _first_sentence(exercise: NewExercise) -> str:
    """The first sentence of its docstring, which its hidden checks test further; "" for none."""
    body = ast.parse(REGION.sub(r"\g<indent>pass", exercise.text)).body
    documented = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    words = " ".join((ast.get_docstring(documented[0]) or "").split()) if documented else ""
    return f"{words.partition('. ')[0].rstrip('.')}." if words else ""


def _tried_once(files: Sequence[OutputFile], tried: _Tried, launcher: Launcher) -> bool:
    """Run each test on the solution and on the stub; whether some are to be left out."""
    with tempfile.TemporaryDirectory() as name:
        for file in files:
            file.write(Path(name))
        course = load_course(Path(name))
        environment = live_environment(course, "import", apart=True, launcher=launcher)
        with closing(environment):
            checks = collect(course, course.exercises, [*Visibility])
            before = len(tried.left_out) + len(tried.failing)
            if (fault := _loading_fault(environment, course)) is not None:
                text = _cell_at(files, fault)
                if text and text not in tried.failing:
                    tried.failing[text] = f"{fault.type}: {fault.message}"
                    return True
            for folder, is_right in ((SOLUTIONS, True), (WORK, False)):
                submission = read_submission(course, course.root / folder, folder)
                session = ChildSession(launcher, submission, course.limits)
                handle = SubmissionHandle(submission, session, course.limits, course.assignments)
                with closing(CheckRun(environment, handle, checks)) as run, closing(session):
                    run.run(course.exercises)
                for check in checks:
                    key = int(check.name.rpartition("_")[2]), check.visibility is Visibility.HIDDEN
                    result, record = run.results[check.id], run.records.get(check.id)
                    if is_right and record is not None and record.forgeable:
                        tried.forgeable[key] = record.forgeable[0]
                    if (result.outcome is Outcome.PASSED) is not is_right:
                        why = result.message.replace("\n", " ") or str(result.outcome)
                        reason = f"the solution does not pass it ({why})"
                        tried.left_out.setdefault(key, reason if is_right else "the stub passes it")
    return len(tried.left_out) + len(tried.failing) > before


def _loading_fault(environment: CheckEnvironment, course: Course) -> Failure | None:
    """What ends the solution's file as it is loaded, where something does."""
    (located,) = {
        environment.reference.locate(e).loading for e in list(course.exercises.values())[:1]
    }
    return located


def _cell_at(files: Sequence[OutputFile], fault: Failure) -> str:
    """The text of the cell of the solution in which something fails; "" where that is not known."""
    text = next(file.text for file in files if file.path.startswith(SOLUTIONS))
    began = fault.called or fault.location
    lines = text.splitlines()[: began.line if began else 0]
    start = max((n for n, line in enumerate(lines) if line.startswith("# %%")), default=-1)
    if start < 0 or "exercise=" in lines[start]:
        return ""
    rest = text.splitlines()[start + 1 :]
    end = next((n for n, line in enumerate(rest) if line.startswith("# %%")), len(rest))
    return "\n".join(rest[:end]).strip("\n")


def _name(case: Case) -> str:
    return f"test_cell_{case.cell}"


def _weights(cases: Sequence[Case]) -> list[int]:
    """The tests' shares of the points, where they are small whole numbers."""
    least = min((case.points for case in cases if case.points), default=None)
    shares = [case.points / least if least else 1 for case in cases]
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
    is_new = not (root / MANIFEST).is_file()
    if is_new and root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is not an empty folder. Give one that is, or does not exist.")
    course = None if is_new else load_course(root)
    reading, tried = _with_inlined(read(path)), _Tried()
    id_ = _new_id(assignment, path, course)
    with closing(default_launcher(libraries_in([repr(reading)]))) as launcher:
        made, drafts = _settled(reading, id_, tried, launcher)
    manifest = None if is_new else (root / MANIFEST).read_text("utf-8")
    checks = _check_files(made, id_, drafts, tried, is_last=True)
    files = _files(reading, made, id_, manifest, checks)
    local = _beside(reading, made)
    files += _requirements(made, root, local, is_new=is_new)
    for taken in (SOLUTIONS, CHECKS, WORK):
        if (root / taken / id_).exists():
            raise UsageError(f"{root / taken / id_} is there already; nothing was written.")
    write_all(files, root)
    for (cell, is_hidden), text in tried.forgeable.items():
        kind = "hidden test" if is_hidden else "test"
        forged = f"the {kind} decides `{text}` beside the student's code, which can forge that"
        made.notes.add(cell, forged)
    points = {name: exercise.points for name, exercise in made.exercises.items()}
    return Written(
        Assignment(id_, "", tuple(Exercise(id_, *worth) for worth in points.items())),
        tuple(file.path for file in files),
        len(drafts.keys() - tried.empty),
        len(tried.left_out),
        tuple(made.notes.lines()),
    )


def _settled(
    reading: Reading, id_: str, tried: _Tried, launcher: Launcher
) -> tuple[Outline, dict[Key, Draft]]:
    """The assignment of what the solution passes and the stub fails, with its tests as checks.

    Raises:
        UsageError: when no exercise is left.
    """
    while True:
        made = outline(reading, tried.left_out, tried.failing)
        if not made.exercises:
            lines = "\n".join(f"  {note}" for note in made.notes.lines())
            raise UsageError(f"Nothing in {reading.path} can be made an exercise:\n{lines}")
        _require_no_cell_marks(made)
        drafts = _drafts(made, tried)
        if len(drafts) < len(
            {(c.cell, c.is_hidden) for e in made.exercises.values() for c in e.cases}
        ):
            continue
        checks = _check_files(made, id_, drafts, tried, is_last=False)
        files = _files(reading, made, id_, None, checks)
        # What is drawn without a seed may pass once by chance.
        draws = any(RANDOM.search(text) for kind, text, _exercise in made.cells if kind == "code")
        if not any(_tried_once(files, tried, launcher) for _ in range(1 + draws)):
            return made, drafts


def _files(
    reading: Reading,
    made: Outline,
    id_: str,
    manifest: str | None,
    checks: Sequence[str],
) -> list[OutputFile]:
    """All files that an assignment adds; the manifest of a new course unless one is given."""
    title = made.title or id_.partition("_")[2].replace("_", " ").capitalize()
    points = {name: exercise.points for name, exercise in made.exercises.items()}
    before = f"[course]\ntitle = {toml_text(title)}\n" if manifest is None else manifest
    text = with_assignment(before, id_, toml_text(title), points)
    module = id_.partition("_")[2]
    solution = OutputFile(f"{SOLUTIONS}/{id_}/{module}.py", _percent(made.cells))
    taken = [
        OutputFile(f"{SOLUTIONS}/{id_}/{FILES}/{name}", file.read_bytes())
        for name, file in _beside(reading, made).items()
    ]
    manifest_file, *files = with_generated(None, [OutputFile(MANIFEST, text), solution, *taken])
    own = {
        f"{SOLUTIONS}/{id_}/hints.toml": rendered("import/hints.toml", names=made.exercises),
        f"{CHECKS}/{id_}/test_visible.py": checks[0],
        f"{CHECKS}/{id_}/test_hidden.py": checks[1],
    }
    return [*files, *(OutputFile(*file) for file in own.items()), manifest_file]


def _requirements(
    made: Outline, root: Path, local: Collection[str], *, is_new: bool
) -> list[OutputFile]:
    """The course's requirements, with the packages that the notebook imports; the kit of a new course."""
    path = root / REQUIREMENTS
    kit, wheels = own_kit() if is_new else ("", [])
    before = rendered(f"course/{REQUIREMENTS}", kit=kit) if is_new else ""
    before = path.read_text("utf-8") if path.is_file() else before
    modules = {re.split("[/.]", name)[0] for name in local}
    installed = installed_distributions()
    names = {min(installed.get(name, [name])) for name in made.packages - modules}
    lines = sorted(name for name in names if not re.search(rf"(?mi)^{re.escape(name)}\b", before))
    text = "\n".join([before.rstrip("\n"), *lines]).strip("\n")
    return [OutputFile(REQUIREMENTS, f"{text}\n"), *wheels] if is_new or lines else []


def _beside(reading: Reading, made: Outline) -> dict[str, Path]:
    """The files beside a notebook that its code names, and the modules that it imports from there.

    What tests alone import may hold answers, and is not among them.
    """
    questions = [part for part in reading.parts if isinstance(part, Question)]
    tests = "\n".join(case.text for question in questions for case in question.cases)
    code = "\n".join(text for kind, text, _exercise in made.cells if kind == "code")
    found, folder = {}, reading.path.parent
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        is_visible = not any(part.startswith((".", "__pycache__")) for part in Path(name).parts)
        if not is_visible or not file.is_file() or file.suffix in (".ipynb", ".pyc"):
            continue
        is_module = file.suffix == ".py" and re.split("[/.]", name)[0] in made.packages
        parts = Path(name).parts
        is_named = name in code + tests or all(
            re.search(f"""["']{re.escape(p)}["']""", code + tests) for p in parts
        )
        is_named = (is_named and file.suffix != ".py") or name in reading.files
        if (is_module or is_named) and file.stat().st_size <= LARGEST_FILE:
            found[name] = file
    return found


def _with_inlined(reading: Reading) -> Reading:
    """The same, whose tests hold what they import from files beside the notebook."""

    def inlined(case: Case) -> Case:
        body = statements(case)
        if body is None or not any(isinstance(node, ast.ImportFrom) for node in body):
            return case
        made = _inlined(body, reading.path.parent)
        return (
            replace(case, text=ast.unparse(ast.Module(made, [])), output="")
            if made != body
            else case
        )

    reading.parts = [
        replace(part, cases=tuple(map(inlined, part.cases))) if isinstance(part, Question) else part
        for part in reading.parts
    ]
    return reading


def _inlined(body: Sequence[ast.stmt], folder: Path) -> list[ast.stmt]:
    """Statements of a test, with what they import from a file beside the notebook in place of that."""
    made: list[ast.stmt] = []
    for node in body:
        module = node.module if isinstance(node, ast.ImportFrom) else None
        file = folder / f"{module}.py" if module else folder
        made += ast.parse(file.read_text("utf-8")).body if file.is_file() else [node]
    return made


def _new_id(given: str, path: Path, course: Course | None) -> str:
    """The id of the new assignment.

    Raises:
        UsageError: when what was given is no id, or the course has it, its number or its name.
    """
    taken = [] if course is None else [*course.by_id]
    words = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_0123456789")
    if words and find_spec(words):  # a module of that name would hide a library
        words += "_notebook"
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
