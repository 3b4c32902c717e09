"""Tests of `student.runs`: a given test is judged by values that travel, away from student code."""

import functools
from collections.abc import Callable

import pytest

from grader.core.errors import GraderFault
from grader.testing.given_tests import GivenTests
from grader.testing.judge import Judge, Mismatch
from grader.testing.student import ReferenceHandle, StudentHandle, StudentOutcome
from grader.testing.taken_apart import TakenApart

RIGHT = """\
import numpy as np

LIMIT = 3


class Made:
    def __eq__(self, other):
        return True

    last = property()

    def __init__(self):
        self.size = 2


def one(n):
    if n < 0:
        raise ValueError("below 0")
    return n + 1


def listed(n):
    return [n] * n


def halves(values):
    return np.asarray(values) / 2


def emptied(values):
    values.clear()


def counted(n):
    yield from range(n)
"""

Runs = Callable[..., Judge]


@pytest.fixture
def runs(hand_in) -> Runs:
    """Judges a test of a file by that of the solution, and returns what has judged."""

    def made(test: str, wrong: tuple[str, str] = ("", ""), **how: object) -> Judge:
        student: StudentHandle = hand_in(RIGHT.replace(*wrong) if wrong[0] else RIGHT)
        right: StudentHandle = hand_in(RIGHT)
        judge = Judge(student.calls)
        reference = ReferenceHandle(right.submission, right.exercise)
        student.given_tests = GivenTests(reference, judge).run
        student.runs(test, **how)  # type: ignore[arg-type]
        return judge

    return made


WRONG = {
    "assert one(3) == 4": ("n + 1", "n + 2"),
    "assert 4 == one(3), 'One more is asked for'": ("n + 1", "n + 2"),
    "import math\nassert math.isclose(one(3), 4.0, abs_tol=0.1)": ("n + 1", "n + 1.5"),
    "assert abs(one(3) - 4) < 0.1": ("n + 1", "n + 1.5"),
    "assert type(one(3)) is int and isinstance(one(2), int)": ("n + 1", "n + 1.0"),
    "assert 3 in listed(3)": ("[n] * n", "[n + 1] * n"),
    "assert len(listed(2)) == 2 and all(item == 2 for item in listed(2))": ("[n] * n", "[n]"),
    "assert (halves([2, 4]) == np.array([1, 2])).all()": ("/ 2", "/ 3"),
    "from numpy.testing import assert_allclose\nassert_allclose(halves([2.0]), [1.0])": (
        "/ 2",
        "/ 3",
    ),
    "from nose.tools import assert_equal\nassert_equal(one(1), 2)": ("n + 1", "n"),
    "assert halves([2, 4]).shape == (2,)": ("np.asarray(values)", "1"),
    "values = [1]\nemptied(values)\nassert values == []": ("values.clear()", "pass"),
    "for n in (1, 2):\n    if one(n) != n + 1:\n        raise ValueError('no')": ("n + 1", "n"),
    "try:\n    one(-1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('no')": (
        "n < 0",
        "n < -9",
    ),
    "import pytest\nwith pytest.raises(ValueError):\n    one(-1)": ("ValueError", "TypeError"),
    "assert set(counted(3)) == {0, 1, 2}": ("range(n)", "range(n + 1)"),
    "assert [next(c) for c in [counted(2)]] == [0]": ("range(n)", "range(1, n)"),
    "assert LIMIT == 3": ("LIMIT = 3", "LIMIT = 4"),
    "assert Made().size == 2": ("self.size = 2", "self.size = 3"),
}
"""Tests, each with an edit of the solution that it is to find."""


@pytest.mark.parametrize("test", WRONG)
def test_a_test_passes_on_the_solution_and_finds_what_is_wrong(runs: Runs, test: str) -> None:
    """Nothing of it is decided beside the student's code."""
    assert runs(test).forgeable == []
    with pytest.raises((Mismatch, StudentOutcome)):
        runs(test, WRONG[test])


def test_what_is_expected_is_not_sent() -> None:
    """Nor is a name that nothing else makes use of."""
    for test in (
        "answer = [40, 2]\nassert one(1) == answer",
        "assert sum(one(1)) == 42, 'it is 42'",
        "np.testing.assert_allclose(one(1), [40.0, 2.0], atol=42)",
        "for x, want in [(1, 42), (2, 44)]:\n    assert one(x) == want",
        "cases = ((1, 42), (2, 44))\nfor x, want in cases:\n    assert one(x) == want",
        "for x, want in {1: 42, 2: 44}.items():\n    assert one(x) == want",
        "for x, want in zip([1, 2], [42, 44]):\n    assert one(x) == want",
        "for found, want in zip(one(1), [42, 44]):\n    assert found == want",
    ):
        _full, asked = TakenApart(test, ["one"]).programs()
        assert "one(" in asked
        assert "4" not in asked


