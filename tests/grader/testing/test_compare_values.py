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


def hints(actual, expected, atol=ATOL):
    """The hints of a difference."""
    return compare(actual, expected, atol)[1]


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


# Right values.


def test_values_within_the_tolerance_are_right():
    """The tolerance is absolute, and its bound counts as right."""
    assert compare(TABLE + 9e-6, TABLE, ATOL) is None
    assert compare(torch.tensor([1.5]), torch.tensor([1.0]), 0.5) is None
    assert compare(torch.tensor([1e6 + 1.0]), torch.tensor([1e6]), ATOL) is not None


@pytest.mark.parametrize("right", [INF, -INF])
@pytest.mark.parametrize("value", [0.0, 3.5, -1e30, NAN])
def test_no_number_is_near_an_infinity(right, value):
    """A relative tolerance of it would be infinite."""
    assert compare(value, right) is not None
    assert compare(torch.tensor([1.0, value]), torch.tensor([1.0, right])) is not None
    assert compare(complex(value, 1), complex(right, 1)) is not None


def test_infinities_of_one_sign_are_equal():
    """Masked scores hold minus infinity on both sides."""
    masked = torch.tensor([0.5, -INF, INF])
    assert compare(masked.clone(), masked, ATOL) is None
    assert sentence(-masked, masked) == (
        "3 of 3 values differ, the first at [0]: expected 0.5000, received -0.5000"
    )


