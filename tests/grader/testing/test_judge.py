"""The one function that checks hand their values to, and the exception it ends them with."""

import math
from collections import deque
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from grader.course.printed_tensors import Printed
from grader.sandbox.kinds import EnumMember, Record
from grader.sandbox.wire import Unsupported
from grader.testing.compare import Difference
from grader.testing.judge import Judge, Mismatch
from grader.testing.roles import Roles
from grader.testing.student import Call

CALLS = [Call("dot", (1, 2), {})]


def mismatch(judge, *args, **kwargs):
    """The exception that a judgement ends in."""
    with pytest.raises(Mismatch) as caught:
        judge(*args, **kwargs)
    return caught.value


def test_what_is_right_is_written_down_and_nothing_raised():
    """Every judged value is remembered, right or wrong: mistakes are recognised by them."""
    judge = Judge(CALLS)
    value = torch.ones(2)
    judge(value, torch.ones(2))
    judge.shape(value, (2,))
    judge.that(True, "It holds", about=7)
    mismatch(judge, 3, 4)
    assert judge.judged == [value, "a tensor of shape (2,)", (True, 7), 3]


def test_a_mismatch_carries_the_difference_and_the_calls():
    """What a message is made of comes with the exception, as an assertion that failed."""
    error = mismatch(Judge(CALLS), 3, 4, what="the count")
    assert isinstance(error, AssertionError)
    assert str(error) == "expected 4, received 3"
    assert error.difference == Difference("the count", 4, 3, "expected 4, received 3")
    assert error.calls == tuple(CALLS)


RETURN = "Does your function end in a `return`?"


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (Call("dot", (), {}), RETURN),
        (Call("dot", (), {}, body="unindented"), "Is your code indented below `def`?"),
        (Call("dot", (), {}, body="empty"), "Nothing is written in dot yet."),
        (
            Call("dot", (), {}, printed="tensor([1.0000, 0.9544], grad_fn=<MulBackward0>)\n"),
            "It printed the right value: return it.",
        ),
        (Call("dot", (), {}, printed="1.0 0.9"), RETURN),
        (Call("dot", (), {}, printed="started"), RETURN),
        (Call("Gate", (3, 2), {}, instance=1), None),
    ],
)
def test_why_nothing_was_returned_is_said_where_it_is_known(call, hint):
    """An empty body, one that stands unindented below it, a value that was only printed."""
    judge, hints = Judge([call]), (hint,) if hint else ()
    assert mismatch(judge, None, torch.tensor([1.0, 0.9544])).difference.hints == hints
    assert mismatch(judge, None, 3, what="the bias").difference.hints == ()
    if hint is None or hint == RETURN:
        assert mismatch(judge, None, 3).difference.hints == hints


def test_a_shape_of_nothing_is_asked_for_a_return_as_well():
    """A value that was printed may be right there, as its numbers are as many as expected."""
    assert mismatch(Judge().shape, None, (2,)).difference.hints == (RETURN,)
    named = mismatch(Judge().shape, None, (2,), what="the bias").difference
    assert (named.what, named.hints) == ("the bias", ())
    judge = Judge([Call("dot", (), {}, printed="tensor(0.9)")])
    hint = "It printed a value: return it instead."
    assert mismatch(judge.shape, None, ()).difference.hints == (hint,)


CAPITALS = "Only the capital letters differ, and they count."


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        ({"W": "loaded", "V.bias": "missing"}, "There is no parameter V.bias."),
        ({"W": "ambiguous"}, "There is more than one parameter W."),
        ({"W": "cannot be set"}, "The parameter W does not take a value."),
        ({"W": "wrong shape (2, 3)"}, "The parameter W has another shape: (2, 3)."),
    ],
)
@pytest.mark.parametrize("has_all", [True, False])
def test_a_parameter_that_took_no_value_is_told_in_words(report, sentence, has_all):
    """Whether the whole report was judged or only what is wrong in it."""
    expected = dict.fromkeys(report, "loaded") if has_all else {}
    found = {name: what for name, what in report.items() if has_all or what != "loaded"}
    assert str(mismatch(Judge(CALLS), found, expected, what="the parameters")) == sentence


@pytest.mark.parametrize(
    ("held", "missing", "sentence"),
    [
        (
            *(["heads.0", "heads.1"], "heads.0.W_query.weight"),
            "What heads holds is in a plain Python list, where a module does not find it; in an "
            "`nn.ModuleList` it does.",
        ),
        (
            *(["W_query", "W_key"], "W_query.weight"),
            "W_query is a tensor; the exercise asks for a layer, such as nn.Linear.",
        ),
        (
            *(["h.1.ln_1.weight", "h.0.norm_1.weight", "h.0.ln_2.weight"], "h.0.norm1.weight"),
            "You have h.0.norm_1; the exercise calls it h.0.norm1.",
        ),
    ],
    ids=["in a list", "no layer", "level by level"],
)
def test_what_is_there_in_place_of_a_parameter_is_told(held, missing, sentence):
    """What stands elsewhere is no other name of it."""
    judge = Judge(CALLS, held=held)
    assert str(mismatch(judge, {}, {missing: (3, 2)}, what="the parameters")) == sentence
    told = mismatch(judge.that, False, "Some are missing", about={missing: "missing"})
    assert str(told) == sentence


