"""Tests of what `grader check` says of whole files: where one stops, and what it holds."""

import json

import pytest


def said(ran):
    """What a command printed, in one line."""
    return " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("print(INPUT)", "NameError: name 'INPUT' is not defined. The file stops there"),
        ("print((1)", "SyntaxError: '(' was never closed. The file stops there"),
    ],
)
def test_a_file_that_stops_below_what_is_asked_of_it_has_a_note(
    grader, folder, work, more, sentence
):
    """It costs nothing, and is said with its line."""
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    ran = grader("check", "01", "--submission", work(scores=f"{right}{more}\nx = 1\n"))
    assert ran.code == 0
    line = right.count("\n") + 1
    assert f"scores.py, line {line}: {sentence}: nothing below is run." in said(ran)


def test_a_file_that_stops_above_an_exercise_has_no_note_besides(grader, folder, work):
    """That it does not run is said once."""
    ran = grader("check", "01", "--submission", work(scores="1 / 0\ndef scores(): ...\n"))
    assert "scores.py does not run: line 1: ZeroDivisionError" in said(ran)
    assert "stops there" not in said(ran)


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        ("def scores(a, b):\n    return a @ b)\n", "line 2: SyntaxError: unmatched ')' return a @ b) ^"),
        ("1 / 0\n", "line 1: ZeroDivisionError: division by zero 1 / 0"),
    ],
    ids=["syntax", "raised"],
)  # fmt: skip
def test_a_file_that_cannot_be_imported_because_it_stops_itself_is_shown(
    grader, work, broken, shown
):
    """Its own failure is what there is to mend, not the import's."""
    ran = grader("check", "weights", "--submission", work(mixture="right", scores=broken))
    assert ran.code == 1
    assert said(ran).count("does not run") == 1
    assert f"✗ scores.py does not run: {shown}" in said(ran)
    assert "ImportError" not in ran.out


def test_a_name_that_an_intact_file_lacks_is_the_imports_own_failure(grader, work):
    """Nothing stops the file that was imported."""
    ran = grader("check", "weights", "--submission", work(mixture="right", scores="x = 1\n"))
    assert "mixture.py does not run: line 8: ImportError: cannot import name" in said(ran)


def test_a_file_of_another_assignment_is_called_that(grader, folder, work):
    """By the names that it holds; nothing in it is a misspelt name."""
    other = (folder / "solutions/02_mixture/mixture.py").read_text("utf-8")
    ran = grader(
        "check", "01", "--submission", work(scores=other.replace("def weights", "def score"))
    )
    assert (
        "scores.py defines what 02_mixture asks for (Mixture) and nothing of 01_scores. Was it "
        "saved in the wrong place?"
    ) in said(ran)


def test_a_file_of_another_name_is_asked_for_no_place(grader, folder, tmp_path):
    """It is read for every assignment, and is nothing but what its name says."""
    other = (folder / "solutions/02_mixture/mixture.py").read_text("utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text(other, "utf-8")
    ran = grader("check", "01", "--submission", str(tmp_path / "mine"))
    assert "in the wrong place?" not in said(ran)


def test_a_function_that_is_defined_twice_is_noted_where_it_is_not_right(grader, folder, work):
    """The last definition counts, as in Python."""
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    again = "\n\ndef scores(queries, keys):\n    return queries\n"
    line, sentence = right.count("\n") + 3, "scores is defined more than once: "
    ran = grader("check", "01", "--submission", work(scores=right + again))
    assert sentence in said(ran)
    assert f"scores.py, line {line}. The last one counts." in said(ran)
    ran = grader("check", "01", "--submission", work(scores=again + right))
    assert ran.code == 0
    assert sentence not in said(ran)


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


def test_an_import_that_fails_costs_only_what_uses_it(grader, folder, work):
    """The rest of the file is judged; the use says which import failed, and where."""
    right = (folder / "solutions/02_mixture/mixture.py").read_text("utf-8")
    text = f"import nowhere as plt\nplt.figure()\n{right}"
    text = text.replace("    return torch.softmax", "    plt.show()\n    return torch.softmax")
    mine = work(mixture=text, scores="right")
    ran = grader("check", "02", "--submission", mine)
    assert "✗ weights" in said(ran)
    assert "It raised ModuleNotFoundError: No module named 'nowhere' at" in said(ran)
    assert (
        "`plt` is used here, and its import failed (mixture.py, line 1). nowhere is not installed "
        "where this is graded, and no nowhere.py was handed in beside this file."
    ) in said(ran)
    assert "does not run" not in ran.out
    assert "stops there" not in ran.out
    ran = grader("check", "02", "--submission", work(mixture=text.replace("    plt.show()\n", "")))
    assert (ran.code, "4 of 4 points" in said(ran)) == (0, True)


def test_a_missing_import_in_a_notebook_takes_nothing_with_it(grader, folder, work):
    """What follows in its cell is run as well, so that later cells find it."""
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    cells = ["import nowhere\nfrom torch import Tensor", right.replace("from torch import", "#")]
    notebook = work() / "scores.ipynb"
    notebook.write_text(json.dumps({"cells": [cell(text) for text in cells]}), "utf-8")
    ran = grader("check", "01", "--submission", notebook.parent)
    assert (ran.code, "2 of 2 points" in said(ran)) == (0, True)


def test_the_cell_that_was_to_set_a_name_is_told_before_the_one_that_lacks_it(grader, folder, work):
    """The second failure follows from the first."""
    right = (folder / "solutions/01_scores/scores.py").read_text("utf-8")
    cells = ["1 / 0\nfrom torch import Tensor", right.replace("from torch import", "#")]
    notebook = work() / "scores.ipynb"
    notebook.write_text(json.dumps({"cells": [cell(text) for text in cells]}), "utf-8")
    ran = grader("check", "01", "--submission", notebook.parent)
    assert "A cell failed: ZeroDivisionError: division by zero" in said(ran)
    assert "NameError" not in ran.out


def cell(text):
    """A code cell of a notebook."""
    return {"cell_type": "code", "source": text}
