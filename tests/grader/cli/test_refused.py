"""What a command cannot do is said in a sentence, with what to do instead; nothing is done."""

from pathlib import Path

import pytest

NEAREST = "'Mixtur'. Did you mean Mixture or 02_mixture or 02_mixture/weights?"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("check Mixtur", f"There is no assignment or exercise {NEAREST}"),
        ("hint Mixtur", f"There is no assignment or exercise {NEAREST}"),
        ("watch Mixtur", f"There is no assignment or exercise {NEAREST}"),
        ("status Mixtur", f"There is no assignment or exercise {NEAREST}"),
        ("validate Mixtur --watch", f"There is no assignment or exercise {NEAREST}"),
        ("hint 02", "'02' is an assignment. Name one of its exercises: weights, Mixture."),
        ("check --as-graded --debug", "--debug and --as-graded exclude each other: give one of them."),
        ("pack --out work.txt", "work.txt is no name for a zip; write NAME.zip."),
        ("new exercise sums", "Say in which assignment: grader new exercise 05/sums, for example."),
        ("docs author", "There is no page 'author'. The pages are: authors, "),
        ("docs ../README", "There is no page '../README'. The pages are: authors, "),
    ],
)  # fmt: skip
def test_a_command_that_cannot_be_is_refused(grader, own, command, said):
    """By its own words; the nearest name is proposed where there is one."""
    own(scores="right")
    ran = grader(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(said)
    assert ran.err.count("\n") == 1
    assert said.endswith(", ") or ran.err == f"{said}\n"


SCORES, WEIGHTS = "solutions/01_scores/scores.py", "tests/checks/02_mixture/test_visible.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "path", "old", "new", "problem"),
    [
        (
            "generate", SCORES, "    ### END SOLUTION\n", "",
            f"{SCORES}: unpaired solution markers in the cell that begins 'def scores(queries: Tensor, "
            "keys: Tensor) -> Tensor:'",
        ),
        (
            "release released --to students", SCORES, "How well", "How badly",
            "generated files are older than their solutions (scores.py, scores.ipynb); run `grader "
            "generate`",
        ),
        (
            "mutate weights --jobs 1", WEIGHTS, "judge.shape(value, (2, 3))", "judge(0, 1)",
            "02_mixture/weights::visible::test_weights_have_the_shape_of_the_scores: the solution does "
            "not pass it",
        ),
        (
            "check", "course.toml", "[course]", '[course]\nlanguage = "fr"',
            "course.toml: course.language: found 'fr'; 'en' or 'ja' or 'zh_CN' is needed",
        ),
        (
            "check", "course.toml", "[course]", '[course]\nlanguages = ["Deutsch"]',
            "course.toml: course.languages[1]: found 'Deutsch'; a text like 'zh_CN' is needed",
        ),
    ],
)  # fmt: skip
def test_a_problem_of_the_course_is_told(grader, edit, command, path, old, new, problem):
    """With its place; nothing is written."""
    edit(path, old, new)
    ran = grader(*command.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"The course has a problem:\n  {problem}\n"
    assert not Path("released").exists()


def test_a_command_that_is_nearly_one_is_suggested(grader):
    """Although no command is loaded."""
    ran = grader("statsu")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("Error: No such command 'statsu'. Did you mean 'status'?\n")
