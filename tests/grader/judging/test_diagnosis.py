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


def passed(*judged):
    """A check that passed after it judged these values."""
    return Trace("passed", tuple(fingerprint(value) for value in judged))


def failed(*judged, end="mismatch"):
    """A check that did not pass; the last of these values was wrong."""
    return Trace(end, tuple(fingerprint(value) for value in judged))


def tensor(*values):
    """A tensor of float32."""
    return torch.tensor(values)


def mistake(name):
    """A mistake of that name."""
    return Mistake(name, f"{name} goes wrong.", f"Why does {name}?")


def known(names, **traces):
    """How the checks go with a mistake, or with several whose names are given with a space."""
    return Known(tuple(mistake(name) for name in names.split()), traces)


def named(student, *singles, pairs=()):
    """The findings, each as the names of its candidates."""
    found = diagnose(student, singles, lambda: list(pairs))
    return [" or ".join(one.id for one in finding.candidates) for finding in found]


def never():
    """Stands for pairs that are not to be worked out."""
    raise AssertionError("pairs were asked for")


UNSCALED = known("unscaled", first=failed(tensor(1.0, 3.0)), second=passed(True))
CROSSED = known("crossed", first=failed(tensor(0.75, 0.25)), second=failed(tensor(5.0, 6.0)))
BIASED = known("biased", first=passed(RIGHT), second=failed(tensor(7.0, 8.0)))
ALL = (UNSCALED, CROSSED, BIASED)


# The whole exercise, then single checks, then pairs, else silence.


def test_a_mistake_is_named_when_every_check_went_as_it_goes_with_it():
    """The student's values are a mistake's values."""
    student = {"first": failed(tensor(0.75, 0.25)), "second": failed(tensor(5.0, 6.0))}
    assert diagnose(student, ALL, never) == (Finding((mistake("crossed"),)),)


def test_who_passes_every_check_is_given_no_name():
    """Although a mistake that no check catches would explain it, too."""
    student = {"first": passed(RIGHT), "second": passed(True)}
    harmless = known("harmless", first=passed(RIGHT), second=passed(True))
    assert diagnose(student, [harmless, *ALL], never) == ()


def test_without_checks_nobody_is_given_a_name():
    """Nothing ran, nothing is known."""
    assert diagnose({}, ALL, never) == ()


def test_a_check_that_passed_has_to_fit_as_well():
    """The failing one alone would fit two mistakes."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": passed(True)}
    other = known("other", first=failed(tensor(1.0, 3.0)), second=failed(tensor(9.0, 9.0)))
    assert named(student, other, UNSCALED) == ["unscaled"]


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (RIGHT, ["turned"]),
        (tensor(0.75, 0.25), []),
        (BY_CHANCE, ["turned"]),
    ],
)
def test_all_that_came_back_has_to_fit_where_a_check_failed(came, expected):
    """Also what was not judged; what is not the same each time tells nothing."""
    shape = "a tensor of shape (2,)"
    turned = Trace("mismatch", (shape,), replied=(fingerprint(RIGHT), BY_CHANCE))
    student = Trace("mismatch", (shape,), replied=(fingerprint(came), fingerprint(RIGHT)))
    assert named({"first": student}, known("turned", first=turned)) == expected
    assert named({"first": failed(shape)}, known("turned", first=turned)) == []


def test_checks_that_did_not_run_are_no_evidence():
    """An earlier check blocked them, for the student as with the mistake."""
    assert named({"first": failed(tensor(0.75, 0.25))}, *ALL) == ["crossed"]


def test_a_check_that_did_not_run_with_a_mistake_is_evidence_against_it():
    """The student came farther than the mistake gets."""
    gated = known("gated", first=failed(tensor(1.0, 3.0)))
    student = {"first": failed(tensor(1.0, 3.0)), "second": passed(True)}
    assert named(student, gated, UNSCALED) == ["unscaled"]


def test_two_independent_mistakes_are_both_named():
    """Each explains the check in which it shows, and both at once explain all."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(7.0, 8.0))}
    assert named(student, *ALL, pairs=[known("unscaled biased", **student)]) == [
        "unscaled",
        "biased",
    ]


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [known("unscaled biased", first=failed(tensor(1.0, 3.0)), second=failed(tensor(5.0, 5.0)))],
    ],
    ids=["cannot be made at once", "go otherwise at once"],
)
def test_two_mistakes_that_do_not_go_together_are_not_named(pairs):
    """What looks like one of them here and like the other there is a third."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(7.0, 8.0))}
    assert named(student, *ALL, pairs=pairs) == []


def test_two_mistakes_that_interact_are_both_named():
    """Their values together are those of neither."""
    student = {"first": failed(tensor(3.0, 1.0)), "second": failed(tensor(9.0, 9.0))}
    both = known("unscaled crossed", **student)
    assert named(student, *ALL, pairs=[both]) == ["unscaled", "crossed"]


def test_a_mistake_beside_a_pair_is_named_as_well():
    """One check shows two mistakes that interact, another a third."""
    student = {"first": failed(tensor(3.0, 1.0)), "second": failed(tensor(7.0, 8.0))}
    both = known("unscaled crossed", first=failed(tensor(3.0, 1.0)), second=passed(RIGHT))
    assert named(student, *ALL, pairs=[both]) == ["biased", "unscaled", "crossed"]


def test_a_mistake_that_fails_a_check_otherwise_is_not_named():
    """That it agrees in another check may be a coincidence of numbers."""
    half = known("half", first=failed(tensor(1.0, 3.0)), second=failed(tensor(4.0, 4.0)))
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(7.0, 8.0))}
    assert named(student, half) == []
    both = known("unscaled biased", **student)
    assert named(student, half, *ALL, pairs=[both]) == ["unscaled", "biased"]


def test_values_of_no_known_mistake_are_given_no_name():
    """Silence is better than a wrong name."""
    student = {"first": failed(tensor(0.1, 0.2)), "second": failed(tensor(0.3, 0.4))}
    assert named(student, *ALL, pairs=[known("unscaled biased", **UNSCALED.traces)]) == []


def test_the_part_that_is_known_is_named():
    """One check fails in a known way, another in an unknown one."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(0.3, 0.4))}
    assert named(student, *ALL) == ["unscaled"]


