"""Arrays of text and moments, pandas' tables: each arrives as it was, or is refused; nothing is made of a lie."""

from typing import Any

import numpy as np
import pytest
from travel import travelled

from grader.sandbox.arguments import argument_of, is_changed
from grader.sandbox.tables import is_missing
from grader.sandbox.wire import MAX_DEPTH, Packer, Unpacker, Unsupported, WireFault

pd = pytest.importorskip("pandas", reason="pandas is an extra")

FRAME = pd.DataFrame(
    {
        "number": [1, 2, 3],
        "share": [1.5, float("nan"), 2.0],
        "name": ["x", None, "z"],
        "day": pd.to_datetime(["2026-01-01", None, "2026-02-03"]),
        "span": pd.to_timedelta(["1h", "2h", None]),
        "kind": pd.Categorical(["u", "v", None], ordered=True),
        "masked": pd.array([1, None, 3], dtype="Int64"),
        "flag": [True, False, True],
        "any": [1, "a", None],
        "small": np.array([1, 2, 3], "uint8"),
    }
)
"""A column of each kind."""


FRAMES = {
    "all kinds of columns": FRAME,
    "an index of names": FRAME.set_index("number"),
    "two levels": FRAME.dropna().groupby(["number", "name"])[["share"]].agg(["mean", "max"]),
    "no rows": FRAME[:0],
    "nothing": pd.DataFrame(),
    "two columns of a name": pd.DataFrame([[1, 2.5]], columns=["a", "a"]),
    "lists in cells": pd.DataFrame({"a": [[1], {2}]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_arrives_as_it_was(frame: Any) -> None:
    """Its columns with their dtypes, its labels with their names."""
    pd.testing.assert_frame_equal(travelled(frame), frame)


def test_counted_rows_stay_counted() -> None:
    """Students see what they see at home."""
    assert repr(travelled(FRAME).index) == "RangeIndex(start=0, stop=3, step=1)"


def test_a_series_and_an_index_arrive_as_they_were() -> None:
    """A series of any labels, also as the values of a dict."""
    series = pd.Series([1.5, 2.5], index=pd.Index(["b", "a"], name="key"), name="n")
    pd.testing.assert_series_equal(travelled({"s": [series]})["s"][0], series)
    pd.testing.assert_index_equal(travelled(series.index), series.index)


@pytest.mark.parametrize(
    "value",
    [
        np.array(["a", "bcd", ""]),
        np.array([["a", None]], object),
        np.array(["2026-01-01", "NaT"], "M8[D]"),
        np.array([[1, 2]], "m8[s]"),
        np.array([1, 2**64 - 1], "uint64"),
        np.array([1], "uint16"),
        np.zeros((2, 0), str),
        np.datetime64("2026-01-01"),
        np.timedelta64(3, "D"),
        pd.Timestamp("2026-01-01 12:00"),
        pd.Timedelta("3h"),
    ],
    ids=repr,
)
def test_texts_and_moments_arrive_as_they_were(value: Any) -> None:
    """Of the same type, dtype and shape."""
    found = travelled(value)
    assert (type(found), repr(found)) == (type(value), repr(value))


def test_what_is_missing_arrives_as_such() -> None:
    """NaT and NA; both are equal to nothing."""
    assert all(is_missing(travelled(value)) for value in (pd.NaT, pd.NA, np.datetime64("NaT", "s")))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (np.zeros(2, [("a", "i4")]), "numpy.ndarray of dtype"),
        (np.array([object()]), "numpy.ndarray of dtype object"),
        (pd.Series(pd.to_datetime(["2026-01-01"]).tz_localize("UTC")), "dtype datetime64"),
        (pd.Timestamp("2026-01-01", tz="UTC"), "with a time zone"),
        (FRAME.assign(p=pd.period_range("2026", periods=3)), "a column of dtype period"),
        (pd.Period("2026"), "Period"),
        (pd.DataFrame({"n": range(30_000), "text": ["a"] * 30_000}), "more than may travel"),
        (np.array(["a"] * 30_000), "numpy.ndarray of dtype <U1"),
        (pd.Series(np.zeros(2**24)), "more than may travel"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_does_not_travel_is_told_by_what_it_holds(value: Any, why: str) -> None:
    """A whole table is refused, and no bytes of it are left over; as an argument it is an author's mistake."""
    found = travelled(value)
    assert isinstance(found, Unsupported)
    assert why in found.type_name
    packer = Packer()
    packer.pack([value])
    assert packer.stays


def test_a_call_has_tables_of_its_own_and_a_change_is_noticed() -> None:
    """Also one of labels alone."""
    given = argument_of(FRAME)
    assert not is_changed(FRAME, given)
    given.loc[0, "share"] = 9.0
    assert is_changed(FRAME, given)
    assert FRAME.loc[0, "share"] == 1.5
    assert is_changed(FRAME, FRAME.rename(columns={"flag": "flags"}))


NUMBERS = {"array": ["int64", [2]]}
ROWS: list[Any] = [[None], [["int64", NUMBERS]]]
"""Labels of two rows."""
NAMES: list[Any] = [[None], [["object", {"list": ["a"]}]]]
"""The label of one column."""

LIES: list[Any] = [
    {"texts": ["str", [3], {"list": ["a"]}]},
    {"texts": ["str", [-1], {"list": []}]},
    {"texts": ["str", [1.0], {"list": ["a"]}]},
    {"texts": ["str", [1], {"list": [1]}]},
    {"texts": ["str", [1] * 17, {"list": ["a"]}]},
    {"texts": ["str", [10_000], {"list": ["a" * 10_000, *[""] * 9_999]}]},
    {"texts": ["object", [1], {"list": [{"list": []}]}]},
    {"texts": ["object", [2**40, 0], {"list": []}]},
    {"moments": ["M8[fs]", NUMBERS]},
    {"moments": ["M8[7D]", NUMBERS]},
    {"moments": ["O", NUMBERS]},
    {"moments": ["M8[s]", {"array": ["float64", [2]]}]},
    {"moments": ["M8[s]", "NaN"]},
    {"moment": {"moments": ["M8[s]", NUMBERS]}},
    {"moment": {"float": "nan"}},
    {"missing": "NaN"},
    {"series": [None, ROWS, ["int64", {"list": [1, 2]}]]},
    {"series": [None, ROWS, ["object", {"list": [1]}]]},
    {"series": [{"list": []}, ROWS, ["object", {"list": [1, 2]}]]},
    {"series": [None, ROWS, ["float64", NUMBERS]]},
    {"series": [None, ROWS, ["int64[pyarrow]", NUMBERS]]},
    {"series": [None, ROWS, ["__import__('os')", {"list": [1, 2]}]]},
    {"series": [None, ROWS, ["Int64", {"list": ["a", "b"]}]]},
    {"series": [None, ROWS, ["Int8", {"list": [1, 2**40]}]]},
    {"series": [None, ROWS, ["boolean", {"list": [7, 8]}]]},
    {"series": [None, ROWS, ["category", {"list": [0, 9]}, ["object", {"list": ["a"]}], False]]},
    {"series": [None, ROWS, ["category", {"list": [0, -2]}, ["object", {"list": ["a"]}], False]]},
    {"series": [None, ROWS, ["category", {"list": [0, 0]}, ["object", {"list": ["a"] * 2}], False]]},
    {"series": [None, ROWS, ["str", {"list": ["a", 1]}]]},
    {"series": [None, [[], []], ["object", {"list": []}]]},
    {"series": [None, [[None], [["object", {"list": [{"list": []}]}]]], ["object", {"list": [1]}]]},
    {"series": [None, [[{"dict": []}], [["object", {"list": [1]}]]], ["object", {"list": [1]}]]},
    {"index": [[None, None], [["object", {"list": [1]}], ["object", {"list": [1, 2]}]]]},
    {"index": [["a"] * 5, []]},
    {"frame": [ROWS, NAMES, []]},
    {"frame": [ROWS, NAMES, [["object", {"list": [1, 2, 3]}]]]},
    {"frame": [ROWS, NAMES, [["object", {"list": [1, 2]}]] * 2]},
    {"frame": [ROWS, NAMES]},
    {"frame": "gASVAAAA"},
]  # fmt: skip


@pytest.mark.parametrize("node", LIES, ids=lambda node: str(node)[:60])
def test_a_table_that_lies_is_refused(node: Any) -> None:
    """Lengths, dtypes, categories and labels that are not what they say."""
    with pytest.raises(WireFault):
        Unpacker(bytes(16) * 4).unpack(node)


def test_tables_in_tables_have_an_end() -> None:
    """As lists in lists have."""
    node: Any = 1
    row = [[None], [["object", {"list": [0]}]]]
    for _depth in range(3 * MAX_DEPTH):
        node = {"series": [None, row, ["object", {"list": [node]}]]}
    with pytest.raises(WireFault, match="nested too deeply"):
        Unpacker(b"").unpack(node)
    series = pd.Series([None], dtype=object)
    series[0] = series
    assert "more than may travel" in repr(Packer().pack(series))
    assert travelled([series, 1])[1] == 1


def test_a_table_where_pandas_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no dependency of the kit."""
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(WireFault, match="a value is no missing"):
        Unpacker(b"").unpack({"missing": "NA"})
