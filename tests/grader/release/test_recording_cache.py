"""Recordings that are kept: found again, made again after a change of what they depend on."""

import pytest

from grader.core.errors import CourseError
from grader.core.kept import CACHE_VARIABLE
from grader.course.course import load_course
from grader.judging.known_mistakes import LiveMistakes
from grader.judging.recordings import write_recording
from grader.release import recorder, students
from grader.release.students import KIND, record_missing, recorded, write_release

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of the recordings in a cache of this test's own, which is not there yet."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / KIND


really_record = recorder.record
once = {}


@pytest.fixture
def made(monkeypatch):
    """The assignments that were recorded, in order; each is really recorded once for all tests."""
    assignments = []

    def record(course, assignment):
        assignments.append(assignment.id)
        if assignment.id not in once:
            once[assignment.id] = really_record(course, assignment)
        return once[assignment.id]

    monkeypatch.setattr(recorder, "record", record)
    return assignments


@pytest.fixture
def course(course_copy):
    """A course that can be changed."""
    return load_course(course_copy)


@pytest.mark.parametrize(
    ("path", "more", "again"),
    [
        ("course.toml", "[limits]\nmemory_mib = 900\n", ["01_scores", "02_mixture"]),
        ("course.toml", "[late]\ngrace_minutes = 7\n", []),
        ("solutions/01_scores/scores.py", "MORE = 1\n", ["01_scores", "02_mixture"]),
        ("solutions/02_mixture/mixture.py", "MORE = 1\n", ["02_mixture"]),
        ("tests/checks/01_scores/test_visible.py", "MORE = 1\n", ["01_scores"]),
    ],
)
def test_what_a_recording_depends_on_makes_it_again(course, kept, made, path, more, again):
    """02 imports 01; a due date, or another assignment, changes nothing."""
    for assignment in course.assignments:
        recorded(course, assignment)
    made.clear()
    with (course.root / path).open("a", encoding="utf-8") as file:
        file.write(more)
    changed = load_course(course.root)
    for assignment in changed.assignments:
        recorded(changed, assignment)
    assert made == again


def test_what_cannot_be_recorded_is_not_kept(course, kept):
    """A solution that does not pass its visible checks."""
    path = course.root / "tests/checks/01_scores/test_visible.py"
    path.write_text(path.read_text("utf-8").replace("(2, 3)", "(3, 2)"), "utf-8")
    for _ in range(2):
        with pytest.raises(CourseError, match="the solution does not pass it"):
            recorded(course, course.assignments[0])
    assert not kept.exists()


def test_a_release_takes_what_is_kept(course, kept, made, tmp_path):
    """Two releases are the same to the byte; the second one makes no recording."""
    first = write_release(course, tmp_path / "first", students.students)
    assert made == ["01_scores", "02_mixture"]
    assert write_release(course, tmp_path / "second", students.students) == first
    assert made == ["01_scores", "02_mixture"]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_what_is_missing_is_recorded_in_several_processes(course, kept, jobs):
    """A step for the mistakes of each exercise, and for all two of them; then nothing is left to do."""
    number, steps = record_missing(course, jobs)
    assert (number, len(list(steps))) == (7, 7)
    assert len(list(kept.iterdir())) == 2
    assert record_missing(course, jobs)[0] == 0


def test_what_takes_longest_is_recorded_first(course, kept, monkeypatch):
    """By how many mistakes there are to run, at once or two at a time; assignments come last."""
    steps = []
    monkeypatch.setattr(students, "spread", lambda work, pieces, *_, **__: steps.extend(pieces))
    record_missing(course, 2)
    assert [(target.id, size) for _course, target, size in steps] == [
        ("01_scores/scores", 1),
        ("01_scores/scores", 2),
        ("02_mixture/Mixture", 1),
        ("02_mixture/weights", 1),
        ("02_mixture/Mixture", 2),
        ("01_scores", 0),
        ("02_mixture", 0),
    ]


def test_recording_mistakes_ahead_leaves_none_to_run(course, kept, monkeypatch):
    """The recording is the same as without."""
    assignment = course.assignments[0]
    expected = write_recording(really_record(course, assignment))
    for _ in record_missing(course, 1)[1]:
        pass
    monkeypatch.setattr(LiveMistakes, "session", lambda *_: pytest.fail("a mistake runs again"))
    assert write_recording(really_record(course, assignment)) == expected


def test_where_nothing_can_be_kept_nothing_is_recorded_ahead(course, monkeypatch):
    """Whoever releases makes the recordings one after the other."""
    monkeypatch.setenv(CACHE_VARIABLE, "")
    assert record_missing(course, 2)[0] == 0
