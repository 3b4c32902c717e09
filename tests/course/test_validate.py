"""`grader validate` on broken copies of a small course: one fault each, and what is said of it."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.authoring.generate import generate
from grader.authoring.validate import Report, validate
from grader.course import load_course
from grader.release.students import COPIED

STUB = "assignments/01_scores/scores.py"
NOTEBOOK = "assignments/01_scores/scores.ipynb"
SOLUTION = "solutions/01_scores/scores.py"
MISTAKES = "solutions/01_scores/misconceptions.toml"
OTHER_MISTAKES = "solutions/02_mixture/misconceptions.toml"
HINTS = "solutions/02_mixture/hints.toml"
VISIBLE = "tests/checks/01_scores/test_visible.py"
HIDDEN = "tests/checks/01_scores/test_hidden.py"
OTHER_VISIBLE = "tests/checks/02_mixture/test_visible.py"
OTHER_HIDDEN = "tests/checks/02_mixture/test_hidden.py"
LEDGER = "tests/documents/printed_tensors.json"

AS_PRINTED = "01_scores/scores::visible::test_the_scores_as_printed"
FIRST_CHECK = '''\
        value = student.call("scores", printed("T01").tensor, printed("T02").tensor).value
        judge.shape(value, (2, 3))'''
TOO_OLD = "it differs from what the solution makes; run `grader generate`"

Edit = Callable[..., None]


@pytest.fixture
def folder(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that keeps its promises, to be broken."""
    for name in [name for name in sys.modules if name.startswith("tests.checks")]:
        monkeypatch.delitem(sys.modules, name)  # another course's checks have the same names
    folder = tmp_path / "course"
    shutil.copytree(root / "tests" / "example_course", folder)
    for name in set(COPIED) - {"course.toml"}:
        (folder / name).write_text(f"{name} of the course\n", "utf-8")
    regenerate(folder)
    return folder


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Replaces a text that stands in a file of the course, as often as said."""

    def replace(path: str, old: str, new: str, times: int = 1) -> None:
        text = (folder / path).read_text("utf-8")
        assert text.count(old) == times
        (folder / path).write_text(text.replace(old, new), "utf-8")

    return replace


def regenerate(folder: Path) -> None:
    """Make stubs and notebooks anew."""
    for file in generate(load_course(folder)):
        file.write()


def append(path: Path, text: str) -> None:
    """Add text to the end of a file."""
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def report_on(folder: Path) -> Report:
    """What a validation finds."""
    return validate(load_course(folder))


def faults(folder: Path) -> list[str]:
    """The faults that a validation finds."""
    return report_on(folder).faults


def another_mistake(id_: str, find: str, replace: str) -> str:
    """A misconception more, as TOML."""
    return f"""
[[misconceptions]]
id = "{id_}"
exercise = "scores"
find = '''{find}'''
replace = '''{replace}'''
symptom = "Something else goes wrong."
question = "What goes wrong?"
"""


def test_a_course_that_keeps_its_promises_has_no_fault(folder: Path) -> None:
    """Although an assignment imports another, and its stubs import a stub."""
    report = report_on(folder)
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


# Stubs, solutions, checks.


def test_a_stub_that_passes_a_check_is_told_for_both_forms(folder: Path, edit: Edit) -> None:
    """A check that asks nothing of the student gives points away."""
    edit(VISIBLE, FIRST_CHECK, '        judge.that(True, "never said")')
    check = "01_scores/scores::visible::test_a_score_for_each_query_and_key"
    assert faults(folder) == [
        f"01_scores/scores: the stub (py) passes {check}",
        f"01_scores/scores: the stub (ipynb) passes {check}",
    ]


def test_a_solution_that_fails_is_told_with_its_check_and_the_reason(
    folder: Path, edit: Edit
) -> None:
    """What hangs on the solution's values is told as well."""
    edit(SOLUTION, "** 0.5", "** 0.4")
    edit(MISTAKES, "** 0.5", "** 0.4", times=2)
    regenerate(folder)
    assert faults(folder) == [
        f"01_scores/scores: the solution fails {AS_PRINTED}: 6 of 6 values differ, "
        "the first at query 0, key 0: expected 0.7071, received 0.7579",
        "ledger T03: it is not judged against by a check (their scores)",
        "ledger T05: it is not what a misconception answers (the slip)",
    ]


