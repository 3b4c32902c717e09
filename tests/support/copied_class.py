"""A class in which some have copied: everybody has a style of their own, and it is known who copied.

Who wrote alone has known mistakes that others have as well, right ways that a few chose, slips that
nobody foresaw, a tutorial with a wrong hint, a tutor's cells, and the words that everybody uses.
"""

import ast
import builtins
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from grader.course.course import Assignment, Course
from grader.course.misconceptions import read_misconceptions
from tests.support.copied_words import (
    HINTS,
    ODD_EDITS,
    ODD_NAMES,
    ODD_WORDS,
    ROUTES,
    SLIPS,
    Hint,
    Route,
    Style,
    german,
)

ASSIGNMENTS = ("01_simple_attention", "05_causal_mask", "06_dropout")
KINDS = ("odd comment", "rare names", "cells", "odd values", "translated", "rewritten")
VARIANTS = Path(__file__).parents[1] / "course" / "variants"
PER_ASSIGNMENT = 10
"""Known mistakes that are made; the first is made by many, the last by few."""
CELL = re.compile(r'(?m)^# %% exercise="(\w+)"\n')
BODY = re.compile(r"(?s)( *# TODO[^\n]*\n)? *### BEGIN SOLUTION\n(.*?) *### END SOLUTION\n")
LIBRARIES = {
    "torch": "import torch",
    "math": "import math",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "Tensor": "from torch import Tensor",
}

T = TypeVar("T")
Edit = tuple[str, str]
"""What is looked for in a solution, and what comes in its place."""


@dataclass(slots=True)
class Answer:
    """One exercise as a student wrote it.

    Args:
        body: its lines.
        has_todo: whether the stub's TODO stands above it.
    """

    body: str
    has_docstring: bool = True
    has_todo: bool = False


@dataclass(slots=True)
class Draft:
    """One assignment of a student.

    Args:
        answers: by exercise, in the order in which they are defined.
        behaviour: a key of `behaviours`: what it comes to when it is run.
    """

    answers: dict[str, Answer]
    behaviour: str = "right"


@dataclass(frozen=True, slots=True)
class CopiedClass:
    """A class on disk.

    Args:
        folder: where.
        copied: which pairs were copied, by kind.
        behaviours: a key of `behaviours` for each assignment of each student.
    """

    folder: Path
    copied: dict[frozenset[str], str]
    behaviours: dict[str, dict[str, str]]


# How work goes wrong.


@cache
def behaviours(course: Course, id_: str) -> Mapping[str, tuple[Edit, ...]]:
    """The edits of an assignment's solution that students make, by a name for each set of them."""
    assignment = course.by_id[id_]
    bodies = "\n".join(_solved(course, assignment).values())
    known = [
        (m.id, m.exercise, (m.find, m.replace))
        for m in read_misconceptions(course, assignment)
        if m.find in bodies and not m.alone
    ]
    chosen = random.Random(f"known mistakes of {id_}").sample(known, PER_ASSIGNMENT)
    found: dict[str, tuple[Edit, ...]] = {"right": ()}
    found |= {name: (edit,) for name, _exercise, edit in chosen}
    for one, other in pairwise(chosen[:6]):
        if one[1] != other[1]:
            found[f"{one[0]}, {other[0]}"] = (one[2], other[2])
    found |= {f"slip {n}": (edit,) for n, edit in enumerate(SLIPS[id_])}
    found |= {f"odd {n}": (edit,) for n, edit in enumerate(ODD_EDITS[id_])}
    found |= {f"hint {n}": (hint.edit,) for n, hint in enumerate(HINTS[id_]) if hint.edit[1]}
    return found


@cache
def plain_text(course: Course, id_: str, behaviour: str) -> str:
    """A solution with a behaviour's edits: graded once, it stands for all who wrote it in their words."""
    text = _solution(course, course.by_id[id_])
    for find, replace in behaviours(course, id_)[behaviour]:
        assert text.count(find) == 1, find
        text = text.replace(find, replace)
    return text