def test_not_a_number_is_right_only_where_it_is_expected():
    """NaN is never within a tolerance of a number."""
    expected = torch.tensor([NAN, 1.0])
    assert compare(expected.clone(), expected, ATOL) is None
    assert sentence(torch.tensor([NAN, NAN]), expected) == (
        "1 of 2 values differ, the first at [1]: expected 1.0000, received nan"
    )
    assert sentence(torch.tensor([0.0, 1.0]), expected) == (
        "1 of 2 values differ, the first at [0]: expected nan, received 0.0000"
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_every_dtype_is_compared_by_its_values(dtype):
    """Half precision, whole numbers and truth values are compared like floats."""
    right = torch.tensor([[1, 0], [1, 1]]).to(dtype)
    wrong = torch.tensor([[1, 0], [0, 1]]).to(dtype)
    assert compare(right.clone(), right, ATOL) is None
    shown = {torch.bool: ("True", "False"), torch.int64: ("1", "0")}
    expected, received = shown.get(dtype, ("1.0000", "0.0000"))
    assert sentence(wrong, right) == (
        f"1 of 4 values differ, the first at [1, 0]: expected {expected}, received {received}"
    )


def test_complex_values_are_compared_in_both_parts():
    """A wrong imaginary part is a difference, shown without hints for real numbers."""
    right = torch.tensor([1 + 1j, 2.0 + 0j])
    assert compare(torch.tensor([1 + 1j, 2.0 + 0.5j]), right, ATOL) == (
        "1 of 2 values differ, the first at [1]: expected 2.0000+0.0000j, received 2.0000+0.5000j",
        (),
    )


# Where they differ.


def test_the_first_difference_is_described_by_its_position():
    """The number of wrong values, and the first of them in reading order."""
    wrong = changed(TABLE, at_1_0=9.0, at_0_2=0.001)
    assert compare(wrong, TABLE, ATOL) == (
        "2 of 6 values differ, the first at [0, 2]: expected 2.0000, received 0.001",
        (),
    )


def test_axes_that_have_names_are_described_by_them():
    """A position reads as the check names its axes; as numbers where names do not fit."""
    wrong = changed(TABLE, at_1_2=9.0)
    end = "expected -0.2500, received 9.0000"
    assert sentence(wrong, TABLE, axes=("token", "feature")) == (
        f"1 of 6 values differ, the first at token 1, feature 2: {end}"
    )
    assert sentence(wrong, TABLE, axes=("token",)) == (
        f"1 of 6 values differ, the first at [1, 2]: {end}"
    )


def test_a_single_value_has_no_place():
    """A number is shown without counting and without a position."""
    assert sentence(torch.tensor(1.0), torch.tensor(2.0)) == "expected 2.0000, received 1.0000"
    assert sentence(torch.tensor([1.0]), torch.tensor([2.0])) == (
        "expected 2.0000, received 1.0000"
    )


def test_two_numbers_said_to_differ_are_shown_differently():
    """A difference in the fifth decimal is shown with as many decimals as it takes."""
    text = sentence(torch.tensor([0.95443, 1.0]), torch.tensor([0.9544, 1.0]))
    expected, received = text.partition(": expected ")[2].split(", received ")
    assert expected != received


# What may lie behind it.


@pytest.mark.parametrize(
    ("ratio", "hint"),
    [
        (2.0, "Every value is 2 times the expected one."),
        (0.25, "Every value is 0.25 times the expected one."),
        (-3.0, "Every value is -3 times the expected one."),
        (2**0.5, "Every value is 1.414 times the expected one, the square root of 2."),
        (3**-0.5, "Every value is 0.5774 times the expected one, 1 / the square root of 3."),
        (8**0.5, "Every value is 2.828 times the expected one, the square root of 8."),
        (12.5, "Every value is 12.5 times the expected one."),
        (1 / 12.5, "Every value is 0.08 times the expected one."),
        (-1.0, "It has the opposite sign."),
    ],
)
def test_a_constant_ratio_is_named(ratio, hint):
    """A scale that is missing or wrong shows as one ratio everywhere, often a square root."""
    assert hints(TABLE * ratio, TABLE) == (hint,)


@pytest.mark.parametrize("offset", [2e-5, 5e-5, 9e-5])
def test_values_a_little_off_have_no_ratio(offset):
    """A small difference is not called 1 times the expected one."""
    assert hints(TABLE + offset, TABLE) == (CLOSE,)


def test_ratios_that_differ_are_not_named():
    """One value of another ratio is enough to say nothing."""
    assert hints(changed(TABLE * 2, at_0_0=5.0), TABLE) == ()


def test_a_ratio_is_not_made_of_one_value():
    """Two values at least make a ratio."""
    assert hints(torch.tensor([4.0, 0.0]), torch.tensor([2.0, 0.0])) == ()


@pytest.mark.parametrize(
    ("actual", "expected", "told"),
    [
        (torch.tensor(1.9088), torch.tensor(0.9544), ("It is 2 times the expected value.",)),
        (torch.tensor([0.5]), torch.tensor([2.0]), ("It is 0.25 times the expected value.",)),
        (80, 20, ("It is 4 times the expected value.",)),
        (-20, 20, ("It has the opposite sign.",)),
        (2016, 1680, ("It is 6/5 times the expected value.",)),
        (20, 80, ("It is 1/4 times the expected value.",)),
        (769, 768, ("It is 1 more than expected.",)),
        (1023, 1024, ("It is 1 less than expected.",)),
        (1679, 1687, ()),
        (torch.tensor(1.45), torch.tensor(1.0), ()),
        (torch.tensor(17.0), torch.tensor(1.0), ("It is 17 times the expected value.",)),
        (0.005, 4.0, ("It is 0.00125 times the expected value.",)),
        (torch.tensor(17.001), torch.tensor(1.0), ()),
        (torch.tensor(1001.0), torch.tensor(1.0), ()),
        (torch.tensor(-2.0), torch.tensor(1.0), ()),
        (torch.tensor(0.0), torch.tensor(1.0), ()),
        (torch.tensor(1.0), torch.tensor(0.0), ()),
        (torch.tensor(1e300, dtype=torch.float64), torch.tensor(1e-2, dtype=torch.float64), ()),
        (5, 0, ()),
        (2, 1, ()),
        (-3, 3, ("It has the opposite sign.",)),
        (48, 16, ()),
        (torch.tensor([3, 6]), torch.tensor([1, 2]), ()),
        (10**40, 20, ()),
        (True, 20, ()),
    ],
)
def test_a_single_number_has_a_ratio_where_that_is_a_whole_one(actual, expected, told):
    """Any two numbers have some ratio: one that is hardly chance says more than the numbers."""
    assert hints(actual, expected) == told


def test_ratios_that_differ_from_one_another_are_no_ratio():
    """What a larger eps leaves of a variance is near 1 everywhere, and nowhere by the same factor."""
    ones = torch.ones(2, 5)
    assert hints(0.9986 * ones, ones) == ("Every value is 0.9986 times the expected one.",)
    assert hints(torch.linspace(0.998, 1.0, 10).reshape(2, 5), ones) == ()


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


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        ({"key": TABLE, "value": TABLE}, {"key": TABLE + 1, "value": TABLE}, "'value'"),
        ((TABLE, TABLE), (TABLE, TABLE * 3), "position 0"),
        ([TABLE, TABLE * 3], [TABLE * 3, TABLE], "position 1"),
    ],
)
def test_what_belongs_elsewhere_is_told(actual, expected, said):
    """Keys in place of values: the message says whose place a tensor has taken."""
    assert hints(actual, expected) == (f"It is what is expected at {said}.",)


