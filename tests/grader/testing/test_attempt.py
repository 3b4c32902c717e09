"""A call of the student's code beside the solution's: what is asked of whom, and what is judged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.course.printed_tensors import Printed
from grader.judging.messages import call_lines
from grader.testing import Attempt, beside_student
from grader.testing.judge import Judge, Mismatch
from grader.testing.student import ReferenceHandle, StudentHandle, StudentOutcome

HandIn = Callable[..., StudentHandle]
Pair = Callable[..., Attempt]

SQUARE = "def one(x, y=None):\n    return x * x"
CUBE = "def one(x, y=None):\n    return x * x * x"
IN_PLACE = "def one(x, y=None):\n    return x.mul_(x)"
LAYER = """\
import torch
from torch import nn


class one(nn.Module):
    def __init__(self, size, dropout=0.0):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(size, size))

    def forward(self, x):
        return x @ self.weight
"""
TURNED = LAYER.replace("self.weight\n", "self.weight.T\n")
INNER = LAYER.replace("self.weight", "self.inner.weight").replace(
    "super().__init__()", "super().__init__(); self.inner = nn.Module()"
)
X = torch.tensor([[1.0, 2.0]])
VALUES = {"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}


def wrong(judged: Callable[..., object], *given: Any, **how: Any) -> Mismatch:
    """What a judgement that does not hold ends in."""
    with pytest.raises(Mismatch) as caught:
        judged(*given, **how)
    return caught.value


@pytest.fixture
def attempt_of(hand_in: HandIn) -> Pair:
    """Makes an attempt of a student's file and the solution's."""

    def make(own: str, solution: str) -> Attempt:
        student, other = hand_in(own), hand_in(solution)
        reference = ReferenceHandle(other.submission, other.exercise)
        return Attempt(student, reference, Judge(student.calls), student.exercise.name)

    return make


def test_a_value_is_judged_by_what_is_known_or_by_the_solution(attempt_of: Pair) -> None:
    """The solution is asked for the same only when it is needed."""
    attempt = attempt_of(SQUARE, CUBE)
    called = attempt(torch.tensor(3.0))
    called.gives(torch.tensor(9.0), what="the square")
    assert attempt.reference.calls == []
    assert str(wrong(called.agrees)) == "expected 27.0000, received 9.0000"
    assert called.expected == 27.0
    assert [call.args for call in attempt.reference.calls] == [(torch.tensor(3.0),)]
    assert attempt.judge.judged == [9.0, 9.0]


@pytest.mark.parametrize(
    ("x", "said", "place"),
    [
        (X, {}, "row 0, column 0"),
        (X[0], {}, "column 0"),
        (X, {"axes": ("token", "feature")}, "token 0, feature 0"),
        (X[None], {}, r"\[0, 0, 0\]"),
    ],
)
def test_a_result_has_the_axes_that_its_class_of_checks_says(
    attempt_of: Pair, x: torch.Tensor, said: dict[str, tuple[str, ...]], place: str
) -> None:
    """The last ones where it has fewer, none where it has more, others where the call says so."""
    attempt = attempt_of(SQUARE, SQUARE)
    attempt.judge.axes = ("row", "column")
    with pytest.raises(Mismatch, match=f"{place}: expected 2"):
        attempt(x).gives(x + 1, **said)


def test_a_printed_tensor_is_an_argument_by_its_values(attempt_of: Pair) -> None:
    """Unnamed or named."""
    printed = Printed("T01", "input", (), "", torch.tensor([2.0]))
    called = attempt_of(SQUARE, SQUARE)(printed, y=printed)
    called.gives(torch.tensor([4.0]))
    assert (called.args, called.how) == ((printed.tensor,), {"y": printed.tensor})


def test_a_shape_is_judged_and_the_value_returned(attempt_of: Pair) -> None:
    """The dtype is float32 unless another one is named."""
    attempt = attempt_of(SQUARE, SQUARE)
    assert torch.equal(attempt(X).has_shape(1, 2), X * X)
    attempt(X.double()).has_shape(1, 2, dtype=torch.float64)
    wrong(attempt(X.double()).has_shape, 1, 2)
    wrong(attempt(X).has_shape, 2, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((X, 3), "It changed its argument in place"),
        ((X, X), "It changed one of its arguments in place"),
        ((X, [X]), "It changed one of its arguments in place"),
    ],
)
def test_an_argument_that_is_changed_is_told(
    attempt_of: Pair, arguments: tuple[object, ...], said: str
) -> None:
    """By how many of them can be."""
    attempt_of(SQUARE, SQUARE)(*arguments).keeps_arguments()
    assert str(wrong(attempt_of(IN_PLACE, SQUARE)(*arguments).keeps_arguments)) == said


def test_gradients_are_judged_argument_by_argument(attempt_of: Pair) -> None:
    """By the solution's, for as many as are named."""
    attempt_of(SQUARE, SQUARE)(X, X, cotangent=X).gradients_agree(what=("the first", "the second"))
    called = attempt_of(SQUARE, CUBE)(X, cotangent=X)
    assert wrong(called.gradients_agree, what="the first").difference.what == "the first"


