"""Tests of what constructors take: how a call is brought to a student's own, and which class fits."""

from ast import literal_eval
from typing import Any

import pytest

from grader.course.settings import OtherNames
from grader.sandbox.plain_data import Settings
from grader.sandbox.wire import Frame, Packer, Unpacker
from grader.testing.signatures import (
    Definition,
    Parameter,
    Parameters,
    arranged,
    best,
    bound,
    keeps_to,
    read_classes,
)


def takes(words: str) -> Parameters:
    """Parameters in a row; `name=` has a default of False."""
    return tuple(Parameter(w.rstrip("="), (False,) if w[-1] == "=" else ()) for w in words.split())


def given(words: str) -> dict[str, Any]:
    """Arguments in a row, `name=value`."""
    return {name: literal_eval(value) for name, value in (w.split("=") for w in words.split())}


WANTED = takes("d_in d_out length dropout bias=")


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("d_out d_in length dropout bias=", "d_out=5 d_in=3 length=4 dropout=0.0"),
        ("d_in d_out dropout length bias=", "d_in=3 d_out=5 dropout=0.0 length=4"),
        ("d_in d_out block dropout bias=", "d_in=3 d_out=5 block=4 dropout=0.0"),
        ("d_in d_out length dropout bias", "d_in=3 d_out=5 length=4 dropout=0.0 bias=False"),
        ("d_in d_out length dropout", "d_in=3 d_out=5 length=4 dropout=0.0"),
        ("ins outs block p b", "ins=3 outs=5 block=4 p=0.0 b=False"),
        ("d_in d_out dropout_prob max_len bias=", "d_in=3 d_out=5 dropout_prob=0.0 max_len=4"),
        ("outs ins drop_rate block", "outs=5 ins=3 drop_rate=0.0 block=4"),
        ("d_in d_out length masked=", "d_in=3 d_out=5 length=4"),
    ],
    ids=[
        *("sizes swapped", "order", "other name", "no default", "one less", "all other names"),
        *("parts of names", "the only one left", "a switch is no probability"),
    ],
)
def test_a_call_is_made_as_the_students_constructor_takes_it(own: str, expected: str) -> None:
    """By its own names, however the arguments are given."""
    for args, kwargs in (((3, 5, 4, 0.0), {}), ((3, 5), {"length": 4, "dropout": 0.0})):
        assert arranged(WANTED, takes(own), args, kwargs) == ((), given(expected))


@pytest.mark.parametrize(
    ("own", "is_same"),
    [
        ("d_in d_out length dropout= bias=", True),
        ("d_in d_out block dropout bias=", True),
        ("d_in d_out dropout length bias=", False),
        ("d_in d_out length dropout bias", False),
    ],
    ids=["another default", "another name", "another order", "no default"],
)
def test_a_call_by_position_means_the_same_where_each_value_goes_to_the_same_place(
    own: str, is_same: bool
) -> None:
    """Whatever the parameters are called there."""
    args = (3, 5, 4, 0.0)
    found = arranged(WANTED, takes(own), args, {})
    assert (bound(takes(own), *found) == bound(takes(own), args, {})) is is_same


