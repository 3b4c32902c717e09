"""A class in nbgrader's gradebook, in SQLite and in PostgreSQL: written, graded again, read back."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec import structs
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from sqlalchemy import inspect, text

from grader.core.records import Decision, DecisionKind, Outcome
from grader.course.course import Assignment, Course, Exercise, LateRule, load_course
from grader.extras.nbgrader.gradebook import fill, prepare
from grader.extras.nbgrader.release import course_id
from grader.extras.nbgrader.rows import write_structure, write_student
from grader.extras.nbgrader.store import database_url, open_gradebook, transaction
from grader.intake.folders import Student
from tests.grader.extras.nbgrader.results import check, result

DUE = datetime(2027, 2, 1, 22, 59, tzinfo=UTC)
NEXT_DAY = DUE + timedelta(days=1, hours=1)
FULL = {"weights": 1, "Mixture": 3}


@dataclass
class Book:
    """An open gradebook with a course's structure, as the tests look at it: at the second assignment."""

    gradebook: Gradebook
    course: Course

    def write(self, student: str = "ada", moment: Any = None, days: int = 0, **scores: Any) -> None:
        """Write a student with these scores; late, if handed in at a moment."""
        moments = {"02_mixture": moment} if moment else {}
        found = result(self.course, student, scores, days)
        write_student(self.gradebook, self.course, found, moments)

    def notebook(self, student: str = "ada") -> SubmittedNotebook:
        """A student's notebook."""
        return self.gradebook.find_submission_notebook("mixture", "02_mixture", student)

    def grade(self, student: str = "ada", name: str = "Mixture") -> Grade:
        """A student's grade."""
        return self.gradebook.find_grade(f"test_{name}", "mixture", "02_mixture", student)

    def comment(self, student: str = "ada", name: str = "Mixture") -> Comment:
        """The comment on a student's answer."""
        return self.gradebook.find_comment(name, "mixture", "02_mixture", student)

    def submission(self, student: str = "ada", id_: str = "02_mixture") -> Any:
        """What a student handed in."""
        return self.gradebook.find_submission(id_, student)

    def by_hand(self, score: float | None, extra: float | None) -> None:
        """What the form grader does when somebody types a score."""
        row = self.grade()
        row.manual_score, row.extra_credit, row.needs_manual_grade = score, extra, False
        self.gradebook.db.commit()

    def counts(self) -> dict[str, int]:
        """How many rows each table has."""
        names = inspect(self.gradebook.engine).get_table_names()
        asked = self.gradebook.db.execute
        return {name: asked(text(f"SELECT count(*) FROM {name}")).scalar() for name in names}


@pytest.fixture(scope="module")
def course(course_folder):
    """The example course."""
    return load_course(course_folder)


@pytest.fixture
def book(address, course):
    """A gradebook of the course."""
    with open_gradebook(address, course_id(course)) as gradebook:
        write_structure(gradebook, course)
        yield Book(gradebook, course)


@pytest.fixture
def dated(book):
    """The same, with a due date for the second assignment."""
    first, second = book.course.assignments
    rule = LateRule(grace_minutes=15, percent_per_day=10)
    book.course = replace(book.course, late=rule, assignments=(first, replace(second, due=DUE)))
    write_structure(book.gradebook, book.course)
    return book


# What is written.


def test_scores_stand_in_the_cells_under_the_notebooks_names(book):
    """Hidden checks count in the same cells and points; nothing is left to grade by hand."""
    book.write(weights=1, Mixture=1.5)
    found = {g.name: (g.auto_score, g.max_score) for g in book.notebook().grades}
    assert found == {"test_weights": (1.0, 1.0), "test_Mixture": (1.5, 3.0)}
    assert (book.notebook().score, book.notebook().needs_manual_grade) == (2.5, False)


def test_a_comment_is_the_feedback_without_what_hidden_checks_asked(book):
    """It has the score, what failed and the mistake's name; a full score has no comment."""
    book.write(weights=1, Mixture=1.5)
    assert book.comment(name="weights").comment is None
    assert book.comment().comment == (
        "1.5 of 3 points.\n\n"
        "→ A known mistake, mixture-of-keys: The keys are mixed. What does a token pass on?\n\n"
        "✗ It is right.\n\n    expected 1, received 2\n    secret of the seed\n\n"
        "✗ It is right.\n\n    This is a hidden check: its inputs are not shown."
    )