def test_an_instance_stands_beside_one_of_the_solutions(attempt_of: Pair) -> None:
    """Both have the parameters that were given, and arguments and keywords that made them."""
    right, turned = (
        attempt_of(own, LAYER).instance(2, dropout=0.1, given=VALUES) for own in (LAYER, TURNED)
    )
    right(X).gives(torch.tensor([[7.0, 10.0]]))
    right(X).agrees()
    cotangent = torch.tensor([[1.0, 0.0]])
    right(X, cotangent=cotangent).parameter_gradients_agree("weight")
    wrong(turned(X).agrees)
    error = wrong(turned(X, cotangent=cotangent).parameter_gradients_agree, "weight")
    assert error.difference.what == "the gradient for weight"
    assert torch.equal(right.state.parameters["weight"], VALUES["weight"])


def test_what_an_instance_does_not_take_is_kept_unless_it_is_spare(attempt_of: Pair) -> None:
    """A spare value is for what should not be there."""
    spare = {"bias": torch.zeros(2)}
    layer = attempt_of(LAYER, LAYER).instance(2, given=VALUES | spare)
    assert layer.problems == {"bias": "missing"}
    layer = attempt_of(LAYER, LAYER).instance(2, given=VALUES, spare=spare)
    assert layer.problems == {}


def test_the_gradient_of_a_parameter_further_inside_is_found(attempt_of: Pair) -> None:
    """By the end of its name."""
    layer = attempt_of(INNER, LAYER).instance(2, given=VALUES)
    layer(X, cotangent=X).parameter_gradients_agree("weight")


def test_another_name_of_the_file_is_called_in_the_same_way(attempt_of: Pair) -> None:
    """As where an exercise builds on others."""
    more = "\n\ndef two(x):\n    return 2 * x\n"
    attempt = attempt_of(SQUARE + more, CUBE + more)
    attempt.of("two")(X).agrees()


# What is raised, what is printed, arrays.

REFUSES = "class Empty(ValueError):\n    pass\n\n\ndef one(x):\n    if not x:\n        raise Empty('no number in the list')\n    return x[0]\n"
TALKS = "def one(x):\n    for one in x:\n        print('value', one, '')\n    print()\n"
ARRAY = "import numpy as np\n\n\ndef one(x):\n    return np.zeros((len(x), 2))\n"


def test_an_exception_is_judged_by_its_class_and_its_text(attempt_of: Pair) -> None:
    """By its own name, or by that of one it is derived from, as `pytest.raises`."""
    attempt = attempt_of(REFUSES, REFUSES)
    for exception in ("Empty", ValueError, Exception):
        failure = attempt.raises(exception, [], match=r"no \w+")
        assert failure is not None
        assert failure.type == "Empty"
    for exception, given, how, words in (
        (ValueError, [1], {}, "It should raise ValueError, and raised nothing."),
        (KeyError, [], {}, "It should raise KeyError, and raised Empty."),
        (
            *(ValueError, [], {"match": "list of"}),
            "What ValueError says should have list of in it, and is: no number in the list",
        ),
    ):
        assert str(wrong(attempt.raises, exception, given, **how)) == words