def _solution(course: Course, assignment: Assignment) -> str:
    return course.paths(assignment).solution.read_text("utf-8")


@cache
def _solved(course: Course, assignment: Assignment) -> Mapping[str, str]:
    return _bodies(_solution(course, assignment))


def _bodies(text: str) -> dict[str, str]:
    """The solution of each exercise."""
    _head, *parts = CELL.split(text)
    found = {}
    for name, cell in zip(parts[::2], parts[1::2], strict=True):
        match = BODY.search(cell)
        assert match
        found[name] = match[2]
    return found


@cache
def _other_ways(course: Course, assignment: Assignment) -> Mapping[str, tuple[str, ...]]:
    """Right bodies of each exercise besides the solution's, where they need nothing beside them."""
    arguments = {
        node.name: [argument.arg for argument in node.args.args]
        for node in ast.parse(_solution(course, assignment)).body
        if isinstance(node, ast.FunctionDef)
    }
    names = {*arguments, *LIBRARIES, *dir(builtins)}
    found: dict[str, list[str]] = {name: [] for name in arguments}
    for path in sorted((VARIANTS / assignment.id).glob("*.py")):
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for node in ast.parse(text).body:
            is_ours = isinstance(node, ast.FunctionDef) and not node.decorator_list
            if not is_ours or node.name not in arguments:
                continue
            used = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
            own = {name.id for name in used if isinstance(name.ctx, ast.Store)}
            own |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
            own |= {f.name for f in ast.walk(node) if isinstance(f, ast.FunctionDef)}
            is_alone = {name.id for name in used} <= names | own
            same = [argument.arg for argument in node.args.args] == arguments[node.name]
            if is_alone and same:
                first, last = node.body[0].lineno, node.end_lineno
                body = "\n".join(text.split("\n")[first - 1 : last]) + "\n"
                found[node.name].append(re.sub(r"(?m)^ *#.*\n|  #.*$", "", body))
    return {name: tuple(dict.fromkeys(bodies)) for name, bodies in found.items()}


# The class.


def copied_class(course: Course, folder: Path, honest: int, copies: int, seed: int) -> CopiedClass:
    """Write a class.

    Args:
        course: whose solutions are handed in, right and with known mistakes.
        folder: where to.
        honest: how many wrote by themselves.
        copies: how many copied from one of these, each from another one, in turn by the kinds.
        seed: of everything drawn.
    """
    maker = _Maker(course, random.Random(f"class {seed}"))
    everybody = range(honest + copies)
    students = [_Student(Style(random.Random(f"{seed} {number}"))) for number in everybody]
    for student in students:
        maker.write(student)
    maker.hand_round(students[:honest])
    names = [f"student{number:04}" for number in everybody]
    maker.draw.shuffle(names)
    copied = {}
    for number, source in enumerate(maker.draw.sample(range(honest), copies), honest):
        kind = KINDS[(number - honest) % len(KINDS)]
        maker.copy(kind, students[source], students[number])
        copied[frozenset((names[number], names[source]))] = kind
    for name, student in zip(names, students, strict=True):
        maker.hand_in(student, folder / name)
    keys = {
        name: {id_: draft.behaviour for id_, draft in student.drafts.items()}
        for name, student in zip(names, students, strict=True)
    }
    return CopiedClass(folder, copied, keys)