def test_what_was_not_handed_in_is_no_submission(book):
    """The student is listed; no zero is invented, neither for one assignment nor for all."""
    absent = structs.replace(result(book.course, "cem", {}), submitted=False, assignments=())
    write_student(book.gradebook, book.course, absent, {})
    book.write(weights=0, Mixture=0)
    assert sorted(student.id for student in book.gradebook.students) == ["ada", "cem"]
    handed_in = [*map(book.gradebook.student_submissions, ("ada", "cem"))]
    assert [[one.name for one in student] for student in handed_in] == [["02_mixture"], []]


def test_an_undecided_score_is_left_to_a_person(book):
    """It is no zero, also not where an earlier run had decided it."""
    for score in (2, None):
        book.write(weights=1, Mixture=score)
    assert (book.grade().auto_score, book.grade().needs_manual_grade) == (None, True)
    assert not book.grade(name="weights").needs_manual_grade
    said = book.comment().comment
    assert said.startswith("This could not be judged: the score is undecided.")


def test_a_text_no_database_takes_is_mended(book):
    """A NUL, or half of a pair, in what a student's code said."""
    found = result(book.course, "ada", {"weights": 0})
    (first, second) = found.assignments
    checks = (structs.replace(check(Outcome.FAILED), message="\0\ud800"),)
    odd = structs.replace(second, exercises=(structs.replace(second.exercises[0], checks=checks),))
    found = structs.replace(found, assignments=(first, odd))
    write_student(book.gradebook, book.course, found, {})
    assert book.comment(name="weights").comment.endswith("    \N{REPLACEMENT CHARACTER}?")


# Late work.


def test_late_days_cost_once(dated):
    """Cells keep their scores; what is taken off stands where nbgrader takes it off itself."""
    for _ in range(2):
        dated.write(moment=NEXT_DAY, days=2, **FULL)
    submission = dated.submission()
    assert (submission.score, submission.late_submission_penalty) == (4.0, 0.8)
    assert submission.timestamp == NEXT_DAY.replace(tzinfo=None)
    assert submission.duedate == DUE.replace(tzinfo=None)
    assert submission.total_seconds_late == 25 * 3600


def test_an_extension_that_somebody_granted_counts(dated):
    """A day in nbgrader makes two days one; without it, it would be two."""
    dated.write(moment=NEXT_DAY, days=2, **FULL)
    dated.gradebook.grant_extension("02_mixture", "ada", days=1)
    dated.write(moment=NEXT_DAY, days=2, **FULL)
    assert dated.submission().late_submission_penalty == 0.4


def test_what_was_decided_is_in_the_gradebook(dated):
    """Late days cost nothing; points by hand count without a file; what does not count is left out."""
    gradebook, found = dated.gradebook, result(dated.course, "ada", FULL, 2)
    first, second = found.assignments
    paid = structs.replace(found, assignments=(first, structs.replace(second, late_days_used=1)))
    write_student(gradebook, dated.course, paid, {"02_mixture": DUE + timedelta(days=2)})
    assert dated.submission().late_submission_penalty == 0.4
    override, exemption = (
        Decision(kind, None) for kind in (DecisionKind.OVERRIDE, DecisionKind.EXEMPTION)
    )
    exercise = structs.replace(first.exercises[0], score=Decimal(2), decision=override)
    oral = structs.replace(first, exercises=(exercise,))
    without = structs.replace(second, exercises=(structs.replace(exercise, decision=exemption),))
    bob = structs.replace(found, student="bob", assignments=(oral, without))
    write_student(gradebook, dated.course, bob, {})
    assert dated.submission("bob", "01_scores").score == 2
    with pytest.raises(MissingEntry):
        dated.submission("bob")


def test_late_work_costs_a_share_of_what_a_person_gave(dated):
    """A score by hand and extra credit count in it."""
    dated.write(moment=DUE + timedelta(hours=1), days=1, **FULL)
    dated.by_hand(2.0, 0.5)
    dated.write(moment=DUE + timedelta(hours=1), days=1, **FULL)
    assert dated.submission().late_submission_penalty == 0.35


# Graded again.


def test_grading_again_doubles_nothing(book):
    """Each table has as many rows as before; scores and comments are the new ones."""
    book.write(weights=1, Mixture=0)
    before = book.counts()
    write_structure(book.gradebook, book.course)
    book.write(**FULL)
    assert book.counts() == before
    assert (book.grade().score, book.comment().comment) == (3.0, None)