def test_what_is_printed_is_judged_without_blanks_at_the_ends(attempt_of: Pair) -> None:
    """By a text, or by what the solution prints."""
    attempt = attempt_of(TALKS, TALKS.replace("'value', one, ''", "'value', one"))
    attempt([1, 2]).prints("value 1\nvalue 2")
    attempt([1, 2]).prints()
    error = wrong(attempt([1]).prints, "Value 1")
    assert str(error) == "expected 'Value 1', received 'value 1'"
    assert error.difference.what == "what is printed"


def test_the_shape_of_an_array_is_judged_where_one_is_expected(attempt_of: Pair) -> None:
    """By the solution's kind of value, or by numpy's dtypes."""
    attempt_of(ARRAY, ARRAY)([1, 2, 3]).has_shape(3, 2)
    error = wrong(attempt_of(ARRAY, ARRAY)([1, 2, 3]).has_shape, 2, 2)
    assert str(error) == "expected the shape (2, 2), received (3, 2)"
    of_tensor = attempt_of(ARRAY, SQUARE)(torch.ones(3))
    assert str(wrong(of_tensor.has_shape, 3)).startswith("expected a tensor of shape")
    judge, array = Judge(), np.zeros(3)
    for dtype in (np.float64, "float64", np.dtype("float64"), np.floating, np.generic):
        judge.shape(array, (3,), dtype=dtype)
    refused: Any = (
        (array, np.int64, "expected int64, received float64"),
        (torch.ones(3), np.generic, "expected a numpy array of shape"),
        (array, None, "expected a tensor of shape"),
    )
    for value, other, words in refused:
        assert words in str(wrong(judge.shape, value, (3,), dtype=other))


def test_the_first_values_of_an_endless_generator_are_judged(attempt_of: Pair) -> None:
    """One after the other; what has all its values at once is told, unless it may stand for it."""
    count = "def one(start):\n    while True:\n        yield start\n        start += {step}\n"
    attempt = attempt_of(count.format(step=1), count.format(step=2))
    called = attempt(3)
    called.first(2).gives([3, 4])
    called.first(2).gives([5, 6])
    assert called.first(1, any_type=True).value == [7]
    assert "expected [1, 3], received [1, 2]" in str(wrong(attempt(1).first(2).agrees))
    listed = attempt_of("def one(n):\n    return [n, n + 1]", count.format(step=1))
    assert "as `yield` does, and returned a list of 2" in str(wrong(listed(1).first, 2))
    listed(1).first(2, any_type=True).agrees()


def test_an_exception_of_a_generator_ends_the_check_where_values_are_asked_for(
    attempt_of: Pair,
) -> None:
    """The call itself returns."""
    attempt = attempt_of("def one():\n    yield 1\n    raise ValueError('no more')", "")
    called = attempt()
    called.first(1).gives([1])
    with pytest.raises(StudentOutcome, match="no more"):
        called.first(1)


MEAN = """\
class one:
    def __init__(self, *numbers):
        self.numbers = list(numbers)

    @property
    def mean(self):
        return sum(self.numbers) / len(self.numbers)

    def more(self, number):
        return one(*self.numbers, number)


def make(*numbers):
    return one(*numbers)
"""


def test_properties_and_attributes_are_read(attempt_of: Pair) -> None:
    """Of an instance that is made, that a method returns, and that a function returns."""
    attempt = attempt_of(MEAN, MEAN.replace("/ len", "// len"))
    made = attempt.instance(1, 4)
    made.attribute("numbers").agrees()
    made.attribute("mean").gives(2.5)
    assert "expected 2, received 2.5" in str(wrong(made.attribute("mean").agrees))
    made(3, method="more").attribute("numbers").gives([1, 4, 3])
    returned = attempt.of("make")(2)
    returned.then("more", 4).attribute("mean").gives(3.0)
    assert call_lines(tuple(attempt.student.calls))[-1] == "model.mean"
    assert call_lines(tuple(attempt.student.calls[:-2])) == ["make(2)"]
    with pytest.raises(StudentOutcome, match="has no attribute 'median'"):
        returned.attribute("median")


