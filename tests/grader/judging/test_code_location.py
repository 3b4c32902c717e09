"""The line of the student's own that an outcome is about."""

import pytest

from grader.core.records import CodeLocation
from grader.judging.code_location import location_of
from grader.sandbox.failures import CodeLine
from grader.testing.compare import Difference
from grader.testing.judge import Mismatch
from grader.testing.replies import Failure
from grader.testing.student import Call, StudentOutcome

TEXT = "import torch\n\n\ndef one():\n    return 2\n"
KEY = "01_first/first.py"


def raised(location=None, **more):
    """What a check ends in when student code raises."""
    return StudentOutcome(Failure("exception", "ValueError", location=location, **more), ())


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (CodeLine("first.py", None, 5, "return 2"), 5),
        (CodeLine("/etc/passwd", None, 1, "root"), 4),
        (CodeLine("first.py", None, 999, "forged"), 4),
        (CodeLine("first.py", None, 0, "forged"), 4),
        (CodeLine("first.py", 3, 1, "forged"), 4),
    ],
)
def test_an_exception_is_where_it_was_raised(hand_in, location, line) -> None:
    """What the submission does not have is not believed: the definition is shown instead."""
    assert location_of(hand_in(TEXT), raised(location)) == CodeLocation(KEY, line)


def test_a_wrong_value_is_where_the_name_is_defined_last(hand_in) -> None:
    """As Python has it."""
    mismatch = Mismatch(Difference("", "1 is not 2", 1, 2), ())
    student = hand_in(TEXT + "\n\ndef one():\n    return 3\n")
    assert location_of(student, mismatch) == CodeLocation(KEY, 8)


def test_what_changed_an_argument_is_where_it_did(hand_in) -> None:
    """The one line that does, where the submission has it."""
    sentence = Difference("", None, None, "It changed its argument in place")
    there, nowhere = (CodeLine("first.py", None, line, "x += 1") for line in (5, 99))
    for writes, line in (((there,), 5), ((nowhere,), 4), ((there, there), 4), ((None,), 4)):
        call = Call("one", (), {}, writes=tuple(("x", at) for at in writes))
        mismatch = Mismatch(sentence, (call,))
        assert location_of(hand_in(TEXT), mismatch) == CodeLocation(KEY, line)


def test_in_a_notebook_the_cell_is_shown(hand_in) -> None:
    """Lines are counted inside of it."""
    student = hand_in({"01_first/first.ipynb": ["x = 1", "# the answer\none = 2"]})
    assert location_of(student, AssertionError()) == CodeLocation("01_first/first.ipynb", 2, 2)


def test_a_name_that_is_nowhere_has_no_location(hand_in) -> None:
    """Neither has a check that passed, nor the grader's own fault."""
    assert location_of(hand_in("x = 1\n"), AssertionError()) is None
    assert location_of(hand_in(TEXT), None) is None
    assert location_of(hand_in(TEXT), RuntimeError()) is None


def test_what_stopped_the_file_from_loading_is_a_location(hand_in) -> None:
    """A missing name is explained by the line that failed before it."""
    loading = Failure("exception", "NameError", location=CodeLine("first.py", None, 1, "y"))
    assert location_of(hand_in("y\n"), raised(loading=loading)) == CodeLocation(KEY, 1)


def test_what_led_to_a_line_of_another_exercise_is_shown(hand_in) -> None:
    """That one may be right; a function of the student's own is part of the exercise."""
    text = "def two(x):\n    return 1 / x\n\n\ndef one():\n    return two(0)\n"
    error = raised(
        CodeLine("first.py", None, 2, "return 1 / x"),
        called=CodeLine("first.py", None, 6, "return two(0)"),
    )
    for exercises, line in ((("one", "two"), 6), (("one",), 2)):
        assert location_of(hand_in(text), error, exercises) == CodeLocation(KEY, line)
    loading = Failure("exception", "NameError", location=CodeLine("first.py", None, 3, "y"))
    stopped = hand_in("def two(x):\n    return x\ny\n")
    assert location_of(stopped, raised(loading=loading), ("one", "two")) == CodeLocation(KEY, 3)
