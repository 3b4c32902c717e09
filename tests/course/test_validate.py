"""`grader validate` on broken copies of a small course: stubs, checks and misconceptions."""

import pytest

from grader.authoring.free_points import FreePoints
from grader.core.errors import CourseError
from grader.core.records import Visibility
from grader.course.course import load_course
from grader.course.hints import read_hints
from grader.course.misconceptions import read_misconceptions
from grader.judging.collect import collect
from grader.release.solution_cells import read_solution

pytestmark = pytest.mark.slow

SOLUTION = "solutions/01_scores/scores.py"
MISTAKES = "solutions/01_scores/misconceptions.toml"
OTHER_MISTAKES = "solutions/02_mixture/misconceptions.toml"
VISIBLE = "tests/checks/01_scores/test_visible.py"
HIDDEN = "tests/checks/01_scores/test_hidden.py"
OTHER_VISIBLE = "tests/checks/02_mixture/test_visible.py"
OTHER_HIDDEN = "tests/checks/02_mixture/test_hidden.py"
AS_PRINTED = "01_scores/scores::visible::test_the_scores_as_printed"
FIRST_CHECK = """\
        value = student.call("scores", QUERIES, KEYS).value
        judge.shape(value, (2, 3))"""


def another_mistake(id_: str, find: str, replace: str) -> str:
    """A misconception more, as TOML."""
    return f"""
[[misconceptions]]
id = "{id_}"
exercise = "scores"
find = '''{find}'''
replace = '''{replace}'''
kind = "slip"
symptom = "Something else goes wrong."
question = "What goes wrong?"
"""


def test_a_course_that_keeps_its_promises_has_no_fault(example) -> None:
    """Although an assignment imports another, and its stubs import a stub."""
    report = example.report()
    assert report.faults == []
    counts = [
        (row.exercise.id, row.visible, row.hidden, row.misconceptions, row.recognised)
        for row in report.rows
    ]
    assert counts == [
        ("01_scores/scores", 4, 1, 3, 3),
        ("02_mixture/weights", 2, 1, 1, 1),
        ("02_mixture/Mixture", 2, 2, 2, 2),
    ]
    assert [row.recognised_visibly for row in report.rows] == [3, 1, 2]


BY_THE_SOLUTION = "expected = reference.call(with_weights(reference, given), x).value"
BY_OWN_WEIGHTS = """query, key, own = (x @ weight.T for weight in given.values())
        expected = student.call("weights", query @ key.T / 2).value @ own"""


BY_A_GIVEN_TEST = '''student.runs("""
            made, x = Mixture(2, 3), torch.eye(2)
            right = weights(scores(made.W_query(x), made.W_key(x))) @ made.W_value(x)
            assert torch.allclose(made(x), right)
            """)
        return'''


@pytest.mark.parametrize("own", [BY_OWN_WEIGHTS, BY_A_GIVEN_TEST])
def test_nonsense_in_all_exercises_at_once_is_tried(example, own: str) -> None:
    """A check that goes by another exercise of the student's gives points to whoever has both wrong."""
    example.edit(OTHER_VISIBLE, BY_THE_SOLUTION, own)
    report = example.report()
    assert report.faults == [
        "02_mixture/Mixture: knowing nothing (zeros, in all exercises) earns 40%; at most 15%"
    ]
    (row,) = (row for row in report.rows if row.exercise.name == "Mixture")
    assert max(row.free_points.for_nothing.values()) == 0


@pytest.mark.parametrize(
    ("memorised", "said"), [(0.2, []), (0.5, []), (0.9, ["by heart earns 90%; at most 40%"])]
)
def test_what_earns_no_more_by_heart_than_for_nothing_is_told_once(
    memorised: float, said: list[str]
) -> None:
    """It is one thing to mend."""
    points = FreePoints({"zeros": 0.5}, memorised, "")
    assert points.problems == ["knowing nothing (zeros) earns 50%; at most 15%", *said]


# Stubs, solutions, checks.


def test_a_stub_that_passes_a_check_is_told_for_both_forms(example) -> None:
    """A check that asks nothing of the student gives points away."""
    example.edit(VISIBLE, FIRST_CHECK, '        judge.that(True, "never said")')
    check = "01_scores/scores::visible::test_a_score_for_each_query_and_key"
    assert example.faults("scores") == [
        f"01_scores/scores: the stub (py) passes {check}",
        f"01_scores/scores: the stub (ipynb) passes {check}",
    ]


