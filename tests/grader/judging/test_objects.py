"""The course of everyday Python: methods, sets, bytes, frames, generators, files, and functions are judged."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from example_courses import copy_of

from grader.authoring.validate import validate
from grader.core.records import Outcome, Result
from grader.course.course import Course, load_course
from grader.extras.mutants.trials import mutate
from grader.judging.fixtures import read_solutions
from grader.judging.submission_grader import (
    VISIBLE_CHECKS,
    Scope,
    SubmissionGrader,
    full_grader,
    grade,
    visible_grader,
)
from grader.release.stubs import generate
from grader.release.students import student_files
from grader.sandbox.failures import stub_message
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import WarmParent
from grader.submissions.notebooks import Cell
from grader.submissions.submission import Submission

pytestmark = pytest.mark.slow

Grade = Callable[..., Result]

HEAP, TOKENIZER, PAIRS, TWICE = (
    f"03_containers/{name}" for name in ("Heap", "Tokenizer", "Pairs", "twice")
)
MEAN_BY, REPORT, SAVE = (
    f"02_tables_and_files/{name}" for name in ("mean_by", "report", "save_scores")
)
PRIMES, MEAN, AMOUNT = (f"01_values/{name}" for name in ("primes", "RunningMean", "amount"))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The course, complete."""
    parent = tmp_path_factory.mktemp("objects")
    folder = copy_of("everyday_python", parent / "course", "assignments")
    for file in generate(load_course(folder)):
        file.write(folder)
    return load_course(folder)


@pytest.fixture(autouse=True)
def own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another course's checks have the same names."""
    for name in [name for name in sys.modules if name.startswith("tests.checks")]:
        monkeypatch.delitem(sys.modules, name)


def edited(course: Course, *edits: tuple[str, str]) -> Submission:
    """The solutions, with pieces of text replaced."""
    submission = read_solutions(course)
    for old, new in edits:
        (key,) = [k for k, s in submission.sources.items() if old in s.cells[0].text]
        source = submission.sources[key]
        cells = (Cell(None, source.cells[0].text.replace(old, new)),)
        changed = {**submission.sources, key: replace(source, cells=cells)}
        submission = replace(submission, sources=changed)
    return submission


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[SubmissionGrader]:
    """Grades with all checks."""
    grader = full_grader(course, "seed")
    yield grader
    grader.close()


@pytest.fixture
def grade_in_child(
    course: Course, grader: SubmissionGrader, warm_parent: WarmParent
) -> Iterator[Grade]:
    """Grades edited solutions in a child process."""
    sessions = []

    def run(*edits: tuple[str, str]) -> Result:
        submission = edited(course, *edits)
        sessions.append(ChildSession(warm_parent, submission, course.limits))
        return grade(grader, submission, sessions[-1], Scope(course.exercises))

    yield run
    for session in sessions:
        session.close()


def failing(result: Result, exercise: str) -> list[tuple[Outcome, str]]:
    """How the checks of an exercise end that do not pass, and the message."""
    (found,) = [one for one in result.exercises if one.id == exercise]
    return [(c.outcome, c.message) for c in found.checks if c.outcome is not Outcome.PASSED]


@pytest.mark.proof
def test_the_course_keeps_its_promises(course: Course) -> None:
    """Its mistakes are recognised by frames, files, sets and what methods return; nothing can be guessed."""
    report = validate(course)
    assert (report.faults, report.warnings) == ([], [])
    assert sum(row.recognised for row in report.rows) == 18


@pytest.mark.proof
def test_mutants_are_tried_with_functions_and_frames(course: Course) -> None:
    """On other numbers as well: none breaks a check."""
    tried = {one.exercise.id: one for one in mutate(course, ("Pairs", "mean_by"), 1)}
    assert tried.keys() == {PAIRS, MEAN_BY}
    assert all(one.counts["caught"] > 2 for one in tried.values())


def test_a_released_copy_checks_objects_from_recordings(course: Course, tmp_path: Path) -> None:
    """The recorded answers are found again, sets among the arguments or not."""
    for file in student_files(course):
        file.write(tmp_path)
    copy = load_course(tmp_path)
    grader: SubmissionGrader = visible_grader(copy)
    submission = edited(course)
    scope = Scope(copy.exercises, VISIBLE_CHECKS)
    result = grade(grader, submission, InProcessSession(submission), scope)
    outcomes = {c.outcome for one in result.exercises for c in one.checks}
    grader.close()
    assert outcomes == {Outcome.PASSED}


def test_a_wrong_method_is_told_with_the_calls_before_it(grade_in_child: Grade) -> None:
    """What was pushed stands above what came back."""
    result = grade_in_child(("min(self.numbers)", "max(self.numbers)"))
    (_outcome, message), *_others = failing(result, HEAP)
    assert message.splitlines() == [
        "model = Heap()",
        "model.push(3)",
        "model.push(1)",
        "model.push(2)",
        "model.pop()",
        "The result: expected 1, received 3.",
    ]


def test_a_missing_method_and_a_missing_function_are_told_by_name(grade_in_child: Grade) -> None:
    """Both are the student's to write, or to keep."""
    result = grade_in_child(("def pop(", "def take("), ("def shout(", "def cry("))
    (_outcome, pop), *_others = failing(result, HEAP)
    assert "AttributeError: 'Heap' object has no attribute 'pop'" in pop
    (outcome, said), *_others = failing(result, TWICE)
    assert outcome is Outcome.MISSING
    assert "shout" in said


