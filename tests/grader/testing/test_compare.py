"""What kind of thing a value is, compared with what is expected; each sentence in full."""

import math

import numpy as np
import pytest
import torch

from grader.sandbox.plain_data import OtherFloat
from grader.sandbox.wire import RemoteObject, Unsupported
from grader.testing.compare import compare, describe, wrong_values
from grader.testing.relations import format_number

ATOL = 1e-5
NO_GRADIENT = ("No gradient can flow through it: only tensors remember how they were made.",)
CAT = "`torch.cat` joins tensors along one of their axes."
STACK = "`torch.stack` makes one tensor of tensors of one shape."
NAN, INF = math.nan, math.inf
ONES, COMPLEX = torch.ones(2), torch.ones(2, dtype=torch.complex64)


def said(actual, expected, atol=ATOL, **options):
    """The sentence of a difference without its hints; None where there is none."""
    found = compare(actual, expected, atol, **options)
    return found and found[0]


# A tensor is expected.


@pytest.mark.parametrize(
    ("actual", "sentence", "hints"),
    [
        (None, "None", ()),
        (1.5, "a Python float (1.5000)", NO_GRADIENT),
        (3, "a Python int (3)", NO_GRADIENT),
        (OtherFloat(0.95, "numpy.float32"), "a numpy.float32 (0.9500)", NO_GRADIENT),
        (True, "True", ()),
        (2**200, "a number of dozens of digits", NO_GRADIENT),
        ("a text", "the text 'a text'", ()),
        ([1.0, 2], "a Python list of 2 numbers", NO_GRADIENT),
        ((1.0, 2.0, 3.0), "a Python tuple of 3 numbers", NO_GRADIENT),
        ([torch.ones(2)] * 3, "a Python list of 3 tensors", (STACK,)),
        ([torch.ones(1, 3)] * 2, "a Python list of 2 tensors", (CAT,)),
        ([1.0, "a"], "a list of 2", ()),
        ({"a": 1}, "a dict of 1", ()),
        (Unsupported("numpy.ndarray"), "a value of type numpy.ndarray", NO_GRADIENT),
        (np.zeros((2, 3)), "a value of type numpy.ndarray", NO_GRADIENT),
        ({1, 2}, "a set of 2", ()),
        (b"abc", "3 bytes", ()),
        (
            Unsupported("a torch.strided tensor on cuda"),
            "a value of type a torch.strided tensor on cuda",
            ("The checks run on the CPU.",),
        ),
        (RemoteObject(3, "instance", "Heads"), "an instance of Heads", ()),
        (RemoteObject(3, "module", "Heads"), "an instance of Heads", ()),
        (RemoteObject(0, "class", "Heads"), "the class itself", ()),
        (RemoteObject(0, "function", "dot"), "the function itself", ()),
    ],
)
def test_anything_but_a_tensor_is_described_by_what_it_is(actual, sentence, hints):
    """Where a tensor is expected, the sentence says what came instead, and why it matters."""
    sentence = f"expected a tensor of shape (2, 3), received {sentence}"
    assert compare(actual, torch.zeros(2, 3), ATOL) == (sentence, hints)
    mask = torch.zeros(2, 3, dtype=torch.bool)  # needs no gradient
    assert NO_GRADIENT[0] not in compare(actual, mask, ATOL)[1]


ENDS_EARLY = "There is one entry instead of 4 along the first axis: does a loop end early?"
PICKED = "It has one axis, as if a boolean mask had picked single values."


def shapes_differ(expected, actual):
    """The sentence on two shapes; no axes at all are called a single number."""
    if not expected:
        return f"expected a single number, received the shape {actual}"
    return f"expected the shape {expected}, received {actual or 'a single number'}"


@pytest.mark.parametrize(
    ("actual", "expected", "hints"),
    [
        ((3, 2), (2, 3), ("The last two axes are swapped.",)),
        ((3, 2, 4), (2, 3, 4), ("The axes are there, in another order.",)),
        ((1, 2, 3), (2, 3), ("It has 1 axis of size 1 too many.",)),
        ((2, 3), (2, 1, 3), ("It lacks 1 axis of size 1.",)),
        ((1,), (), ("It has 1 axis of size 1 too many.",)),
        ((4,), (2, 3), (PICKED,)),
        ((1, 3), (4, 3), (ENDS_EARLY,)),
        ((3, 4), (2, 3, 4), ("The first axis is missing.",)),
        ((3,), (3, 3), ("An axis is missing.",)),
        ((3,), (3, 4), ("An axis is missing.",)),
        ((2, 5), (2, 3), ("Only axis 1 is wrong: its size is 5, and should be 3.",)),
        ((2, 5), (3, 4), ()),
        ((6,), (2, 3), ("Its axis of size 6 should be two, of size 2 and 3.",)),
        ((2, 6, 4), (12, 4), ("Its axes of size 2 and 6 should be one of size 12.",)),
        ((2, 6, 4), (2, 4), ("It has an axis of size 6 too many.",)),
        ((2, 6, 4, 4), (3, 4), ("The number of its axes is 4, and should be 2.",)),
        ((0,), (2, 3), ()),
        ((0, 3), (0,), ()),
        ((), (2, 3), ()),
    ],
)
def test_another_shape_is_shown_with_what_it_looks_like(actual, expected, hints):
    """Both shapes are shown, and swapped, lost or surplus axes are named."""
    found = compare(torch.zeros(actual), torch.zeros(expected), ATOL)
    assert found == (shapes_differ(expected, actual), hints)


