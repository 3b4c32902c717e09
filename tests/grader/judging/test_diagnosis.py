"""Tests of the rule that names mistakes: by what the checks judged, and silent where it is unsure."""

import math
from collections import deque
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.core.records import Finding, Mistake
from grader.judging.diagnosis import (
    BY_CHANCE,
    MOST_CANDIDATES,
    Known,
    Trace,
    diagnose,
    distance,
    fingerprint,
    separation,
    trace_distance,
)
from grader.sandbox.kinds import Record

RIGHT, NAN = torch.tensor([0.25, 0.75]), math.nan


def failed(*judged):
    """A check that did not pass; the last of these values was wrong."""
    return Trace("mismatch", tuple(fingerprint(value) for value in judged))


def tensor(*values):
    """A tensor of float32."""
    return torch.tensor(values)


def mistake(name):
    """A mistake of that name."""
    return Mistake(name, f"{name} goes wrong.", f"Why does {name}?")


def known(name, **traces):
    """How the checks go with a mistake."""
    return Known((mistake(name),), traces)


def named(student, *singles, pairs=()):
    """The findings, each as the names of its candidates."""
    found = diagnose(student, singles, lambda: list(pairs))
    return [" or ".join(one.id for one in finding.candidates) for finding in found]


def never():
    """Stands for pairs that are not to be worked out."""
    raise AssertionError("pairs were asked for")


def written(letters):
    """How one check after the other went: each has a letter.

    It passed (+), did not run (-), judged false (?) or not a number (~), or came to other values.
    """
    special = {
        "+": Trace("passed", (fingerprint(RIGHT),)),
        "?": failed(False),
        "~": Trace("mismatch", (fingerprint(tensor(NAN, NAN)),), is_evidence=False),
    }
    traces = {n: special.get(x) or failed(tensor(ord(x), 1.0)) for n, x in enumerate(letters)}
    return {number: trace for number, trace in traces.items() if letters[number] != "-"}


def read(text):
    """Known mistakes with how the checks go: `name=A+`, and two at once `name&other=AB`."""
    entries = (entry.split("=") for entry in text.split())
    return [Known(tuple(map(mistake, n.split("&"))), written(letters)) for n, letters in entries]


ALL = "unscaled=A+ crossed=BC biased=+D"


# The whole exercise, then single checks, then pairs, else silence.


@pytest.mark.parametrize(
    ("student", "singles", "pairs", "names"),
    [
        pytest.param("BC", ALL, "", ["crossed"], id="every check went as with it"),
        pytest.param("++", f"harmless=++ {ALL}", "", [], id="all passed"),
        pytest.param("", ALL, "", [], id="nothing ran"),
        pytest.param("A+", "other=AE unscaled=A+", "", ["unscaled"], id="one passed as well"),
        pytest.param("B", ALL, "", ["crossed"], id="what did not run is no evidence"),
        pytest.param("A+", "gated=A unscaled=A+", "", ["unscaled"], id="came farther"),
        pytest.param("AD", ALL, "unscaled&biased=AD", ["unscaled", "biased"], id="two apart"),
        pytest.param("AD", ALL, "", [], id="cannot be made at once"),
        pytest.param("AD", ALL, "unscaled&biased=AX", [], id="go otherwise at once"),
        pytest.param("XY", ALL, "unscaled&crossed=XY", ["unscaled", "crossed"], id="interact"),
        pytest.param(
            *("XD", ALL, "unscaled&crossed=X+", ["biased", "unscaled", "crossed"]),
            id="a third beside a pair",
        ),
        pytest.param("AD", "half=AE", "", [], id="fails a check otherwise"),
        pytest.param(
            *("AD", f"half=AE {ALL}", "unscaled&biased=AD", ["unscaled", "biased"]),
            id="fails a check otherwise, beside two that fit",
        ),
        pytest.param("XY", ALL, "unscaled&biased=A+", [], id="unknown values"),
        pytest.param("AX", ALL, "", ["unscaled"], id="a part is known"),
        pytest.param("AXY?", ALL, "", ["unscaled"], id="a third of the tensors is known"),
        pytest.param("AXYZ", ALL, "", [], id="more that nothing explains"),
        pytest.param("?X", "short=?+", "", [], id="a part by yes and no"),
        pytest.param("?+", "short=?C", "", [], id="yes and no, and a check against it"),
        pytest.param("?C", "short=?C", "", ["short"], id="yes and no, and a check for it"),
        pytest.param("~+", "overflown=~C", "", [], id="NaN by itself"),
        pytest.param("~", "overflown=~C", "overflown=~C", [], id="NaN by itself, with pairs"),
        pytest.param("~C", "overflown=~C", "", ["overflown"], id="NaN beside a value that fits"),
        pytest.param("~D", "overflown=~+ other=+D", "", ["other"], id="NaN beside another"),
        pytest.param(
            *("ADF", "twin=+D wide=AD third=--F", "wide&third=ADF", ["wide", "third"]),
            id="what is certain is no candidate elsewhere",
        ),
        pytest.param(
            *("X", ALL, "unscaled&crossed=X unscaled&biased=X", ["unscaled", "crossed or biased"]),
            id="all pairs share one",
        ),
        pytest.param("X", ALL, "a&b=X b&c=X c&a=X", ["a or b or c"], id="pairs share nothing"),
        pytest.param("X", ALL, "a&b=X c&d=X", [], id="pairs share nothing and are many"),
    ],
)
def test_mistakes_are_named_by_how_the_checks_went(student, singles, pairs, names):
    """By all checks at once, else by some, else as two at once; a wrong name is worse than none."""
    assert named(written(student), *read(singles), pairs=read(pairs)) == names