WRITES = """\
from pathlib import Path


def one(name):
    Path("deep").mkdir()
    Path("deep", name).write_text(Path("in.txt").read_text() + "more  \\n")
"""


def test_a_file_that_is_written_is_judged(attempt_of: Pair) -> None:
    """In a folder of its own, with the files that were given; its text, or that there is none."""
    before = Path.cwd()
    attempt = attempt_of(WRITES, WRITES.replace("more", "more\\nand more"))
    called = attempt("a.txt", files={"in.txt": "text\n"})
    called.writes("deep/a.txt", "text\nmore\n")
    said = "line 3: expected 'and more', received no line"
    assert said in str(wrong(called.writes, "deep/a.txt"))
    assert called.answer.files == {"in.txt": b"text\n", "deep/a.txt": b"text\nmore  \n"}
    said = "write the file b.txt, and wrote deep/a.txt."
    assert said in str(wrong(called.writes, "b.txt", ""))
    assert Path.cwd() == before
    with pytest.raises(ValueError, match="no file below a working folder"):
        attempt("a", files={"../in.txt": ""})


def test_numpys_numbers_are_drawn_from_the_seed(attempt_of: Pair) -> None:
    """As Python's and torch's are, also where numpy is imported late."""
    text = (
        "def one():\n    import numpy, random\n    return numpy.random.rand(3), random.random()\n"
    )
    attempt = attempt_of(text, text)
    attempt(seed=3).agrees()
    first, again = (attempt(seed=seed).value[0].tolist() for seed in (3, 4))
    assert first != again


def test_frames_are_judged_column_by_column(attempt_of: Pair) -> None:
    """What is missing in both is equal; the first difference is told by column and row."""
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    frame = pd.DataFrame({"who": ["b", "a", "b"], "paid": [1.0, 2.0, None]})
    text = "def one(frame):\n    return frame.groupby('who')[['paid']].{}()\n"
    attempt = attempt_of(text.format("sum"), text.format("count"))
    attempt(frame).gives(pd.DataFrame({"paid": [2.0, 1.0]}, index=pd.Index(["a", "b"], name="who")))
    said = "at the column 'paid': at the row 'a': expected 1, received 2.0"
    assert wrong(attempt(frame).agrees).difference.summary == said
    lines = call_lines(tuple(attempt.student.calls))
    assert lines == ["one(pd.DataFrame({'who': ['b', 'a', 'b'], 'paid': [1.0, 2.0, nan]}))"]
    attempt(frame).keeps_arguments()


@beside_student
def third_of(make: Any, *args: Any, scale: int = 1) -> int:
    """The larger of the second and the third value, `scale` times."""
    from itertools import islice

    made = make(*args)
    made.send(None)
    return scale * max(islice(made, 2))


def test_a_helper_of_the_check_runs_beside_student_code(attempt_of: Pair) -> None:
    """It gets objects, returns what travels, and is the check's whatever the student's file defines."""
    count = "def one(n, step):\n    while True:\n        yield n\n        n += step\n"
    lie = "def third_of(*_, **__):\n    return 7\n\n\nislice = print\n"
    attempt = attempt_of(count + lie, count)
    attempt.through(third_of)(1, 1).gives(3)
    attempt.through(third_of)(1, 2, scale=2).agrees()
    attempt.through(third_of).raises(TypeError, 1, match="step")
    assert call_lines(tuple(attempt.student.calls)) == ["third_of(one, 1)"]
    missing = attempt_of("two = 2", count)
    with pytest.raises(StudentOutcome) as caught:
        missing.through(third_of)(1, 1)
    assert (caught.value.failure.kind, caught.value.failure.message) == ("missing", "one")
