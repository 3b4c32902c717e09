"""When students handed in: by Canvas's submissions, Moodle's worksheet, or a list of one's own."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from grader.core.errors import UsageError
from grader.intake.attempts import Attempt
from grader.intake.folders import Student
from grader.intake.read import IntakeResult
from grader.intake.roster import Enrolled, read_roster
from grader.intake.times import with_times
from grader.submissions.moments import Moment

ZONE = timezone(timedelta(hours=1))
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Last modified (submission)\n"
    'Participant 11,Ada L,ada,Submitted,,"Sunday, 31 January 2027, 11:59 PM"\n'
    "Participant 12,Bo B,bo,No submission,,-\n"
    'Participant 13,Cem C,cem,Submitted,,"Sonntag, 31. Januar 2027, 23:59"\n'
)


@pytest.fixture
def course(small_course):
    """A course whose first assignment is due in another zone."""
    first, second = small_course.assignments
    due = datetime(2027, 2, 1, tzinfo=ZONE)
    return replace(small_course, assignments=(replace(first, due=due), second))


def intake(*enrolled, **options):
    """A class of these."""
    students = [Student(one.student, None) for one in enrolled]
    return IntakeResult(students, {one.student: one for one in enrolled}, **options)


def test_moodles_worksheet(course, write):
    """As the roster or as the list; its times are in the zone of what they are compared with."""
    path = write(WORKSHEET)
    known = intake(*read_roster(path))
    for found in (with_times(course, known, None), with_times(course, known, path)):
        ada, bo, cem = found.students
        assert dict(ada.times) == {
            "01_first": Moment(datetime(2027, 1, 31, 23, 59, tzinfo=ZONE), "Moodle's worksheet"),
            "02_second": Moment(datetime(2027, 1, 31, 23, 59, tzinfo=UTC), "Moodle's worksheet"),
        }
        assert (bo.times, cem.times) == ((), ())
        assert found.notes == (
            "The list of times says 'Sonntag, 31. Januar 2027, 23:59' of cem, which is no date that "
            "can be read: nothing of theirs (1 in all) is taken for late.",
        )


def test_canvass_submissions(course, write):
    """By the platform's numbers; a mark alone tells that it does not say by how much."""
    ada, bo, cem = (
        Enrolled(name, number=number) for name, number in zip("abc", "123", strict=True)
    )
    said = [
        {"user_id": 1, "submitted_at": "2027-02-01T10:00:00Z", "late": True},
        {"user_id": 2, "submitted_at": None},
        {"user_id": 9, "submitted_at": "2027-02-01T10:00:00Z"},
    ]
    known = intake(ada, bo, cem, marked_late=frozenset("ac"))
    found = with_times(course, known, write(json.dumps(said)))
    assert dict(found.students[0].times)["01_first"] == Moment(
        datetime(2027, 2, 1, 10, tzinfo=UTC), "Canvas's submissions"
    )
    assert [s.times for s in found.students[1:]] == [(), ()]
    assert found.notes == (
        "c: the platform marks this as late; it does not say by how much, so nothing is taken off. "
        "--times with its list of submissions tells.",
        "The list of times has 1 who are nobody here, or several: 9.",
    )


def test_a_list_of_ones_own(course, write):
    """For one assignment, or all."""
    path = write("student,submitted_at,assignment\nada,2027-02-02T10:00:00+01:00,01_first\nbo,,\n")
    (ada, bo) = with_times(course, intake(Enrolled("ada"), Enrolled("bo")), path).students
    assert [(id_, moment.source) for id_, moment in ada.times] == [
        ("01_first", "your instructor's list")
    ]
    assert bo.times == ()


def test_attempts_have_times_of_their_own(course, write, tmp_path):
    """A list that is given all the same is told to be of no use."""
    path = write("student,submitted_at\nada,2027-02-02T10:00:00Z\n")
    attempt = Attempt(Moment(datetime(2027, 1, 1, tzinfo=UTC)), tmp_path)
    arrived = IntakeResult([Student("ada", tmp_path, attempts=(attempt,))])
    found = with_times(course, arrived, path)
    assert found.students == arrived.students
    assert found.notes == (
        f"Attempts have times of their own: for 1 of the class {path} does not count.",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1]", "no list of Canvas's submissions"),
        ("name,when\n", "has no column `student`"),
        ("student\nada\n", "neither a CSV with columns `student` and `submitted_at`"),
        ("student,submitted_at,assignment\nada,2027-02-02,1\n", "is no assignment's id"),
    ],
)
def test_a_list_that_cannot_be_used_says_why(course, write, text, why):
    """With the file it is about."""
    with pytest.raises(UsageError, match=why):
        with_times(course, intake(Enrolled("ada")), write(text))


def test_without_a_list_nothing_changes(course):
    """Nobody has times."""
    found = with_times(course, intake(Enrolled("ada")), None)
    assert found == intake(Enrolled("ada"))
