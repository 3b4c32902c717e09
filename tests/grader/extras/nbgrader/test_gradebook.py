"""A class in nbgrader's gradebook, in SQLite and in PostgreSQL: written, graded again, read back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import structs
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from sqlalchemy import inspect, text

from grader.core.records import Decision, DecisionKind, Outcome, Result
from grader.course.course import Assignment, Course, Exercise, LateRule, load_course
from grader.extras.nbgrader.gradebook import fill, prepare
from grader.extras.nbgrader.release import course_id
from grader.extras.nbgrader.rows import write_structure, write_student
from grader.extras.nbgrader.store import database_url, open_gradebook, transaction
from grader.intake.folders import Student
from tests.grader.extras.nbgrader.results import check, result

DUE = datetime(2027, 2, 1, 22, 59, tzinfo=UTC)


@pytest.fixture(scope="module")
def course(course_folder: Path) -> Course:
    """The example course."""
    return load_course(course_folder)


@contextmanager
def opened(address: str, course: Course) -> Iterator[Gradebook]:
    """The gradebook, with the course's structure."""
    with open_gradebook(address, course_id(course)) as gradebook:
        write_structure(gradebook, course)
        yield gradebook


def notebook(gradebook: Gradebook, student: str) -> SubmittedNotebook:
    """A student's notebook of the second assignment."""
    return gradebook.find_submission_notebook("mixture", "02_mixture", student)


def grade(gradebook: Gradebook, student: str, name: str = "Mixture") -> Grade:
    """A student's grade in the second assignment."""
    return gradebook.find_grade(f"test_{name}", "mixture", "02_mixture", student)


def comment(gradebook: Gradebook, student: str, name: str = "Mixture") -> Comment:
    """The comment on a student's answer in the second assignment."""
    return gradebook.find_comment(name, "mixture", "02_mixture", student)


def counts(gradebook: Gradebook) -> dict[str, int]:
    """How many rows each table has."""
    names = inspect(gradebook.engine).get_table_names()
    return {
        name: gradebook.db.execute(text(f"SELECT count(*) FROM {name}")).scalar() for name in names
    }


# What is written.


def test_scores_stand_in_the_cells_under_the_notebooks_names(address: str, course: Course) -> None:
    """Hidden checks count in the same cells and points; nothing is left to grade by hand."""
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 1.5}), {})
        found = {g.name: (g.auto_score, g.max_score) for g in notebook(gradebook, "ada").grades}
        assert found == {"test_weights": (1.0, 1.0), "test_Mixture": (1.5, 3.0)}
        assert notebook(gradebook, "ada").score == 2.5
        assert not notebook(gradebook, "ada").needs_manual_grade


def test_a_comment_is_the_feedback_without_what_hidden_checks_asked(
    address: str, course: Course
) -> None:
    """It has the score, what failed and the mistake's name; a full score has no comment."""
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 1.5}), {})
        assert comment(gradebook, "ada", "weights").comment is None
        assert comment(gradebook, "ada").comment == (
            "1.5 of 3 points.\n\n"
            "→ A known mistake, mixture-of-keys: The keys are mixed. What does a token pass on?\n\n"
            "✗ It is right.\n\n    expected 1, received 2\n    secret of the seed\n\n"
            "✗ It is right.\n\n    This is a hidden check: its inputs are not shown."
        )


def test_what_was_not_handed_in_is_no_submission(address: str, course: Course) -> None:
    """The student is listed; no zero is invented, neither for one assignment nor for all."""
    absent = structs.replace(result(course, "cem", {}), submitted=False, assignments=())
    with opened(address, course) as gradebook:
        write_student(gradebook, course, absent, {})
        write_student(gradebook, course, result(course, "ada", {"weights": 0, "Mixture": 0}), {})
        assert sorted(student.id for student in gradebook.students) == ["ada", "cem"]
        submissions = [
            (one.student.id, one.name)
            for student in ("ada", "cem")
            for one in gradebook.student_submissions(student)
        ]
        assert submissions == [("ada", "02_mixture")]


def test_an_undecided_score_is_left_to_a_person(address: str, course: Course) -> None:
    """It is no zero, also not where an earlier run had decided it."""
    with opened(address, course) as gradebook:
        for score in (2, None):
            scores = {"weights": 1, "Mixture": score}
            write_student(gradebook, course, result(course, "ada", scores), {})
        assert grade(gradebook, "ada").auto_score is None
        assert grade(gradebook, "ada").needs_manual_grade
        assert not grade(gradebook, "ada", "weights").needs_manual_grade
        said = comment(gradebook, "ada").comment
        assert said.startswith("This could not be judged: the score is undecided.")


def test_a_text_no_database_takes_is_mended(address: str, course: Course) -> None:
    """A NUL, or half of a pair, in what a student's code said."""
    scores = result(course, "ada", {"weights": 0})
    (first, second) = scores.assignments
    odd = structs.replace(
        second.exercises[0], checks=(structs.replace(check(Outcome.FAILED), message="\0\ud800"),)
    )
    scores = structs.replace(scores, assignments=(first, structs.replace(second, exercises=(odd,))))
    with opened(address, course) as gradebook:
        write_student(gradebook, course, scores, {})
        assert comment(gradebook, "ada", "weights").comment.endswith(
            "    \N{REPLACEMENT CHARACTER}?"
        )


