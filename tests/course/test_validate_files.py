"""`grader validate` on broken copies of a small course: ledger, files, points, hints, releases."""

import pytest
from predictions import PATH, PREDICTION

from grader.authoring.validate import validate
from grader.course.course import load_course

pytestmark = pytest.mark.slow

STUB = "assignments/01_scores/scores.py"
NOTEBOOK = "assignments/01_scores/scores.ipynb"
SOLUTION = "solutions/01_scores/scores.py"
MISTAKES = "solutions/01_scores/misconceptions.toml"
HINTS = "solutions/02_mixture/hints.toml"
VISIBLE = "tests/checks/01_scores/test_visible.py"
HIDDEN = "tests/checks/01_scores/test_hidden.py"
LEDGER = "tests/printed_tensors.json"
TOO_OLD = "it differs from what the solution makes; run `grader generate`"


# The ledger.

JUDGED = "judge(value, SCORES, atol=ROUNDED, axes=AXES)"
AS_PRINTED = 'judge(value, printed("T03"), axes=AXES)'
ENTRIES = """[
  {"id": "T03", "shape": [2, 3], "how": "value", "printed_in": ["page 1"], "meaning": "their scores",
   "values": [[0.7071, 0.7071, 0.4419], [1.2374, -1.9445, 0.9723]]},
  {"id": "T05", "shape": [2, 2], "how": "misconception (the keys are mixed)",
   "printed_in": ["page 1"], "meaning": "the slip", "values": [[0.4443, 1.0557], [-0.4012, 1.9012]]}
]
"""


@pytest.fixture
def printed(example):
    """The course with printed tensors; a check asks for one, a mistake makes the other."""
    (example.folder / LEDGER).write_text(ENTRIES, "utf-8")
    assignments = '[[assignments]]\nid = "01_scores"'
    example.edit("course.toml", assignments, f'[ledger]\nfile = "{LEDGER}"\n\n{assignments}')
    name = "test_the_scores_as_printed(self, student, judge"
    example.edit(VISIBLE, name, f"{name}, printed")
    example.edit(VISIBLE, JUDGED, AS_PRINTED)
    return example


def test_a_course_with_printed_tensors_keeps_its_promises(printed) -> None:
    """So the faults below are those of the ledger alone."""
    assert printed.faults() == []


def test_a_check_that_asks_for_what_no_ledger_has_is_told(example) -> None:
    """A course without printed tensors has no file of them."""
    name = "test_the_scores_as_printed(self, student, judge"
    example.edit(VISIBLE, name, f"{name}, printed")
    example.edit(VISIBLE, JUDGED, AS_PRINTED)
    said = (
        "a check asks for printed('T03'), and the course has no printed tensors: there is no "
        "[ledger] in course.toml"
    )
    assert any(said in fault for fault in example.faults())


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
def test_an_entry_of_the_ledger_that_is_not_covered_is_told(printed, how: str, said: str) -> None:
    """By the way in which the ledger says that it can be."""
    entry = (
        f'{{"id": "T06", "shape": [1], "how": "{how}", "printed_in": ["000 cell 2"], '
        '"meaning": "a lonely number", "values": [0.5]}'
    )
    printed.edit(LEDGER, "}\n]", f"}},\n{entry}\n]")
    assert printed.faults() == [f"ledger T06: it is not {said} (a lonely number)"]


def test_a_value_that_is_used_but_not_judged_against_is_not_covered(printed) -> None:
    """It is a value that the student is to reach, not an input."""
    printed.edit(VISIBLE, AS_PRINTED, 'judge(printed("T03") is value, False)')
    said = printed.faults()
    assert "ledger T03: it is not judged against by a check (their scores)" in said


def test_a_slip_that_no_misconception_makes_is_told(printed) -> None:
    """Half a digit is rounding; two hundredths are not."""
    printed.edit(LEDGER, "0.4443", "0.4643")
    assert printed.faults() == ["ledger T05: it is not what a misconception answers (the slip)"]


# Files, points, hints.


