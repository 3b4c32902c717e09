"""Writes the check files of an imported assignment: drafts, with a TODO wherever a person decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from grader.authoring.importing.drafts import KINDS, NOT_WRITTEN, Draft, draft
from grader.authoring.importing.outline import NewExercise, Outline
from grader.authoring.importing.records import Case

MOST_WEIGHT = 10
TITLE = 60
"""The most characters of a test that its check's title repeats."""


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """The two files of checks, and how many tests were carried over whole."""

    visible: str
    hidden: str
    whole: int
    open: int


def check_files(made: Outline, assignment: str) -> CheckFiles:
    """The checks of an assignment.

    Args:
        made: the assignment.
        assignment: its id.
    """
    drafts = {
        name: [(case, draft(case, made.names)) for case in exercise.cases]
        for name, exercise in made.exercises.items()
    }
    texts = []
    for hidden in (False, True):
        parts, modules = [], set[str]()
        for name, exercise in made.exercises.items():
            own = [pair for pair in drafts[name] if pair[0].is_hidden is hidden]
            # Of a constant there is nothing that nobody has seen.
            if hidden and not own and exercise.kind == "constant":
                continue
            write = _hidden if hidden else _visible
            marks = [] if hidden else _marks(exercise)
            parts.append(_class(name, marks, write(exercise, own, drafts[name])))
            modules |= {module for _, one in own for module in one.modules}
        what = "on inputs nobody has seen" if hidden else "as students see it"
        texts.append(_file(f'"""Assignment {assignment[:2]} {what}."""', modules, parts))
    every = [one.is_whole for pairs in drafts.values() for _, one in pairs]
    return CheckFiles(texts[0], texts[1], every.count(True), every.count(False))


Drafts = list[tuple[Case, Draft]]


def _file(docstring: str, modules: set[str], parts: list[str]) -> str:
    standard = ["import math", ""] if "math" in modules else []
    others = ["import pytest", *(["import torch"] if "torch" in modules else [])]
    head = "\n".join([docstring, "", *standard, *others])
    return "\n\n\n".join([head, *parts]) + "\n"


def _class(name: str, marks: list[str], checks: Iterator[str]) -> str:
    whole = name.lower() if name.isupper() else name
    words = "".join(word[:1].upper() + word[1:] for word in whole.split("_"))
    head = [f"@pytest.mark.{mark}" for mark in (f'exercise("{name}")', *marks)]
    return "\n".join([*head, f"class Test{words}:", indent("\n\n".join(checks), "    ")])


def _marks(exercise: NewExercise) -> list[str]:
    """A constant that students see all checks of can be found by trying."""
    is_seen = exercise.kind == "constant" and not exercise.of(hidden=True)
    return ['guessable("It is a constant, and every check of it is visible.")'] if is_seen else []


def _visible(exercise: NewExercise, own: Drafts, every: Drafts) -> Iterator[str]:
    """The gate first: what kind of thing comes back, else the first test."""
    del every
    judged = next((one for _, one in own if one.asks and one.kind in KINDS), None)
    if judged is not None and judged.kind is not None:
        kind, words = judged.kind.__name__, KINDS[judged.kind]
        result = exercise.name if exercise.kind == "constant" else "The result"
        lines = [
            f"value = {judged.asks}",
            f'judge.that(isinstance(value, {kind}), "It is not {words}")',
        ]
        marks = ["gate", "conduct"]
        yield _check("test_what_comes_back", f"{result} should be {words}.", lines, marks)
    elif not own:
        todo = "TODO: say what should hold of the right kind of result."
        yield _check("test_what_comes_back", todo, [NOT_WRITTEN], ["gate", "conduct"])
    for number, (case, one) in enumerate(own):
        is_gate = judged is None and number == 0
        yield _of(case, one, _weights(own)[number], ["gate"] if is_gate else [])


def _hidden(exercise: NewExercise, own: Drafts, every: Drafts) -> Iterator[str]:
    """Each deepens the first visible test, where there is one."""
    del exercise
    seen = next((_name(case) for case, _ in every if not case.is_hidden), "")
    deepens = seen or "TODO: the name of a visible check, or a sentence of the docstring"
    if not own:
        todo = "TODO: say what should hold on inputs that nobody has seen."
        fixtures = ("student", "reference", "judge", "draw")
        marks = [f'deepens("{deepens}")']
        yield _check("test_unseen_inputs", todo, [NOT_WRITTEN], marks, fixtures)
    for number, (case, one) in enumerate(own):
        yield _of(case, one, _weights(own)[number], [f'deepens("{deepens}")'])


def _of(case: Case, one: Draft, weight: int, marks: list[str]) -> str:
    """The check that a test became."""
    was = " ".join(one.was.split()).replace("\\", "").replace('"', "'")
    was = was if len(was) <= TITLE else f"{was[:TITLE].rstrip()}…"
    title = f"TODO: say what should hold; cell {case.cell} has: {was}"
    marks = [f"weight({weight})", *marks] if weight > 1 else marks
    marks += ["conduct"] if one.is_conduct else []
    return _check(_name(case), title, list(one.lines), marks)


def _name(case: Case) -> str:
    return f"test_cell_{case.cell}"


def _weights(own: Drafts) -> list[int]:
    """The tests' shares of the points, where they are small whole numbers."""
    least = min((case.points for case, _ in own if case.points), default=None)
    shares = [case.points / least if least else 1 for case, _ in own]
    is_whole = all(share == int(share) and share <= MOST_WEIGHT for share in shares)
    return [max(int(share), 1) if is_whole else 1 for share in shares]


def _check(
    name: str,
    title: str,
    lines: list[str],
    marks: list[str],
    fixtures: tuple[str, ...] = ("student", "judge"),
) -> str:
    head = [f"@pytest.mark.{mark}" for mark in marks]
    head.append(f"def {name}(self, {', '.join(fixtures)}):")
    return "\n".join([*head, indent(f'"""{title}"""', "    "), indent("\n".join(lines), "    ")])
