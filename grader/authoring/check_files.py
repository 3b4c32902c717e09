"""What checks should be, by their text and by what they declare.

Those on the text read it as a syntax tree: whoever asserts or draws where they stand is told with
the line.
"""

import ast
import re
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial

from grader.authoring.course_files import definitions
from grader.authoring.course_texts import files_of_checks, parsed
from grader.core.records import Visibility
from grader.course.course import CHECKS, Course, Exercise
from grader.judging.collect import FIXTURES
from grader.judging.run import Check, CheckRecord

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
            for line, said in says(tree):
                yield f"{course.inner(path)}:{line}: {said}"


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
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name.partition(".")[0]
                found[one.asname or top] = one.name if one.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    return found


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


# What checks declare.


def exercises_have_a_gate(chosen: Iterable[Exercise], checks: tuple[Check, ...]) -> Iterator[str]:
    """Where an exercise has more than one check, one of them blocks the others."""
    for exercise, own in _by_exercise(chosen, checks):
        judging = [check for check in own if not check.is_remark]
        if len(judging) > 1 and not any(check.is_gate for check in judging):
            first = judging[0]
            yield (
                f"{first.file}:{_line(first)}: {exercise.id} has no gate: "
                "mark its first visible check with `@pytest.mark.gate`"
            )


def axes_that_are_none(record: CheckRecord) -> Iterator[str]:
    """Where a check of the solution has named more axes than the expected tensor has, or fewer."""
    place = f"{record.check.file}:{_line(record.check)}"
    for names, shape in record.misnamed:
        yield (
            f"{place}: `axes` is {names}, and the expected tensor has the shape {shape}: give one "
            "name for each axis"
        )


def titles_differ(chosen: Iterable[Exercise], checks: tuple[Check, ...]) -> Iterator[str]:
    """No two checks of an exercise have the same title, but for a hidden one and what it deepens."""
    for _exercise, own in _by_exercise(chosen, checks):
        first: dict[str, Check] = {}
        for check in own:
            other = first.setdefault(check.title, check)
            if other is not check and check.deepens != other.function.__name__:
                place = f"{check.file}:{_line(check)}"
                yield f"{place}: its title is that of {other.id}, too: {check.title}"


def there_are_hidden_checks(
    course: Course, chosen: Iterable[Exercise], checks: tuple[Check, ...]
) -> Iterator[str]:
    """Every exercise but a constant, which has no other inputs, has a check that is not seen."""
    for exercise, own in _by_exercise(chosen, checks):
        is_hidden = any(check.visibility is Visibility.HIDDEN for check in own)
        if not is_hidden and definitions(course, exercise):
            yield f"{exercise.id}: it has no hidden check"


def _by_exercise(
    chosen: Iterable[Exercise], checks: tuple[Check, ...]
) -> Iterator[tuple[Exercise, list[Check]]]:
    for exercise in chosen:
        yield exercise, [check for check in checks if check.exercise.id == exercise.id]


def _line(check: Check) -> int:
    return check.function.__code__.co_firstlineno