def test_what_a_gate_blocks_for_the_solution_is_told_once(example) -> None:
    """Nothing can be said of mistakes then."""
    example.edit(VISIBLE, FIRST_CHECK, FIRST_CHECK.replace("(2, 3)", "(3, 2)"))
    gate = "01_scores/scores::visible::test_a_score_for_each_query_and_key"
    sentence = "expected the shape (3, 2), received (2, 3)"
    assert example.faults("scores") == [f"01_scores/scores: the solution fails {gate}: {sentence}"]


def test_a_solution_that_fails_is_told_with_its_check_and_the_reason(example) -> None:
    """What hangs on the solution's values is told as well."""
    example.edit(SOLUTION, "** 0.5", "** 0.4")
    example.edit(MISTAKES, "** 0.5", "** 0.4", times=2)
    example.regenerate()
    assert example.faults("scores") == [
        f"01_scores/scores: the solution fails {AS_PRINTED}: 6 of 6 values differ, "
        "the first at query 0, key 0: expected 0.7071, received 0.7579",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('raise ValueError("a slip")', "ValueError: a slip"),
        ("while True: pass", "TimeoutError: it did not return within 0.3 seconds"),
    ],
)
def test_a_check_that_breaks_or_never_returns_is_told_with_its_line(example, line, said) -> None:
    """Once, although it breaks on every misconception as well; and validating goes on."""
    example.edit("course.toml", "[course]", "[limits]\ncheck_seconds = 0.3\n\n[course]")
    judged = "judge(value, SCORES, atol=ROUNDED, axes=AXES)"
    before, _, _ = (example.folder / VISIBLE).read_text("utf-8").partition(judged)
    example.edit(VISIBLE, judged, line)
    scores, where = "01_scores/scores", f"{VISIBLE}:{len(before.splitlines())}"
    assert example.faults("scores") == [
        f"{scores}: the solution fails {AS_PRINTED}: {where}: {said}",
    ]


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("", "it names neither"),
        ('    @pytest.mark.deepens("test_nothing")\n', "'test_nothing' is neither"),
        ('    @pytest.mark.deepens("The scaled score")\n', "'The scaled score' is neither"),
        ('    @pytest.mark.deepens("Shape `(num_queries, num_keys)`.")\n', ""),
    ],
)
def test_a_hidden_check_of_what_no_student_reads_is_told(example, mark: str, said: str) -> None:
    """It names the visible check, or the sentence of the docstring, that it tests further."""
    example.edit(HIDDEN, '    @pytest.mark.deepens("test_the_scores_as_printed")\n', mark)
    check = "01_scores/scores::hidden::test_other_queries_and_keys"
    fault = f"{check}: {said} a visible check nor a sentence of the docstring that it deepens"
    assert example.faults("scores") == ([fault] if said else [])


def test_a_check_without_a_docstring_is_told(example) -> None:
    """Its docstring is what the student reads."""
    example.edit(VISIBLE, '        """The scores are the document\'s."""\n', "")
    assert example.faults() == [
        f"{VISIBLE}::TestScores::test_the_scores_as_printed: "
        "its docstring is the sentence the student reads"
    ]


@pytest.mark.parametrize("mark", ["", '@pytest.mark.exercise("score")\n'])
def test_a_check_marked_with_no_exercise_is_told(example, mark: str) -> None:
    """Whether the mark is missing or names something else."""
    example.edit(HIDDEN, '@pytest.mark.exercise("scores")\n', mark)
    assert example.faults() == [
        f"{HIDDEN}::TestScores::test_other_queries_and_keys: "
        "it is marked with no exercise of its assignment"
    ]


def test_every_check_that_declares_something_wrong_is_told(example) -> None:
    """All at once, as in the manifest."""
    example.edit(VISIBLE, '        """The scores are the document\'s."""\n', "")
    example.append(HIDDEN, '\n\ndef test_alone(student):\n    """A check outside of a class."""\n')
    assert example.faults() == [
        f"{VISIBLE}::TestScores::test_the_scores_as_printed: "
        "its docstring is the sentence the student reads",
        f"{HIDDEN}::test_alone: only methods of classes can be checks",
    ]