def test_what_a_person_gave_stays(book):
    """Score, extra credit and comment; where our score has changed since, it asks for a look."""
    book.write(weights=1, Mixture=1)
    book.by_hand(2.5, 0.25)
    book.comment().manual_comment = "Nearly."
    book.gradebook.db.commit()
    book.write(weights=1, Mixture=1)
    assert not book.grade().needs_manual_grade
    book.write(weights=1, Mixture=0)
    row = book.grade()
    assert (row.auto_score, row.manual_score, row.extra_credit) == (0.0, 2.5, 0.25)
    assert (row.score, row.needs_manual_grade) == (2.75, True)
    assert book.comment().comment == "Nearly."


def test_what_is_not_graded_this_time_is_left_alone(book):
    """Week by week: a run over one assignment keeps the others' scores."""
    book.write(**FULL)
    book.write(scores=2)
    assert book.gradebook.find_student("ada").score == 6.0


# The course changed.


def change(book, *exercises):
    """Give the second assignment other exercises; what is said of it."""
    first, second = book.course.assignments
    made = tuple(Exercise(second.id, name, points) for name, points in exercises)
    changed = Assignment(second.id, second.title, made)
    book.course = replace(book.course, assignments=(first, changed))
    return write_structure(book.gradebook, book.course)


def test_new_exercises_come_into_submissions_that_are_there(book):
    """Who is graded again gets a score for them, whoever is not is left to be graded."""
    for student in ("ada", "bo"):
        book.write(student, weights=1, Mixture=1)
    book.by_hand(2.5, None)
    change(book, ("weights", 2), ("Mixture", 3), ("summary", 1))
    book.write(weights=2, Mixture=1, summary=1)
    assert (book.notebook().score, book.notebook().max_score) == (5.5, 6)
    assert book.grade("bo", "summary").needs_manual_grade
    assert book.notebook("bo").score == 2.0


def test_exercises_that_are_gone_leave_no_points_behind(book):
    """Their cells go, with what hung on them, and it is said; what is left keeps its scores."""
    book.write(weights=1, Mixture=1)
    book.by_hand(2.5, None)
    essay = ("essay", "mixture", "02_mixture")
    book.gradebook.update_or_create_grade_cell(*essay, max_score=4, cell_type="markdown")
    assert change(book, ("weights", 1)) == [
        "02_mixture/Mixture is no longer in the course: its cells were removed from the "
        "gradebook, with 1 score given by hand."
    ]
    names = {row.name: row.score for row in book.notebook().grades}
    assert names == {"test_weights": 1.0, "essay": 0.0}
    assert book.notebook().max_score == 5.0
    assert write_structure(book.gradebook, book.course) == []


# All or nothing.


def test_a_student_is_written_whole_or_not_at_all(book):
    """What nbgrader's methods committed on the way is taken back when something fails."""
    before = book.counts()

    def write_and_fail():
        with transaction(book.gradebook):
            book.gradebook.update_or_create_student("ada")
            book.gradebook.update_or_create_submission("02_mixture", "ada")
            book.gradebook.find_student("bo")

    with pytest.raises(MissingEntry, match="No such student: bo"):
        write_and_fail()
    assert book.counts() == before


def test_one_who_cannot_be_written_stops_no_other(address, course, tmp_path, capsys):
    """The reason is told, without a traceback; whoever comes after is written."""
    prepare(course, address, tmp_path / "nbgrader")
    results = [result(course, name, FULL) for name in ("b" * 200, "cem")]
    students = [Student(one.student, tmp_path) for one in results]
    filled = fill(course, students, results, address, tmp_path / "nbgrader")
    why = (
        "(psycopg.errors.StringDataRightTruncation) value too long for type character varying(128)"
    )
    is_limited = database_url(address).get_backend_name() == "postgresql"
    assert filled.failed == ({"b" * 200: why} if is_limited else {})
    assert capsys.readouterr().err == ""
    with open_gradebook(address, course_id(course)) as gradebook:
        assert gradebook.find_student("cem").score == 4.0


def test_the_form_graders_folder_names_the_gradebook_without_its_password(
    address, course, tmp_path
):
    """PostgreSQL's own library is asked for the password, not a file of ours."""
    url = database_url(address)
    if url.get_backend_name() == "postgresql":
        address = url.set(password="secret").render_as_string(hide_password=False)
    prepare(course, address, tmp_path / "nbgrader")
    config = (tmp_path / "nbgrader" / "nbgrader_config.py").read_text("utf-8")
    assert f"c.CourseDirectory.db_url = {url.render_as_string()!r}\n" in config
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.ipynb"))
    assert files == [
        "nbgrader/source/01_scores/scores.ipynb",
        "nbgrader/source/02_mixture/mixture.ipynb",
    ]