@dataclass(slots=True)
class _Student:
    """A student and what they write.

    Args:
        added: cells that they added to their first notebook, id and text.
    """

    style: Style
    drafts: dict[str, Draft] = field(default_factory=dict)
    is_notebook: bool = False
    added: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Maker:
    """Makes one class.

    Args:
        popular: how often each behaviour and each way of an exercise is chosen in this class.
    """

    course: Course
    draw: random.Random
    used: set[object] = field(default_factory=set)
    order_of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def write(self, student: _Student) -> None:
        """What a student writes alone: mostly right, now and then with a mistake."""
        draw = student.style.draw
        student.is_notebook = draw.random() < 0.3
        favourite = draw.random() < 0.3
        for id_ in ASSIGNMENTS:
            keys = self._shuffled(f"behaviours {id_}", behaviours(self.course, id_))
            luck, behaviour = draw.random(), "right"
            if luck < 0.5:
                behaviour = _popular(draw, [k for k in keys if k.split()[0] not in _NOT_KNOWN])
            elif luck < 0.6:
                behaviour = draw.choice([k for k in keys if k.startswith("slip")])
            bodies = _bodies(plain_text(self.course, id_, behaviour))
            solved = _solved(self.course, self.course.by_id[id_])
            answers = {}
            for name, body in bodies.items():
                ways = _other_ways(self.course, self.course.by_id[id_])[name]
                way = self._shuffled(f"ways {id_} {name}", ways)
                share = 0.7 if favourite else 0.25
                if body == solved[name] and way and draw.random() < share:
                    body = _popular(draw, way)
                answers[name] = self._answer(student.style, body)
            if draw.random() < 0.1:
                answers = _swapped(draw, answers)
            student.drafts[id_] = Draft(answers, behaviour)
        if student.is_notebook and draw.random() < 0.6:
            texts = ("print('does it work?')", "torch.manual_seed(1)", "INPUTS.shape")
            student.added.append((f"{draw.getrandbits(32):08x}", draw.choice(texts)))

    def hand_round(self, students: Sequence[_Student]) -> None:
        """What many have from one place: tutorials, a tutor's cells, a phrase of the blackboard."""
        tutor = [(f"{self.draw.getrandbits(32):08x}", f"check_{n} = {n}") for n in range(3)]
        books = [student for student in students if student.is_notebook]
        for student in self.draw.sample(books, min(len(books), 9)):
            student.added += [cell for cell in tutor if self.draw.random() < 0.8]
        for id_, hints in HINTS.items():
            for number, hint in enumerate(hints):
                some = self.draw.sample(students, min(len(students), self.draw.randrange(5, 9)))
                for student in some:
                    self._follow(student, id_, f"hint {number}", hint)
        for phrase in ("see blackboard of tuesday", "rows = queries, cols = keys (!)"):
            for student in self.draw.sample(
                students, min(len(students), self.draw.randrange(4, 8))
            ):
                answers = student.drafts[self.draw.choice(ASSIGNMENTS)].answers
                answer = answers[self.draw.choice([*answers])]
                answer.body = f"    # {phrase}\n{answer.body}"

    def copy(self, kind: str, source: _Student, copier: _Student) -> None:
        """Let one copy from another, in one of the ways."""
        some = self.draw.sample(ASSIGNMENTS, 2)
        match kind:
            case "odd comment":
                comment = _odd_comment(self.draw)
                name = self.draw.choice([*_solved(self.course, self.course.by_id[some[0]])])
                for student in (source, copier):
                    answer = student.drafts[some[0]].answers[name]
                    answer.body = f"    # {comment}\n{answer.body}"
            case "rare names":
                names = self.draw.sample(self._unused(ODD_NAMES), 3)
                self.used.update(names)
                draft = source.drafts[some[0]]
                for answer, name in zip(draft.answers.values(), names, strict=False):
                    answer.body = _with_result(answer.body, name)
                copier.drafts[some[0]] = _reordered(self.draw, copier.style, draft)
            case "cells":
                cells = [
                    (f"{self.draw.getrandbits(32):08x}", f"print({text})")
                    for text in ("dot_product(INPUTS[0], INPUTS[1])", "INPUTS.T.shape")
                ]
                for student in (source, copier):
                    student.is_notebook = True
                    student.added += cells
                    cells = [(id_, f"{text}  # {copier.style.comment()}") for id_, text in cells]
            case "odd values":
                keys = [
                    (id_, key)
                    for id_ in ASSIGNMENTS
                    for key in behaviours(self.course, id_)
                    if key.startswith("odd") and (id_, key) not in self.used
                ]
                id_, key = self.draw.choice(keys)
                self.used.add((id_, key))
                for student in (source, copier):
                    self._behave(student, id_, key)
            case "translated":
                self._take(source, self._route(), is_rewritten=False)
                for id_ in dict.fromkeys((*some, self._last.assignment)):
                    copier.drafts[id_] = _translated(copier.style, source.drafts[id_])
            case "rewritten":
                for _ in range(self.draw.randrange(1, 3)):
                    route = self._route()
                    self._take(source, route, is_rewritten=False)
                    self._take(copier, route, is_rewritten=True)

    _last: Route = ROUTES[0]

    def _route(self) -> Route:
        """An odd way that nobody has yet."""
        self._last = self.draw.choice(self._unused(ROUTES))
        self.used.add(self._last)
        return self._last

    def _unused(self, things: Iterable[T]) -> list[T]:
        things = [*things]
        return [thing for thing in things if thing not in self.used] or things

    def _take(self, student: _Student, route: Route, *, is_rewritten: bool) -> None:
        """Let a student answer an exercise by an odd way."""
        self._behave(student, route.assignment, "right")
        body = route.rewritten if is_rewritten else route.body
        answers = student.drafts[route.assignment].answers
        answers[route.exercise] = Answer(student.style.commented(body))

    def _behave(self, student: _Student, id_: str, key: str) -> None:
        """Let a student's assignment be right but for the edits of a behaviour."""
        draft = student.drafts[id_]
        before = _bodies(plain_text(self.course, id_, draft.behaviour))
        after = _bodies(plain_text(self.course, id_, key))
        solved = _solved(self.course, self.course.by_id[id_])
        for name, body in after.items():
            if body != before[name] or body != solved[name]:
                draft.answers[name] = self._answer(student.style, body)
        draft.behaviour = key

    def _follow(self, student: _Student, id_: str, key: str, hint: Hint) -> None:
        """Let a student do what a tutorial says, with some of its words."""
        self._behave(student, id_, key if hint.edit[1] else "right")
        body = hint.body
        if self.draw.random() < 0.3:
            body = re.sub(r"(?m)^ *#.*\n", "", body)
        if self.draw.random() < 0.3:
            body = re.sub(rf"\b{hint.name}\b", student.style.name(), body)
        student.drafts[id_].answers[hint.exercise] = Answer(body)

    def _answer(self, style: Style, body: str) -> Answer:
        draw = style.draw
        return Answer(style.written(body), draw.random() < 0.8, draw.random() < 0.4)

    def _shuffled(self, what: str, things: Iterable[T]) -> list[T]:
        """In the order of how popular they are in this class."""
        things = [*things]
        order = self.order_of.setdefault(what, ())
        if len(order) != len(things):
            self.order_of[what] = order = (*self.draw.sample(range(len(things)), len(things)),)
        return [things[number] for number in order]

    def hand_in(self, student: _Student, folder: Path) -> None:
        """Write a student's files."""
        for id_, draft in student.drafts.items():
            assignment = self.course.by_id[id_]
            text = _file(_solution(self.course, assignment), draft)
            path = folder / id_ / f"{assignment.module}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            if student.is_notebook:
                added = student.added if id_ == ASSIGNMENTS[0] else []
                path.with_suffix(".ipynb").write_text(_notebook(text, added), "utf-8")
            else:
                path.write_text(text, "utf-8")