def test_an_exercise_whose_checks_have_no_weight_is_told(example) -> None:
    """Nobody could earn its points, and no mistake would lose any."""
    mark = '@pytest.mark.exercise("weights")'
    for path in (OTHER_VISIBLE, OTHER_HIDDEN):
        example.edit(path, mark, f"@pytest.mark.weight(0)\n{mark}")
    assert example.faults() == [
        "02_mixture/weights: its checks have no weight, so its points cannot be earned",
        "02_mixture/weights: no check catches the misconception 'weights-over-columns'",
    ]


# Misconceptions.


def test_a_misconception_nobody_catches_is_told(example) -> None:
    """It makes the solution's own function."""
    example.edit(
        MISTAKES, "replace = '''products'''", "replace = '''products / keys.shape[-1] ** 0.50'''"
    )
    assert example.faults("scores") == [
        "01_scores/scores: no check catches the misconception 'scores-not-scaled'",
        "01_scores/scores: the solution and scores-not-scaled are the same to all checks",
    ]


def test_two_misconceptions_that_are_the_same_function_are_told(example) -> None:
    """Neither can be told from the other, so neither is recognised by its own name."""
    same = another_mistake("scores-as-they-are", "/ keys.shape[-1] ** 0.5", "* 1.0")
    example.append(MISTAKES, same)
    both = "scores-not-scaled or scores-as-they-are"
    place = "01_scores/scores"
    assert example.faults("scores") == [
        f"{place}: the misconception 'scores-not-scaled' is recognised as {both}",
        f"{place}: the misconception 'scores-as-they-are' is recognised as {both}",
        f"{place}: scores-not-scaled and scores-as-they-are are the same to all checks",
    ]


def test_more_misconceptions_that_look_the_same_than_are_named_are_told(example) -> None:
    """A student would read of none of four."""
    for factor in ("1.0", "1", "2 / 2"):
        same = another_mistake(f"times {factor}", "/ keys.shape[-1] ** 0.5", f"* {factor}")
        example.append(MISTAKES, same)
    said = example.faults("scores")
    assert said[:4] == [
        f"01_scores/scores: the misconception {name!r} is recognised as nothing"
        for name in ("scores-not-scaled", "times 1.0", "times 1", "times 2 / 2")
    ]
    assert len(said) == 4 + 6


def test_a_misconception_too_close_to_the_solution_is_told(example) -> None:
    """Another machine's rounding could make it right."""
    example.edit(MISTAKES, "replace = '''** 1'''", "replace = '''** 0.5002'''")
    assert example.faults("scores") == [
        "01_scores/scores: the solution and scores-without-root are only 3.2e-04 apart; "
        "0.001 is needed"
    ]


def test_two_misconceptions_too_close_to_each_other_are_told(example) -> None:
    """A student's rounding could turn one into the other."""
    near = another_mistake("scores-off", "products / keys.shape[-1] ** 0.5", "products * 1.00002")
    example.append(MISTAKES, near)
    assert example.faults("scores") == [
        "01_scores/scores: scores-not-scaled and scores-off are only 2.0e-05 apart; 0.001 is needed"
    ]


def test_a_replace_that_is_no_python_is_told_with_its_line(example) -> None:
    """A slip in the edit is no mistake that a student could be told of."""
    example.edit(MISTAKES, "replace = '''** 1'''", "replace = '''** 1\n    )'''")
    text = (example.folder / MISTAKES).read_text("utf-8")
    line = text.splitlines().index("    )'''") + 1
    assert example.faults() == [
        f"{MISTAKES}:{line}: the `replace` of 'scores-without-root' is no Python: unmatched ')'"
    ]


def test_a_misconception_that_does_not_define_the_exercise_is_told(example) -> None:
    """Nothing could be judged with it."""
    example.edit(MISTAKES, "find = '''** 0.5'''", "find = '''def scores('''")
    example.edit(MISTAKES, "replace = '''** 1'''", "replace = '''def score('''")
    assert example.faults("scores") == [
        "01_scores/scores: with the misconception 'scores-without-root', scores is not defined"
    ]


def test_a_solution_that_is_no_python_is_told_with_its_line(example) -> None:
    """And nothing that only follows from it."""
    example.edit(SOLUTION, "products = queries @ keys.T", "products = queries @ keys.T)")
    text = (example.folder / SOLUTION).read_text("utf-8")
    line = text[: text.index("keys.T)")].count("\n") + 1
    assert example.faults() == [f"{SOLUTION}:{line}: SyntaxError: unmatched ')'"]