def test_a_check_that_breaks_is_told_as_a_fault(folder: Path, edit: Edit) -> None:
    """Validating goes on: the check's own error is no error of validating."""
    edit(VISIBLE, 'judge(value, printed("T03"), axes=AXES)', 'raise ValueError("a slip")')
    scores = "01_scores/scores"
    assert faults(folder) == [
        f"{scores}: the solution fails {AS_PRINTED}: ValueError: a slip",
        f"{scores}: the check {AS_PRINTED} breaks on the misconception 'scores-not-scaled'",
        f"{scores}: the check {AS_PRINTED} breaks on the misconception 'scores-without-root'",
        "ledger T03: it is not judged against by a check (their scores)",
    ]


def test_a_check_without_a_docstring_is_told(folder: Path, edit: Edit) -> None:
    """Its docstring is what the student reads."""
    edit(VISIBLE, '        """The scores are the document\'s."""\n', "")
    assert faults(folder) == [
        f"{VISIBLE}::TestScores::test_the_scores_as_printed: "
        "its docstring is the sentence the student reads"
    ]


@pytest.mark.parametrize("mark", ["", '@pytest.mark.exercise("score")\n'])
def test_a_check_marked_with_no_exercise_is_told(folder: Path, edit: Edit, mark: str) -> None:
    """Whether the mark is missing or names something else."""
    edit(HIDDEN, '@pytest.mark.exercise("scores")\n', mark)
    assert faults(folder) == [
        f"{HIDDEN}::TestScores::test_other_queries_and_keys: "
        "it is marked with no exercise of its assignment"
    ]


def test_every_check_that_declares_something_wrong_is_told(folder: Path, edit: Edit) -> None:
    """All at once, as in the manifest."""
    edit(VISIBLE, '        """The scores are the document\'s."""\n', "")
    append(folder / HIDDEN, '\n\ndef test_alone(student):\n    """A check outside of a class."""\n')
    assert faults(folder) == [
        f"{VISIBLE}::TestScores::test_the_scores_as_printed: "
        "its docstring is the sentence the student reads",
        f"{HIDDEN}::test_alone: only methods of classes can be checks",
    ]


def test_an_exercise_whose_checks_have_no_weight_is_told(folder: Path, edit: Edit) -> None:
    """Nobody could earn its points, and no mistake would lose any."""
    mark = '@pytest.mark.exercise("weights")'
    for path in (OTHER_VISIBLE, OTHER_HIDDEN):
        edit(path, mark, f"@pytest.mark.weight(0)\n{mark}")
    assert faults(folder) == [
        "02_mixture/weights: its checks have no weight, so its points cannot be earned",
        "02_mixture/weights: no check catches the misconception 'weights-over-columns'",
    ]


# Misconceptions.


def test_a_misconception_nobody_catches_is_told(folder: Path, edit: Edit) -> None:
    """It makes the solution's own function."""
    edit(MISTAKES, "replace = '''products'''", "replace = '''products / keys.shape[-1] ** 0.50'''")
    assert faults(folder) == [
        "01_scores/scores: no check catches the misconception 'scores-not-scaled'",
        "01_scores/scores: the solution and scores-not-scaled are the same to all checks",
    ]


def test_two_misconceptions_that_are_the_same_function_are_told(folder: Path) -> None:
    """Neither can be told from the other, so neither is recognised by its own name."""
    same = another_mistake("scores-as-they-are", "/ keys.shape[-1] ** 0.5", "* 1.0")
    append(folder / MISTAKES, same)
    both = "scores-not-scaled or scores-as-they-are"
    place = "01_scores/scores"
    assert faults(folder) == [
        f"{place}: the misconception 'scores-not-scaled' is recognised as {both}",
        f"{place}: the misconception 'scores-as-they-are' is recognised as {both}",
        f"{place}: scores-not-scaled and scores-as-they-are are the same to all checks",
    ]


