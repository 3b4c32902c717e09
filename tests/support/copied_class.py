"""A class in which some have copied: everybody has a style of their own, and it is known who copied."""

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from grader.course.course import Assignment, Course
from grader.course.misconceptions import read_misconceptions

ASSIGNMENTS = ("01_simple_attention", "02_all_tokens", "05_causal_mask")
KINDS = ("renamed", "reordered", "comments changed", "one cell shared", "same unforeseen mistake")

VERBS = [
    "apply",
    "use",
    "compute",
    "take",
    "build",
    "get",
    "keep",
    "first",
    "now",
    "then",
    "multiply",
    "sum",
]
NOUNS = [
    "scores",
    "weights",
    "rows",
    "tokens",
    "queries",
    "keys",
    "values",
    "softmax",
    "mask",
    "matrix",
    "result",
    "vector",
    "inputs",
    "columns",
]
TAILS = [
    "for each token",
    "along the last axis",
    "like in the example",
    "as in the lecture",
    "row by row",
    "in one go",
    "with broadcasting",
    "see above",
    "so that rows sum to one",
    "without a loop",
    "step by step",
    "of the text",
]
NAMES = [
    "result",
    "out",
    "res",
    "tmp",
    "answer",
    "total",
    "output",
    "ret",
    "value",
    "final",
    "attn",
    "context",
    "acc",
    "sums",
    "expo",
    "product",
    "normed",
    "masked",
    "prob",
    "probs",
    "softmaxed",
    "scaled",
    "shifted",
    "vec",
    "combined",
]
ADDED = ["_1", "_2", "2", "_new", "_final", "_all", "x", "_t", "_mat", "s"]


@dataclass
class Style:
    """How one student writes."""

    draw: random.Random
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """A few names are used again and again, many with something added."""
        stems = self.draw.sample(NAMES, 4)
        self.names = [stem + self.draw.choice([*ADDED, "", "", "", ""]) for stem in stems]

    def comment(self) -> str:
        """A sentence, now and then with a slip of the keys."""
        words = [self.draw.choice(VERBS), "the", self.draw.choice(NOUNS), self.draw.choice(TAILS)]
        said = " ".join(words)
        if self.draw.random() < 0.1:
            place = self.draw.randrange(1, len(said) - 1)
            said = said[:place] + said[place + 1] + said[place] + said[place + 2 :]
        return said

    def written(self, solution: str) -> str:
        """A solution in this student's words: names for results, comments, the TODO or not."""
        lines = []
        for line in solution.split("\n"):
            bare = line.strip()
            indent = line[: len(line) - len(line.lstrip())]
            if bare.startswith("### ") or (bare.startswith("# TODO") and self.draw.random() < 0.6):
                continue
            if bare.startswith("return ") and indent and bare[-1] not in "([{":
                if self.draw.random() < 0.5:
                    lines.append(f"{indent}# {self.comment()}")
                if self.draw.random() < 0.6:
                    name = self.draw.choice(self.names)
                    lines += [f"{indent}{name} = {bare.removeprefix('return ')}"]
                    line = f"{indent}return {name}"
            lines.append(line)
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CopiedClass:
    """A class on disk, and which pairs were copied, by kind."""

    folder: Path
    copied: dict[frozenset[str], str]


def copied_class(course: Course, folder: Path, honest: int, copies: int, seed: int) -> CopiedClass:
    """Write a class.

    Args:
        course: whose solutions are handed in, right and with known mistakes.
        folder: where to.
        honest: how many wrote by themselves.
        copies: how many copied from one of these, each from another one, in turn by the five kinds.
        seed: of everything drawn.
    """
    draw = random.Random(seed)
    assignments = [course.by_id[id_] for id_ in ASSIGNMENTS]
    styles = [Style(random.Random(f"{seed} {number}")) for number in range(honest + copies)]
    works = [_own(course, assignments, style) for style in styles]
    sources = draw.sample(range(honest), copies)
    copied = {}
    names = [f"student{number:04}" for number in range(honest + copies)]
    draw.shuffle(names)
    cells: dict[int, str] = {}
    for number, source in enumerate(sources, honest):
        kind = KINDS[number % len(KINDS)]
        copied[frozenset((names[number], names[source]))] = kind
        if kind == "same unforeseen mistake":
            line = f"    return torch.softmax(scores * {draw.uniform(1.1, 3):.2f}, dim=-1)"
            for who in (number, source):
                works[who]["02_all_tokens"] = _with_body(
                    works[who]["02_all_tokens"], "attention_weights", line
                )
        elif kind == "one cell shared":
            cells[number] = cells[source] = f"{draw.getrandbits(32):08x}"
        else:
            works[number] = {
                id_: _copied(text, kind, styles[number]) for id_, text in works[source].items()
            }
    for number, work in enumerate(works):
        for assignment in assignments:
            path = folder / names[number] / assignment.id / f"{assignment.module}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            if number in cells and assignment is assignments[0]:
                text = _notebook(work[assignment.id], cells[number])
                path.with_suffix(".ipynb").write_text(text, "utf-8")
            else:
                path.write_text(work[assignment.id], "utf-8")
    return CopiedClass(folder, copied)


def _own(course: Course, assignments: list[Assignment], style: Style) -> dict[str, str]:
    """What a student writes alone: mostly right, now and then a known mistake."""
    works = {}
    for assignment in assignments:
        text = course.paths(assignment).solution.read_text("utf-8")
        if style.draw.random() < 0.6:
            mistake = style.draw.choice(read_misconceptions(course, assignment))
            text = text.replace(mistake.find, mistake.replace)
        works[assignment.id] = style.written(text)
    return works


def _copied(text: str, kind: str, copier: Style) -> str:
    """Somebody's file, as it was changed to look different."""
    if kind == "renamed":
        own = dict.fromkeys(re.findall(r"^ +(\w+) = .*\n +return \1$", text, re.MULTILINE))
        for number, name in enumerate(own):
            text = re.sub(rf"\b{name}\b", f"{copier.names[number % 4]}_{number}", text)
        return text
    if kind == "comments changed":
        return re.sub(r"(?m)^( {4,}# )(?!TODO).*$", lambda m: m[1] + copier.comment(), text)
    head, *parts = re.split(r"(?m)^(?=# %%)", text)
    first = [part for part in parts if "exercise=" not in part.split("\n")[0]]
    others = [part for part in parts if part not in first]
    copier.draw.shuffle(others)
    return head + "".join((*first, *others))


def _with_body(text: str, name: str, line: str) -> str:
    """A function with another body; its docstring goes."""
    return re.sub(
        rf"(?ms)^(def {name}\(.*?:\n).*?(?=^\S|\Z)", lambda m: f"{m[1]}{line}\n\n\n", text
    )


def _notebook(text: str, id_: str) -> str:
    """A script as a notebook, with a cell that was added."""
    cells = [
        (f"own-{number}", part) for number, part in enumerate(re.split(r"(?m)^# %%.*\n", text))
    ]
    code = [
        {"cell_type": "code", "id": name, "metadata": {}, "outputs": [], "source": source}
        for name, source in [*cells, (id_, "print('does it work?')")]
        if not source.lstrip().startswith("# ")
    ]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