# Late work.


@pytest.fixture
def dated(course: Course) -> Course:
    """The course with a due date for the second assignment."""
    first, second = course.assignments
    rule = LateRule(grace_minutes=15, percent_per_day=10)
    return replace(course, late=rule, assignments=(first, replace(second, due=DUE)))


def late(course: Course, moment: datetime, days: int) -> tuple[Result, dict[str, datetime]]:
    """A full score, handed in late."""
    scores = {"weights": 1, "Mixture": 3}
    return result(course, "ada", scores, days), {"02_mixture": moment}


def test_late_days_cost_once(address: str, dated: Course) -> None:
    """Cells keep their scores; what is taken off stands where nbgrader takes it off itself."""
    moment = DUE + timedelta(days=1, hours=1)
    with opened(address, dated) as gradebook:
        for _ in range(2):
            write_student(gradebook, dated, *late(dated, moment, 2))
        submission = gradebook.find_submission("02_mixture", "ada")
        assert (submission.score, submission.late_submission_penalty) == (4.0, 0.8)
        assert submission.timestamp == moment.replace(tzinfo=None)
        assert submission.duedate == DUE.replace(tzinfo=None)
        assert submission.total_seconds_late == 25 * 3600


def test_an_extension_that_somebody_granted_counts(address: str, dated: Course) -> None:
    """A day in nbgrader makes two days one; without it, it would be two."""
    moment = DUE + timedelta(days=1, hours=1)
    with opened(address, dated) as gradebook:
        write_student(gradebook, dated, *late(dated, moment, 2))
        gradebook.grant_extension("02_mixture", "ada", days=1)
        write_student(gradebook, dated, *late(dated, moment, 2))
        assert gradebook.find_submission("02_mixture", "ada").late_submission_penalty == 0.4


def test_what_was_decided_is_in_the_gradebook(address: str, dated: Course) -> None:
    """Late days cost nothing; points by hand count without a file; what does not count is left out."""
    found, moments = late(dated, DUE + timedelta(days=2), 2)
    first, second = found.assignments
    paid = structs.replace(found, assignments=(first, structs.replace(second, late_days_used=1)))
    decision = Decision(DecisionKind.OVERRIDE, None)
    exercise = structs.replace(first.exercises[0], score=Decimal(2), decision=decision)
    oral = structs.replace(first, exercises=(exercise,))
    exempt = structs.replace(exercise, decision=Decision(DecisionKind.EXEMPTION, None))
    without = structs.replace(second, exercises=(exempt,))
    with opened(address, dated) as gradebook:
        write_student(gradebook, dated, paid, moments)
        assert gradebook.find_submission("02_mixture", "ada").late_submission_penalty == 0.4
        bob = structs.replace(found, student="bob", assignments=(oral, without))
        write_student(gradebook, dated, bob, {})
        assert gradebook.find_submission("01_scores", "bob").score == 2
        with pytest.raises(MissingEntry):
            gradebook.find_submission("02_mixture", "bob")


def test_late_work_costs_a_share_of_what_a_person_gave(address: str, dated: Course) -> None:
    """A score by hand and extra credit count in it."""
    with opened(address, dated) as gradebook:
        write_student(gradebook, dated, *late(dated, DUE + timedelta(hours=1), 1))
        by_hand(gradebook, 2.0, 0.5)
        write_student(gradebook, dated, *late(dated, DUE + timedelta(hours=1), 1))
        assert gradebook.find_submission("02_mixture", "ada").late_submission_penalty == 0.35


def by_hand(gradebook: Gradebook, score: float | None, extra: float | None) -> None:
    """What the form grader does when somebody types a score."""
    row = grade(gradebook, "ada")
    row.manual_score, row.extra_credit, row.needs_manual_grade = score, extra, False
    gradebook.db.commit()


# Graded again.


def test_grading_again_doubles_nothing(address: str, course: Course) -> None:
    """Each table has as many rows as before; scores and comments are the new ones."""
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 0}), {})
        before = counts(gradebook)
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 3}), {})
        assert counts(gradebook) == before
        assert (grade(gradebook, "ada").score, comment(gradebook, "ada").comment) == (3.0, None)


def test_what_a_person_gave_stays(address: str, course: Course) -> None:
    """Score, extra credit and comment; where our score has changed since, it asks for a look."""
    scores = {"weights": 1, "Mixture": 1}
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", scores), {})
        by_hand(gradebook, 2.5, 0.25)
        comment(gradebook, "ada").manual_comment = "Nearly."
        gradebook.db.commit()
        write_student(gradebook, course, result(course, "ada", scores), {})
        assert not grade(gradebook, "ada").needs_manual_grade
        write_student(gradebook, course, result(course, "ada", {**scores, "Mixture": 0}), {})
        row = grade(gradebook, "ada")
        assert (row.auto_score, row.manual_score, row.extra_credit) == (0.0, 2.5, 0.25)
        assert (row.score, row.needs_manual_grade) == (2.75, True)
        assert comment(gradebook, "ada").comment == "Nearly."