def test_a_plain_tensor_is_no_parameter():
    """It has the name, and is none of those that a module finds."""
    judge = Judge(CALLS, held=["bias", "weight"])
    told = str(mismatch(judge, {"bias": (3,)}, {"weight": (3,), "bias": (3,)}, what="shapes"))
    assert told.startswith("`weight` is a tensor and no parameter; the exercise asks for an nn.")


def test_layers_of_other_names_are_told_beside_the_missing_ones():
    """In the module that lacks them; what stands in another one is not proposed."""
    found = {f"h.0.mlp.layers.{n}.weight": (3,) for n in (0, 2)} | {
        "h.0.attn.out_proj.weight": (3,)
    }
    expected = {"h.0.mlp.c_fc.weight": (3,), "h.0.mlp.c_proj.weight": (3,)}
    expected |= {"h.0.attn.out_proj.weight": (3,)}
    judge = Judge(CALLS, held=list(found), roles=Roles({"out": ("out", "proj")}))
    error = mismatch(judge, found, expected, what="shapes")
    assert str(error) == "'h.0.mlp.c_fc.weight' is missing"
    assert error.difference.hints == (
        "Found instead, and not expected: 'h.0.mlp.layers.0.weight', 'h.0.mlp.layers.2.weight'",
    )


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (["Wq", "Wk"], "You have Wq; the exercise calls it W_query."),
        (["W_qeury"], "You have W_qeury; the exercise calls it W_query."),
        (["Wq.weight", "W_key.weight"], "You have Wq; the exercise calls it W_query."),
        (["w_query"], f"You have w_query; the exercise calls it W_query. {CAPITALS}"),
        (["a", "_", "W_key"], "at 'W_query': expected (3, 2), received None"),
        ([], "at 'W_query': expected (3, 2), received None"),
        (
            ["W_query.weight", "W_query.bias"],
            "W_query is a layer; the exercise asks for a parameter, an nn.Parameter.",
        ),
    ],
)
def test_a_parameter_by_another_name_is_told_once(held, sentence):
    """The first one is enough, and nothing else is said."""
    judge = Judge(CALLS, held=held)
    found = {"W_query": None, "W_key": None}
    assert str(mismatch(judge, found, dict.fromkeys(found, (3, 2)), what="shapes")) == sentence
    other = "Some are missing" if sentence.startswith("at ") else sentence
    told = mismatch(judge.that, False, "Some are missing", about=dict.fromkeys(found, "missing"))
    assert str(told) == other


def test_a_printed_tensor_brings_its_tolerance_and_its_source():
    """A printed figure is right within half a unit of its last digit."""
    printed = Printed("T99", "value", ("000 cell 1", "001 line 2", "3"), "", torch.ones(2))
    judge = Judge()
    judge(torch.tensor([1.0, 1.00005]), printed)
    error = mismatch(judge, torch.tensor([1.0, 1.0006]), printed)
    assert error.difference.source == "the printed ones"
    assert torch.equal(error.difference.expected, torch.ones(2))
    assert judge.covered == ["T99", "T99"]
    assert mismatch(judge, torch.tensor([1.0, 1.00005]), printed, atol=1e-6).difference.source


def test_a_shape_is_judged_without_values():
    """Any values of the right shape and dtype will do, NaN among them."""
    judge = Judge()
    judge.shape(torch.tensor([math.nan, 1e30]), (2,))
    judge.shape(torch.ones(2, dtype=torch.int64), (2,), dtype=None)
    judge.shape(torch.ones(2, dtype=torch.bool), (2,), dtype=torch.bool)
    error = mismatch(judge.shape, torch.ones(2, dtype=torch.int64), (2,))
    assert str(error).endswith("is not: expected torch.float32, received torch.int64")
    assert (error.difference.what, error.difference.expected) == ("", None)
    assert str(mismatch(judge.shape, [1], (2,))).endswith("of shape (2,), received a list of 1")


def test_a_property_that_does_not_hold_is_described_by_its_sentence():
    """The check's own sentence says what is wrong."""
    judge = Judge()
    error = mismatch(judge.that, False, "The future leaks", about=torch.ones(1))
    assert error.difference == Difference("", None, error.difference.actual, "The future leaks")
    assert judge.judged[-1][0] is False


# How far off numbers may be, and of which kind values are: as pytest's approx, and as Python's `type`.

