"""Tests of `grader similar`: planted copies stand first, and honest work is left in peace."""

import json
import pickle
from zlib import compress

import pytest
from click.testing import CliRunner

from grader.classes.store import RunOptions, Store
from grader.cli import cli
from grader.core import processes
from grader.core.records import (
    AssignmentResult,
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
from grader.extras.similarity.command import gather, read_groups, similar_page
from grader.extras.similarity.pairs import clusters, find_pairs
from grader.extras.similarity.traces import Given, Kind, Line, Own, Trace, Work, work_of
from grader.judging.results import record_texts
from grader.submissions.submission import read_submission
from tests.support.copied_class import ASSIGNMENTS, behaviours, copied_class, plain_text

SURE = {"odd comment", "rare names", "cells"}
"""What shows in files alone, in any class of fifty."""


@pytest.fixture(scope="module")
def made(root, tmp_path_factory):
    """Forty-four who wrote by themselves, and six who copied, each in another way."""
    course = load_course(root)
    return course, copied_class(course, tmp_path_factory.mktemp("class"), 44, 6, 3)


def test_what_goes_wrong_in_a_made_class_fits_the_solutions_of_today(root):
    """A class of any size and seed can be made, and each behaviour changes the code."""
    course = load_course(root)
    for id_ in ASSIGNMENTS:
        texts = [plain_text(course, id_, key) for key in behaviours(course, id_)]
        assert len(texts) == len({*texts})


def test_planted_copies_stand_first(made):
    """By what nobody else has; of those who wrote alone hardly anybody is shown."""
    course, planted = made
    pairs, _near = find_pairs(gather(course, planted.folder, None)[0])
    first = {frozenset((pair.one, pair.other)) for pair in pairs[:6]}
    assert {two for two, kind in planted.copied.items() if kind in SURE} <= first
    assert len(first - planted.copied.keys()) <= 3


@pytest.mark.slow
def test_an_earlier_year_is_compared_with_this_one_alone(made):
    """Each pair has at most one of them; groups that may work together make no pair."""
    course, planted = made
    works, _left_out = gather(course, planted.folder, None, [planted.folder])
    archived = {work.student for work in works if work.is_archived}
    assert len(archived) == len(works) / 2
    pairs, near = find_pairs(works)
    assert pairs
    assert all(not {pair.one, pair.other} <= archived for pair in (*pairs, *near))
    everybody = [{work.student for work in works}]
    assert find_pairs(works, everybody) == ((), ())


def exercise(name, *received, findings=(), judged_with=()):
    """An exercise whose check failed with these values."""
    axis = Axis("token", 0, len(received))
    picture = Picture("the result", ((1.0,),), (received,), ((True,),), (0, 0), axis, axis)
    about = f"05_causal_mask/{name}"
    how = ("It holds", Visibility.VISIBLE, 1, Outcome.FAILED, "", 0)
    check = CheckResult(f"{about}::visible::c", *how, picture=picture)
    return ExerciseResult(
        about, None, 2, checks=(check,), findings=findings, judged_with=judged_with
    )


NAMED = (Finding((Mistake("m", "s", "q?"),)),)


@pytest.fixture
def traces_of(made, tmp_path):
    """What `similar` sees in a file of the fifth assignment, by kind."""
    course, _planted = made

    def traces(text, *exercises, student="ada"):
        assignment = course.by_id["05_causal_mask"]
        path = tmp_path / student / assignment.id / f"{assignment.module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        part = AssignmentResult(assignment.id, path.name, None, 10, exercises=exercises)
        result = Result(student, None, 1, False, True, (), "1", {}, "", "", (part,))
        submission = read_submission(course, tmp_path / student, student)
        given = {assignment.id: Given.of(course, assignment)}
        work = work_of(submission, tmp_path / student, given, result)
        found = {kind: {t for t in work.traces if t.kind is kind} for kind in Kind}
        return found, work.own

    return traces


USES = "def causal_weights(scores, d_k):\n    return mask_scores(scores, scores) / d_k\n"
"""One exercise's code that calls another's."""


def test_wrong_values_count_where_no_known_mistake_explains_them(traces_of):
    """The same values are the same trace, others are another; they are shown; a name explains them away."""
    (one,), (same,), (other,) = (
        traces_of(USES, exercise("mask_scores", *values))[0][Kind.VALUES]
        for values in ((0.1, 0.2), (0.1, 0.2), (0.1, 0.3))
    )
    assert one == same != other
    assert one.text == "the result: 0.1, 0.2"
    assert not traces_of(USES, exercise("mask_scores", 0.1, findings=NAMED))[0][Kind.VALUES]


def test_values_that_follow_from_a_mistake_in_another_exercise_are_no_evidence(traces_of):
    """Where the code calls that exercise, unless a right one was in its place."""
    named = exercise("mask_scores", 0.1, findings=NAMED)
    assert not traces_of(USES, named, exercise("causal_weights", 0.3))[0][Kind.VALUES]
    repaired = exercise("causal_weights", 0.3, judged_with=("mask_scores",))
    (values,) = traces_of(USES, named, repaired)[0][Kind.VALUES]
    assert values.where == "05_causal_mask/causal_weights"
    alone = "def causal_weights(scores, d_k):\n    return scores / d_k\n"
    assert traces_of(alone, named, exercise("causal_weights", 0.3))[0][Kind.VALUES]


def test_a_number_that_came_back_wrong_is_a_value(traces_of):
    """It has no picture; what is said of it has it."""
    said = "f(1)\nThe result: expected 2, received 2.5."
    check = CheckResult("c", "t", Visibility.VISIBLE, 1, Outcome.FAILED, said, 0)
    number = ExerciseResult("05_causal_mask/mask_scores", None, 2, checks=(check,))
    (trace,) = traces_of(USES, number)[0][Kind.VALUES]
    assert trace.text == "The result: expected 2, received 2.5."


def test_code_in_which_a_known_mistake_is_named_is_no_evidence(traces_of):
    """Its edit looks the same for all who make it."""
    text = "def mask_scores(scores, mask):\n    return scores.where(mask < 1, 0.25)\n"
    found, _own = traces_of(text)
    assert "0.25 in mask_scores" in {trace.text for trace in found[Kind.STEP]}
    found, _own = traces_of(text, exercise("mask_scores", 0.1, findings=NAMED))
    assert not found[Kind.CODE] | found[Kind.STEP]


def test_names_and_comments_do_not_hide_that_code_is_the_same(traces_of):
    """Also where the file has a syntax error somewhere."""
    one, own = traces_of(
        "def renormalize_rows(weights):\n    # the sums\n    total = weights.sum(1)\n"
        "    return weights / total[:, None]\n"
    )
    other, _own = traces_of(
        "def mask_weights(weights mask:\n    return\n\n\n"
        "def renormalize_rows(weights):\n    summen = weights.sum(1)  # je zeile\n\n"
        "    return weights / summen[:, None]\n"
    )
    (code,) = one[Kind.CODE]
    assert code in other[Kind.CODE]
    assert [line.number for line in own.texts[code]] == [2, 3, 4]
    assert one[Kind.STEP] == {t for t in other[Kind.STEP] if t.place == "renormalize_rows"}


def test_what_a_notebook_hands_out_is_nobodys_own_in_a_script_of_it(traces_of, root):
    """Its texts are comments there, below markers of cells; they end the definition above them."""
    notebook = (root / "assignments/05_causal_mask/causal_mask.ipynb").read_text("utf-8")
    cells = ["".join(cell["source"]) for cell in json.loads(notebook)["cells"]]
    comments = (line for cell in cells for line in ("%% [markdown]", *cell.split("\n")))
    code = "def causal_weights(scores, d_k):\n    e = scores.max(1)\n    return e\n"
    found, own = traces_of("\n".join([code, *(f"# {line}" for line in comments)]))
    assert not found[Kind.COMMENT]
    assert [line.number for line in own.texts[found[Kind.CODE].pop()]] == [2, 3]


def test_the_order_of_definitions_counts_where_it_is_not_the_stubs(traces_of):
    """Whatever stands between them."""
    one, other = (
        f"def {name}(a):\n    return a\n" for name in ("mask_weights", "renormalize_rows")
    )
    assert not traces_of(one + other)[0][Kind.ORDER]
    (trace,) = traces_of(f"{other}x = 1\n{one}")[0][Kind.ORDER]
    assert trace.text == "renormalize_rows, mask_weights"


def work(name, *texts, kind=Kind.COMMENT):
    """Somebody's work with some traces."""
    return Work(name, traces=tuple(Trace(kind, "01_a", text, place=text) for text in texts))


def rest(number, *texts, kind=Kind.COMMENT):
    """As many others, each with a text of their own unless they have these in turn."""
    words = texts or [f"word{n}" for n in range(number)]
    return [work(f"s{n}", words[n % len(words)], kind=kind) for n in range(number)]


def shown(works):
    """Who stands together, and who almost does."""
    return tuple([f"{pair.one} {pair.other}" for pair in found] for found in find_pairs(works))


@pytest.mark.proof
def test_several_processes_read_the_same(made, monkeypatch):
    """As for many students."""
    course, planted = made
    here = gather(course, planted.folder, None)
    monkeypatch.setattr(processes, "FEW", 0)
    assert gather(course, planted.folder, None, jobs=2) == here


def test_what_many_share_is_no_evidence():
    """A comment counts for two who share it, and for nobody once a class does."""
    own = ["why the rows and not the columns", "my second thought of the day"]
    ((pair,), _near) = find_pairs([work("ada", *own), work("bo", *own), *rest(60)])
    assert (pair.one, pair.other) == ("ada", "bo")
    assert [(s.trace.kind, s.others) for s in pair.shared] == [(Kind.COMMENT, 0)] * 2
    assert shown([work(f"s{number}", *own) for number in range(60)]) == ([], [])


def test_a_comment_of_odd_words_says_more_than_one_of_common_words():
    """Two share each; only what nobody else writes is telling, the other is not even near."""
    common = [f"apply the {noun} of each" for noun in ("row", "mask", "key", "sum")]
    both = [work(name, "becuase keys are rows i transpose hier") for name in ("ada", "bo")]
    plain = [work(name, "apply the mask of each row") for name in ("cem", "dora")]
    assert shown([*both, *plain, *rest(100, *common)]) == (["ada bo"], [])


@pytest.mark.parametrize(
    ("names", "pairs"), [(["pudding", "wurzel"], ["ada bo"]), (["pudding"], [])]
)
def test_two_rare_names_are_telling_and_one_is_not(names, pairs):
    """One is a near miss at most."""
    both = [work(name, *names, kind=Kind.NAME) for name in ("ada", "bo")]
    assert shown([*both, *rest(100, kind=Kind.NAME)])[0] == pairs


def test_what_almost_suffices_is_a_near_miss():
    """A comment of an odd word and one that some have, in a class of sixty."""
    both = [work(name, "apply somehow") for name in ("ada", "bo")]
    others = [work(f"s{number}", f"{'apply' if number < 4 else 'take'} it") for number in range(60)]
    assert shown([*both, *others]) == ([], ["ada bo"])


def test_students_with_many_unusual_steps_share_some_by_chance():
    """The same step says less of two who have many."""
    many = [
        work(name, "cumsum", *(f"{name}{n}" for n in range(12)), kind=Kind.STEP)
        for name in ("ada", "bo")
    ]
    few = [work(name, "einsum", f"{name}1", kind=Kind.STEP) for name in ("cem", "dora")]
    pairs, near = shown([*many, *few, *rest(80, kind=Kind.STEP)])
    assert pairs + near == ["cem dora"]


def test_of_a_group_with_one_source_one_pair_stands_first():
    """The others of it come after a pair that shares less, because they tell nothing new."""
    two = [work(name, "xyz", kind=Kind.CELL) for name in ("dora", "eli")]
    more = [work(name, "abc", "def", kind=Kind.CELL) for name in ("ada", "bo", "cem")]
    works = [*more, *two, *rest(60)]
    assert shown(works)[0] == ["ada bo", "dora eli", "ada cem", "bo cem"]
    assert clusters(find_pairs(works)[0]) == (("ada", "bo", "cem"),)


def test_of_near_misses_with_one_source_one_stands_first():
    """Three share what almost suffices, and three others something else."""
    groups = {"0.5": ("ada", "bo", "cem"), "0.7": ("dora", "eli", "fay")}
    works = [work(name, text, kind=Kind.VALUES) for text in groups for name in groups[text]]
    pairs, near = shown([*works, *rest(150)])
    assert (pairs, {*near[:2]}, len(near)) == ([], {"ada bo", "dora eli"}, 6)


def test_the_comment_of_a_source_that_more_have_used_says_little():
    """Their code is the same, and some left the comment out."""
    code = Trace(Kind.CODE, "01_a", "f", "copied", "f")
    said = Trace(Kind.COMMENT, "01_a", "epsilon against division by zero", place="f")
    both = [Work(name, traces=(code, said)) for name in ("ada", "bo")]
    more = [Work(f"t{number}", traces=(code,)) for number in range(4)]
    assert shown([*both, *rest(90)])[0] == ["ada bo"]
    assert shown([*both, *more, *rest(90)]) == ([], [])


def test_a_habit_counts_once():
    """The same comment in three assignments is one comment."""
    habit = [Trace(Kind.COMMENT, f"0{number}_a", "as in the lecture") for number in range(3)]
    alike = [Work(name, traces=tuple(habit)) for name in ("ada", "bo")]
    assert shown([*alike, *rest(60, "as in the book")])[0] == []


def test_an_imported_name_is_nobodys_own(traces_of):
    """It is what others call it."""
    found, _own = traces_of("from dataclasses import dataclass\nmine = dataclass\n")
    assert {trace.text for trace in found[Kind.NAME]} == {"mine"}


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
    assert {trace.kind for trace in found.traces} <= {Kind.NAME, Kind.CODE, Kind.STEP}


def test_the_page_shows_values_and_code_of_both(made):
    """The code of a definition once, for all that is shared of it; near misses below."""
    course, _planted = made
    values = Trace(Kind.VALUES, "01_a/f", "the result: 0.1", "digest", "f")
    code, step = (
        Trace(Kind.CODE, "01_a", "g", "1", "g"),
        Trace(Kind.STEP, "01_a", "cat in g", place="g"),
    )

    def of(name):
        line = Line("a.py", None, 4, f"    {name} = cat(x)")
        own = Own({"01_a": [line]}, {values: "the result: 0.1", code: [line], step: [line]})
        return Work(name, traces=(values, code, step), packed=compress(pickle.dumps(own)))

    own = [[Trace(kind, "01_a", f"own {n}") for kind in (Kind.CODE, Kind.STEP)] for n in range(40)]
    works = [of("ada"), of("bo"), *(Work(f"s{n}", traces=(*two,)) for n, two in enumerate(own))]
    pairs, near = find_pairs(works)
    page = similar_page(course, works, pairs, pairs, [])
    assert near == ()
    assert page.count("    ada = cat(x)") == page.count("    bo = cat(x)") == 1
    assert page.count('<pre tabindex="0">the result: 0.1') == 2
    assert "ada and bo" in page.partition("Near misses")[2]


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
    (out / "results" / "student0001.json").write_bytes(record_texts(Result(*nothing))[0])
    with Store.to_write(out) as store, store.transaction():
        store.set_options(RunOptions("1", course.hash, "sealed", "en", ()))
    options = ("--submissions", planted.folder, "--html", page, "--export", exported)
    told = grader_run("similar", out, *options)
    assert told.startswith("This is no proof of anything.")
    assert "  1. student" in told
    text = page.read_text("utf-8")
    assert text.index("Shared, not proof") < text.index('class="pair"')
    assert "<mark>" in text
    assert text.index('id="pair-1"') < text.index("Near misses")
    assert "\nNear misses, which share less" in told
    files = sorted(path.name for path in exported.iterdir())
    assert files == ["base", "info.csv", "submissions"]
    assert len([*(exported / "submissions").iterdir()]) == 50
    record = grader_run("similar", out, "--submissions", planted.folder, "--format", "json")
    found = json.loads(record)
    assert found["students"] == 50
    assert found["pairs"][0]["shared"][0]["others"] == 0
    assert found["near_misses"]
