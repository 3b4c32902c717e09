"""Proofs on what authors write: no TODO left, hints without code, questions that ask, checks that judge.

Checks are read as a syntax tree here, and not run.
"""

import ast
import re
import warnings
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from grader.core.errors import CourseError
from grader.course.course import CHECKS, Assignment, Course
from grader.course.hints import read_hints
from grader.course.misconceptions import read_misconceptions
from grader.judging.collect import FIXTURES
from grader.release.solution_cells import BEGIN, END, REGION

LEFT = re.compile(r"""(?:\bTODO(?:\(author\))?:|(?:^|["'\[])\s*#?\s*TODO\b(?:\(author\))?:?)\s*""")
"""What is still to be written; a sentence may speak of the TODO in a stub."""

BLOCK = re.compile(r"^(?=# %%|\[\[|@pytest\.mark\.exercise|\w+ = \[)", re.MULTILINE)
"""Where a cell of a solution, a misconception, the checks or the hints of an exercise begin."""

OWNER = re.compile(r"""\bexercise\W{1,4}(\w+)["']|^(\w+) = \[""", re.MULTILINE)
FOR_STUDENTS = re.compile(r"^\s*# TODO\b(?!\()")
QUOTED = re.compile(r"`([^`\n]+)`")
BEFORE_CODE = re.compile(r"(?<=[:;,。：；，])\s*|\s+")  # where code may begin in a sentence
PYTHONS_OWN = (ast.MatMult, ast.Pow, ast.FloorDiv)
STATEMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)


def assignments_of(course: Course, chosen: Iterable[str]) -> tuple[Assignment, ...]:
    """The assignments that exercises are in, in course order."""
    ids = {course.exercises[id_].assignment for id_ in chosen}
    return tuple(assignment for assignment in course.assignments if assignment.id in ids)


def files_of_checks(course: Course, chosen: Iterable[str]) -> list[Path]:
    """The files that the checks of exercises stand in, and those that these may share."""
    folder = course.root / CHECKS
    folders = [folder / assignment.id for assignment in assignments_of(course, chosen)]
    return [path for parent in (folder, *folders) for path in sorted(parent.glob("*.py"))]


# What breaks a promise.


