"""Wrong values of a right shape: where they first differ, and what may lie behind them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.compare import compare

ATOL = 1e-5
NAN, INF = math.nan, math.inf
TABLE = torch.tensor([[0.5, -1.25, 2.0], [0.75, 3.0, -0.25]])
ROWS = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.25, 0.5, 0.25]])
"""Weights: each row sums to 1."""


def hints(actual, expected, axes=()):
    """The hints of a difference."""
    return compare(actual, expected, ATOL, axes)[1]


def sentence(actual, expected, **options):
    """The sentence of a difference."""
    return compare(actual, expected, ATOL, **options)[0]


def changed(tensor, **values):
    """A copy with other values, at positions written like `at_1_2`."""
    copy = tensor.clone()
    for position, value in values.items():
        copy[tuple(int(part) for part in position.split("_")[1:])] = value
    return copy


# Patterns.

ALL_THE_SAME = "All its rows are the same, and they should not be."
LAST_ROW = (
    "Every row is what the last one should be: is there one row only, changed again and again?"
)
CLOSE = (
    "All is close to what is expected: a number or a step on the way that is rounded, or a formula that "
    "gives nearly the same?"
)
SUM_TO_ONE = "Its rows sum to 1, and they should not."
SOME_SUM_TO_ONE = "All its rows sum to 1, and some of them should not."
SUMS = "Rows of it sum to {} instead of 1."
MASKED = torch.tensor([0.5, -INF, INF])
SHARES = torch.tensor([[0.25, 0.75, 0.0], [0.25, 0.25, 0.5]])


@pytest.mark.parametrize(
    ("actual", "expected", "hint"),
    [
        (torch.full((2,), 0.3333), torch.full((2,), 1 / 3), 4),
        ((TABLE / 3).round(decimals=2), TABLE / 3, 2),
        (1.3333, 4 / 3, 4),
    ],
)
def test_a_rounded_result_is_told_as_that(actual, expected, hint):
    """It is the expected one but for the digits left out."""
    told = f"It is the expected result rounded to {hint} digits after the point."
    assert told in hints(actual, expected)
    assert not any("rounded" in said for said in hints(expected + 0.1, expected))


LOW_SUMS = "Its values sum to a little less than 1: is something added to the sum that they are divided by?"
RELU = "It is 0 wherever the expected value is negative, as after a ReLU."
HIDDEN = (
    "It is minus infinity where 0 is expected: only a softmax, or an exponential, makes 0 of minus "
    "infinity."
)
SIGNED = torch.tensor([[0.5, -0.25], [-1.0, 2.0]])


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        (0.9995 * SHARES, SHARES, {LOW_SUMS}),
        (0.9995 * SHARES[0], SHARES[0], {LOW_SUMS}),
        (1.0005 * SHARES, SHARES, {CLOSE}),
        (0.9995 * TABLE, TABLE, {CLOSE}),
        (SIGNED.relu(), SIGNED, {RELU}),
        (torch.zeros(2, 2), -SIGNED.abs(), {RELU}),
        (SHARES.masked_fill(SHARES == 0, -torch.inf), SHARES, {HIDDEN}),
        (SHARES.masked_fill(SHARES == 0.5, -torch.inf), SHARES, set()),
    ],
)
def test_what_a_common_step_leaves_is_told(actual, expected, told):
    """And not of other values that are near."""
    assert {LOW_SUMS, RELU, HIDDEN, CLOSE} & {*hints(actual, expected)} == told


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        (TABLE[:1].expand(2, 3), TABLE, {ALL_THE_SAME}),
        (TABLE[1:].expand(2, 3), TABLE, {LAST_ROW}),
        (torch.zeros(2, 3), TABLE, set()),
        (torch.ones(3, 3) > 0, torch.ones(3, 3).tril() > 0, {ALL_THE_SAME}),
        (torch.softmax(TABLE, dim=-1), TABLE, {SUM_TO_ONE}),
        (SHARES, SHARES * torch.tensor([[1.0], [0.0]]), {SOME_SUM_TO_ONE}),
        (TABLE + 1, TABLE, set()),
        (torch.eye(3)[:2], TABLE, set()),
        (TABLE[:1].expand(2, 3), TABLE[1:].expand(2, 3), set()),
    ],
)
def test_what_all_rows_have_in_common_is_told(actual, expected, told):
    """Only where the expected rows have it not."""
    assert {ALL_THE_SAME, LAST_ROW, SUM_TO_ONE, SOME_SUM_TO_ONE} & {
        *hints(actual, expected)
    } == told


# Right values, and where they differ.


@pytest.mark.parametrize(
    ("actual", "expected", "difference"),
    [
        # The tolerance is absolute, and its bound counts as right.
        (TABLE + 9e-6, TABLE, None),
        (
            torch.tensor([1e6 + 1, 1.0]),
            torch.tensor([1e6, 1.0]),
            "received 1000001.0000",
        ),
        # Masked scores hold minus infinity on both sides; NaN is right only where it is expected.
        (MASKED.clone(), MASKED, None),
        (
            -MASKED,
            MASKED,
            "3 of 3 values differ, the first at [0]: expected 0.5000, received -0.5000",
        ),
        (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), None),
        (torch.tensor([NAN, NAN]), torch.tensor([NAN, 1.0]), "[1]: expected 1.0000, received nan"),
        (torch.tensor([0.0, 1.0]), torch.tensor([NAN, 1.0]), "[0]: expected nan, received 0.0000"),
        # The first in reading order; a number has neither a count nor a place.
        (
            changed(TABLE, at_1_0=9.0, at_0_2=0.001),
            TABLE,
            "2 of 6 values differ, the first at [0, 2]: expected 2.0000, received 0.001",
        ),
        (torch.tensor(1.0), torch.tensor(2.0), "expected 2.0000, received 1.0000"),
        (torch.tensor([1.0]), torch.tensor([2.0]), "expected 2.0000, received 1.0000"),
        # A difference in the fifth decimal is shown.
        (torch.tensor([0.95443, 1.0]), torch.tensor([0.9544, 1.0]), "0.95440, received 0.95443"),
    ],
)
def test_values_are_right_within_the_tolerance(actual, expected, difference):
    """Else how many differ, and the first of them in reading order."""
    found = compare(actual, expected, ATOL)
    assert (found is None) == (difference is None)
    assert found is None or found[0].endswith(difference)
    assert compare(torch.tensor([1.5]), torch.tensor([1.0]), 0.5) is None


@pytest.mark.parametrize("right", [INF, -INF])
@pytest.mark.parametrize("value", [0.0, 3.5, -1e30, NAN])
def test_no_number_is_near_an_infinity(right, value):
    """A relative tolerance of it would be infinite."""
    assert compare(value, right) is not None
    assert compare(torch.tensor([1.0, value]), torch.tensor([1.0, right])) is not None
    assert compare(complex(value, 1), complex(right, 1)) is not None


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_every_dtype_is_compared_by_its_values(dtype):
    """Half precision, whole numbers and truth values are compared like floats."""
    right = torch.tensor([[1, 0], [1, 1]]).to(dtype)
    wrong = torch.tensor([[1, 0], [0, 1]]).to(dtype)
    assert compare(right.clone(), right, ATOL) is None
    shown = {torch.bool: ("True", "False"), torch.int64: ("1", "0")}
    expected, received = shown.get(dtype, ("1.0000", "0.0000"))
    said = f"1 of 4 values differ, the first at [1, 0]: expected {expected}, received {received}"
    assert sentence(wrong, right) == said


def test_complex_values_are_compared_in_both_parts():
    """A wrong imaginary part is a difference, shown without hints for real numbers."""
    right = torch.tensor([1 + 1j, 2.0 + 0j])
    said, told = compare(torch.tensor([1 + 1j, 2.0 + 0.5j]), right, ATOL)
    assert said.endswith("first at [1]: expected 2.0000+0.0000j, received 2.0000+0.5000j")
    assert told == ()


@pytest.mark.parametrize(
    ("axes", "place"), [(("token", "feature"), "token 1, feature 2"), (("token",), "[1, 2]")]
)
def test_axes_that_have_names_are_described_by_them(axes, place):
    """A position reads as the check names its axes; as numbers where names do not fit."""
    told = sentence(changed(TABLE, at_1_2=9.0), TABLE, axes=axes)
    assert told.startswith(f"1 of 6 values differ, the first at {place}: ")


# What may lie behind it.

RATIO = "Every value is {} times the expected one"
SQUARE, SYMMETRIC = torch.tensor([[0.5, 1.5], [2.5, 3.5]]), torch.tensor([[0.5, 1.5], [1.5, 3.5]])
TRANSPOSED = "It is the expected result transposed."
ONES = torch.ones(2, 5)
OTHER_AXIS = torch.tensor([[0.5, 0.25, 0.125], [0.25, 0.25, 0.125], [0.25, 0.5, 0.75]])
INFINITE = "It contains an infinity."


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        # A scale that is missing or wrong shows as one ratio everywhere, often a square root.
        (TABLE * 2, TABLE, (f"{RATIO.format(2)}.",)),
        (TABLE * -3, TABLE, (f"{RATIO.format(-3)}.",)),
        (TABLE * 2**0.5, TABLE, (f"{RATIO.format(1.414)}, the square root of 2.",)),
        (TABLE * 3**-0.5, TABLE, (f"{RATIO.format(0.5774)}, 1 / the square root of 3.",)),
        (TABLE * 12.5, TABLE, (f"{RATIO.format(12.5)}.",)),
        (TABLE / 12.5, TABLE, (f"{RATIO.format(0.08)}.",)),
        (TABLE.double() * 2.0**600, TABLE.double(), (f"{RATIO.format('4.15e+180')}.",)),
        (-TABLE, TABLE, ("It has the opposite sign.",)),
        (TABLE + 2e-5, TABLE, (CLOSE,)),
        (TABLE + 9e-5, TABLE, (CLOSE,)),
        (changed(TABLE * 2, at_0_0=5.0), TABLE, ()),
        (torch.tensor([4.0, 0.0]), torch.tensor([2.0, 0.0]), ()),
        (torch.zeros(2, 3), TABLE, ("All its values are 0.",)),
        # What a larger eps leaves of a variance is near 1, and nowhere by the same factor.
        (0.9986 * ONES, ONES, (f"{RATIO.format(0.9986)}.",)),
        (torch.linspace(0.998, 1.0, 10).reshape(2, 5), ONES, ()),
        (SQUARE.mT, SQUARE, (TRANSPOSED,)),
        (torch.stack([SQUARE, SQUARE + 1]).mT, torch.stack([SQUARE, SQUARE + 1]), (TRANSPOSED,)),
        (changed(SYMMETRIC, at_0_0=0.50005), SYMMETRIC, (CLOSE,)),
        # Weights sum to 1 in each row; a softmax along the wrong axis makes the columns do so.
        (changed(ROWS, at_0_0=0.0, at_2_1=1.0), ROWS, (SUMS.format("0.5000, 1.5000"),)),
        (
            torch.tensor([0.5, 0.25]),
            torch.tensor([0.5, 0.5]),
            ("Its values sum to 0.7500 instead of 1.",),
        ),
        (
            *(OTHER_AXIS, ROWS),
            (
                SUMS.format("0.8750, 0.6250, 1.5000"),
                "Its columns sum to 1: was it computed along another axis?",
            ),
        ),
        (ROWS.flip(0), ROWS, ("The expected values are there, in reverse order by row.",)),
        (changed(TABLE, at_0_1=INF), TABLE, (INFINITE,)),
        (changed(TABLE, at_0_1=-INF), TABLE, (INFINITE,)),
        # Whose place a tensor has taken.
        (
            *({"key": TABLE, "value": TABLE}, {"key": TABLE + 1, "value": TABLE}),
            ("It is what is expected at 'value'.",),
        ),
        ((TABLE, TABLE), (TABLE, TABLE * 3), ("It is what is expected at position 0.",)),
        ([TABLE, TABLE * 3], [TABLE * 3, TABLE], ("It is what is expected at position 1.",)),
    ],
)
def test_what_may_lie_behind_a_difference_is_told(actual, expected, told):
    """Where it is true of every value, and hardly chance."""
    assert hints(actual, expected) == told


def test_what_makes_nan_is_told():
    """It comes from 0 / 0 or from a softmax of nothing."""
    (hint,) = hints(changed(TABLE, at_0_1=NAN), TABLE)
    assert hint.startswith("It contains NaN (not a number), as 0 / 0, infinity / infinity, ")


def test_of_many_rows_the_wrong_one_is_shown():
    """The sums shown are not all 1 while the sentence says that they are not."""
    many = ROWS.repeat(2, 1)
    (hint,) = hints(changed(many, at_5_0=0.75), many)
    assert hint.startswith("Rows of it sum to ")
    assert "1.5000" in hint


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        *((80, 20, "4"), (2016, 1680, "6/5"), (20, 80, "1/4"), (0.005, 4.0, "0.00125")),
        (torch.tensor(1.9088), torch.tensor(0.9544), "2"),
        (torch.tensor([0.5]), torch.tensor([2.0]), "0.25"),
        (torch.tensor(17.0), torch.tensor(1.0), "17"),
        *((-20, 20, "It has the opposite sign."), (-3, 3, "It has the opposite sign.")),
        *((769, 768, "It is 1 more than expected."), (1023, 1024, "It is 1 less than expected.")),
        *((1679, 1687, ""), (5, 0, ""), (2, 1, ""), (48, 16, ""), (10**40, 20, ""), (True, 20, "")),
        *((torch.tensor(number), torch.tensor(1.0), "") for number in (1.45, 17.001, 1001.0)),
        *((torch.tensor(number), torch.tensor(1.0), "") for number in (-2.0, 0.0)),
        (torch.tensor(1.0), torch.tensor(0.0), ""),
        (torch.tensor(1e300, dtype=torch.float64), torch.tensor(1e-2).double(), ""),
        (torch.tensor([3, 6]), torch.tensor([1, 2]), ""),
    ],
)
def test_a_single_number_has_a_ratio_where_that_is_a_whole_one(actual, expected, told):
    """Any two numbers have some ratio: one that is hardly chance says more than the numbers."""
    is_ratio = told and " " not in told
    told = f"It is {told} times the expected value." if is_ratio else told
    assert hints(actual, expected) == ((told,) if told else ())


SCORES = torch.tensor([[1.0, -2.0, 0.5], [0.3, 0.1, -1.2]])
FUTURE = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]).bool()


@pytest.mark.parametrize("ratio", [2.0, 0.5, -1.0, 1.05])
def test_weights_of_other_scores_are_told(ratio):
    """A forgotten root, a factor too many: what a softmax gives hides by which factor scores are off."""
    sentence = f"It is what a softmax gives whose input is {ratio:.4g} times the right one."
    assert sentence in hints((SCORES * ratio).softmax(-1), SCORES.softmax(-1))
    causal = torch.cat([SCORES, SCORES[:1] + 1])
    one, other = (s.masked_fill(FUTURE, -torch.inf).softmax(-1) for s in (causal * ratio, causal))
    assert sentence in hints(one, other)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (SCORES.softmax(-1).flip(0), SCORES.softmax(-1)),
        ((SCORES * torch.tensor([[1.0], [2.0]])).softmax(-1), SCORES.softmax(-1)),
        (SCORES[0, :2].mul(3).softmax(-1), SCORES[0, :2].softmax(-1)),
        (torch.eye(3), SCORES.repeat(2, 1)[:3].softmax(-1)),
    ],
    ids=["other rows", "a factor for each row", "two weights fit any factor", "no softmax"],
)
def test_other_weights_are_not_those_of_scores_times_a_number(actual, expected):
    """The sentence is said where it is true of every row, and could be untrue."""
    assert not any("softmax gives" in hint for hint in hints(actual, expected))


def test_two_numbers_have_a_ratio_where_it_is_hardly_chance():
    """A whole number, or one over that."""
    told = ("It is 0.5 times the expected value.",)
    assert compare(1.0, 2.0, ATOL) == ("expected 2, received 1", told)
    assert compare(0.7, 0.5, ATOL) == ("expected 0.5, received 0.7", ())


# How values lie to the expected ones.

WAVE = torch.arange(20.0).reshape(5, 4).sin()


def with_rows(*rows, factor=3.0):
    """The expected values, some rows of them multiplied."""
    changed = WAVE.clone()
    for row in rows:
        changed[row] *= factor
    return changed


@pytest.mark.parametrize(
    ("actual", "hint"),
    [
        (WAVE * 0, "All its values are 0."),
        (WAVE + 2, "Every value is 2 more than the expected one."),
        (WAVE - 0.5, "Every value is 0.5 less than the expected one."),
        (WAVE.flip(0), "The expected values are there, in reverse order by token."),
        (
            WAVE[:, [1, 0, 2, 3]],
            "The expected values are there, in another order by feature: feature 0 has those "
            "of feature 1.",
        ),
        (
            torch.cat([WAVE[:1] * 2, WAVE[:-1]]),
            "Each token but the first has the values expected of the one before it.",
        ),
        (
            torch.cat([WAVE[1:], WAVE[:1] * 2]),
            "Each token but the last has the values expected of the one after it.",
        ),
        (WAVE[:, :1].expand(5, 4), "Its values are the same at every feature, and should not be."),
        (with_rows(4), "It differs only at token 4."),
        (with_rows(0, 4), "It differs only at token 0, token 4."),
        (with_rows(1, 2, 3), "It is right only at token 0, token 4."),
    ],
)
def test_how_values_lie_to_the_expected_ones_is_said(actual, hint):
    """One sentence: what is exchanged, shifted, the same, or wrong in a part only."""
    assert hints(actual, WAVE, ("token", "feature")) == (hint,)


def test_places_without_names_are_rows_and_columns_of_a_matrix():
    """With more axes nothing is said of places that have no name."""
    assert hints(with_rows(4), WAVE) == ("It differs only at row 4.",)
    assert hints(with_rows(4)[None], WAVE[None]) == ()


def test_nothing_is_said_of_values_that_have_nothing_in_common():
    """Nor is a part called right where single values are wrong in others."""
    changed = WAVE.clone()
    changed[[0, 1, 2], [0, 1, 2]] = 9.0
    for other in (WAVE.cos(), changed):
        assert hints(other, WAVE, ("token", "feature")) == ()


# Whatever is returned.

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**4_000])
    | st.floats()
    | st.text(max_size=5)
    | st.builds(Unsupported, st.text(max_size=5))
    | st.builds(RemoteObject, st.integers(0, 2), st.sampled_from(["class", "module"]), st.text())
)
DTYPES = st.sampled_from([torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64])


@st.composite
def tensors(draw):
    """Small tensors of any shape, dtype and value, empty ones among them."""
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    numbers = st.sampled_from([0.0, 1.0, -2.5, 1e-30, 1e30, 1e300, NAN, INF, -INF])
    count = math.prod(shape)
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    dtype = draw(DTYPES)
    values = values if dtype.is_floating_point else [value == 1.0 for value in values]
    return torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)


VALUES = st.recursive(
    PLAIN | tensors(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=200)
@given(VALUES, VALUES, st.booleans())
def test_any_result_is_compared_without_a_fault(actual, expected, any_dtype):
    """Whatever comes back, the comparison ends in a sentence or in nothing."""
    found = compare(actual, expected, ATOL, any_dtype=any_dtype)
    assert found is None or (isinstance(found[0], str) and isinstance(found[1], tuple))


@settings(max_examples=100)
@given(VALUES)
def test_any_value_equals_itself(value):
    """There is no difference between a value and itself."""
    assert compare(value, value, ATOL) is None


@settings(max_examples=100)
@given(tensors(), tensors())
def test_tensors_of_different_shapes_are_never_equal(one, other):
    """No values, no tolerance and no dtype make up for a shape."""
    found = compare(one, other, INF, any_dtype=True)
    assert found is not None or one.shape == other.shape
