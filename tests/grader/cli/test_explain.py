"""Tests of `grader explain`: what one score is made of, and whether it comes out the same again."""

import json
import shutil

import pytest

from grader.cli.shared import ExitCode

pytestmark = pytest.mark.slow

NOT_SCALED = (
    "import torch\n\n\ndef scores(queries, keys):\n    return queries @ keys.T\n\n\nDONE = 1\n"
)

NOT_ATTEMPTED = (
    "def scores(queries, keys):\n"
    '    raise NotImplementedError("01_scores/scores: not attempted yet")\n'
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What a class was graded into, once for all these tests."""
    return tmp_path_factory.mktemp("explained") / "out"


@pytest.fixture
def explain(grader, grade, work, run):
    """Explains bo's score for `scores`; ada is right, cem handed in nothing, dan's file is broken."""
    work("ada", scores="right", mixture="right")
    work("dan", scores="x = y\n" + NOT_SCALED)
    work("eve", scores=NOT_ATTEMPTED)
    work("bo", scores=NOT_SCALED)
    students = work("cem").parent
    if not run.exists():
        assert grade("--seed", "1", out=run).code == ExitCode.FINE

    def explained(*options, student="bo", exercise="scores"):
        return grader("explain", student, exercise, "--run", run, *options)

    explained.students = students
    return explained


def test_a_score_is_shown_with_all_that_it_is_made_of(explain):
    """The code that was graded, each check, the known mistake, and how it was run."""
    told = explain("--submissions", explain.students).out
    assert "bo  01_scores/scores  0.8 of 2" in told
    assert "scores.py, line 4" in told
    assert "    4  def scores(queries, keys):\n    5      return queries @ keys.T\n\n" in told
    assert "DONE" not in told
    assert "scores-not-scaled" in told
    assert "seed 1" in told
    for kind in ("visible checks", "hidden checks"):
        assert f"\n{kind}\n  " in told
    assert "not what was graded" not in told


@pytest.mark.parametrize(
    ("student", "words"),
    [
        ("eve", "Nothing: it was not attempted."),
        ("dan", "notes on the file\n  scores.py does not run: line 1: NameError"),
    ],
)
def test_what_no_check_says_is_told_in_words(explain, student, words):
    """Nothing was attempted, or the file does not run."""
    assert words in explain(student=student).out


def test_code_is_shown_as_what_it_is(explain):
    """Signs that turn the direction of writing, or work a terminal, are escaped as everywhere else."""
    mine = explain.students / "bo" / "scores.py"
    text = "    # \u202e\u2066 \u061c \x1b[31m\x0c\n    return queries"
    mine.write_text(mine.read_text("utf-8").replace("    return queries", text), "utf-8")
    told = explain("--submissions", explain.students).out
    assert r"    5      # \x202e\x2066 \x61c \x1b[31m\x0c" in told
    assert "    6      return queries @ keys.T" in told
    assert not {*"\u202e\u2066\u061c\x1b\x0c"} & {*told}


def test_it_is_graded_again_with_the_runs_own_seed(explain):
    """The same work comes to the same result; other work does not, and is said to be other."""
    again = ("--again", "--submissions", explain.students)
    ran = explain(*again)
    assert ran.code == ExitCode.FINE
    assert "Graded again with the same seed: the same result." in ran.out
    mine = explain.students / "bo" / "scores.py"
    mine.write_text(mine.read_text("utf-8").replace(".T", ".T * 0.1"), "utf-8")
    ran = explain(*again)
    assert ran.code == ExitCode.NOT_PASSED
    assert "not what was graded" in ran.out
    assert "known mistakes: scores-not-scaled → none" in ran.out


def test_a_groups_work_is_looked_for_where_it_was_handed_in(explain, grade, folder, out):
    """Somebody has bo's result, and handed in nothing."""
    group = '[[groups]]\nstudents = ["bo", "cem"]\nassignment = "01"\n'
    (folder / "decisions.toml").write_text(group, "utf-8")
    assert grade().code == ExitCode.FINE
    ran = explain("--run", out, "--again", "--submissions", explain.students, student="cem")
    assert ran.code == ExitCode.FINE
    assert "Handed in by bo for your group." in ran.out
    assert "Graded again with the same seed: the same result." in ran.out
    assert "not what was graded" not in ran.out


def test_it_is_data_as_well(explain):
    """The result of that exercise alone, in the format of results."""
    record = json.loads(explain("--format", "json").out)
    (assignment,) = record["assignments"]
    (exercise,) = assignment["exercises"]
    assert (record["student"], exercise["id"], exercise["score"]) == ("bo", "01_scores/scores", 0.8)


def test_what_cannot_be_explained_is_said(explain, run, tmp_path):
    """Nobody, nothing handed in, several exercises, no run, nothing to grade again."""
    for words, ran in {
        "has no result of 'boo'. Did you mean bo?": explain(student="boo"),
        "cem handed in nothing": explain(student="cem"),
        "02 names 2 exercises; explain one at a time.": explain(exercise="02"),
        "--again needs --submissions": explain("--again"),
    }.items():
        assert (ran.code, words in ran.err) == (ExitCode.USAGE_OR_COURSE_ERROR, True)
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = explain("--run", empty)
    assert f"{empty} holds no results. Give the --out folder of a run." in ran.err
    shutil.rmtree(explain.students / "bo")
    assert "holds nothing of 'bo'" in explain("--submissions", explain.students).err


def test_requests_are_listed_with_their_state(explain, grade, grader, folder, run, out, tmp_path):
    """Those of a table and of GitHub's issues: the score now, and whether there is a decision."""
    shutil.copytree(run, out)
    (folder / "decisions.toml").write_text(
        '[[overrides]]\nstudent = "bo"\nexercise = "weights"\npoints = 1\nreason = "Yes."\n'
        '[[resolved]]\nstudent = "bo"\nexercise = "scores"\n',
        "utf-8",
    )
    grade()
    requests = tmp_path / "requests"

    def ask(text, *options):
        requests.write_text(text)
        return grader("explain", "--run", out, "--requests", requests, *options)

    table = (
        "student,exercise,why\nbo,scores,It is right!\nbo,weights,Please\ncem,scores,x\n"
        "zoe,scores,y\nbo,nothing,z\n../bo,scores,w\n"
    )
    found = json.loads(ask(table, "--format", "json").out)
    assert [(one["now"], one["decision"]) for one in found] == [
        ("0.8 of 2", "resolved"),
        ("1 of 1", "override; the checks gave no score"),
        ("nothing was handed in", None),
        ("this run has no such student", None),
        ("this names no single exercise", None),
        ("this run has no such student", None),
    ]
    assert "4 of 6 have no decision." in ask(table).out
    body = "### Exercise\n\n01_scores/scores\n\n### Why\n\nIt is\nright.\n"
    issues = json.dumps([{"author": {"login": "bo"}, "body": body}])
    (one,) = json.loads(ask(issues, "--format", "json").out)
    assert (one["exercise"], one["why"]) == ("01_scores/scores", "It is\nright.")
    assert "no list of issues" in ask("[1]").err
    assert "or --requests FILE alone" in grader("explain", "bo", "--run", out).err