def parsed(text: str) -> ast.Module | SyntaxError:
    """A text as Python, or why it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            return error


def solutions_are_python(course: Course) -> Iterator[str]:
    """Every solution can be read as Python."""
    for assignment in course.assignments:
        path = course.paths(assignment).solution
        error = parsed(path.read_text("utf-8")) if path.is_file() else None
        if isinstance(error, SyntaxError):
            yield f"{course.inner(path)}:{error.lineno}: SyntaxError: {error.msg}"


def stubs_say_what_to_do(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """Above every region that students write stands a `# TODO: …`."""
    for assignment in assignments_of(course, chosen):
        path = course.paths(assignment).solution
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            if line.strip() == BEGIN and not _has_todo_above(lines[:number]):
                problem = f"no `# TODO: …` above {BEGIN} says what to write"
                yield f"{course.inner(path)}:{number + 1}: {problem}"


def _has_todo_above(lines: list[str]) -> bool:
    """Whether a TODO is among the comments that stand right above."""
    for line in reversed(lines):
        if line.strip().startswith("# TODO"):
            return True
        if not line.strip().startswith("#") or line.strip() == END:
            return False
    return False


def no_todo_is_left(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """Nothing is still to be written in hints, misconceptions, checks and solutions.

    What stands in no exercise's own block, such as an assignment's title, is everyone's.
    """
    others = {e.name for id_, e in course.exercises.items() if id_ not in set(chosen)}
    others -= {course.exercises[id_].name for id_ in chosen}
    files = files_of_checks(course, chosen)
    for assignment in assignments_of(course, chosen):
        paths = course.paths(assignment)
        for_students = _todos_for_students(paths.solution.read_text("utf-8"))
        for path in (paths.solution, paths.hints, paths.misconceptions):
            yield from _todos_in(course, path, for_students, others)
    for path in files:
        yield from _todos_in(course, path, set(), others)


def _todos_for_students(text: str) -> set[str]:
    """The lines of a solution that its stub has as TODOs."""
    lines = (line.strip() for line in REGION.sub("", text).splitlines())
    return {line for line in lines if FOR_STUDENTS.match(line) and len(LEFT.findall(line)) == 1}


def _todos_in(
    course: Course, path: Path, for_students: set[str], others: set[str]
) -> Iterator[str]:
    """What is still to be written in a file, but for what belongs to other exercises."""
    blocks = BLOCK.split(path.read_text("utf-8")) if path.is_file() else []
    owned = ((block.splitlines(), _owner(block)) for block in blocks)
    lines = [(line, owner) for block, owner in owned for line in block]
    for number, (line, owner) in enumerate(lines, 1):
        match = LEFT.search(line)
        if match and owner not in others and line.strip() not in for_students:
            what = line[match.end() :].rstrip("\"', ") or line.strip()
            yield f"{course.inner(path)}:{number}: still to be written: {what[:80]}"


def _owner(block: str) -> str:
    """The exercise that a block belongs to; "" for none."""
    match = OWNER.search(block)
    return (match[1] or match[2]) if match else ""


# What is a matter of taste.


def hints_are_no_code(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """No hint holds a line of code."""
    for assignment in assignments_of(course, chosen):
        path = course.paths(assignment).hints
        hints: dict[str, tuple[str, ...]] = {}
        with suppress(CourseError):  # which another proof reports
            hints = read_hints(assignment, path)
        for name, texts in hints.items():
            for number, text in enumerate(texts, 1):
                if code := code_in(text):
                    yield f"{course.inner(path)}: {name}[{number}]: the hint holds code: {code}"


def code_in(text: str) -> str:
    """A piece of code that a hint's text holds, between backticks or not; "" for none."""
    for piece in QUOTED.findall(text):
        if _is_code(piece, is_quoted=True):
            return str(piece)
    for sentence in re.split(r"[.?!。？！](?:\s|$)|\n", QUOTED.sub(" ", text)):
        for start in (0, *(match.end() for match in BEFORE_CODE.finditer(sentence))):
            if _is_code(sentence[start:].strip(), is_quoted=False):
                return sentence[start:].strip()
    return ""


def _is_code(piece: str, *, is_quoted: bool) -> bool:
    """Whether a text is statements that assign, return or call something with a name.

    A call with numbers alone is an example, a name alone a name. Without backticks an equation may
    read as Python; then it is code only with what no equation has.
    """
    tree = parsed(piece) if re.search(r"[=(@]|\breturn\b", piece) else None
    if not isinstance(tree, ast.Module):
        return False
    nodes = list(ast.walk(tree))
    does = any(isinstance(node, STATEMENTS) or _is_call(node) for node in nodes)
    return does and (is_quoted or any(map(_is_python, nodes)))


def _is_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    names = any(isinstance(part, ast.Name) for value in given for part in ast.walk(value))
    return names or (isinstance(node.func, ast.Attribute) and not _is_dotted(node.func.value))