def test_zeros_have_no_ratio():
    """Nothing but zeros came: that is no ratio of 0."""
    assert hints(torch.zeros(2, 3), TABLE) == ("All its values are 0.",)


def test_an_astronomical_ratio_is_no_fault():
    """A student's numbers may be of any size without ending the grader."""
    wide = TABLE.double()
    assert hints(wide * 2.0**600, wide)[0].startswith("Every value is 4.15e+180 times")


def test_a_transposed_result_is_named():
    """A square result with rows and columns swapped."""
    square = torch.tensor([[0.5, 1.5], [2.5, 3.5]])
    assert hints(square.mT, square) == ("It is the expected result transposed.",)
    batch = torch.stack([square, square + 1])
    assert hints(batch.mT, batch) == ("It is the expected result transposed.",)


def test_a_symmetric_result_is_not_called_transposed():
    """Where the expected result is its own transpose, the hint says nothing."""
    symmetric = torch.tensor([[0.5, 1.5], [1.5, 3.5]])
    assert hints(changed(symmetric, at_0_0=0.50005), symmetric) == (CLOSE,)


def test_rows_that_do_not_sum_to_one_are_shown():
    """Attention weights sum to 1 in each row; the sums that came are shown."""
    assert hints(changed(ROWS, at_0_0=0.0, at_2_1=1.0), ROWS) == (
        "Rows of it sum to 0.5000, 1.5000 instead of 1.",
    )
    assert hints(torch.tensor([0.5, 0.25]), torch.tensor([0.5, 0.5])) == (
        "Its values sum to 0.7500 instead of 1.",
    )


def test_of_many_rows_the_wrong_one_is_shown():
    """The sums shown are not all 1 while the sentence says that they are not."""
    many = ROWS.repeat(2, 1)
    (hint,) = hints(changed(many, at_5_0=0.75), many)
    assert hint.startswith("Rows of it sum to ")
    assert "1.5000" in hint


def test_columns_that_sum_to_one_are_named():
    """A softmax along the wrong axis makes the columns sum to 1."""
    wrong = torch.tensor([[0.5, 0.25, 0.125], [0.25, 0.25, 0.125], [0.25, 0.5, 0.75]])
    assert hints(wrong, ROWS) == (
        "Rows of it sum to 0.8750, 0.6250, 1.5000 instead of 1.",
        "Its columns sum to 1: was it computed along another axis?",
    )


def test_rows_that_sum_to_one_are_not_mentioned():
    """Other weights that are weights all the same have other hints."""
    assert hints(ROWS.flip(0), ROWS.clone()) == (
        "The expected values are there, in reverse order by row.",
    )


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (
            NAN,
            "It contains NaN (not a number), as 0 / 0, infinity / infinity, infinity - infinity, 0 times infinity and a softmax over minus infinity alone give.",
        ),
        (INF, "It contains an infinity."),
        (-INF, "It contains an infinity."),
    ],
)
def test_values_that_are_no_numbers_are_named(value, hint):
    """NaN comes from 0 / 0 or from a softmax of nothing, an infinity from an overflow."""
    assert hints(changed(TABLE, at_0_1=value), TABLE) == (hint,)


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