NAN = math.nan
RIGHT = [
    (1e-7, 1.000001e-7, {}),
    (1e15, 1e15 + 2, {}),
    (0.5, 0.500004, {}),
    (1e-9, 0.0, {}),
    (3.0, 3.2, {"rtol": 0.1}),
    (0.0, 1e-13, {"rtol": 0.1}),
    (1e-7, 2e-7, {"atol": 1e-5}),
    (1, 1.0, {"any_type": True}),
    ([1, 2], (1, 2), {"any_type": True}),
    ((1, 2), [1, 2], {"any_type": True}),
    (torch.tensor(3), 3, {"any_type": True}),
    (NAN, NAN, {"equal_nan": True}),
    ([NAN], [NAN], {"equal_nan": True}),
    (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), {"equal_nan": True}),
    (torch.tensor([1e6 + 1.0]), torch.tensor([1e6]), {}),
    # what single precision leaves of cancelled digits
    (torch.tensor([3e-6]), torch.tensor([1e-7]), {}),
    (np.array([1e-7 + 1e-13, 2e-7]), np.array([1e-7, 2e-7]), {}),
]
WRONG = [
    (1e-7, 2e-7, {}, "expected 2e-07, received 1e-07"),
    (1e-4, 0.0, {}, "expected 0, received 0.0001"),
    (3.0, 3.2, {"atol": 0.1}, "expected 3.2, received 3"),
    (3.0, 3.2, {"rtol": 0.01}, "expected 3.2, received 3"),
    (1e-7, 0.0, {"rtol": 0.01}, "expected 0, received 1e-07"),
    (1, 1.0, {}, "the value is right, its type is not: expected float, received int"),
    ([1, 2], (1, 2), {}, "the value is right, its type is not: expected tuple, received list"),
    ((1, 2), [1, 2], {}, "the value is right, its type is not: expected list, received tuple"),
    (
        *({"a": [(1.5, 2)]}, {"a": [[1.5, 2]]}, {}),
        "at 'a': at position 0: the value is right, its type is not: expected list, received tuple",
    ),
    (1.0, 1, {"any_type": True}, "expected 1, received 1.0"),
    (True, 1, {"any_type": True}, "expected 1, received True"),
    (NAN, NAN, {}, "expected nan, received nan"),
    (
        *(torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN]), {}),
        "1 of 2 values differ, the first at [1]: expected nan, received nan",
    ),
    (
        *(np.array([1e-7, 2e-7]), np.array([2e-7, 2e-7]), {}),
        "1 of 2 values differ, the first at [0]: expected 2e-07, received 1e-07",
    ),
    (torch.tensor([10**7 + 1]), torch.tensor([10**7]), {}, "expected 1e+07, received 1e+07"),
]


@pytest.mark.parametrize(("actual", "expected", "how"), RIGHT, ids=str)
def test_what_is_close_and_of_its_kind_is_right(actual, expected, how) -> None:
    """A value may be off by a share of itself; what else does not count, the check says."""
    Judge()(actual, expected, **how)


@pytest.mark.parametrize(("actual", "expected", "how", "summary"), WRONG, ids=str)
def test_what_is_far_or_of_another_kind_is_wrong(actual, expected, how, summary) -> None:
    """Whole numbers have no tolerance."""
    found = mismatch(Judge(), actual, expected, **how).difference.summary
    assert found.replace("10000001", "1e+07").replace("10000000", "1e+07") == summary


def test_an_expected_nan_is_told_how_it_is_meant() -> None:
    """A student reads it as well, so it names nothing of the check's."""
    for value in (NAN, torch.tensor([NAN])):
        (hint,) = mismatch(Judge(), value, value).difference.hints
        assert hint.startswith("Both are NaN, which is equal to nothing, ")


def test_further_kinds_are_compared_whole_or_part_by_part() -> None:
    """Exact numbers exactly; complex ones with the tolerance of others; named fields one by one."""
    point, member = Record("Point", {"x": 0.5}), EnumMember("Light", "RED", "r")
    for value in (Decimal("0.10"), Fraction(1, 3), range(3), date(2026, 1, 1), member, point):
        Judge()(value, value)
    Judge()(1 + 1e-9j, 1 + 0j)
    Judge()(deque([0.5]), deque([0.5 + 1e-9]))
    for actual, expected, words in (
        (Decimal("0.1"), Decimal("0.2"), "expected Decimal('0.2'), received Decimal('0.1')"),
        (0.1, Decimal("0.1"), "expected Decimal('0.1'), received 0.1"),
        (date(2026, 1, 2), date(2026, 1, 1), None),
        ([0, 1, 2], range(3), "expected range(0, 3), received a list of 3"),
        (
            Unsupported("generator"),
            range(3),
            "expected range(0, 3), received a value of type generator",
        ),
        (1 + 2j, 1 + 0j, "expected (1+0j), received (1+2j)"),
        (Record("Point", {"x": 0.7}), point, "at 'x': expected 0.5, received 0.7"),
        (Record("Spot", {"x": 0.5}), point, "expected Point, received Spot"),
        (EnumMember("Light", "GREEN", "g"), member, "expected Light.RED, received Light.GREEN"),
        (deque([1, 2]), deque([1]), "expected [1], received [1, 2]"),
    ):
        summary = mismatch(Judge(), actual, expected).difference.summary
        assert words is None or summary == words