ORDERED = torch.arange(24.0).reshape(2, 3, 4)
OTHER_ORDER = "The sizes are the expected ones, in another order."


@pytest.mark.parametrize(
    ("actual", "hint"),
    [
        (ORDERED.mT, "The last two axes are swapped."),
        (ORDERED.transpose(0, 1), "The axes are there, in another order."),
        (ORDERED.reshape(2, 4, 3), OTHER_ORDER),
        (ORDERED.reshape(4, 2, 3) + 1, OTHER_ORDER),
    ],
)
def test_axes_are_swapped_where_the_values_say_so(actual, hint):
    """The same sizes also come about in other ways; of a shape alone no more is known."""
    (_difference, hints) = compare(actual, ORDERED, ATOL)
    assert hints == (hint,)
    (_difference, hints) = compare(actual, ORDERED, INF)
    assert hints == (OTHER_ORDER,)


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        (None, torch.tensor(1.0), "expected a tensor of a single number, received None"),
        (torch.zeros(0, 3), torch.zeros(0, 3), None),
        (torch.zeros(0), torch.ones(2), "expected the shape (2,), received (0,)"),
        (torch.zeros(3, 0), torch.zeros(0, 3), "expected the shape (0, 3), received (3, 0)"),
        (torch.nn.Parameter(ONES), ONES, None),
        (ONES, torch.nn.Parameter(ONES), None),
        (COMPLEX, COMPLEX.clone(), None),
        (
            *(ONES.double(), ONES),
            "the shape is right, the dtype is not: expected torch.float32, received torch.float64",
        ),
    ],
)
def test_shape_and_dtype_count_and_a_parameter_is_a_tensor(actual, expected, sentence):
    """An empty result does not pass because nothing in it is wrong."""
    assert said(actual, expected) == sentence


@pytest.mark.parametrize("actual", [ONES.double(), ONES > 0, ONES.to(torch.int8)])
def test_where_any_dtype_is_fine_only_values_count(actual):
    """Complex numbers are still kept apart from real ones."""
    assert compare(actual, ONES, ATOL, any_dtype=True) is None
    sentence = "expected real numbers, received torch.complex64"
    assert said(COMPLEX, ONES, any_dtype=True) == sentence


# Plain data is expected.


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (2, 2.0),
        (0.500001, 0.5),
        (torch.tensor(3), 3),
        (torch.tensor(True), True),
        (torch.tensor(0.500001), 0.5),
        ([1, (2, "x")], [1, [2, "x"]]),
        ({"a": 1, "b": [ONES]}, {"b": [ONES], "a": 1}),
        ({1, 2}, frozenset({2, 1})),
        (b"abc", bytearray(b"abc")),
        (np.ones(2), np.ones(2)),
    ],
)
def test_equal_plain_data_has_no_difference(actual, expected):
    """Floats within the tolerance, sequences of either kind, mappings in any order."""
    assert compare(actual, expected, ATOL) is None


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        (4, 3, "expected 3, received 4"),
        (3.0, 3, "expected 3, received 3.0"),
        (1, True, "expected True, received 1"),
        (True, 1, "expected 1, received True"),
        (True, 1.0, "expected 1.0, received True"),
        (None, 3, "expected 3, received None"),
        (3, None, "expected None, received 3"),
        ("b", "a", "expected 'a', received 'b'"),
        (0.6, 0.5, "expected 0.5, received 0.6"),
        (NAN, 0.5, "expected 0.5, received nan"),
        (-INF, INF, "expected inf, received -inf"),
        (None, 0.5, "expected 0.5, received None"),
        (torch.tensor(4), 3, "expected 3, received 4"),
        (torch.tensor(0.75), 0.5, "expected 0.5, received 0.75"),
        (torch.ones(2), 3, "expected 3, received a tensor of shape (2,)"),
        ([1], 3, "expected 3, received a list of 1"),
        (Unsupported("Odd"), 3, "expected 3, received a value of type Odd"),
        ([1, 2], [1, 2, 3], "expected [1, 2, 3], received [1, 2]"),
        ((1, 5), (1, 2), "expected (1, 2), received (1, 5)"),
        ([1.0, 2.5], [1.0, 2, 3], "expected [1, 2, 3], received [1, 2.5]"),
        (["b"], ["b", 2], "expected length 2, received length 1"),
        ([1] * 6, [1] * 7, "expected length 7, received length 6"),
        (["b", 5], ["b", 2], "at position 1: expected 2, received 5"),
        ([[1], [2, 5]], [[1], [2, 3]], "at position 1: expected [2, 3], received [2, 5]"),
        (["a", [0, False]], ["a", [0, True]], "at position 1, 1: expected True, received False"),
        (["a", ["b"]], ["a", ["b", "c"]], "at position 1: missing: 'c'"),
        (["a", "a"], ["a"], "expected length 1, received length 2"),
        ({"a": 1}, {"a": 1, "b": 2}, "'b' is missing"),
        ({"a": 1, "c": 2}, {"a": 1}, "'c' is not expected"),
        ({"mask": "tensor"}, {}, "expected none, received 'mask'"),
        ({"a": 3}, {"a": 2}, "at 'a': expected 2, received 3"),
        ({"a": torch.ones(3)}, {"a": torch.ones(2)}, None),
        (7, [1], "expected [1], received 7"),
        ([1], {"a": 1}, "expected {'a': 1}, received a list of 1"),
    ],
)
def test_unequal_plain_data_is_shown_with_its_position(actual, expected, sentence):
    """What was expected, what came, and where in a sequence or mapping it is."""
    sentence = sentence or "at 'a': expected the shape (2,), received (3,)"
    assert compare(actual, expected, ATOL) == (sentence, ())


