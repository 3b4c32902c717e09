"""Tests of what decides outcomes: which parts of which assignment a change of the course touches."""

import pytest

from grader.course.course import load_course
from grader.course.outcome_parts import outcome_parts

CHECKS, SOLUTIONS = "tests/checks/01_scores/", "solutions/01_scores/"
CHECK = f"{CHECKS}test_hidden.py", "(4, 6, 5)", "(4, 6, 3)"
MISTAKE = f"{SOLUTIONS}misconceptions.toml", "'''** 1'''", "'''** 2'''"


def both(what):
    """The same of each assignment."""
    return {"01_scores": [what], "02_mixture": [what]}


def changed(root, name, old, new):
    """What is another hash after an edit, by assignment."""
    before = outcome_parts(load_course(root))
    path = root / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    after = outcome_parts(load_course(root))
    found = {
        id_: [w for w, hash_ in parts.items() if hash_ != before[id_].get(w)]
        for id_, parts in after.items()
    }
    return {id_: what for id_, what in found.items() if what}


@pytest.mark.parametrize(
    ("name", "old", "new", "touched"),
    [
        (*CHECK, {"01_scores": ["its checks"]}),
        (f"{CHECKS}test_visible.py", "    @pytest.mark.gate\n", "", {"01_scores": ["its checks"]}),
        (
            *(f"{SOLUTIONS}scores.py", "return products", "return 1 * products"),
            {"01_scores": ["its solution"], "02_mixture": ["the solution of 01_scores"]},
        ),
        (*MISTAKE, {"01_scores": ["its known mistakes"]}),
        ("course.toml", "weights = 1\n", "weights = 1\nmore = 1\n", both("the list of exercises")),
        *(
            ("course.toml", "[[assignments]]", f"{table}\n\n[[assignments]]", both(what))
            for table, what in (
                ("[ledger]\nfile = 'printed.json'", "the printed tensors"),
                ("[roles]\nkey = ['k']", "the roles of parameters"),
                ("[limits]\nrequest_seconds = 7", "the limits"),
            )
        ),
    ],
)
def test_a_change_touches_what_it_may_decide(course_copy, name, old, new, touched):
    """An assignment by itself, with what imports it, or all."""
    assert changed(course_copy, name, old, new) == touched


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (f"{CHECKS}test_visible.py", "weight(2)", "weight(5)"),
        (f"{CHECKS}test_visible.py", "    @pytest.mark.weight(2)\n", ""),
        (f"{CHECKS}test_visible.py", "The scores are the", "Scores should be the"),
        (f"{CHECKS}test_visible.py", "import pytest\n", "import pytest  # of course\n"),
        (f"{SOLUTIONS}scores.py", "# TODO: multiply", "# TODO: first multiply"),
        (f"{SOLUTIONS}misconceptions.toml", "The scores are not", "Scores are not"),
        (f"{SOLUTIONS}misconceptions.toml", "get longer?", "are longer?"),
        (f"{SOLUTIONS}hints.toml", "?", "??"),
        ("course.toml", "scores = 2", "scores = 0"),
        ("course.toml", 'title = "Scores"', 'title = "S"\ndue = 2027-02-01T23:59:00+01:00'),
    ],
)
def test_points_dates_weights_and_words_decide_no_outcome(course_copy, name, old, new):
    """They are shown, or decide scores."""
    assert changed(course_copy, name, old, new) == {}


@pytest.mark.parametrize(
    ("name", "touched"),
    [
        (f"{CHECKS}helpers.py", {"01_scores": ["its checks"]}),
        ("tests/checks/helpers.py", both("files beside the assignments")),
    ],
)
def test_what_checks_share_decides_outcomes(course_copy, name, touched):
    """Of an assignment, or of all."""
    (course_copy / name).write_text("SIZE = 3\n", "utf-8")
    assert changed(course_copy, name, "3", "4") == touched


@pytest.mark.parametrize(
    ("edit", "own", "compared"),
    [
        (CHECK, "its checks", "the checks of 01_scores"),
        (MISTAKE, "its known mistakes", "solution and known mistakes of 01_scores"),
    ],
)
def test_what_an_assignment_is_compared_with_decides_outcomes(course_copy, edit, own, compared):
    """A mistake that is recognised there may come along."""
    manifest = course_copy / "course.toml"
    text = manifest.read_text("utf-8")
    imports = 'imports = ["01_scores"]\n'
    manifest.write_text(text.replace(imports, 'compares = ["01_scores"]\n' + imports), "utf-8")
    touched = changed(course_copy, *edit)
    assert touched == {"01_scores": [own], "02_mixture": [compared]}