def _is_dotted(node: ast.expr) -> bool:
    """Whether it is a name, or attributes of one, which no call has made."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_python(node: ast.AST) -> bool:
    """Whether no equation in words has this."""
    is_operator = isinstance(node, ast.BinOp) and isinstance(node.op, PYTHONS_OWN)
    return is_operator or isinstance(node, ast.Attribute | ast.keyword)


def questions_ask(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """The question of every misconception has a question mark."""
    for assignment in assignments_of(course, chosen):
        path = course.inner(course.paths(assignment).misconceptions)
        with suppress(CourseError):  # which another proof reports
            for misconception in read_misconceptions(course, assignment):
                if not re.search("[?？]", misconception.mistake.question):
                    yield f"{path}: {misconception.id}: its question has no question mark"


# What checks do, by their text.

DRAWS = re.compile(
    r"random\.(?!Random$|seed$|SystemRandom$)\w+"
    r"|torch\.(rand|randn|randint|randperm|rand_like|randn_like|randint_like)"
    r"|torch\.(normal|bernoulli|multinomial|poisson)"
    r"|numpy\.random\.(?!seed$|Generator$|PCG64$)\w+"
)
"""Functions that draw, by their full names."""

WITH_A_SEED = ("random.Random", "numpy.random.default_rng", "numpy.random.RandomState")
"""What draws from a seed that it is given."""

IN_PLACE = ("normal_", "uniform_", "random_", "bernoulli_", "exponential_")
"""Methods of a tensor that draw."""

SEEDS = ("torch.manual_seed", "random.seed", "numpy.random.seed")

JUDGING = frozenset({"attempt", "student", "judge"})
"""What a check asks for at least one of."""

CALLED = re.compile(r"\.(\w+)")

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

Says = Callable[[ast.Module], Iterator[tuple[int, str]]]
"""What is wrong in a file: lines, and a sentence on each."""


def checks_judge_instead_of_asserting(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """No check has an `assert`: mistakes are recognised by what `judge` is handed."""
    yield from _told(course, chosen, _asserts)


def checks_draw_from_seeds(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """Nothing is drawn in a check but with `draw`, a generator or a seed set before."""
    yield from _told(course, chosen, _draws)


def checks_are_named_so(course: Course, chosen: Iterable[str]) -> Iterator[str]:
    """Every method that judges, and that nothing calls, has a name by which it is found."""
    paths = (path for path in course.files_of(CHECKS) if path.suffix == ".py")
    called = {name for path in paths for name in CALLED.findall(path.read_text("utf-8"))}
    yield from _told(course, chosen, partial(_overlooked, called=called))


def _told(course: Course, chosen: Iterable[str], says: Says) -> Iterator[str]:
    for path in files_of_checks(course, chosen):
        tree = parsed(path.read_text("utf-8"))
        if isinstance(tree, ast.Module):  # else collecting the checks reports it
            for line, problem in says(tree):
                yield f"{course.inner(path)}:{line}: {problem}"


def _overlooked(tree: ast.Module, called: Container[str]) -> Iterator[tuple[int, str]]:
    """Methods that ask for what a check asks for, under a name that makes none of them."""
    for kind in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for method in (node for node in kind.body if isinstance(node, ast.FunctionDef)):
            asked = {argument.arg for argument in method.args.args[1:]}
            is_check = bool(asked & JUDGING) and asked <= set(FIXTURES)
            name = method.name
            if is_check and not name.startswith(("test", "_")) and name not in called:
                yield (
                    method.lineno,
                    (
                        f"`{kind.name}.{name}` is never run: a check's name begins with `test_`, a "
                        "helper's that nothing calls with `_`"
                    ),
                )


def _asserts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.lineno, "`assert` in a check: hand the value to `judge`"


def _draws(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What draws without a seed."""
    imported = _imported(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and _is_draw(node, imported)):
            continue
        if not _is_seeded(node, tree, imported):
            shown = f"`{ast.unparse(node.func)}`"
            yield node.lineno, f"{shown} draws without a seed: use `draw`, or give it a generator"


def _is_draw(call: ast.Call, imported: dict[str, str]) -> bool:
    """Whether a call draws, and is given neither generator nor seed."""
    if any(keyword.arg == "generator" for keyword in call.keywords):
        return False
    name = _full_name(call.func, imported)
    if name in WITH_A_SEED:
        return not (call.args or call.keywords)
    is_in_place = isinstance(call.func, ast.Attribute) and call.func.attr in IN_PLACE
    return is_in_place or DRAWS.fullmatch(name) is not None


def _full_name(node: ast.expr, imported: dict[str, str]) -> str:
    """What a name stands for, "" where it is no name of something imported."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imported:
        return ""
    return ".".join((imported[node.id], *parts))


def _imported(tree: ast.Module) -> dict[str, str]:
    """The full names of what a file imports, by the names it has there."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    return names


def _is_seeded(call: ast.Call, tree: ast.Module, imported: dict[str, str]) -> bool:
    """Whether the function that draws has set a seed above."""
    around = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS) and call in ast.walk(n)]
    return any(
        isinstance(node, ast.Call)
        and node.lineno <= call.lineno
        and _full_name(node.func, imported) in SEEDS
        for function in around
        for node in ast.walk(function)
    )