@pytest.mark.parametrize(
    "path", ["solutions/01_scores/notes.txt", "assignments/03_more/more.py", "tests/checks/a.py"]
)
def test_a_file_nobody_declares_is_told(example, path: str) -> None:
    """Wherever it lies among the course's own."""
    (example.folder / path).parent.mkdir(exist_ok=True)
    (example.folder / path).write_text("", "utf-8")
    assert example.faults_of_files() == [f"{path}: course.toml does not declare it"]


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (STUB, [f"{STUB}: {TOO_OLD}"]),
        (NOTEBOOK, [f"{NOTEBOOK}: {TOO_OLD}"]),
        (SOLUTION, [f"{SOLUTION}: the solution cannot be read (No such file or directory)"]),
        (HIDDEN, []),
    ],
)
def test_a_missing_file_is_told(example, path: str, more: list[str]) -> None:
    """And what follows from it."""
    (example.folder / path).unlink()
    assert example.faults() == [f"{path}: it is missing", *more]


def test_a_missing_guide_is_told(example) -> None:
    """The students' README would have no end."""
    example.edit("course.toml", "[course]", '[course]\nguide = "map.md"')
    assert example.faults_of_files()[0] == "map.md: it is missing"
    (example.folder / "map.md").write_text("## The map\n", "utf-8")
    assert example.faults_of_files() == []


def test_missing_hints_are_told_with_their_assignment(example) -> None:
    """All assignments have a file of that name."""
    (example.folder / HINTS).unlink()
    assert example.faults_of_files() == [
        "solutions/02_mixture/hints.toml: it cannot be read (No such file or directory)",
        f"{HINTS}: it is missing",
    ]


def test_too_few_hints_are_told(example) -> None:
    """Hints climb, so one is not enough."""
    example.edit(HINTS, '"What has to sum to 1?", ', "")
    assert example.faults_of_files() == [
        "solutions/02_mixture/hints.toml: weights: found 1 hint; at least 2 are needed"
    ]


def test_hints_for_no_exercise_are_told(example) -> None:
    """A misspelt name leaves its exercise without hints."""
    example.edit(HINTS, "Mixture = [", "Mixtures = [")
    assert example.faults_of_files() == [
        "solutions/02_mixture/hints.toml: Mixtures: no such exercise",
        "solutions/02_mixture/hints.toml: Mixture: found 0 hints; at least 2 are needed",
    ]


def test_points_that_do_not_add_up_are_told(example) -> None:
    """The manifest's total against its exercises."""
    example.edit("course.toml", "points = 6", "points = 7")
    assert example.faults_of_files() == ["course.toml: points says 7; the exercises add up to 6"]


def test_points_need_no_generated_notebook(example) -> None:
    """A release has the manifest's, whatever the notebooks beside the course have."""
    example.edit("course.toml", "points = 6", "points = 5.5")
    example.edit("course.toml", "scores = 2", "scores = 2.5")
    example.edit("course.toml", "weights = 1", "weights = 0")
    assert example.faults_of_files() == []


