"""Two commands at once in one folder: one of them says so and changes nothing."""

from pathlib import Path

import pytest

from grader.cli.compare import CompareOptions, run_compare
from grader.cli.grade import GradeOptions, run_grade
from grader.cli.learn import LearnOptions, run_learn
from grader.cli.publish import run_publish
from grader.cli.similar import SimilarOptions, run_similar
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.grading.apart import reading, writing_to
from tests.grader.grading.conftest import files_in

BUSY = "Another grader command is working in {out}. Wait for it, then give this command again."
PARTLY = (
    "A grader command is writing to {out}: its results are partly old and partly new. Wait for it, "
    "then give this command again."
)


def grade(run):
    """Grade the class once more."""
    options = GradeOptions(
        *(run.folder, run.out, None, None, "process", 1, None),
        force=False,
        quiet=True,
        verbose=False,
        reports=(),
        assignments=(),
        decisions=None,
        never_lower=None,
        gradebook=None,
    )
    return run_grade(load_course(run.course), options)


def compare(run):
    """Compare the run with itself."""
    return run_compare(CompareOptions(run.out, run.out, None, None, "json", None))


def similar(run):
    """Look for pairs."""
    options = SimilarOptions(run.out, run.folder, (), None, 40, None, None, "json")
    return run_similar(load_course(run.course), options)


def publish(run):
    """Publish the run."""
    return run_publish(run.out)


@pytest.mark.parametrize(
    ("command", "held", "words"),
    [
        (grade, writing_to, BUSY),
        (grade, reading, BUSY),
        (publish, writing_to, BUSY),
        (publish, reading, BUSY),
        (compare, writing_to, PARTLY),
        (compare, reading, ""),
        (similar, writing_to, PARTLY),
        (similar, reading, ""),
    ],
)
def test_two_commands_at_once(make, command, held, words, capsys):
    """Who writes is alone; who reads may read beside others."""
    run = make("out")
    run.run()
    before = files_in(run.out)
    with held(run.out):
        if words:
            with pytest.raises(UsageError) as refused:
                command(run)
            assert str(refused.value) == words.format(out=run.out)
        else:
            assert command(run) == 0
    assert files_in(run.out) == before
    capsys.readouterr()
    if command is not grade:  # which would import torch
        assert command(run) == 0


def test_two_proofs_at_once(make):
    """`grader learn` writes into the course before it proves what it wrote."""
    run = make("out")
    (run.folder / "student-00" / "scores.py").write_text(
        "def scores(queries, keys):\n    return queries @ keys.T\n", "utf-8"
    )
    named = ("an-id", "slip", "It is wrong.", "Why?")
    options = LearnOptions("student-00", "01_scores/scores", run.folder, *named, yes=True)
    course = load_course(run.course)
    with writing_to(course.root), pytest.raises(UsageError) as refused:
        run_learn(course, options)
    assert str(refused.value) == BUSY.format(out=course.root)


def test_a_folder_that_is_not_there_is_no_reason_to_wait(tmp_path: Path):
    """The command itself says what is wrong with it."""
    with reading(tmp_path / "none"), writing_to(tmp_path / "new"):
        assert (tmp_path / "new").is_dir()
