"""Tests of `grader similar`: planted copies stand first, and honest work is left in peace."""

import json

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from grader.classes.store import RunOptions, Store
from grader.cli import cli
from grader.core import processes
from grader.core.records import (
    Axis,
    CheckResult,
    ExerciseResult,
    Finding,
    Mistake,
    Outcome,
    Picture,
    Result,
    Visibility,
)
from grader.course.course import load_course
from grader.extras.similarity.command import gather, read_groups
from grader.extras.similarity.pairs import TELLING, clusters, find_pairs
from grader.extras.similarity.traces import (
    Given,
    Kind,
    Line,
    Trace,
    Work,
    _text_traces,
    _wrong_values,
)
from grader.judging.results import record_texts
from tests.support.copied_class import copied_class

TEXT_KINDS = {"cells"}
"""What shows in files of a class of fifty."""


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """Forty-four who wrote by themselves, and six who copied, each in another way."""
    course = load_course(root)
    return course, copied_class(course, tmp_path_factory.mktemp("class"), 44, 6, 3)


def test_planted_copies_stand_first(made):
    """By comments, names and cells that nobody else has; those who wrote alone are not shown."""
    course, planted = made
    pairs = find_pairs(gather(course, planted.folder, None)[0])
    first = {frozenset((pair.one, pair.other)) for pair in pairs[:10]}
    wanted = {two for two, kind in planted.copied.items() if kind in TEXT_KINDS}
    assert wanted <= first


@pytest.mark.slow
def test_an_earlier_year_is_compared_with_this_one_alone(made):
    """Each pair has at most one of them; groups that may work together make no pair."""
    course, planted = made
    works, _left_out = gather(course, planted.folder, None, [planted.folder])
    archived = {work.student for work in works if work.is_archived}
    assert len(archived) == len(works) / 2
    pairs = find_pairs(works)
    assert pairs
    assert all(not {pair.one, pair.other} <= archived for pair in pairs)
    everybody = [{work.student for work in works}]
    assert find_pairs(works, everybody) == ()


def exercise(*received, findings=()):
    """An exercise whose check failed with these values."""
    axis = Axis("token", 0, len(received))
    picture = Picture("the result", ((1.0,),), (received,), ((True,),), (0, 0), axis, axis)
    check = CheckResult(
        "01_a/f::visible::c", "It holds", Visibility.VISIBLE, 1, Outcome.FAILED, "", 0
    )
    return ExerciseResult(
        "01_a/f", None, 2, checks=(replace(check, picture=picture),), findings=findings
    )


def test_wrong_values_count_where_no_known_mistake_explains_them():
    """The same values are the same trace, others are another, and a name explains them away."""
    (one,), (same,), (other,) = (
        list(_wrong_values(exercise(*values))) for values in ((0.1, 0.2), (0.1, 0.2), (0.1, 0.3))
    )
    assert one == same != other
    known = (Finding((Mistake("m", "s", "q?"),)),)
    assert list(_wrong_values(exercise(0.1, 0.2, findings=known))) == []


def work(name, *texts, kind=Kind.COMMENT):
    """Somebody's work with some traces."""
    return Work(name, traces=tuple(Trace(kind, "01_a", text) for text in texts))


@pytest.mark.slow
def test_several_processes_read_the_same(made, monkeypatch):
    """As for many students."""
    course, planted = made
    here = gather(course, planted.folder, None)
    monkeypatch.setattr(processes, "FEW", 0)
    assert gather(course, planted.folder, None, jobs=2) == here


def test_what_many_share_is_no_evidence():
    """A comment counts for two who share it, and for nobody once a class does."""
    own = ["why the rows and not the columns", "my second thought of the day"]
    rest = [work(f"s{number}", f"a comment of number {number}") for number in range(60)]
    (pair,) = find_pairs([work("ada", *own), work("bo", *own), *rest])
    assert (pair.one, pair.other, pair.kinds) == ("ada", "bo", {Kind.COMMENT: 2})
    assert pair.score >= TELLING
    assert [shared.others for shared in pair.shared] == [0, 0]
    assert find_pairs([work(f"s{number}", *own) for number in range(60)]) == ()


def test_a_score_does_not_grow_with_lines_of_code_alone():
    """Right answers look alike."""
    lines = [f"x = y @ z{number}" for number in range(20)]
    alike = [work(name, *lines, kind=Kind.LINE) for name in ("ada", "bo")]
    assert find_pairs([*alike, *(work(f"s{number}") for number in range(40))]) == ()


def test_of_a_group_with_one_source_one_pair_stands_first():
    """The others of it come after a pair that shares less, because they tell nothing new."""
    group = [work(name, "their one source", "and its second line") for name in ("ada", "bo", "cem")]
    two = [work(name, "xyz", kind=Kind.CELL) for name in ("dora", "eli")]
    pairs = find_pairs([*group, *two, *(work(f"s{number}") for number in range(60))])
    assert [pair.one + pair.other for pair in pairs] == ["doraeli", "adabo", "adacem", "bocem"]
    more = [work(name, "abc", "def", kind=Kind.CELL) for name in ("ada", "bo", "cem")]
    pairs = find_pairs([*more, *two, *(work(f"s{number}") for number in range(60))])
    assert [pair.one + pair.other for pair in pairs] == ["adabo", "doraeli", "adacem", "bocem"]