def test_a_message_says_what_was_expected_and_received(runs: Runs) -> None:
    """With the expression as the test has it, and what the test says of it."""
    with pytest.raises(Mismatch) as caught:
        runs("assert one(3) == 4, 'One more is asked for'", ("n + 1", "n + 2"))
    found = caught.value.difference
    assert (found.what, found.summary) == ("`one(3)`", "expected 4, received 5")
    assert found.hints[-1] == "One more is asked for"
    with pytest.raises(Mismatch) as caught:
        runs("assert one(3) < 5", ("n + 1", "n + 2"))
    found = caught.value.difference
    assert (found.summary, *found.hints) == ("This does not hold: `one(3) < 5`.", "`one(3)` is 5.")
    with pytest.raises(Mismatch, match="It should raise ValueError, and raised nothing"):
        runs("import pytest\nwith pytest.raises(ValueError):\n    one(-1)", ("n < 0", "n < -9"))


def test_names_that_are_given_are_the_solutions(runs: Runs) -> None:
    """A student who changes them changes nothing of what is expected."""
    test, changed = "assert one(2) == LIMIT", ("LIMIT = 3", "LIMIT = 4")
    runs(test, changed, given=["LIMIT"])
    with pytest.raises(Mismatch):
        runs(test, changed)


def test_what_cannot_be_taken_apart_is_to_be_marked(runs: Runs) -> None:
    """It can be forged where it is decided; the check has to say that it knows."""
    test = "held = all(one(n) == n + 1 for n in range(3))\nassert held"
    with pytest.raises(ValueError, match="can forge that"):
        runs(test)
    assert runs(test, forgeable=True).forgeable == ["held"]
    with pytest.raises(Mismatch, match="This does not hold: `held`"):
        runs(test, ("n + 1", "n"), forgeable=True)


@pytest.mark.parametrize(
    "test",
    [
        "import numpy as np\nis_close = np.allclose(halves([2]), [1])\nassert is_close",
        "assert str(one(3)).startswith('4')",
        "def right(value):\n    return value == 4\nassert right(one(3)) == True",
        "one(3)",
        "from numpy.testing import assert_equal\nassert_equal(Made(), Made.last)",
    ],
)
def test_that_something_is_true_can_be_forged_where_it_is_decided(runs: Runs, test: str) -> None:
    """What a student's own function says of itself is a value like any other."""
    assert runs(test, forgeable=True).forgeable
    assert not runs("found = one(3)\nassert found\nassert one(3)").forgeable


def test_a_test_leaves_the_file_and_modules_as_they_were(hand_in) -> None:
    """Also where it takes a name away; some forbid a function by taking it out of its module."""
    student = hand_in(RIGHT)
    student.observed("LIMIT = 9\nmore = 1\ndel one\nimport functools\nfunctools.reduce = None")
    assert student.get("LIMIT") == 3
    assert student.call("one", 1).value == 2
    with pytest.raises(StudentOutcome):
        student.get("more")
    assert functools.reduce is not None


def test_random_numbers_are_the_same_for_both(runs: Runs) -> None:
    """Inputs that a test draws are those of what is expected."""
    runs("x = np.random.rand(3)\nassert (halves(x) == x / 2).all()")


def test_a_test_that_the_solution_fails_is_the_graders_fault(runs: Runs) -> None:
    """No student's."""
    with pytest.raises(GraderFault, match="does not pass its test: one\\(1\\) == 3"):
        runs("assert one(1) == 3")


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("assert one(1) == 2", "return n + 1"),
        (
            "import pytest\nwith pytest.raises(ValueError):\n    one(-1)",
            'raise ValueError("below 0")',
        ),
    ],
)
def test_a_stub_is_not_attempted(runs: Runs, test: str, line: str) -> None:
    """Also where the test wants an exception."""
    with pytest.raises(StudentOutcome) as caught:
        runs(test, (line, 'raise NotImplementedError("Not done yet: a/one")'))
    assert caught.value.failure.type == "NotImplementedError"


NOT_YET = 'NotImplementedError("01_first/one: not attempted yet")'


@pytest.mark.parametrize(
    "stub", [f"one = {NOT_YET}", f"def one():\n    raise {NOT_YET}\n\n\nbeside = one()"]
)
def test_a_test_of_what_is_made_of_an_exercise_is_not_attempted(hand_in, stub: str) -> None:
    """It names something else, which the stub's file does not have."""
    with pytest.raises(StudentOutcome) as caught:
        hand_in(stub).observed("beside + 1")
    assert caught.value.failure.kind == "not_attempted"


@pytest.mark.parametrize("used", ["LIMIT.real", "set_beside_it.real"])
def test_a_constant_that_is_not_set_ends_no_file(hand_in, used: str) -> None:
    """What uses it, or what its solution sets as well, waits; what stands below is there."""
    student = hand_in(f"LIMIT = {NOT_YET}\n{used}\n\n\ndef one(n):\n    return n")
    assert student.call("one", 3).value == 3
