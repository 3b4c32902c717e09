"""Tests of `grader learn`: a student's wrong answer becomes a known mistake, or nothing changes."""

import pytest

from grader.authoring.learn import UNPROVEN, proposed_edit, with_entry, without_unproven
from grader.cli import author
from grader.cli.edge import ExitCode
from grader.core.errors import UsageError
from grader.course.course import load_course
from grader.submissions.submission import read_submission

FLIPPED = """
def scores(q, k):
    \"\"\"My own.\"\"\"
    products = q @ k.T
    return -products / k.shape[-1] ** 0.5
"""
WORDS = ("--id", "scores-negative", "--kind", "slip", "--symptom", "The scores are negated.")
QUESTION = ("--question", "Should a better fit have a smaller score?")


@pytest.fixture
def learn(grader, work):
    """Learns from what bo wrote for `scores`."""

    def run(text, *options):
        students = work("bo", scores=text).parent
        return grader("learn", "bo", "scores", "--submissions", students, *options)

    return run


def edit_of(folder, work, text, exercise="01_scores/scores"):
    """The edit that is proposed for a student's file."""
    course = load_course(folder)
    submission = read_submission(course, work("bo", scores=text), "bo")
    return proposed_edit(course, course.exercises[exercise], submission)


def edit_course(folder):
    """A class with two gaps, beside what the course has."""
    gap = "        ### BEGIN SOLUTION\n        {}\n        ### END SOLUTION\n"
    with (folder / "solutions" / "01_scores" / "scores.py").open("a", encoding="utf-8") as file:
        file.write('\n\n# %% exercise="Scale"\nclass Scale:\n')
        file.write("    def __init__(self, by):\n        super().__init__()\n")
        file.write(gap.format("self.by = by") + "\n    def forward(self, x):\n")
        file.write(gap.format("return self.by * x"))
    path = folder / "course.toml"
    text = path.read_text("utf-8").replace("scores = 2\n", "scores = 2\nScale = 1\n", 1)
    path.write_text(text, "utf-8")


COMMENTED = FLIPPED.replace("k.T", "k.T  # mine").replace("    return", "    # by bo\n    return")


@pytest.mark.parametrize("text", [FLIPPED, COMMENTED])
def test_the_edit_is_the_line_that_differs_in_the_solutions_names(folder, work, text):
    """The parameters' names are the solution's; same lines and a student's comments stay out."""
    assert edit_of(folder, work, text) == (
        "    return products / keys.shape[-1] ** 0.5",
        "    return -products / keys.shape[-1] ** 0.5",
    )


def test_a_class_is_learnt_from_by_all_its_methods(folder, work):
    """What stands before a gap is not doubled; what is the same in a method stays out."""
    edit_course(folder)
    own = (
        "class Scale:\n"
        "    def __init__(self, by):\n        super().__init__()\n        self.by = by\n\n"
        "    def forward(self, x):\n        return self.by + x\n"
    )
    assert edit_of(folder, work, own, "01_scores/Scale") == (
        "        return self.by * x",
        "        return self.by + x",
    )
    both = own.replace("= by\n", "= -by\n")
    find, replace = edit_of(folder, work, both, "01_scores/Scale")
    assert find.startswith("        self.by = by\n")
    assert find.endswith("        return self.by * x")
    assert replace == find.replace("= by", "= -by").replace(" * ", " + ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def score(q, k):\n    return q\n", "bo has no function scores for 01_scores/scores"),
        ("def scores(q, k):\n    '''Only this.'''\n", "scores is empty there"),
        (
            FLIPPED.replace("-products", "products"),
            "That code is the solution's own",
        ),
    ],
)
def test_what_is_no_mistake_is_said(folder, work, text, words):
    """Another name, nothing written, the solution itself."""
    with pytest.raises(UsageError, match=words):
        edit_of(folder, work, text)


@pytest.mark.slow
def test_a_mistake_is_kept_when_it_is_proven(folder, learn):
    """It is written with its words, and from then on named."""
    path = folder / "solutions" / "01_scores" / "misconceptions.toml"
    before = path.read_text("utf-8")
    ran = learn(FLIPPED, *WORDS, *QUESTION)
    assert ran.code == ExitCode.FINE, ran.out
    text = path.read_text("utf-8")
    assert text.startswith(before.rstrip("\n"))
    assert "replace = '''    return -products / keys.shape[-1] ** 0.5'''" in text
    again = learn(FLIPPED, *WORDS, *QUESTION)
    assert again.code == ExitCode.USAGE_OR_COURSE_ERROR
    assert "'scores-negative' already" in again.err


@pytest.mark.slow
def test_what_breaks_a_promise_changes_nothing(folder, learn):
    """What passes all checks is no mistake: the file is as it was."""
    path = folder / "solutions" / "01_scores" / "misconceptions.toml"
    before = path.read_bytes()
    same = FLIPPED.replace("return -products", "return 1.0 * products")
    ran = learn(same, *WORDS, *QUESTION)
    assert ran.code == ExitCode.NOT_PASSED
    assert "misconceptions.toml is as it was" in ran.out
    assert path.read_bytes() == before


class Killed(BaseException):
    """Stands for the end of the process."""


def killed(*_arguments, **_options):
    """A proof that never ends."""
    raise Killed


def test_a_command_killed_while_it_proves_leaves_nothing_to_the_next(folder, learn, monkeypatch):
    """What was not proven is no known mistake, and its name is free again."""
    path = folder / "solutions" / "01_scores" / "misconceptions.toml"
    before = path.read_text("utf-8")
    monkeypatch.setattr(author, "run_validate", lambda *_, **__: ExitCode.FINE)
    assert learn(FLIPPED, *WORDS, *QUESTION).code == ExitCode.FINE
    proven = path.read_text("utf-8")
    path.write_text(before, "utf-8")
    monkeypatch.setattr(author, "run_validate", killed)
    with monkeypatch.context() as patched:
        patched.setattr("grader.cli.learn._restore", lambda *_: None)  # nobody tidies up
        with pytest.raises(Killed):
            learn(FLIPPED, *WORDS, *QUESTION)
    assert UNPROVEN in path.read_text("utf-8")
    monkeypatch.setattr(author, "run_validate", lambda *_, **__: ExitCode.FINE)
    assert learn(FLIPPED, *WORDS, *QUESTION).code == ExitCode.FINE
    assert path.read_text("utf-8") == proven


@pytest.mark.parametrize("later", ["", "\n[[misconceptions]]\nid = 'by-hand'\n"])
@pytest.mark.parametrize("before", ["", "# Of all.\n\n[[misconceptions]]\nid = 'one'\n"])
def test_only_what_is_unproven_is_taken_out(before, later):
    """What stood before it, and what a person wrote behind it since."""
    text = with_entry(before, "[[misconceptions]]\nid = 'new'\n", is_proven=False)
    rest = without_unproven(text + later)
    assert rest.split() == (before + later).split()
    assert without_unproven(rest) == rest
    assert later or rest == before
