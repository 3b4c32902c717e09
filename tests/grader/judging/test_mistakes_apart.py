"""Tests that known mistakes, which students may have written, run as students' code does."""

from contextlib import closing
from dataclasses import replace

import pytest

from grader.classes.store import RunSettings
from grader.classes.worker import Worker
from grader.core.errors import NoProcessFault
from grader.core.kept import CACHE_VARIABLE
from grader.core.records import Visibility
from grader.course.course import Limits, load_course
from grader.intake.folders import Student
from grader.judging.diagnosis import BY_CHANCE
from grader.judging.fixtures import live_environment
from grader.judging.known_mistakes import LiveMistakes, write_known
from grader.judging.submission_grader import Scope, full_grader
from grader.sessions.launchers import Launcher

pytestmark = [
    pytest.mark.slow,
    pytest.mark.only_on("linux", reason="elsewhere nothing is sealed"),
]

MISTAKE = """
[[misconceptions]]
id = "{name}"
kind = "slip"
exercise = "scores"
find = '''products / keys.shape[-1] ** 0.5'''
replace = '''products * ({expression})'''
symptom = "{name}"
question = "Why?"
"""
READS = '__import__("os").environ.get("SECRET", "none")'
WRITES = f'0 * open("{{path}}", "a").write({READS}) + 3'
TELLS = f'2 if {READS} == "none" else 3'
LEAVES = 'setattr(__import__("torch"), "left_behind", 5) or 6'
FINDS = 'getattr(__import__("torch"), "left_behind", 7)'
VISIBLE = (Visibility.VISIBLE,)
STUDENT = "def scores(queries, keys):\n    return queries @ keys.T * {}\n"


@pytest.fixture
def with_mistakes(course_copy):
    """Makes a course of the example course that has these known mistakes alone, by name."""

    def make(**expressions):
        path = course_copy / "solutions" / "01_scores" / "misconceptions.toml"
        entries = (MISTAKE.format(name=n, expression=e) for n, e in expressions.items())
        path.write_text("".join(entries), "utf-8")
        return load_course(course_copy)

    return make


@pytest.fixture
def names(sealed_parent, tmp_path):
    """Grades a student whose scores are multiplied by a number; the names of what was recognised."""

    def run(course, factor):
        folder = tmp_path / "class" / "bo"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scores.py").write_text(STUDENT.format(factor), "utf-8")
        with closing(Kept(sealed_parent)) as launcher:
            worker = Worker(RunSettings(course.root, course.hash, "1", "sealed"), launcher)
            result = worker.result(Student("bo", folder))
            worker.close()
        assert "sealed" in result.isolation
        return [m.id for e in result.exercises for f in e.findings for m in f.candidates]

    return run


class Kept(Launcher):
    """A launcher that other tests use as well."""

    def __init__(self, inner):
        self.seal, self.launch = inner.seal, inner.launch


def known_of(course, launcher, visibilities=tuple(Visibility)):
    """How the checks of `scores` go with each of its known mistakes, up to the last that ran."""
    exercise = course.exercises["01_scores/scores"]
    with closing(full_grader(course, "1", launcher=launcher)) as grader:
        checks = grader.checks(Scope({exercise.id: exercise}, visibilities))
        known = grader.mistakes.known(exercise, checks, 1)
        return [replace(one, traces=dict(one.traces.items())) for one in known]


def test_a_known_mistake_writes_no_file(with_mistakes, names, tmp_path, monkeypatch):
    """A student wrote it, and another student's grading runs it."""
    monkeypatch.setenv("SECRET", "topsecret")
    seen = tmp_path / "seen"
    assert names(with_mistakes(writes=WRITES.format(path=seen), other="4"), 4) == ["other"]
    assert not seen.exists()


def test_a_known_mistake_reads_no_environment(with_mistakes, names, monkeypatch):
    """It goes as where there is no secret: the one whose scores are doubled is named."""
    monkeypatch.setenv("SECRET", "topsecret")
    assert names(with_mistakes(tells=TELLS), 2) == ["tells"]


def test_a_known_mistake_leaves_nothing_to_the_next(with_mistakes, names):
    """Where it has changed a library, the next has a new process."""
    assert names(with_mistakes(leaves=LEAVES, finds=FINDS), 7) == ["finds"]


def test_mistakes_in_one_process_go_as_if_each_had_its_own(
    with_mistakes, sealed_parent, monkeypatch
):
    """What one sets for all code, and the end of its process, is no other's."""
    monkeypatch.setenv(CACHE_VARIABLE, "")
    mistakes = {
        "dies": "__import__('os')._exit(3)",
        "no_gradients": "__import__('torch').set_grad_enabled(False) and 3 or 3",
        "gradients": "4 if __import__('torch').is_grad_enabled() else 6",
        "doubles": "__import__('torch').set_default_dtype(__import__('torch').float64) or 5",
        "floats": "4 if __import__('torch').get_default_dtype().itemsize == 4 else 6",
    }
    alone = (with_mistakes(**{name: expression}) for name, expression in mistakes.items())
    apart = [each for course in alone for each in known_of(course, sealed_parent, VISIBLE)]
    in_turn = known_of(with_mistakes(**mistakes), sealed_parent, VISIBLE)
    assert len(in_turn) == len(mistakes)
    assert write_known(in_turn) == write_known(apart)


def test_a_known_mistake_that_never_ends_is_ended(with_mistakes, sealed_parent):
    """As a student's loop is, after the time of a request."""
    course = with_mistakes(loops="[None for _ in iter(int, 1)]")
    course = replace(course, limits=Limits(request_seconds=0.5))
    (known,) = known_of(course, sealed_parent)
    assert [trace.end for trace in known.traces.values()] == ["timeout below"]


def test_a_process_that_could_not_be_started_says_nothing_of_a_mistake(
    with_mistakes, sealed_parent, monkeypatch
):
    """It is the grader's fault and not kept: the next student finds the mistake tried."""
    monkeypatch.setenv(CACHE_VARIABLE, "")  # another run of this test found out how it goes
    course = with_mistakes(other="4")
    launcher = Kept(sealed_parent)
    exercise = course.exercises["01_scores/scores"]
    with (
        closing(live_environment(course, "1")) as environment,
        closing(full_grader(course, "1")) as grader,
    ):
        checks = grader.checks(Scope({exercise.id: exercise}))
        mistakes = LiveMistakes(environment, launcher)
        launcher.launch = gone
        with pytest.raises(NoProcessFault):
            mistakes.known(exercise, checks, 1)
        launcher.launch = sealed_parent.launch
        (known,) = mistakes.known(exercise, checks, 1)
    assert {trace.end for trace in known.traces.values()} == {"passed", "mismatch"}


def test_what_a_mistake_draws_without_a_seed_is_not_compared(with_mistakes, sealed_parent):
    """It is another number in each process, and no sign of anything; what is not drawn is."""
    draws, ones = (f'__import__("torch").{name}(())' for name in ("rand", "ones"))
    known = known_of(with_mistakes(draws=draws, computes=ones), sealed_parent)
    replies = [{BY_CHANCE in t.replied for t in one.traces.values() if t.failed} for one in known]
    assert replies == [{True}, {False}]


def gone(*_given):
    """There are no processes left."""
    raise OSError("no more processes")
