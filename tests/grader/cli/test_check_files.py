"""Tests of what `grader check` says of whole files: where one stops, and what it holds."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def check(grader, work) -> Callable[..., tuple[int, str]]:
    """Checks a student's files; answers the exit code, and what is printed as one line."""

    def run(target: str, **files: str | list[str]) -> tuple[int, str]:
        ran = grader("check", target, "--submission", work(**files))
        return ran.code, " ".join(ran.out.split())

    return run


@pytest.fixture
def mixture(folder: Path) -> str:
    """The solution of the second assignment."""
    return (folder / "solutions/02_mixture/mixture.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("print(INPUT)", "NameError: name 'INPUT' is not defined"),
        ("print((1)", "SyntaxError: '(' was never closed"),
    ],
)
def test_a_file_that_stops_below_what_is_asked_of_it_has_a_note(check, right, more, why):
    """It costs nothing, and is said with its line."""
    code, said = check("01", scores=f"{right}{more}\nx = 1\n")
    line = right.count("\n") + 1
    note = f"scores.py, line {line}: {why}. The file stops there: nothing below is run."
    assert (code, note in said) == (0, True)


def test_a_file_that_stops_above_an_exercise_has_no_note_besides(check):
    """That it does not run is said once."""
    _, said = check("01", scores="1 / 0\ndef scores(): ...\n")
    assert "scores.py does not run: line 1: ZeroDivisionError" in said
    assert "stops there" not in said


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        ("def scores(a, b):\n    return a @ b)\n", "line 2: SyntaxError: unmatched ')' return a @ b) ^"),
        ("1 / 0\n", "line 1: ZeroDivisionError: division by zero 1 / 0"),
    ],
    ids=["syntax", "raised"],
)  # fmt: skip
def test_a_file_that_cannot_be_imported_because_it_stops_itself_is_shown(check, broken, shown):
    """Its own failure is what there is to mend, not the import's."""
    code, said = check("weights", mixture="right", scores=broken)
    assert (code, said.count("does not run"), "ImportError" in said) == (1, 1, False)
    assert f"✗ scores.py does not run: {shown}" in said


def test_a_name_that_an_intact_file_lacks_is_the_imports_own_failure(check):
    """Nothing stops the file that was imported."""
    _, said = check("weights", mixture="right", scores="x = 1\n")
    assert "mixture.py does not run: line 8: ImportError: cannot import name" in said


@pytest.mark.parametrize(("name", "is_told"), [("scores", True), ("own", False)])
def test_a_file_of_another_assignment_is_called_that(check, mixture, name, is_told):
    """By the names that it holds; under a name of its own it stands nowhere wrong."""
    sentence = (
        "scores.py defines what 02_mixture asks for (Mixture) and nothing of 01_scores. Was it "
        "saved in the wrong place?"
    )
    _, said = check("01", **{name: mixture.replace("def weights", "def score")})
    assert (sentence in said, "in the wrong place?" in said) == (is_told, is_told)


def test_a_function_that_is_defined_twice_is_noted_where_it_is_not_right(check, right):
    """The last definition counts, as in Python."""
    again = "\n\ndef scores(queries, keys):\n    return queries\n"
    line, sentence = right.count("\n") + 3, "scores is defined more than once: "
    _, said = check("01", scores=right + again)
    assert sentence in said
    assert f"scores.py, line {line}. The last one counts." in said
    code, said = check("01", scores=again + right)
    assert (code, sentence in said) == (0, False)


def test_a_file_of_another_assignment_is_not_checked(grader, work):
    """Not "nothing was handed in": it says what the file looks like, and what checks it."""
    file = work(mixture="def weights(scores):\n    return scores\n") / "mixture.py"
    ran = grader("check", "01", "--submission", file)
    command = f"`grader check 02_mixture --submission {file}`"
    sentence = (
        "mixture.py looks like work on 02_mixture; it defines nothing that 01_scores asks for. "
        f"{command} checks it."
    )
    assert (ran.code, " ".join(ran.err.split())) == (2, sentence)


def test_an_import_that_fails_costs_only_what_uses_it(check, mixture):
    """The rest of the file is judged; the use says which import failed, and where."""
    text = f"import nowhere as plt\nplt.figure()\n{mixture}"
    uses = text.replace("    return torch.softmax", "    plt.show()\n    return torch.softmax")
    _, said = check("02", mixture=uses, scores="right")
    assert "✗ weights" in said
    assert "It raised ModuleNotFoundError: No module named 'nowhere' at" in said
    assert "`plt` is used here, and its import failed (mixture.py, line 1)." in said
    assert "does not run" not in said
    assert "stops there" not in said
    code, said = check("02", mixture=text)
    assert (code, "4 of 4 points" in said) == (0, True)


def test_a_missing_import_in_a_notebook_takes_nothing_with_it(check, right):
    """What follows in its cell is run as well, so that later cells find it."""
    first = "import nowhere\nfrom torch import Tensor"
    code, said = check("01", scores=[first, right.replace("from torch import", "#")])
    assert (code, "2 of 2 points" in said) == (0, True)


def test_the_cell_that_was_to_set_a_name_is_told_before_the_one_that_lacks_it(check, right):
    """The second failure follows from the first."""
    first = "1 / 0\nfrom torch import Tensor"
    _, said = check("01", scores=[first, right.replace("from torch import", "#")])
    assert "A cell failed: ZeroDivisionError: division by zero" in said
    assert "NameError" not in said