_NOT_KNOWN = {"right", "slip", "odd", "hint"}


def _popular(draw: random.Random, things: Sequence[T]) -> T:
    """One of these, the first ones more often."""
    return draw.choices(things, [1 / (2 + number) for number in range(len(things))])[0]


def _swapped(draw: random.Random, answers: dict[str, Answer]) -> dict[str, Answer]:
    """Two of the definitions the other way round."""
    names = [*answers]
    one, other = draw.sample(range(len(names)), 2)
    names[one], names[other] = names[other], names[one]
    return {name: answers[name] for name in names}


def _odd_comment(draw: random.Random) -> str:
    """A sentence that nobody else would write, with slips of the keys."""
    words = draw.sample(ODD_WORDS, draw.randrange(5, 8))
    for place in draw.sample(range(len(words)), 2):
        word = words[place]
        cut = draw.randrange(1, len(word) - 1)
        words[place] = word[:cut] + word[cut + 1] + word[cut] + word[cut + 2 :]
    return " ".join(words)


def _with_result(body: str, name: str) -> str:
    """A body whose last result has a name."""
    head, found, last = body.rpartition("    return ")
    is_plain = found and not head.endswith(" ") and _is_code(f"({last})")
    if not is_plain:
        return body
    return f"{head}    {name} = {last}    return {name}\n"