def test_a_method_that_is_a_stub_is_told_by_its_name(grade_in_child: Grade) -> None:
    """Not as a `forward`."""
    stub = f'raise NotImplementedError("{stub_message(HEAP)}")'
    result = grade_in_child(("self.numbers.append(number)", stub))
    assert "`push` is not written yet." in [message for _outcome, message in failing(result, HEAP)]


FAILED, CRASHED, EXIT = Outcome.FAILED, Outcome.CRASHED, "__import__('os')._exit(0)"
HOSTILE = {
    "a property that exits": (
        *(
            "def push(self, number",
            f"@property\n    def push(self): {EXIT}\n    def other(self, number",
        ),
        *(HEAP, CRASHED, ""),
    ),
    "a huge set": (
        *("{(data[i]", "set(range(10**6)) or {(data[i]", TOKENIZER),
        *(FAILED, "a set of 1000000 entries, more than may travel"),
    ),
    "huge bytes": (
        *('text.encode("utf-8")', "bytes(100 * 2**20)", TOKENIZER),
        *(FAILED, "bytes of 104857600 bytes, more than may travel"),
    ),
    "an array of objects": (
        *("return self.inputs[index], self", "return np.array([print]), self", PAIRS),
        *(FAILED, "numpy.ndarray of dtype object, which does not travel"),
    ),
    "a function by name": (
        "return len(self.numbers)",
        "return __import__('grader.sandbox.wire', fromlist=['x']).NamedFunction('x')",
        *(HEAP, CRASHED, "malformed reply"),
    ),
    "a generator that exits": (
        *("        yield number\n", f"        yield 1\n            {EXIT}\n"),
        *(PRIMES, CRASHED, ""),
    ),
    "a property of another kind": (
        *("return self.count\n", "return type('Count', (), {})()\n", MEAN),
        *(FAILED, "expected 2, received an instance of Count"),
    ),
    "a table of another kind": (
        *('"rows": groups.count()})', '"rows": groups.count()}).style', MEAN_BY),
        *(FAILED, "expected a DataFrame of shape (2, 2), received"),
    ),
    "a pipe for a file": (
        *("file.write_text(", "__import__('os').mkfifo(path + 'x') or str.format(", SAVE),
        *(FAILED, "It should write the file scores.csv, and wrote none."),
    ),
    "a huge file": (
        *("file.write_text(", "file.write_bytes(bytes(10**9)) or dict(", SAVE),
        *(FAILED, "OSError: [Errno 27] File too large"),
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "exercise", "outcome", "said"), HOSTILE.values(), ids=HOSTILE
)
def test_hostile_objects_cost_their_exercise_alone(
    grade_in_child: Grade, old: str, new: str, exercise: str, outcome: Outcome, said: str
) -> None:
    """Whatever they are, the others count."""
    result = grade_in_child((old, new))
    (first, message), *_others = failing(result, exercise)
    assert (first, said in message) == (outcome, True), message
    others = [one for one in result.exercises if one.id != exercise]
    assert [failing(result, one.id) for one in others] == [[]] * 11


@pytest.mark.parametrize("method", ["no name", "push()", "a.b"])
def test_what_is_no_name_is_no_method(course: Course, method: str, hand_in) -> None:
    """That is the check's own mistake."""
    student = hand_in("class one:\n    pass\n")
    instance = student.call("one").value
    with pytest.raises(ValueError, match="names a method of an instance"):
        student.call(instance, method=method)
    with pytest.raises(ValueError, match="is no function's name"):
        student.function(method)


def test_what_a_method_returns_and_is_no_data_can_be_called(hand_in) -> None:
    """An iterator, or another instance; Python's own methods are the class's."""
    text = (
        "class one:\n    def __init__(self, n=2):\n        self.n = n\n"
        "        self.__len__ = lambda: 99\n"
        "    def __len__(self):\n        return self.n\n"
        "    def __iter__(self):\n        yield from range(self.n)\n"
        "    def larger(self):\n        return one(self.n + 1)\n"
    )
    student = hand_in(text)
    instance = student.call("one").value
    assert student.call(instance, method="__len__").value == 2
    larger = student.call(instance, method="larger").value
    assert (larger.type_name, student.call(larger, method="__len__").value) == ("one", 3)
    iterator = student.call(larger, method="__iter__").value
    assert [student.call(iterator, method="__next__").value for _ in range(3)] == [0, 1, 2]
    failure = student.refusal(iterator, method="__next__")
    assert failure is not None
    assert failure.type == "StopIteration"


DESCENT = """
import torch


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x @ self.slope


class one:
    def __init__(self, parameters):
        self.parameters = list(parameters)

    def step(self):
        with torch.no_grad():
            for parameter in self.parameters:
                parameter -= parameter.grad
"""


def test_an_iterator_of_parameters_goes_from_a_module_to_an_optimizer(hand_in) -> None:
    """What one instance returned is another's argument, as it is there."""
    student = hand_in(DESCENT)
    line = student.call("Line").value
    parameters = student.call(line, method="parameters").value
    descent = student.call("one", parameters).value
    student.call(line, torch.tensor([[1.0, 2.0, 3.0]]), cotangent=torch.ones(1))
    student.call(descent, method="step")
    assert student.state(line).parameters["slope"].tolist() == [0.0, -1.0, -2.0]


def test_sets_and_arrays_that_are_changed_are_noticed(hand_in) -> None:
    """As tensors and lists are; each side has its own."""
    import numpy as np

    student = hand_in("def one(a, b, c):\n    a.add(9)\n    b[0] = 9\n    return c\n")
    given = {1}, np.zeros(2), {5}
    assert student.call("one", *given).changed == ("0", "1")
    assert (given[0], given[1].tolist()) == ({1}, [0.0, 0.0])