def test_a_part_is_not_named_beside_more_that_nothing_explains():
    """One of four wrong values could be a known mistake's: what is wrong is more likely something else."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(0.3, 0.4))}
    student["third"] = failed(tensor(0.5, 0.6))
    assert named(student | {"fourth": failed(False)}, *ALL) == ["unscaled"]
    assert named(student | {"fourth": failed(tensor(0.7, 0.8))}, *ALL) == []


def test_a_part_that_rests_on_yes_and_no_is_not_named():
    """Many mistakes make one `False`."""
    short = known("short", first=failed(False), second=passed(True))
    student = {"first": failed(False), "second": failed(tensor(0.3, 0.4))}
    assert named(student, short) == []


def test_yes_and_no_name_nobody_who_passed_what_the_mistake_fails():
    """One `False` in common, and another check that speaks against it."""
    short = known("short", first=failed(False), second=failed(tensor(5.0, 6.0)))
    assert named({"first": failed(False), "second": passed(RIGHT)}, short) == []
    assert named({"first": failed(False), "second": failed(tensor(5.0, 6.0))}, short) == ["short"]


@pytest.mark.parametrize("value", [False, "wrong", 3, 0.5, None, tensor(0.5)])
def test_what_tells_more_than_yes_and_no_is_a_tensor_of_two_values_or_more(value):
    """Everything else is guessed too easily."""
    assert not failed(value).has_tensor
    assert failed(value, RIGHT).has_tensor
    assert failed([value, {"weights": RIGHT}]).has_tensor


def test_pairs_are_worked_out_only_where_single_mistakes_do_not_explain_all():
    """Working them out takes many runs."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": passed(True)}
    assert diagnose(student, ALL, never) == (Finding((mistake("unscaled"),)),)
    asked = []
    student = {"first": failed(tensor(0.1, 0.2)), "second": passed(True)}
    assert diagnose(student, ALL, lambda: asked.append(1) or []) == ()
    assert asked == [1]


def test_nan_by_itself_is_no_evidence():
    """Many mistakes end in NaN; beside a finite value that fits it counts."""
    empty = Trace("mismatch", (fingerprint(tensor(NAN, NAN)),), is_evidence=False)
    overflown = known("overflown", first=failed(tensor(NAN, NAN)), second=failed(tensor(5.0, 6.0)))
    assert named({"first": empty, "second": passed(True)}, overflown) == []
    assert named({"first": empty}, overflown, pairs=[overflown]) == []
    assert named({"first": empty, "second": failed(tensor(5.0, 6.0))}, overflown) == ["overflown"]


def test_nan_beside_another_mistake_is_named_nothing_of_its_own():
    """Each finding rests on a check that is evidence."""
    empty = Trace("mismatch", (fingerprint(tensor(NAN, NAN)),), is_evidence=False)
    overflown = known("overflown", first=failed(tensor(NAN, NAN)), second=passed(RIGHT))
    student = {"first": empty, "second": failed(tensor(7.0, 8.0))}
    other = known("other", first=passed(RIGHT), second=failed(tensor(7.0, 8.0)))
    assert named(student, overflown, other) == ["other"]


# One of several.


def alike(count):
    """So many mistakes that look the same here."""
    return [known(f"m{number}", first=failed(tensor(1.0, 3.0))) for number in range(count)]


@pytest.mark.parametrize("count", range(1, MOST_CANDIDATES + 1))
def test_mistakes_that_look_the_same_are_named_as_one_of(count):
    """One finding with all candidates, in the author's order."""
    found = diagnose({"first": failed(tensor(1.0, 3.0))}, alike(count), never)
    assert found == (Finding(tuple(mistake(f"m{number}") for number in range(count))),)


