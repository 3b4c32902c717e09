"""Tests of the files that student code finds in its working folder."""

from pathlib import Path

from grader.course.course import Course, load_course
from grader.judging.fixtures import read_solutions
from grader.release.stubs import generate
from grader.sandbox.wire import Frame
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession

PROGRAM = """\
import pathlib
import rates
_note_what_is_asked(0, rates.FIRST, pathlib.Path("data/rates.csv").read_text())
"""


def with_files(course: Course) -> Course:
    """The course with a table and a module beside its first solution."""
    folder = course.root / "solutions" / "01_first" / "files"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "rates.csv").write_text("1,2\n", "utf-8")
    (folder / "rates.py").write_text("FIRST = 1\n", "utf-8")
    return load_course(course.root)


def test_student_code_finds_them_where_it_runs(small_course: Course, sealed_parent) -> None:
    """Sealed as well as in this process, whose own working folder stays what it is."""
    course, before = with_files(small_course), Path.cwd()
    submission = read_solutions(course)
    source = next(iter(submission.sources))
    asked = Frame(
        {"verb": "observe", "source": source, "name": "one", "program": PROGRAM, "seed": 0}
    )
    for session in (
        InProcessSession(submission),
        ChildSession(sealed_parent, submission, course.limits),
    ):
        reply = session.ask(asked, 10)
        session.close()
        assert reply.header["observed"] == [[0, [1, "1,2\n"]]]
    assert Path.cwd() == before


def test_students_receive_them_beside_their_notebook(small_course: Course) -> None:
    """And what is left out: what a tool has written there."""
    before = small_course.hash
    course = with_files(small_course)
    cache = course.root / "solutions" / "01_first" / "files" / "__pycache__"
    cache.mkdir()
    (cache / "rates.pyc").write_text("", "utf-8")
    paths = {file.path: file.text for file in generate(load_course(course.root))}
    assert paths["assignments/01_first/data/rates.csv"] == "1,2\n"
    assert paths["assignments/01_first/rates.py"] == "FIRST = 1\n"
    assert not any("pycache" in path for path in paths)
    assert course.hash != before