def test_wrong_values_of_a_mask_are_found():
    """It has no numbers."""
    mask = torch.tensor([True, False, True])
    assert wrong_values(~mask, mask, ATOL).all()


@pytest.mark.parametrize("huge", [10**400, -(10**400)], ids=["positive", "negative"])
def test_a_huge_whole_number_is_a_wrong_result_and_no_fault(huge):
    """A student's number too large for a float is a difference like any other."""
    assert compare(huge, 0.5, ATOL) is not None
    assert compare([huge], [0.5], ATOL) is not None


def test_a_students_own_text_is_never_shown_at_length():
    """Keys, texts, numbers and names of types are cut, and show no control characters."""
    long = "\x1b[31m" + "x" * 20_000
    values = [
        (long, 3),
        ({long: 1}, {}),
        (Unsupported(long), torch.ones(2)),
        (RemoteObject(1, "module", long), torch.ones(2)),
        (10**1_200, 3),
    ]
    for actual, expected in values:
        sentence = said(actual, expected)
        assert len(sentence) < 400
        assert "\x1b" not in sentence


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.0, "0.0000"), (0.12345, "0.1235"), (-12.5, "-12.5000"), (0.00012345, "0.000123")),
        *((INF, "inf"), (-INF, "-inf"), (NAN, "nan"), (8, "8"), (-(10**9), "-1e+09")),
        *((1 + 2j, "1.0000+2.0000j"), (-1e300, "-1e+300")),
    ],
)
def test_numbers_are_shown_as_the_documents_print_them(value, shown):
    """Four decimals, and more where a number is small; none where it is a whole one."""
    assert format_number(value) == shown


def test_a_long_text_is_described_by_its_beginning():
    """A description is a few words, whatever was returned."""
    assert describe("x" * 100) == f"the text '{'x' * 60}'"
    assert describe(0.5) == "0.5"
    assert describe(torch.tensor(1)) == "a tensor of a single number"


def test_a_key_that_looks_like_a_missing_one_is_asked_about():
    """A slip in a key of a dictionary."""
    assert compare({"context_lenght": 4, "d_in": 1}, {"d_in": 1, "context_length": 4}, ATOL) == (
        "'context_length' is missing",
        ("Did you mean context_length when you wrote context_lenght?",),
    )
    assert compare({7: 4}, {"d_in": 1}, ATOL) == ("'d_in' is missing", ())


# Sets, bytes and arrays.


@pytest.mark.parametrize(
    ("actual", "expected", "sentence"),
    [
        ({1, 3}, {1, 2}, "missing: 2; not expected: 3"),
        (set(), {"a", "b"}, "missing: 'a', 'b'"),
        (set(range(9)), set(), "not expected: 0, 1, 2, 3, 4, 5 and 3 more"),
        ([1, 2], {1, 2}, "expected {1, 2}, received a list of 2"),
        (b"abc", b"axc", "the first other byte is at 1: expected b'x', received b'b'"),
        (b"ab", b"abc", "expected 3 bytes, received 2; as far as both go, they are equal"),
        ("abc", b"abc", "expected b'abc', received the text 'abc'"),
        (np.ones(2), [1.0, 1.0], "expected [1.0, 1.0], received a value of type numpy.ndarray"),
        (
            *(ONES, np.ones(2)),
            "expected a numpy array of shape (2,), received a tensor of shape (2,)",
        ),
        (
            *(np.ones(2), np.array([1.0, 2.0])),
            "1 of 2 values differ, the first at [1]: expected 2.0000, received 1.0000",
        ),
        (
            *(np.ones(2, "float32"), np.ones(2)),
            "the shape is right, the dtype is not: expected float64, received float32",
        ),
    ],
)
def test_sets_bytes_and_arrays_say_how_they_differ(actual, expected, sentence):
    """Which entries, which byte; arrays as tensors do, with what they are."""
    assert said(actual, expected) == sentence