def test_two_misconceptions_that_a_gate_keeps_apart_from_all_else_are_told_so(example) -> None:
    """Only what stands behind it would tell one from the other."""
    transposed = another_mistake(
        "scores-raised", "return products", "raise ValueError\n    return 0"
    )
    other = another_mistake(
        "scores-raised-as-well", "products = ", "raise ValueError\n    products = "
    )
    example.append(MISTAKES, transposed + other)
    gate = "01_scores/scores::visible::test_a_score_for_each_query_and_key"
    why = f"; the gate {gate} fails, and blocks the checks behind it"
    faults = example.faults("scores")
    both = "scores-raised or scores-raised-as-well"
    assert (
        f"01_scores/scores: the misconception 'scores-raised' is recognised as {both}{why}"
        in faults
    )
    same = "scores-raised and scores-raised-as-well are the same to all checks"
    assert f"01_scores/scores: {same}{why}" in faults


@pytest.mark.parametrize(("find", "count"), [("queries", 6), ("** 0.6", 0)])
def test_a_find_that_does_not_match_once_is_told(example, find: str, count: int) -> None:
    """Twice is as bad as never."""
    example.edit(MISTAKES, "find = '''** 0.5'''", f"find = '''{find}'''")
    assert example.faults() == [
        "solutions/01_scores/misconceptions.toml: misconceptions[3] (scores-without-root): "
        f"`find` matches {count} times in the solution; once is needed"
    ]


def test_a_misconception_of_an_unknown_exercise_is_told(example) -> None:
    """Otherwise it would never be tried."""
    example.edit(OTHER_MISTAKES, 'exercise = "weights"', 'exercise = "weight"')
    assert example.faults() == [
        "solutions/02_mixture/misconceptions.toml: misconceptions[1] (weights-over-columns): "
        "found the exercise 'weight'; did you mean 'weights'? allowed: weights, Mixture"
    ]


LOST = (
    "course.toml: 01_scores does not list the exercise 'scores', which solutions/01_scores/scores.py "
    "still has. To take it out of the score, write `scores = 0`, and change nothing else. To rename it "
    "to {new}, write that name in solutions/01_scores/scores.py, in the checks, in misconceptions.toml "
    "and in hints.toml. To remove it, remove it there as well."
)


def test_an_exercise_that_has_another_name_in_the_manifest_is_one_sentence(example) -> None:
    """Solution, checks, known mistakes and hints have the old one: one cause, and what to do."""
    example.edit("course.toml", "scores = 2", "marks = 2")
    assert example.faults() == [LOST.format(new="marks")]


def test_each_reader_of_a_removed_exercise_says_the_same(example) -> None:
    """Grading, checking, hints and generating stop with the sentence of `grader validate`."""
    example.edit("course.toml", "scores = 2", "other = 2")
    course = load_course(example.folder)
    first, paths = course.assignments[0], course.paths(course.assignments[0])
    readers = (
        lambda: read_misconceptions(course, first),
        lambda: read_hints(first, paths.hints),
        lambda: read_solution(first, paths.solution),
        lambda: collect(course, course.exercises, Visibility),
    )
    for reader in readers:
        with pytest.raises(CourseError) as caught:
            reader()
        assert caught.value.problems == (LOST.format(new="other"),)


def test_an_id_used_in_two_assignments_is_told(example) -> None:
    """A misconception's name is unique in the course."""
    example.edit(OTHER_MISTAKES, "weights-over-columns", "scores-not-scaled")
    assert example.faults() == [
        "02_mixture/weights: the id 'scores-not-scaled' is 01_scores/scores's already"
    ]


def test_an_id_used_twice_in_a_file_is_told(example) -> None:
    """With both places."""
    example.edit(MISTAKES, "scores-keys-first", "scores-not-scaled")
    assert example.faults() == [
        "solutions/01_scores/misconceptions.toml: misconceptions[2]: "
        "found the id 'scores-not-scaled' again; misconceptions[1] has it already"
    ]


def test_a_file_of_misconceptions_that_is_no_toml_is_told_with_its_assignment(example) -> None:
    """All assignments have a file of that name."""
    example.edit(OTHER_MISTAKES, 'id = "mixture-of-keys"', "id = mixture")
    assert example.faults() == [
        "solutions/02_mixture/misconceptions.toml: it is not TOML in UTF-8: "
        "Invalid value (at line 11, column 6)"
    ]