def test_a_notebook_that_breaks_off_is_told(example) -> None:
    """In a sentence, not in a traceback."""
    text = (example.folder / NOTEBOOK).read_text("utf-8")
    (example.folder / NOTEBOOK).write_text(text[: len(text) // 2], "utf-8")
    assert f"{NOTEBOOK}: {TOO_OLD}" in example.faults_of_files()


def test_a_stub_that_was_edited_is_told(example) -> None:
    """The next `grader generate` would take the edit away."""
    example.append(STUB, "# a note\n")
    assert example.faults() == [f"{STUB}: {TOO_OLD}"]


def test_of_a_stub_that_is_too_old_nothing_else_is_told(example) -> None:
    """No check can call it any more, and the next `grader generate` makes it another one."""
    example.edit(STUB, "queries: Tensor, keys: Tensor", "queries: Tensor")
    assert example.faults() == [f"{STUB}: {TOO_OLD}"]


def test_stubs_older_than_their_solution_are_told(example) -> None:
    """Both forms."""
    example.edit(SOLUTION, "How well", "How badly")
    assert example.faults_of_files() == [f"{STUB}: {TOO_OLD}", f"{NOTEBOOK}: {TOO_OLD}"]


# Releases.


def test_a_solutions_line_in_a_visible_check_is_told(example) -> None:
    """Students read visible checks."""
    example.append(VISIBLE, "\n\ndef right(queries, keys):\n    products = queries @ keys.T\n")
    assert example.faults() == [
        f"release: {VISIBLE} contains a line of the solution of 01_scores: "
        "products = queries @ keys.T"
    ]


def test_a_solutions_line_in_the_text_above_an_exercise_is_told(example) -> None:
    """It would be in the stub as a comment, and in the notebook as text."""
    path = "solutions/02_mixture/mixture.py"
    line = "self.W_query = nn.Linear(d_in, d_out, bias=False)"
    example.edit(
        path, "# What the scores are good for.", f"# What the scores are good for.\n# {line}"
    )
    example.regenerate()
    assert example.faults() == [
        f"release: assignments/02_mixture/mixture.{form} contains a line of the solution of "
        f"02_mixture: {line}"
        for form in ("py", "ipynb")
    ]


STYLES = """
[[styles]]
exercise = "scores"
name = "a product"
code = '''
def scores(queries, keys):
    return queries @ keys.T / keys.shape[-1] ** 0.5
'''
why = "As the formula says."

[[styles]]
exercise = "scores"
name = "not scaled"
code = '''
def scores(queries, keys):
    return queries @ keys.T
'''
why = "It is not."
"""


def test_a_style_that_is_wrong_or_in_a_release_is_told(example) -> None:
    """Each is run in place of the solution's way, and students get none of them to read."""
    path = example.folder / "solutions" / "01_scores" / "styles.toml"
    path.write_text(STYLES, "utf-8")
    (wrong,) = example.faults()
    assert wrong.startswith("01_scores/scores: the style 'not scaled' fails 01_scores/scores::")
    path.write_text(STYLES.replace("keys.T\n", "keys.T / keys.shape[-1] ** 0.5  #\n"), "utf-8")
    line = "return queries @ keys.T / keys.shape[-1] ** 0.5"
    example.append(VISIBLE, f"\n\ndef right(queries, keys):\n    {line}\n")
    assert example.faults() == [
        f"release: {VISIBLE} contains a line of the styles of 01_scores: {line}"
    ]


def test_a_prediction_that_is_wrong_is_told(example) -> None:
    """The solution answers it, with the choice that is said to be right."""
    (example.folder / PATH).write_text(PREDICTION.replace("right=2", "right=3"), "utf-8")
    example.regenerate()
    said = "to its prediction the solution answers 2, and `right` says 3"
    assert example.faults() == [f"01_scores/scores: {said}"]


def test_a_visible_check_that_hangs_on_a_draw_of_dropout_is_told(example) -> None:
    """Its recording would be right on one kind of processor only."""
    example.edit(VISIBLE, "import pytest\n", "import pytest\nimport torch\n")
    check = '''
    def test_dropped(self, student, reference, judge):
        """The scores of what dropout leaves."""
        torch.manual_seed(1)
        dropped = torch.nn.functional.dropout(torch.ones(4, 4), 0.5)
        expected = reference.call("scores", dropped, dropped).value
        judge(student.call("scores", dropped, dropped).value, expected)
'''
    example.append(VISIBLE, check)
    assert example.faults() == [
        "01_scores/scores::visible::test_dropped: the reference's answers depend on a seeded "
        "dropout draw, which differs between processors; a visible check cannot ask for that"
    ]


def test_what_is_still_to_be_translated_stops_nobody_unless_asked_to(example):
    """Nor do catalogues that are not up to date; without catalogues nothing is asked for."""
    from grader.authoring.translations import translation_files

    example.edit("course.toml", "points = 6", 'points = 6\nlanguages = ["zh_CN", "ja"]')
    for made in translation_files(load_course(example.folder)):
        for file in made.files:
            file.write(example.folder)
    (example.folder / "translations/ja/LC_MESSAGES/course.mo").unlink()
    count = translation_files(load_course(example.folder))[0].untranslated
    told = [
        f"translations/zh_CN/LC_MESSAGES/course.po: {count} texts are still to be translated",
        f"translations/ja/LC_MESSAGES/course.po: {count} texts are still to be translated",
        "translations/ja/LC_MESSAGES/course.mo: it is not up to date; run `grader catalogues`",
    ]
    report = example.report()
    assert (report.faults, report.warnings) == ([], told)
    asked = validate(load_course(example.folder), ("scores",), translations=True)
    assert (asked.faults, asked.warnings) == (told, [])


def test_data_is_declared_where_hidden_checks_name_it(example) -> None:
    """A JSON file beside them that nothing loads is one too many."""
    (example.folder / HIDDEN).with_name("table.json").write_text("{}", "utf-8")
    told = "tests/checks/01_scores/table.json: course.toml does not declare it"
    assert example.faults_of_files() == [told]
    with (example.folder / HIDDEN).open("a", encoding="utf-8") as file:
        file.write('\nTABLE = "table.json"\n')
    assert example.faults_of_files() == []
