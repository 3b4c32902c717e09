"""Tests of code that does not mention torch: nobody imports it where that code runs."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from example_courses import copy_of

from grader.classes.worker import grade_student
from grader.core.records import Outcome
from grader.course.course import Course, Limits, load_course
from grader.intake.folders import Student
from grader.judging.seal_probe import sealed_launcher
from grader.judging.submission_grader import full_grader
from grader.sandbox.wire import Frame, Packer
from grader.sessions.child import ChildSession
from grader.sessions.launchers import Seal, WarmParent
from grader.submissions.submission import Submission
from tests.grader.conftest import KEY

LOADED = """
import sys


def loaded():
    return "tor" "ch" in sys.modules
"""
"""It does not mention torch: the name is put together."""


@pytest.fixture(scope="module")
def parent(children_folder: Path) -> Iterator[WarmParent]:
    """A parent of children none of which mentions torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(children_folder))
        made = WarmParent()
        made.wait()
    yield made
    made.close()


Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def child(parent: WarmParent, submit: Callable[..., Submission]) -> Iterator[Callable[[str], Ask]]:
    """Starts a child that holds a text, and calls its functions."""
    sessions = []

    def start(text: str) -> Ask:
        session = ChildSession(parent, submit(text), Limits())
        sessions.append(session)

        def call(name: str, *arguments: object, **header: Any) -> dict[str, Any]:
            packer = Packer()
            header |= {"verb": "call", "source": KEY, "name": name, "kwargs": {}}
            header["args"] = [packer.pack(argument) for argument in arguments]
            return session.ask(Frame(header, packer.payload()), 20.0).header

        return call

    yield start
    for session in sessions:
        session.close()


def test_torch_is_not_imported(child: Callable[[str], Ask]) -> None:
    """For a function, with a seed, and for an instance that keeps something."""
    text = "class Box:\n    def put(self, value):\n        self.held = [value]\n        return loaded()\n"
    call = child(LOADED + text)
    assert call("loaded", seed=3)["value"] is False
    number = call("Box")["value"]["reference"][0]
    assert call("", [1, {2}], instance=number, method="put")["value"] is False


def test_arrays_travel_without_torch(child: Callable[[str], Ask]) -> None:
    """A change in place is noticed, and NaN is no change."""
    text = "import numpy\n\n\ndef change(a, b):\n    a[0] = 9\n    return loaded()\n"
    array = numpy.array([1.0, float("nan")])
    reply = child(LOADED + text)("change", array, array)
    assert (reply["value"], reply["changed"]) == (False, ["0"])


@pytest.mark.parametrize(
    ("put", "returned"),
    [("types.ModuleType('tor' 'ch')", None), ("None", {"list": [3]})],
    ids=["a fake", "none at all"],
)
def test_what_a_student_calls_torch_harms_nobody_else(
    child: Callable[[str], Ask], put: str, returned: object
) -> None:
    """A fake costs the replies of its own process; that there be none costs nothing."""
    faked = child(
        f"import sys, types\n\n\ndef f():\n    sys.modules['tor' 'ch'] = {put}\n    return [3]\n"
    )
    other = child("def f():\n    return 3\n")
    reply = faked("f")
    assert (reply.get("value"), "failure" in reply) == (returned, returned is None)
    assert other("f")["value"] == 3


@pytest.mark.proof
def test_a_tensor_that_nobody_foresaw_is_unpacked_nevertheless(
    child: Callable[[str], Ask], parent: WarmParent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child imports torch within its limits, sealed as it is."""
    monkeypatch.setattr(parent, "seal", Seal(sealed=True))
    call = child(LOADED + "def double(x):\n    return x + x\n")
    assert call("double", torch.ones(2))["value"] == {"tensor": ["float32", [2], False, False]}
    assert call("loaded")["value"] is True


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A course that needs no torch."""
    return load_course(copy_of("everyday_python", tmp_path / "course"))


def test_a_course_without_torch_is_graded_sealed_without_torch(
    course: Course, tmp_path: Path, temporary_folder: Path
) -> None:
    """The file of the student's refuses to be loaded beside torch; all its checks pass."""
    del temporary_folder
    for assignment in course.assignments:
        path = course.paths(assignment).solution
        work = tmp_path / "work" / assignment.id
        work.mkdir(parents=True)
        text = f"{path.read_text('utf-8')}\n{LOADED}\nassert not loaded()\n"
        (work / path.name).write_text(text, "utf-8")
    assert course.packages == ("numpy", "pandas", "numpy.random")
    with (
        closing(sealed_launcher(course.packages)) as launcher,
        closing(full_grader(course, "seed")) as grader,
    ):
        result = grade_student(grader, launcher, Student("s1", work.parent))
    assert "landlock" in result.isolation
    assert {c.outcome for e in result.exercises for c in e.checks} == {Outcome.PASSED}