def test_more_misconceptions_that_look_the_same_than_are_named_are_told(folder: Path) -> None:
    """A student would read of none of four."""
    for factor in ("1.0", "1", "2 / 2"):
        same = another_mistake(f"times {factor}", "/ keys.shape[-1] ** 0.5", f"* {factor}")
        append(folder / MISTAKES, same)
    said = faults(folder)
    assert said[:4] == [
        f"01_scores/scores: the misconception {name!r} is recognised as nothing"
        for name in ("scores-not-scaled", "times 1.0", "times 1", "times 2 / 2")
    ]
    assert len(said) == 4 + 6


def test_a_misconception_too_close_to_the_solution_is_told(folder: Path, edit: Edit) -> None:
    """Another machine's rounding could make it right."""
    edit(MISTAKES, "replace = '''** 1'''", "replace = '''** 0.5002'''")
    assert faults(folder) == [
        "01_scores/scores: the solution and scores-without-root are only 3.2e-04 apart; "
        "0.001 is needed"
    ]


def test_two_misconceptions_too_close_to_each_other_are_told(folder: Path) -> None:
    """A student's rounding could turn one into the other."""
    near = another_mistake("scores-off", "products / keys.shape[-1] ** 0.5", "products * 1.00002")
    append(folder / MISTAKES, near)
    said = faults(folder)
    assert said == [
        "01_scores/scores: scores-not-scaled and scores-off are only 4.0e-05 apart; "
        "0.001 is needed"
    ]


def test_a_misconception_that_does_not_define_the_exercise_is_told(
    folder: Path, edit: Edit
) -> None:
    """A slip in the edit is no mistake that a student could be told of."""
    edit(MISTAKES, "replace = '''** 1'''", "replace = '''** ('''")
    assert faults(folder) == [
        "01_scores/scores: with the misconception 'scores-without-root', scores is not defined"
    ]


@pytest.mark.parametrize(("find", "count"), [("queries", 6), ("** 0.6", 0)])
def test_a_find_that_does_not_match_once_is_told(
    folder: Path, edit: Edit, find: str, count: int
) -> None:
    """Twice is as bad as never."""
    edit(MISTAKES, "find = '''** 0.5'''", f"find = '''{find}'''")
    assert faults(folder) == [
        "01_scores/misconceptions.toml: misconceptions[3] (scores-without-root): "
        f"`find` matches {count} times in the solution; once is needed"
    ]


def test_a_misconception_of_an_unknown_exercise_is_told(folder: Path, edit: Edit) -> None:
    """Otherwise it would never be tried."""
    edit(OTHER_MISTAKES, 'exercise = "weights"', 'exercise = "weight"')
    assert faults(folder) == [
        "02_mixture/misconceptions.toml: misconceptions[1] (weights-over-columns): "
        "found the exercise 'weight'; did you mean 'weights'? allowed: weights, Mixture"
    ]


def test_an_id_used_in_two_assignments_is_told(folder: Path, edit: Edit) -> None:
    """A misconception's name is unique in the course."""
    edit(OTHER_MISTAKES, "weights-over-columns", "scores-not-scaled")
    assert faults(folder) == [
        "02_mixture/weights: the id 'scores-not-scaled' is 01_scores/scores's already"
    ]


def test_an_id_used_twice_in_a_file_is_told(folder: Path, edit: Edit) -> None:
    """With both places."""
    edit(MISTAKES, "scores-keys-first", "scores-not-scaled")
    assert faults(folder) == [
        "01_scores/misconceptions.toml: misconceptions[2]: "
        "found the id 'scores-not-scaled' again; misconceptions[1] has it already"
    ]


