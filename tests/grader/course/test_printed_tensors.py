"""The ledger of a course's printed tensors."""

import json

import pytest
import torch

from grader.core.errors import CourseError
from grader.course.printed_tensors import Ledger
from grader.course.settings import LedgerSettings

FILE = "printed_tensors.json"
SCORES = {
    "id": "T01",
    "shape": [2],
    "how": "value",
    "printed_in": ["000 cell 28", "001 line 150"],
    "meaning": "attention scores",
    "values": [0.9544, 1.495],
}
MASK = {**SCORES, "id": "T02", "how": "input", "shape": [2, 2], "values": [[1, "-inf"], [0.5, 1]]}


@pytest.fixture
def read(tmp_path):
    """Reads a ledger of these entries."""

    def read(*entries, **settings):
        path = tmp_path / FILE
        path.write_text(json.dumps(list(entries)), "utf-8")
        return Ledger(tmp_path, LedgerSettings(FILE, **settings))

    return read


def test_a_printed_tensor_is_found_by_its_id(read):
    """An entry has its places, its meaning, and its values in float32."""
    printed = read(SCORES, MASK)("T01")
    assert (printed.id, printed.how, printed.meaning) == ("T01", "value", "attention scores")
    assert printed.printed_in == ("000 cell 28", "001 line 150")
    assert printed.tensor.dtype is torch.float32
    assert torch.equal(printed.tensor, torch.tensor([0.9544, 1.495]))


def test_infinities_and_whole_numbers_are_values(read):
    """A masked score is printed as -inf, and a mask in whole numbers."""
    expected = torch.tensor([[1.0, -torch.inf], [0.5, 1.0]])
    assert torch.equal(read(MASK)("T02").tensor, expected)


@pytest.mark.parametrize(("decimals", "least"), [(0, 0.5), (2, 0.005), (4, 5e-5), (6, 5e-7)])
def test_the_tolerance_follows_the_decimals(read, decimals, least):
    """Half a unit of the last digit, whatever that is; and whose values they are is known."""
    printed = read(SCORES, decimals=decimals, source="the book's")("T01")
    assert least < printed.atol <= least + 1.1e-6
    assert printed.source == "the book's"


def test_a_course_without_a_ledger_has_no_printed_tensors(tmp_path):
    """A check that asks for one is told what is missing."""
    ledger = Ledger(tmp_path, None)
    assert ledger.entries == {}
    assert not ledger.is_of_the_text(torch.ones(6))
    with pytest.raises(CourseError) as caught:
        ledger("T01")
    assert str(caught.value).startswith("a check asks for printed('T01'), and the course has no")
    assert str(caught.value).endswith("there is no [ledger] in course.toml")


def test_an_unknown_id_is_a_course_error(read):
    """A check that asks for what is not printed is the author's to mend."""
    with pytest.raises(CourseError) as caught:
        read(SCORES)("T99")
    assert str(caught.value) == "printed_tensors.json: the ledger has no entry 'T99'"


def test_a_missing_ledger_is_a_course_error(tmp_path):
    """The sentence names the file."""
    with pytest.raises(CourseError) as caught:
        Ledger(tmp_path, LedgerSettings(FILE))
    text = str(caught.value)
    assert text.startswith("printed_tensors.json: the ledger cannot be read: ")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 200_000])
def test_a_ledger_that_is_no_json_is_a_course_error(data, tmp_path):
    """Whatever lies there instead, the sentence names the file."""
    path = tmp_path / "printed_tensors.json"
    path.write_bytes(data)
    with pytest.raises(CourseError, match=r"printed_tensors\.json: the ledger"):
        Ledger(tmp_path, LedgerSettings(FILE))


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (["T01"], ""),
        ([{}], ""),
        ([{key: value for key, value in SCORES.items() if key != "values"}], ""),
        *(([{**SCORES, "values": values}], "") for values in ([1.0, [2.0]], ["many"], None)),
        ([{**SCORES, "printed_in": 5}], ""),
        ([{**SCORES, "shape": [3]}], "T01"),
        ([SCORES, {**SCORES, "values": [1.0, 2.0]}], "T01"),
    ],
)
def test_entries_that_are_none_are_a_course_error(entries, told, read):
    """Also a shape that is not the values', and two of one id, of which one would be lost."""
    with pytest.raises(CourseError, match=rf"printed_tensors\.json.*{told}"):
        read(*entries)