def _is_code(text: str) -> bool:
    """Whether it is code by itself."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _reordered(draw: random.Random, style: Style, draft: Draft) -> Draft:
    """Somebody's draft with its names, in another order and with other comments."""
    names = [*draft.answers]
    draw.shuffle(names)
    answers = {}
    for name in names:
        body = re.sub(r"(?m)^ *#.*\n", "", draft.answers[name].body)
        answers[name] = Answer(style.commented(body))
    return Draft(answers, draft.behaviour)


def _translated(style: Style, draft: Draft) -> Draft:
    """Somebody's draft with comments in another language and other names."""
    answers = {}
    for name, answer in draft.answers.items():
        body = re.sub(r"(?m)^( *# ).*$", lambda m: m[1] + german(style.draw), answer.body)
        own = dict.fromkeys(re.findall(r"(?m)^ +(\w+) (?:[-+*/]?=) ", body))
        for number, old in enumerate(own):
            body = re.sub(rf"(?<![.\w]){old}\b(?!=)", f"{style.names[number % 4]}{number}", body)
        answers[name] = Answer(body, has_docstring=True)
    return Draft(answers, draft.behaviour)


def _file(solution: str, draft: Draft) -> str:
    """A file as it is handed in: the solution's, with a student's bodies, in the student's order."""
    head, *parts = re.split(r"(?m)^(?=# %%)", solution)
    places = [n for n, part in enumerate(parts) if CELL.match(part)]
    cells = {CELL.match(parts[n])[1]: parts[n] for n in places}  # type: ignore[index]
    for place, (name, answer) in zip(places, draft.answers.items(), strict=True):
        parts[place] = _cell(cells[name], answer)
    text = head + "".join(parts)
    code = "".join(answer.body for answer in draft.answers.values())
    needed = [
        line
        for name, line in LIBRARIES.items()
        if re.search(rf"(?<![.\w]){name}\b", code) and line not in text
    ]
    imports = "".join(f"{line}\n" for line in needed)
    return text.replace("import torch\n", f"{imports}import torch\n", 1)


def _cell(cell: str, answer: Answer) -> str:
    """An exercise's cell with a student's body."""
    cell = CELL.sub("# %%\n", cell)

    def body(match: re.Match[str]) -> str:
        return (match[1] or "" if answer.has_todo else "") + answer.body

    cell = BODY.sub(body, cell)
    return cell if answer.has_docstring else re.sub(r'(?s) {4}""".*?"""\n', "", cell, count=1)


def _notebook(text: str, added: Sequence[tuple[str, str]]) -> str:
    """A script as a notebook, with cells that were added."""
    cells = [(f"own-{n}", part) for n, part in enumerate(re.split(r"(?m)^# %%.*\n", text))]
    code = [
        {"cell_type": "code", "id": id_, "metadata": {}, "outputs": [], "source": source}
        for id_, source in [*cells, *added]
        if source.strip() and not source.lstrip().startswith("# ")
    ]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