def test_a_habit_counts_once():
    """The same comment in three assignments is one comment; an imported name is nobody's own."""
    habit = [Trace(Kind.COMMENT, f"0{number}_a", "as in the lecture") for number in range(3)]
    alike = [Work(name, traces=tuple(habit)) for name in ("ada", "bo")]
    assert find_pairs([*alike, *(work(f"s{number}") for number in range(60))]) == ()
    lines = [
        Line("a.py", None, 1, "from dataclasses import dataclass"),
        Line("a.py", None, 2, "own"),
    ]
    given = Given(frozenset(), frozenset(), (), frozenset())
    names = {t.text for t, _ in _text_traces("01_a", lines, given) if t.kind is Kind.NAME}
    assert names == {"own"}


def test_what_another_assignment_hands_out_is_nobodys_own(made, root, tmp_path):
    """Where a file is read for two assignments, because it defines a name of both."""
    course, _planted = made
    one, other = course.assignments[1], course.assignments[-1]
    path = tmp_path / "ada" / one.id / f"{one.module}.py"
    path.parent.mkdir(parents=True)
    own = f"\n\nclass {other.exercises[0].name}:\n    here = 1\n"
    path.write_text((root / "assignments" / one.id / path.name).read_text("utf-8") + own, "utf-8")
    ((found,), _left_out) = gather(course, tmp_path, None)
    assert found.own.lines.keys() == {one.id}
    assert {(trace.kind, trace.where) for trace in found.traces} <= {
        (Kind.NAME, ""),
        (Kind.LINE, one.id),
    }


@pytest.mark.parametrize("margin", ["", "    text = '''\nat the margin\n'''\n"])
def test_a_long_function_has_a_form(made, root, tmp_path, margin):
    """Whatever it and its names are called; text at the margin does not end it."""
    course, _planted = made
    one = course.assignments[0]
    for name in ("ada", "bo"):
        path = tmp_path / name / one.id / f"{one.module}.py"
        path.parent.mkdir(parents=True)
        body = "".join(f"    {name}{number} = {number}\n" for number in range(10))
        path.write_text(f"def {name}():\n{margin}{body}    return 0\n", "utf-8")
    forms = [
        {trace for trace in work.traces if trace.kind is Kind.FORM}
        for work in gather(course, tmp_path, None)[0]
    ]
    assert len(forms[0]) == 1
    assert forms[0] == forms[1]


def test_pairs_connect_groups():
    """Three with one cell are a group."""
    cell = [work(name, "abc", kind=Kind.CELL) for name in ("ada", "bo", "cem")]
    pairs = find_pairs([*cell, *(work(f"s{number}") for number in range(40))])
    assert (len(pairs), clusters(pairs)) == (3, (("ada", "bo", "cem"),))


def test_groups_are_read_line_by_line(tmp_path):
    """With spaces, comments and empty lines."""
    path = tmp_path / "groups.txt"
    path.write_text("ada, bo\n\ncem,dora,eli  # a lab\n", "utf-8")
    assert read_groups(path) == [["ada", "bo"], ["cem", "dora", "eli"]]


@pytest.fixture
def grader_run(root, monkeypatch):
    """Runs a command in the course's folder, and returns what it prints."""
    monkeypatch.chdir(root)

    def run(*words):
        ran = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
        assert ran.exit_code == 0
        return ran.stdout

    return run


@pytest.mark.slow
def test_the_command_writes_a_page_and_files_for_other_programs(made, grader_run, tmp_path):
    """The page opens with what it is not; it holds the code side by side, escaped."""
    course, planted = made
    out, page, exported = tmp_path / "out", tmp_path / "page.html", tmp_path / "exported"
    (out / "results").mkdir(parents=True)
    nothing = ("student0001", None, 1, False, False, (), "1", {}, course.hash, "", ())
    (out / "results" / "student0001.json").write_text(record_texts(Result(*nothing))[0], "utf-8")
    with Store.to_write(out) as store, store.transaction():
        store.set_options(RunOptions("1", course.hash, "sealed", "en", ()))
    options = ("--submissions", planted.folder, "--html", page, "--export", exported)
    told = grader_run("similar", out, *options)
    assert told.startswith("This is no proof of anything.")
    assert "  1. student" in told
    text = page.read_text("utf-8")
    assert text.index("Not proof") < text.index("Why this pair")
    assert "<mark>" in text
    files = sorted(path.name for path in exported.iterdir())
    assert files == ["base", "info.csv", "submissions"]
    assert len([*(exported / "submissions").iterdir()]) == 50
    found = json.loads(
        grader_run("similar", out, "--submissions", planted.folder, "--format", "json")
    )
    assert found["students"] == 50
    assert found["pairs"][0]["shared"][0]["others"] == 0