@pytest.mark.parametrize(
    ("came", "expected"), [(RIGHT, ["turned"]), (tensor(0.75, 0.25), []), (BY_CHANCE, ["turned"])]
)
def test_all_that_came_back_has_to_fit_where_a_check_failed(came, expected):
    """Also what was not judged; what is not the same each time tells nothing."""
    shape = "a tensor of shape (2,)"
    turned = Trace("mismatch", (shape,), replied=(fingerprint(RIGHT), BY_CHANCE))
    student = Trace("mismatch", (shape,), replied=(fingerprint(came), fingerprint(RIGHT)))
    assert named({"first": student}, known("turned", first=turned)) == expected
    assert named({"first": failed(shape)}, known("turned", first=turned)) == []


@pytest.mark.parametrize("value", [False, "wrong", 3, 0.5, None, tensor(0.5)])
def test_what_tells_more_than_yes_and_no_is_a_tensor_of_two_values_or_more(value):
    """Everything else is guessed too easily."""
    assert not failed(value).has_tensor
    assert failed(value, RIGHT).has_tensor
    assert failed([value, {"weights": RIGHT}]).has_tensor


def test_pairs_are_worked_out_only_where_single_mistakes_do_not_explain_all():
    """Working them out takes many runs."""
    assert diagnose(written("A+"), read(ALL), never) == (Finding((mistake("unscaled"),)),)
    asked = []
    assert diagnose(written("X+"), read(ALL), lambda: asked.append(1) or []) == ()
    assert asked == [1]


@pytest.mark.parametrize("count", range(1, MOST_CANDIDATES + 2))
def test_mistakes_that_look_the_same_are_named_as_one_of(count):
    """One finding with all candidates, in the author's order; of too many there is none."""
    names = [f"m{number}" for number in range(count)]
    found = diagnose(written("A"), read("=A ".join([*names, ""])), never)
    assert found == ((Finding(tuple(map(mistake, names))),) if count <= MOST_CANDIDATES else ())


# Values.


@pytest.mark.parametrize(
    ("came", "of_mistake", "is_same"),
    [
        (tensor(1.000004, 2.999996), tensor(1.0, 3.0), True),
        (tensor(1.00004, 3.0), tensor(1.0, 3.0), False),
        (tensor(1e6 + 0.5, 1.0), tensor(1e6, 1.0), True),
        (1e6 + 0.5, 1e6, True),
        (tensor(1.0, 3.0).double(), tensor(1.0, 3.0), False),
        (tensor(1.0, 3.0)[None], tensor(1.0, 3.0), False),
        (tensor(NAN, 1.0), tensor(NAN, 1.0), True),
        (tensor(math.inf, -math.inf), tensor(math.inf, -math.inf), True),
        (tensor(complex(NAN, 1)), tensor(complex(NAN, 1)), True),
        *((NAN, NAN, True), (math.inf, math.inf, True)),
    ],
)
def test_a_mistake_is_recognised_but_for_rounding(came, of_mistake, is_same):
    """Which grows with large values; another dtype or shape is another value."""
    found = named({"first": failed(came)}, known("it", first=failed(of_mistake)))
    assert found == ["it"] * is_same


def test_a_value_more_or_less_is_another_value():
    """The check came farther, or less far."""
    assert trace_distance(failed(RIGHT), failed(RIGHT, RIGHT)) == math.inf
    assert trace_distance(failed(RIGHT, RIGHT), failed(RIGHT)) == math.inf


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (tensor(NAN, 1.0), tensor(NAN, 5.0)),
        (tensor(NAN, 1.0), tensor(2.0, 1.0)),
        (tensor(math.inf, 1.0), tensor(-math.inf, 1.0)),
        (tensor(math.inf, 1.0), tensor(1e30, 1.0)),
        *((NAN, 2.0), (math.inf, NAN), (math.inf, -math.inf), (math.inf, 1e30)),
    ],
)
def test_not_a_number_hides_no_difference(one, other):
    """Wherever it stands, before or after what is equal."""
    for left, right in ((one, other), (other, one)):
        assert distance(fingerprint(left), fingerprint(right)) > 0.5
        assert distance(fingerprint([RIGHT, left]), fingerprint([RIGHT, right])) > 0.5
        assert distance(fingerprint([left, RIGHT]), fingerprint([right, RIGHT])) > 0.5
        mistaken = known("mistaken", first=failed(RIGHT, right))
        assert named({"first": failed(RIGHT, left)}, mistaken) == []