def test_what_is_not_graded_this_time_is_left_alone(address: str, course: Course) -> None:
    """Week by week: a run over one assignment keeps the others' scores."""
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 3}), {})
        write_student(gradebook, course, result(course, "ada", {"scores": 2}), {})
        assert gradebook.find_student("ada").score == 6.0


# The course changed.


def changed(course: Course, *exercises: tuple[str, int]) -> Course:
    """The course with other exercises in its second assignment."""
    first, second = course.assignments
    made = tuple(Exercise(second.id, name, points) for name, points in exercises)
    return replace(course, assignments=(first, Assignment(second.id, second.title, made)))


def test_new_exercises_come_into_submissions_that_are_there(address: str, course: Course) -> None:
    """Who is graded again gets a score for them, whoever is not is left to be graded."""
    longer = changed(course, ("weights", 2), ("Mixture", 3), ("summary", 1))
    with opened(address, course) as gradebook:
        for student in ("ada", "bo"):
            scores = result(course, student, {"weights": 1, "Mixture": 1})
            write_student(gradebook, course, scores, {})
        by_hand(gradebook, 2.5, None)
    with opened(address, longer) as gradebook:
        scores = {"weights": 2, "Mixture": 1, "summary": 1}
        write_student(gradebook, longer, result(longer, "ada", scores), {})
        assert (notebook(gradebook, "ada").score, notebook(gradebook, "ada").max_score) == (5.5, 6)
        assert grade(gradebook, "bo", "summary").needs_manual_grade
        assert notebook(gradebook, "bo").score == 2.0


def test_exercises_that_are_gone_leave_no_points_behind(address: str, course: Course) -> None:
    """Their cells go, with what hung on them, and it is said; what is left keeps its scores."""
    shorter = changed(course, ("weights", 1))
    with opened(address, course) as gradebook:
        write_student(gradebook, course, result(course, "ada", {"weights": 1, "Mixture": 1}), {})
        by_hand(gradebook, 2.5, None)
        gradebook.update_or_create_grade_cell(
            "essay", "mixture", "02_mixture", max_score=4, cell_type="markdown"
        )
        assert write_structure(gradebook, shorter) == [
            "02_mixture/Mixture is no longer in the course: its cells were removed from the "
            "gradebook, with 1 score given by hand."
        ]
        names = {row.name: row.score for row in notebook(gradebook, "ada").grades}
        assert names == {"test_weights": 1.0, "essay": 0.0}
        assert notebook(gradebook, "ada").max_score == 5.0
        assert write_structure(gradebook, shorter) == []


# All or nothing.


def test_a_student_is_written_whole_or_not_at_all(address: str, course: Course) -> None:
    """What nbgrader's methods committed on the way is taken back when something fails."""
    with opened(address, course) as gradebook:
        before = counts(gradebook)
        with pytest.raises(MissingEntry, match="No such student: bo"):
            write_and_fail(gradebook)
        assert counts(gradebook) == before


def write_and_fail(gradebook: Gradebook) -> None:
    """Two things that nbgrader commits, and one that fails."""
    with transaction(gradebook):
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission("02_mixture", "ada")
        gradebook.find_student("bo")


def test_one_who_cannot_be_written_stops_no_other(
    address: str, course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is told, without a traceback; whoever comes after is written."""
    prepare(course, address, tmp_path / "nbgrader")
    results = [result(course, name, {"weights": 1, "Mixture": 3}) for name in ("bo", "cem")]
    results[0] = structs.replace(results[0], student="b" * 200)
    students = [Student(one.student, tmp_path) for one in results]
    filled = fill(course, students, results, address, tmp_path / "nbgrader")
    why = (
        "(psycopg.errors.StringDataRightTruncation) value too long for type character varying(128)"
    )
    is_limited = database_url(address).get_backend_name() == "postgresql"
    assert filled.failed == ({"b" * 200: why} if is_limited else {})
    assert capsys.readouterr().err == ""
    with opened(address, course) as gradebook:
        assert gradebook.find_student("cem").score == 4.0


def test_the_form_graders_folder_names_the_gradebook_without_its_password(
    address: str, course: Course, tmp_path: Path
) -> None:
    """PostgreSQL's own library is asked for the password, not a file of ours."""
    url = database_url(address)
    if url.get_backend_name() == "postgresql":
        address = url.set(password="secret").render_as_string(hide_password=False)
    prepare(course, address, tmp_path / "nbgrader")
    config = (tmp_path / "nbgrader" / "nbgrader_config.py").read_text("utf-8")
    assert f"c.CourseDirectory.db_url = {url.render_as_string()!r}\n" in config
    files = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.ipynb"))
    assert files == [
        Path("nbgrader", "source", "01_scores", "scores.ipynb"),
        Path("nbgrader", "source", "02_mixture", "mixture.ipynb"),
    ]
