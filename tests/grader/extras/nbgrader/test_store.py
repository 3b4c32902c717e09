"""Gradebooks that are not there yet, half made, of another version, or no gradebooks at all."""

import itertools
import os
import signal
from pathlib import Path

import pytest
from nbgrader.api import Base
from sqlalchemy import Engine, create_engine, event, inspect, text

from grader.core.errors import UsageError
from grader.course.course import Course, load_course
from grader.extras.nbgrader.gradebook import Filled, fill, prepare
from grader.extras.nbgrader.store import VERSION_TABLE, database_url, open_gradebook
from grader.intake.folders import Student
from tests.grader.extras.nbgrader.results import result


def execute(address: str, *statements: str) -> list[list[str]]:
    """Change a database by hand, or ask it; the values of each statement's first column."""
    engine = create_engine(database_url(address))
    with engine.begin() as connection:
        done = [connection.execute(text(statement)) for statement in statements]
        found = [[*one.scalars()] if one.returns_rows else [] for one in done]
    engine.dispose()
    return found


def version(address: str) -> list[str]:
    """What stands in the version's table."""
    return execute(address, f"SELECT version_num FROM {VERSION_TABLE}")[0]


def make(address: str) -> None:
    """Open a gradebook, and close it."""
    with open_gradebook(address, "course"):
        pass


def refusal(address: str) -> str:
    """Why a gradebook is not opened."""
    with pytest.raises(UsageError) as caught:
        make(address)
    return str(caught.value)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("sqlite:////tmp/g.db", "sqlite:////tmp/g.db"),
        ("/tmp/g.db", "sqlite:////tmp/g.db"),
        ("postgresql://me@host/db", "postgresql+psycopg://me@host/db"),
        ("postgresql+psycopg2://me:secret@host/db", "postgresql+psycopg2://me:***@host/db"),
    ],
)
def test_an_address_is_a_path_or_a_url(address: str, url: str) -> None:
    """A path is a SQLite file; PostgreSQL is spoken to by psycopg unless said otherwise."""
    assert str(database_url(address)) == url


def test_a_relative_path_is_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nbgrader's own commands run in another one."""
    monkeypatch.chdir(tmp_path)
    for address in ("g.db", "sqlite:///g.db"):
        assert database_url(address).database == str(tmp_path / "g.db")


LIKE = "Give a path, sqlite:///PATH or postgresql://USER@HOST/NAME."


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite://", "'sqlite://' names no file. Give sqlite:///PATH."),
        ("://x", f"'://x' is no address of a gradebook. {LIKE}"),
    ],
)
def test_what_is_no_address_is_refused(address: str, said: str) -> None:
    """With what an address looks like."""
    assert refusal(address) == said


def test_a_server_that_is_not_there_is_told_without_the_password(tmp_path: Path) -> None:
    """One sentence, and no secret in it."""
    said = refusal(f"postgresql://me:secret@/db?host={tmp_path}")
    assert said.startswith("The gradebook postgresql+psycopg://me:***@/db?host=")
    assert said.endswith("failed: No such file or directory")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """And is left as it was."""
    path = tmp_path / "grades.csv"
    path.write_text("student,score\n" * 100, "utf-8")
    said = f"The gradebook sqlite:///{path} cannot be opened: file is not a database"
    assert refusal(str(path)) == said
    assert path.read_text("utf-8") == "student,score\n" * 100


def test_a_new_gradebook_is_of_nbgraders_version(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where alembic is not on the path, which nbgrader itself needs."""
    monkeypatch.setenv("PATH", "")
    make(address)
    first = version(address)
    assert len(first) == 1
    make(address)
    assert version(address) == first


def test_one_that_nbgrader_left_half_made_is_completed(address: str) -> None:
    """Where alembic is not on the path, nbgrader makes tables and then fails."""
    engine = create_engine(database_url(address))
    Base.metadata.create_all(engine)
    engine.dispose()
    execute(address, "DROP TABLE grade")
    with open_gradebook(address, "course") as gradebook:
        assert set(Base.metadata.tables) < set(inspect(gradebook.engine).get_table_names())
    assert len(version(address)) == 1


OLD = f"UPDATE {VERSION_TABLE} SET version_num = 'old'"
NO_TABLE = (f"DROP TABLE {VERSION_TABLE}", "ALTER TABLE student DROP COLUMN lms_user_id")


@pytest.mark.parametrize("statements", [(OLD,), NO_TABLE], ids=["its number", "its columns"])
def test_one_of_another_version_is_refused(address: str, statements: tuple[str, ...]) -> None:
    """Nbgrader upgrades it; we change nothing."""
    make(address)
    execute(address, *statements)
    said = " was made by another version of nbgrader. Run `nbgrader db upgrade` first."
    assert refusal(address).endswith(said)
    engine = create_engine(database_url(address))
    assert inspect(engine).has_table(VERSION_TABLE) == (statements is not NO_TABLE)
    engine.dispose()


# Killed runs.

STUDENTS = ["ada", "bo", "cem"]


def grade_class(course: Course, address: str, out: Path) -> Filled:
    """Make the gradebook and write a class of three into it."""
    prepare(course, address, out)
    scores = {"scores": 2, "weights": 1, "Mixture": 1.5}
    results = [result(course, name, scores) for name in STUDENTS]
    students = [Student(name, out) for name in STUDENTS]
    return fill(course, students, results, address, out)


def die_at(statement: int) -> None:
    """Let this process kill itself when it is about to run the statement of this number."""
    count = itertools.count(1)

    def before(*_: object) -> None:
        if next(count) == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", before)


MORE = [pytest.param(n, marks=pytest.mark.proof) for n in (2, 60, 90, 110, 145, 160, 190)]


@pytest.mark.slow
@pytest.mark.parametrize("statement", [30, 130, 175, *MORE])
def test_a_killed_run_leaves_whole_students_and_the_next_completes_it(
    address: str, course_folder: Path, tmp_path: Path, statement: int
) -> None:
    """Killed while it makes tables, assignments and cells, or writes students."""
    course = load_course(course_folder)
    child = os.fork()
    if not child:
        try:
            die_at(statement)
            grade_class(course, address, tmp_path)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    found = whole_students(address)
    assert found == STUDENTS[: len(found)]
    filled = grade_class(course, address, tmp_path)
    assert filled.failed == {}
    assert filled.note.startswith("nbgrader's gradebook has 3 students.")
    assert whole_students(address) == STUDENTS


def whole_students(address: str) -> list[str]:
    """Who is in the gradebook; each has to have both submissions, scored."""
    with open_gradebook(address, "small-steps") as gradebook:
        for student in gradebook.students:
            assert (student.score, len(student.submissions)) == (4.5, 2)
        return sorted(student.id for student in gradebook.students)