def test_more_mistakes_that_look_the_same_than_a_few_are_no_finding():
    """A list of guesses helps nobody."""
    student = {"first": failed(tensor(1.0, 3.0))}
    assert diagnose(student, alike(MOST_CANDIDATES + 1), never) == ()


def test_what_is_certain_in_one_check_is_no_candidate_in_another():
    """The smallest number of mistakes explains it."""
    student = {"first": failed(tensor(1.0, 3.0)), "second": failed(tensor(7.0, 8.0))}
    student["third"] = failed(tensor(2.0, 2.0))
    twin = known("twin", first=passed(RIGHT), second=failed(tensor(7.0, 8.0)))
    wide = known("wide", first=failed(tensor(1.0, 3.0)), second=failed(tensor(7.0, 8.0)))
    third = known("third", third=failed(tensor(2.0, 2.0)))
    both = known("wide third", **student)
    assert named(student, twin, wide, third, pairs=[both]) == ["wide", "third"]


def test_the_mistake_that_all_pairs_share_is_certain():
    """Which other one it is stays open."""
    student = {"first": failed(tensor(3.0, 1.0))}
    pairs = [known("unscaled crossed", **student), known("unscaled biased", **student)]
    assert named(student, *ALL, pairs=pairs) == ["unscaled", "crossed or biased"]


def test_pairs_that_share_nothing_are_named_as_one_of():
    """All of their mistakes, unless they are too many."""
    student = {"first": failed(tensor(3.0, 1.0))}
    few = [known(names, **student) for names in ("a b", "b c", "c a")]
    assert named(student, *ALL, pairs=few) == ["a or b or c"]
    many = [known(names, **student) for names in ("a b", "c d")]
    assert named(student, *ALL, pairs=many) == []


# Values.


def test_rounding_makes_no_difference():
    """Right variants differ in the last bits."""
    student = {"first": failed(tensor(1.000004, 2.999996))}
    assert named(student, UNSCALED) == ["unscaled"]
    assert named({"first": failed(tensor(1.00004, 3.0))}, UNSCALED) == []


def test_rounding_grows_with_large_values():
    """Of a value of a million, the last bit of float32 is worth 0.06."""
    large = known("large", first=failed(tensor(1e6, 1.0)), second=failed(1e6))
    student = {"first": failed(tensor(1e6 + 0.5, 1.0)), "second": failed(1e6 + 0.5)}
    assert named(student, large) == ["large"]


def test_another_dtype_is_another_value():
    """The values are the same, the mistake is not."""
    student = {"first": failed(tensor(1.0, 3.0).double())}
    assert named(student, UNSCALED) == []


def test_another_shape_is_another_value():
    """Although the numbers are the same."""
    student = {"first": failed(tensor(1.0, 3.0)[None])}
    assert named(student, UNSCALED) == []


def test_a_value_more_or_less_is_another_value():
    """The check came farther, or less far."""
    assert trace_distance(failed(RIGHT), failed(RIGHT, RIGHT)) == math.inf
    assert trace_distance(failed(RIGHT, RIGHT), failed(RIGHT)) == math.inf


@pytest.mark.parametrize(
    "value", [tensor(NAN, 1.0), tensor(math.inf, -math.inf), tensor(complex(NAN, 1)), NAN, math.inf]
)
def test_values_that_are_no_finite_numbers_are_recognised(value):
    """A mask that leaves a row nothing makes NaN, and has a name."""
    assert distance(fingerprint(value), fingerprint(value)) == 0.0
    empty = known("empty", first=failed(value))
    assert named({"first": failed(value)}, empty) == ["empty"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (tensor(NAN, 1.0), tensor(NAN, 5.0)),
        (tensor(NAN, 1.0), tensor(2.0, 1.0)),
        (tensor(math.inf, 1.0), tensor(-math.inf, 1.0)),
        (tensor(math.inf, 1.0), tensor(1e30, 1.0)),
        (NAN, 2.0),
        (math.inf, NAN),
        (math.inf, -math.inf),
        (math.inf, 1e30),
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
    one = known("one", first=failed(tensor(NAN, 1.0)))
    other = known("other", first=failed(tensor(NAN, 5.0)))
    assert named({"first": failed(tensor(NAN, 5.0))}, one, other) == ["other"]
    assert separation(one.traces, other.traces) == pytest.approx(4 / 5)


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
    for one, other in ((1j, 2j), (Decimal(1), Decimal(2)), (date(1, 1, 1), date(1, 1, 2))):
        assert fingerprint(one) == fingerprint(one) != fingerprint(other)
    assert fingerprint(deque([1])) == fingerprint(deque([1])) != fingerprint(deque([2]))
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


def test_an_empty_tensor_is_equal_to_itself():
    """And has no largest difference."""
    assert distance(fingerprint(torch.zeros(0, 3)), fingerprint(torch.zeros(0, 3))) == 0.0


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