@pytest.mark.parametrize(
    ("own", "args", "kwargs"),
    [
        ("d_in d_out length dropout bias=", (3, 5, 4, 0.0), {}),
        ("d_in d_out length dropout", (3, 5, 4, 0.0, True), {}),
        ("d_in d_out", (3, 5, 4, 0.0), {}),
        ("d_out d_in", (1, 2, 3, 4, 5, 6), {}),
        ("d_out d_in length dropout", (), {"other": 1}),
        ("d_model dropout dim_k dim_v bias=", (3, 5, 4, 0.0), {}),
        ("d_model dropout causal=", (3, 5, 4, 0.0), {}),
    ],
    ids=[
        *("the same", "no bias", "too few", "too many given", "another keyword"),
        *("nothing alike at the place", "one of its own"),
    ],
)
def test_a_call_that_cannot_be_brought_there_stays_as_it_is(
    own: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """The exception that it ends in says what is wrong."""
    assert arranged(WANTED, takes(own), args, kwargs) == (args, kwargs)


@pytest.mark.parametrize(
    ("own", "by_name", "by_place"),
    [
        ("x context mask", True, True),
        ("x context mask more=", True, True),
        ("x context mask more", False, False),
        ("x mask context", False, False),
        ("x y context", False, False),
        ("inputs others hidden", False, True),
        ("x context", False, False),
    ],
)
def test_names_and_order_are_compared(own: str, by_name: bool, by_place: bool) -> None:
    """Where names do not count, none may stand at another one's place."""
    wanted = takes("x context mask")
    assert keeps_to(wanted, takes(own)) == by_name
    assert keeps_to(wanted, takes(own), by_place=True) == by_place


BATCHED = takes("d_in d_out length dropout num_heads bias=")
EXPLICIT = takes("embed_dim head_dim num_heads")


@pytest.mark.parametrize(
    ("wanted", "candidates", "expected"),
    [
        (BATCHED, (BATCHED, EXPLICIT), 0),
        (EXPLICIT, (BATCHED, EXPLICIT), 1),
        (BATCHED, (takes("a b c d e"), takes("a b c")), 0),
        (EXPLICIT, (takes("a b c"), takes("a b c d num_heads")), 0),
        (BATCHED, (takes("d_in d_out length heads"), EXPLICIT), 0),
        (BATCHED, (BATCHED, BATCHED), 1),
        (BATCHED, (BATCHED, takes("a b c d e f=")), 1),
        (BATCHED, (None, EXPLICIT), 0),
    ],
    ids=[
        *("batched", "explicit", "by number", "by number too", "nearly", "the last"),
        *("the last that fits", "unknown"),
    ],
)
def test_the_class_that_fits_best_is_chosen(
    wanted: Parameters, candidates: tuple[Parameters | None, ...], expected: int
) -> None:
    """The last one that takes as many arguments; where none does, by their names."""
    assert best([Definition(each) for each in candidates], wanted) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"A": [{"cell": 2, "line": 7, "parameters": [["x", []]]}]}, (takes("x"), 2, 7)),
        ({"A": [{"cell": "2", "line": None, "parameters": [["x", [1, 2]]]}]}, None),
        ({"A": [5]}, (None, None, 0)),
        ({"A": [{"parameters": [["not a name", []]]}]}, (None, None, 0)),
        ({"A": [{"parameters": "x"}]}, (None, None, 0)),
    ],
)
def test_what_is_reported_of_classes_is_read_or_dropped(content: Any, expected: Any) -> None:
    """The process that reports it runs the student's code."""
    expected = expected or ((Parameter("x", (1,)),), None, 0)
    assert read_classes(Frame({"classes": content})) == {"A": (Definition(*expected),)}


@pytest.mark.parametrize("content", [None, 5, [], {"A": 5}])
def test_what_is_no_report_of_classes_has_none(content: Any) -> None:
    """It is as if the file had no classes."""
    assert read_classes(Frame({"classes": content})) == {}


OTHERS = {
    "size": ("dim", "width"),
    "depth": ("n_layer",),
    "settings": ("cfg",),
    "absent": ("kind",),
}
NAMES = OtherNames(arguments=tuple(OTHERS.items()), unasked=(("dropout", 0.0),))
ALL_IN_ONE = Settings(dim=8, n_layer=3, dropout=0.0, kind=None)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("n_layer dim", {"n_layer": 3, "dim": 8}),
        ("dim dropout n_layer", {"dim": 8, "dropout": 0.0, "n_layer": 3}),
        ("cfg", {"cfg": ALL_IN_ONE}),
        ("dim cfg", {"dim": 8, "cfg": ALL_IN_ONE}),
    ],
    ids=["other order", "one unasked", "all in one", "one beside"],
)
def test_arguments_go_by_their_other_names(own: str, expected: dict[str, Any]) -> None:
    """Also as settings, of what the file mentions; what nobody asked for changes nothing."""
    found = arranged(takes("size depth"), takes(own), (8, 3), {}, NAMES, "dim n_layer dropout kind")
    assert found == ((), expected)


@pytest.mark.parametrize(
    ("wanted", "own", "args", "unasked", "expected"),
    [
        # `bias`, which may be taken besides, is where `qkv_bias` goes when nothing else takes that.
        (
            *("d_in dropout qkv_bias=", "dropout d_in bias=", (3, 0.0, False), "bias"),
            "dropout=0.0 d_in=3 bias=False",
        ),
        # The number for a dropout that a class does not take goes to no truth value.
        (
            *("d_in context_length dropout", "dim context_length masked", (3, 6, 0.0), "masked"),
            "dim=3 context_length=6 masked=True",
        ),
    ],
)
def test_what_may_be_taken_besides_is_no_place_for_anything(
    wanted: str, own: str, args: tuple[Any, ...], unasked: str, expected: str
) -> None:
    """It has a value of its own where nothing that is asked for goes there."""
    names = OtherNames(unasked=((unasked, True),))
    assert arranged(takes(wanted), takes(own), args, {}, names) == ((), given(expected))


def test_settings_are_keys_and_attributes() -> None:
    """What is not there is missing as an attribute is."""
    settings = Settings(dim=8)
    assert (settings["dim"], settings.dim, hasattr(settings, "width")) == (8, 8, False)
    frame = Packer()
    assert Unpacker(b"").unpack(frame.pack(settings)) == settings
    assert type(Unpacker(b"").unpack(frame.pack(settings))) is Settings
