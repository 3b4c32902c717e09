"""Tests of mutants: which mechanical wrong answers are made from a solution."""

from pathlib import Path

import pytest

from grader.course.course import load_course
from grader.extras.mutants.edits import Mutant, mutants

SOLUTION = Path("solutions", "02_mixture", "mixture.py")
WEIGHTS = "return torch.softmax(raw, dim=-1)"
FORWARD = "raw = scores(self.W_query(x), self.W_key(x))"
VALUES = "self.W_value = nn.Linear(d_in, d_out, bias=False)"


def mutants_of(folder: Path, name: str, old: str, new: str) -> list[Mutant]:
    """The mutants of an exercise of 02 with another line in its solution."""
    text = (folder / SOLUTION).read_text("utf-8")
    assert text.count(old) == 1
    (folder / SOLUTION).write_text(text.replace(old, new), "utf-8")
    course = load_course(folder)
    return mutants(course, course.exercises[f"02_mixture/{name}"])


def test_a_mutant_says_where_it_is_and_what_it_changes(course_copy: Path) -> None:
    """In whole lines, although a part of one is changed."""
    (first, *_) = mutants_of(course_copy, "weights", WEIGHTS, WEIGHTS)
    before = (course_copy / SOLUTION).read_text("utf-8")
    assert first == Mutant(
        exercise="02_mixture/weights",
        path="solutions/02_mixture/mixture.py",
        line=24,
        old=WEIGHTS,
        new="return raw",
        text=before.replace(WEIGHTS, "return raw"),
    )


EXPRESSIONS = {
    WEIGHTS: {
        "return raw",
        "return torch.log_softmax(raw, dim=-1)",
        "return torch.softmax(raw)",
        "return torch.softmax(raw.detach(), dim=-1)",
        "return torch.softmax(raw, dim=0)",
        "return torch.softmax(raw, dim=1)",
        "return torch.softmax(raw, dim=-2)",
    },
    "return raw.triu(1).T": {
        "return raw.T",
        "return raw.tril(1).T",
        "return raw.triu_(1).T",
        "return raw.triu(2).T",
        "return raw.triu(0).T",
        "return raw.triu(-1).T",
        "return raw.triu(1)",
    },
    "return raw - 3**0.5": {
        "return raw + 3**0.5",
        "return raw",
        "return (3**0.5)",
        "return (3**0.5) - raw",
        "return raw.sub_(3**0.5)",
        "return raw.detach() - 3**0.5",
        "return raw - (3 * 0.5)",
        "return raw - 0.5 ** 3",
        "return raw - 3**-0.5",
        "return raw - 3**1.0",
        "return raw - 3**0.25",
    },
    "return raw * raw": {"return raw / raw", "return raw @ raw", "return raw.mul_(raw)"},
    "return raw.masked_fill(raw[:2] > raw, -torch.inf)": {
        "return raw.masked_fill(-torch.inf, raw[:2] > raw)",
        "return raw.masked_fill(raw[:2] >= raw, -torch.inf)",
        "return raw.masked_fill(raw[:2] < raw, -torch.inf)",
        "return raw.masked_fill(raw > raw, -torch.inf)",
        "return raw.masked_fill(raw[:2] > raw, torch.inf)",
        "return raw.masked_fill(raw[:2] > raw, -1e9)",
    },
}


@pytest.mark.parametrize("line", EXPRESSIONS)
def test_expressions_are_changed(course_copy: Path, line: str) -> None:
    """Each kind of expression has its wrong neighbours; what is said twice is made once."""
    found = [mutant.new for mutant in mutants_of(course_copy, "weights", WEIGHTS, line)]
    assert len(found) == len({*found})
    assert EXPRESSIONS[line] <= {*found}


BUFFER = f'{VALUES}\n        self.register_buffer("mask", torch.ones(2))'
METHODS = {
    "layers are exchanged": (
        (FORWARD, FORWARD),
        {
            "raw = scores(self.W_key(x), self.W_query(x))",
            "raw = scores(self.W_value(x), self.W_key(x))",
            "raw = scores(x, self.W_key(x))",
            "raw = self.W_query(x)",
        },
    ),
    "sizes and biases are changed": (
        (VALUES, VALUES),
        {
            "pass",
            "self.W_value = nn.Linear(d_out, d_in, bias=False)",
            "self.W_value = nn.Linear(d_in, d_in, bias=False)",
            "self.W_value = nn.Linear((d_in + 1), d_out, bias=False)",
            "self.W_value = nn.Linear(d_in, d_out, bias=True)",
            "self.W_value = nn.Linear(d_in, d_out)",
        },
    ),
    "a buffer is none": (
        (VALUES, BUFFER),
        {"self.mask = torch.ones(2)", 'self.register_buffer("mask", torch.zeros(2))'},
    ),
    "a result is thrown away": (
        (FORWARD, f"{FORWARD}\n        raw = raw.masked_fill(raw > 1, 0)"),
        {"raw.masked_fill(raw > 1, 0)"},
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_changed(course_copy: Path, name: str) -> None:
    """By what the class has: its attributes and the sizes in scope."""
    lines, made = METHODS[name]
    assert made <= {mutant.new for mutant in mutants_of(course_copy, "Mixture", *lines)}


def test_what_an_error_says_is_not_changed(course_copy: Path) -> None:
    """Nor an annotation, nor what stands outside of the regions."""
    line = 'raise ValueError(f"{raw.shape[0]}")'
    assert mutants_of(course_copy, "weights", WEIGHTS, line) == []