def test_a_file_of_misconceptions_that_is_no_toml_is_told_with_its_assignment(
    folder: Path, edit: Edit
) -> None:
    """All assignments have a file of that name."""
    edit(OTHER_MISTAKES, 'id = "mixture-of-keys"', "id = mixture")
    assert faults(folder) == [
        "02_mixture/misconceptions.toml: it is not TOML in UTF-8: "
        "Invalid value (at line 9, column 6)"
    ]


# The documents' ledger.


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("value", "judged against by a check"),
        ("value, from printed operands", "judged against by a check"),
        ("input", "used by a check"),
        ("shape", "used by a check"),
        ("misconception (the slip)", "what a misconception answers"),
    ],
)
def test_an_entry_of_the_ledger_that_is_not_covered_is_told(
    folder: Path, edit: Edit, how: str, said: str
) -> None:
    """By the way in which the ledger says that it can be."""
    entry = (
        f'{{"id": "T06", "shape": [1], "how": "{how}", "printed_in": ["000 cell 2"], '
        '"meaning": "a lonely number", "values": [0.5]}'
    )
    edit(LEDGER, "}\n]", f"}},\n{entry}\n]")
    assert faults(folder) == [f"ledger T06: it is not {said} (a lonely number)"]


def test_a_value_that_is_used_but_not_judged_against_is_not_covered(
    folder: Path, edit: Edit
) -> None:
    """It is a value that the student is to reach, not an input."""
    edit(VISIBLE, 'judge(value, printed("T03"), axes=AXES)', 'judge(printed("T03") is value, False)')
    said = faults(folder)
    assert "ledger T03: it is not judged against by a check (their scores)" in said


def test_a_slip_that_no_misconception_makes_is_told(folder: Path, edit: Edit) -> None:
    """Half a digit is rounding; two hundredths are not."""
    edit(LEDGER, "0.4443", "0.4643")
    assert faults(folder) == ["ledger T05: it is not what a misconception answers (the slip)"]


# Files, points, hints.


@pytest.mark.parametrize(
    "path", ["solutions/01_scores/notes.txt", "assignments/03_more/more.py", "tests/checks/a.py"]
)
def test_a_file_nobody_declares_is_told(folder: Path, path: str) -> None:
    """Wherever it lies among the course's own."""
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("", "utf-8")
    assert faults(folder) == [f"{path}: course.toml does not declare it"]


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (STUB, [f"{STUB}: {TOO_OLD}"]),
        (NOTEBOOK, [f"{NOTEBOOK}: {TOO_OLD}"]),
        (SOLUTION, ["scores.py: the solution cannot be read (No such file or directory)"]),
        (MISTAKES, []),
        (HIDDEN, []),
    ],
)
def test_a_missing_file_is_told(folder: Path, path: str, more: list[str]) -> None:
    """And what follows from it."""
    (folder / path).unlink()
    assert faults(folder) == [f"{path}: it is missing", *more]


def test_missing_hints_are_told_with_their_assignment(folder: Path) -> None:
    """All assignments have a file of that name."""
    (folder / HINTS).unlink()
    assert faults(folder) == [
        "02_mixture/hints.toml: it cannot be read (No such file or directory)",
        f"{HINTS}: it is missing",
    ]


def test_too_few_hints_are_told(folder: Path, edit: Edit) -> None:
    """Hints climb, so one is not enough."""
    edit(HINTS, '"What has to sum to 1?", ', "")
    assert faults(folder) == [
        "02_mixture/hints.toml: weights: found 1 hint; at least 2 are needed"
    ]


def test_hints_for_no_exercise_are_told(folder: Path, edit: Edit) -> None:
    """A misspelt name leaves its exercise without hints."""
    edit(HINTS, "Mixture = [", "Mixtures = [")
    assert faults(folder) == [
        "02_mixture/hints.toml: Mixtures: no such exercise",
        "02_mixture/hints.toml: Mixture: found 0 hints; at least 2 are needed",
    ]


