"""Key files, lists of times, rosters and requests that hold anything: each is told of in a sentence."""

import json
from datetime import UTC, datetime

import pytest

from grader.classes.explain import read_requests, states
from grader.classes.records import Records
from grader.core.errors import UsageError
from grader.core.files import table
from grader.intake.anonymous import numbers_of, read_keys
from grader.intake.folders import Student
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled
from grader.intake.times import with_times
from grader.submissions.moments import parsed

HUGE = "x" * 140_000
DEEP = "[" * 100_000
COLUMNS = "number,student,name,login,email\n"


@pytest.mark.parametrize(
    "number",
    [
        *("../../escaped", "/tmp/x", "..", ".", "", "a/b", "a\\b", "²", "１", "1\0", "=1", "a b"),
        *("1" * 21, "-1", ".x", "\u202e1", "1\n2"),
    ],
)
def test_a_number_that_is_no_plain_word_is_refused(write, number):
    """Files are called so: it can be no path."""
    quoted = number.replace('"', '""')
    keys = write(f'{COLUMNS}7,bo,,,\n"{quoted}",ada,,,\n')
    with pytest.raises(UsageError, match=r"^The key file .*list "):
        read_keys(keys)


@pytest.mark.parametrize("number", ["1", "0007", "s-12", "A1"])
def test_a_plain_number_is_taken(write, number):
    """As drawn, or written by hand; new students get others."""
    keys = write(f"{COLUMNS}{number},ada,=1,,\n")
    assert numbers_of(keys, [Enrolled("ada"), Enrolled("bo")])["ada"] == number
    assert read_keys(keys)["ada"] == (number, "ada", "=1", "", "")


@pytest.mark.parametrize("text", [f"{COLUMNS}1,{HUGE},,,\n", HUGE])
def test_a_key_file_that_is_no_table(write, text):
    """A field that is longer than any."""
    with pytest.raises(UsageError, match="list cannot be read after line"):
        read_keys(write(text))


@pytest.mark.parametrize(
    "text",
    [
        *(DEEP, f'[{{"user_id": {DEEP}', '{"user_id": 1}', "[1]", "[" + "9" * 5000 + "]"),
        *(f"student,submitted_at\nada,{HUGE}\n", HUGE, f"student,submitted_at,{HUGE}\n"),
    ],
)
def test_a_list_of_times_that_is_none(small_course, write, text):
    """Deep JSON, and fields that no CSV has."""
    intake = IntakeResult([Student("ada", None)])
    with pytest.raises(UsageError, match=r"^The (list of times|roster) "):
        with_times(small_course, intake, write(text))


@pytest.mark.parametrize(
    "text", ["10000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-23:59"]
)
def test_a_date_beyond_all_years_is_none(small_course, write, text):
    """It is told of, and the others of the list count."""
    assert parsed(text) is None
    intake = IntakeResult([Student("ada", None), Student("bo", None)])
    path = write(f"student,submitted_at\nada,{text}\nbo,2027-01-31T10:00:00Z\n")
    found = with_times(small_course, intake, path)
    ada, bo = found.students
    assert (ada.times, dict(bo.times)["01_first"].at) == ((), datetime(2027, 1, 31, 10, tzinfo=UTC))
    assert len(found.notes) == 1


@pytest.mark.parametrize("text", [DEEP, "[[]]", f"student,exercise,why\nada,x,{HUGE}\n"])
def test_requests_that_are_none(write, text):
    """A sentence."""
    with pytest.raises(UsageError, match=r"list (is no list|cannot be read after)"):
        read_requests(write(text))


@pytest.mark.parametrize("login", ["x" * 400, "..", "a/b", "a\0b", "\ud800", "~" * 300])
def test_a_request_of_nobody(small_course, write, tmp_path, login):
    """Whatever the login is."""
    (tmp_path / "scores.csv").write_text(table([["student", "login"], [HUGE, "b"]]), "utf-8")
    run = Records(tmp_path, {})
    issue = {"author": {"login": login}, "body": "### Exercise\n\nfirst/one\n"}
    (state,) = states(small_course, run, read_requests(write(json.dumps([issue]))))
    assert state.now in ("this run has no such student", "this names no single exercise")
    asked = read_requests(write(f"student,exercise,why\n{HUGE[:400]},one,\n"))
    found = states(small_course, run, asked)
    assert [one.now for one in found] == ["this run has no such student"]
