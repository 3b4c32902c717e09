"""Rosters of three kinds, and whom a download's name stands for."""

import pytest

from grader.core.errors import UsageError
from grader.intake.roster import Enrolled, find_enrolled, read_roster, spellings

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Quiz (12)
    Points Possible,,,,,10
"Lovelace, Ada",11,S1,ada,A,9
"Turing, Alan",12,,,A,
"Student, Test",99,,test,A,
"""
MOODLE = """\
Identifier,Full name,Email address,Status,Grade
Participant 71,Ada Lovelace,ada@example.org,Submitted,
参与者72,王 芳,wang@example.org,Submitted,
"""


@pytest.fixture
def read(tmp_path):
    """Reads a roster with this text."""

    def read_text(text):
        path = tmp_path / "roster.csv"
        path.write_text(text, "utf-8-sig")
        return read_roster(path)

    return read_text


def test_our_own_roster_may_tell_more_than_names(read) -> None:
    """Columns are found by name; rows without a student are passed over."""
    found = read("name,student,login,id,email\nAda,ada,alovelace,11,a@example.org\n,,,,\n")
    assert found == [Enrolled("ada", "Ada", "alovelace", "11", "a@example.org")]


@pytest.mark.parametrize("column", ["tutor", "Grader"])
def test_our_own_roster_may_tell_who_teaches_whom(read, column) -> None:
    """By either word."""
    assert read(f"student,{column}\nada,Tamsin\n") == [Enrolled("ada", tutor="Tamsin")]


def test_canvas_own_export_is_a_roster(read) -> None:
    """Its row of points and its test student are no students."""
    assert read(CANVAS) == [
        Enrolled("ada", "Lovelace, Ada", "ada", "11", "", "A", sis_number="S1"),
        Enrolled("12", "Turing, Alan", "", "12", "", "A"),
    ]


def test_moodles_own_worksheet_is_a_roster(read) -> None:
    """In any language: its identifier ends in the number."""
    ada, fang = read(MOODLE)
    assert (ada.student, ada.number, ada.identifier) == ("ada@example.org", "71", "Participant 71")
    assert (fang.name, fang.number, fang.identifier) == ("王 芳", "72", "参与者72")


def test_another_table_is_no_roster(read) -> None:
    """It says what it found."""
    with pytest.raises(UsageError, match="has no column `student`; its first line has a, b"):
        read("a,b\n1,2\n")


def test_a_number_decides_between_two_of_one_name() -> None:
    """And without one both may be meant."""
    roster = [
        Enrolled("ada1", "Lovelace, Ada", number="11"),
        Enrolled("ada2", "Ada Lovelace", number="12"),
    ]
    assert find_enrolled(roster, "lovelaceada", "12") == [roster[1]]
    assert find_enrolled(roster, "lovelaceada") == roster
    assert find_enrolled(roster, "lovelaceada", "13") == []


def test_a_name_is_found_in_any_turn_of_its_words() -> None:
    """Canvas writes the last name first, without spaces; a login is found as it is."""
    roster = [Enrolled("ada", "Ada King-Noel Lovelace", "aknl"), Enrolled("bo")]
    assert find_enrolled(roster, "lovelaceadakingnoel") == [roster[0]]
    assert find_enrolled(roster, "AKNL") == [roster[0]]
    assert find_enrolled(roster, "bo") == [roster[1]]
    assert find_enrolled(roster, "cem") == []
    assert spellings("王, 芳") == {"王芳", "芳王"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("first", ["", "sep={}\n"])
def test_excels_dialects_are_read(tmp_path, delimiter, encoding, first) -> None:
    """Other separators, byte-order marks, and headers in any case."""
    path = tmp_path / "roster.csv"
    rows = [["Name", "Student"], ["Zoë", "zoe"]]
    text = first.format(delimiter) + "".join(f"{delimiter.join(row)}\r\n" for row in rows)
    path.write_text(text, encoding)
    assert read_roster(path) == [Enrolled("zoe", "Zoë")]