def test_points_that_do_not_add_up_are_told(folder: Path, edit: Edit) -> None:
    """The manifest's total against its exercises."""
    edit("course.toml", "points = 6", "points = 7")
    assert faults(folder) == ["course.toml: points says 7; the exercises add up to 6"]


def test_points_edited_in_a_notebook_are_told(folder: Path, edit: Edit) -> None:
    """nbgrader would count them."""
    edit(NOTEBOOK, '"points": 2', '"points": 5')
    assert faults(folder) == [
        "01_scores: the notebook's cells add up to 5 points, course.toml's exercises to 2",
        f"{NOTEBOOK}: {TOO_OLD}",
    ]


def test_a_notebook_that_breaks_off_is_told(folder: Path) -> None:
    """In a sentence, not in a traceback."""
    text = (folder / NOTEBOOK).read_text("utf-8")
    (folder / NOTEBOOK).write_text(text[: len(text) // 2], "utf-8")
    assert f"{NOTEBOOK}: {TOO_OLD}" in faults(folder)


def test_a_stub_that_was_edited_is_told(folder: Path) -> None:
    """The next `grader generate` would take the edit away."""
    append(folder / STUB, "# a note\n")
    assert faults(folder) == [f"{STUB}: {TOO_OLD}"]


def test_stubs_older_than_their_solution_are_told(folder: Path, edit: Edit) -> None:
    """Both forms."""
    edit(SOLUTION, "How well", "How badly")
    assert faults(folder) == [f"{STUB}: {TOO_OLD}", f"{NOTEBOOK}: {TOO_OLD}"]


# Releases.


def test_a_solutions_line_in_a_visible_check_is_told(folder: Path) -> None:
    """Students read visible checks."""
    append(folder / VISIBLE, "\n\ndef right(queries, keys):\n    products = queries @ keys.T\n")
    assert faults(folder) == [
        f"release: {VISIBLE} contains a line of the solution of 01_scores: "
        "products = queries @ keys.T"
    ]


def test_a_solutions_line_in_the_text_above_an_exercise_is_told(folder: Path, edit: Edit) -> None:
    """It would be in the stub as a comment, and in the notebook as text."""
    path = "solutions/02_mixture/mixture.py"
    line = "self.W_query = nn.Linear(d_in, d_out, bias=False)"
    edit(path, "# What the scores are good for.", f"# What the scores are good for.\n# {line}")
    regenerate(folder)
    assert faults(folder) == [
        f"release: assignments/02_mixture/mixture.{form} contains a line of the solution of "
        f"02_mixture: {line}"
        for form in ("py", "ipynb")
    ]


def test_a_visible_check_that_hangs_on_a_draw_of_dropout_is_told(folder: Path) -> None:
    """Its recording would be right on one kind of processor only."""
    check = '''
    def test_dropped(self, student, reference, judge):
        """The scores of what dropout leaves."""
        dropped = torch.nn.functional.dropout(torch.ones(4, 4), 0.5)
        expected = reference.call("scores", dropped, dropped).value
        judge(student.call("scores", dropped, dropped).value, expected)
'''
    append(folder / VISIBLE, check)
    text = (folder / VISIBLE).read_text("utf-8")
    seeded = check.replace("dropped = ", "torch.manual_seed(1)\n        dropped = ", 1)
    text = text.replace(check, seeded).replace("import pytest", "import pytest\nimport torch")
    (folder / VISIBLE).write_text(text, "utf-8")
    assert faults(folder) == [
        "01_scores/scores::visible::test_dropped: the reference's answers depend on a seeded "
        "dropout draw, which differs between processors; a visible check cannot ask for that"
    ]


@pytest.mark.parametrize("name", ["LICENSE", "constraints.txt", "pyproject.toml"])
def test_a_file_that_a_release_copies_and_that_is_missing_is_told(folder: Path, name: str) -> None:
    """Before anybody makes the release."""
    (folder / name).unlink()
    assert faults(folder) == [f"{name}: it is missing; a release copies it"]