def test_a_value_beside_a_shared_nan_counts():
    """Two mistakes both make NaN in the first row, and differ in the others."""
    one, other = ({"first": failed(tensor(NAN, value))} for value in (1.0, 5.0))
    assert named(other, known("one", **one), known("other", **other)) == ["other"]
    assert separation(one, other) == pytest.approx(4 / 5)


def test_plain_values_are_the_same_or_not():
    """Texts, whole numbers, truth values, nothing."""
    plain = [None, True, False, 0, 1, "", "a", [1, "a"], {"a": 1}, {"a": 2}, {"b": 1}, []]
    for one in plain:
        for other in plain:
            apart = distance(fingerprint(one), fingerprint(other))
            is_same = one is other or (isinstance(one, list | dict) and repr(one) == repr(other))
            # An empty list and an empty mapping hold the same: nothing.
            assert (apart == 0.0) == is_same, (one, other)


def test_the_order_of_a_mapping_makes_no_difference():
    """Parameters may be created in any order."""
    one, other = {"a": RIGHT, "b": 1}, {"b": 1, "a": RIGHT}
    assert distance(fingerprint(one), fingerprint(other)) == 0.0


def test_a_value_of_a_kind_of_its_own_is_known_by_its_type():
    """A class, an instance: whatever it was. What travels is known by its value."""
    assert fingerprint(slice(1)) == fingerprint(slice(2)) == "slice"
    for one, other in (
        *((1j, 2j), (Decimal(1), Decimal(2)), (date(1, 1, 1), date(1, 1, 2))),
        (deque([1]), deque([2])),
    ):
        assert fingerprint(one) == fingerprint(one) != fingerprint(other)
    spot = Record("Point", {"x": 1.0})
    assert 0 < distance(fingerprint(spot), fingerprint(Record("Point", {"x": 1.5}))) < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [({1, 2}, {1, 3}), (b"ab", b"ac"), (np.zeros(2), np.ones(2)), (np.zeros(2), torch.zeros(2))],
)
def test_sets_bytes_and_arrays_are_known_by_what_they_hold(one: object, other: object) -> None:
    """Mistakes are recognised by them, too."""
    assert distance(fingerprint(one), fingerprint(one)) == 0.0
    assert distance(fingerprint(one), fingerprint(other)) > 0.5


@pytest.mark.parametrize("size", [256, 257, 1_000, 16_777_220])
def test_a_large_tensor_is_sampled_from_its_first_value_to_its_last(size):
    """So that what is kept of it stays small."""
    value = torch.zeros(size, dtype=torch.int8)
    value[0], value[-1] = 1, 2
    _, shape, dtype, sample = fingerprint(value)
    assert (shape, dtype, len(sample)) == ([size], "torch.int8", 256)
    assert (sample[0].item(), sample[-1].item()) == (1.0, 2.0)


def test_a_difference_in_a_large_tensor_is_seen_where_it_is_wide():
    """A single value among many is not, a row is."""
    value = torch.zeros(200, 100)
    row = value.clone()
    row[7] = 1.0
    assert distance(fingerprint(value), fingerprint(row)) == pytest.approx(1.0)


values = st.floats(-3, 3, width=32) | st.sampled_from([NAN, math.inf, -math.inf])


@settings(max_examples=60)
@given(st.lists(values, max_size=5), st.lists(values, max_size=5))
def test_a_distance_is_a_distance(one, other):
    """Nothing from a value to itself, the same both ways, and never not a number."""
    left, right = fingerprint([torch.tensor(one), one]), fingerprint([torch.tensor(other), other])
    assert distance(left, left) == 0.0
    assert not math.isnan(distance(left, right))
    assert (distance(left, right) == 0.0) == (distance(right, left) == 0.0)
    assert (distance(left, right) == math.inf) == (distance(right, left) == math.inf)


@pytest.mark.parametrize(
    ("student", "is_like"),
    [
        (Trace("mismatch", (BY_CHANCE,)), True),
        (Trace("passed", (fingerprint(RIGHT),)), True),
        (Trace("mismatch", (fingerprint(RIGHT),)), False),
        (Trace("exception own ValueError", (BY_CHANCE,)), False),
    ],
    ids=["drawn as well", "right by luck", "wrong each time", "raised"],
)
@pytest.mark.parametrize("end", ["passed", "mismatch"])
def test_a_mistake_that_draws_is_recognised_by_that(
    student: Trace, is_like: bool, end: str
) -> None:
    """Not by one draw: another value comes each time."""
    assert (trace_distance(student, Trace(end, (BY_CHANCE,))) == 0) == is_like


def test_values_are_compared_relative_to_the_largest_of_their_tensor() -> None:
    """A small sum of large numbers is rounded as these are; another value is another one still."""
    one = torch.tensor([50.0, -40.0, 0.001])
    rounded, other = one + torch.tensor([0.0, 0.0, 2e-4]), one + torch.tensor([0.0, 0.0, 2e-3])
    assert distance(fingerprint(one), fingerprint(rounded)) < 1e-5
    assert distance(fingerprint(one), fingerprint(other)) > 1e-5
    assert distance(fingerprint(one / 50), fingerprint(rounded / 50 + 1e-4)) > 1e-5
