"""A course that judges costs: a function that has little memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.core.errors import CourseError
from grader.core.records import Outcome, Result, Visibility
from grader.course.course import CHECKS, Course, load_course
from grader.judging.collect import collect
from grader.judging.fixtures import read_solutions
from grader.judging.modules import forget_checks
from grader.judging.submission_grader import Scope, SubmissionGrader, full_grader, grade
from grader.sessions.child import ChildSession
from grader.sessions.in_process import InProcessSession
from grader.sessions.launchers import WarmParent
from tests.grader.judging.test_objects import edited

pytestmark = pytest.mark.slow

PAIRS = "01_costs/pairs"
CHECK_FILE = f"{CHECKS}/01_costs/test_visible.py"

FILES = {
    "course.toml": """\
[course]
title = "Costs"

[[assignments]]
id = "01_costs"
title = "Costs"
[assignments.exercises]
pairs = 3
""",
    "solutions/01_costs/costs.py": '''\
# %%
import torch


# %% exercise="pairs"
def pairs(x):
    """For each number, the sum of what it is larger by than others."""
    # TODO: add up what is positive.
    ### BEGIN SOLUTION
    return torch.stack([(number - x).clamp(min=0).sum() for number in x])
    ### END SOLUTION
''',
    CHECK_FILE: '''\
import pytest


@pytest.mark.exercise("pairs")
class TestPairs:
    @pytest.mark.conduct
    @pytest.mark.memory(mib=80)
    def test_many_numbers_fit_into_little_memory(self, attempt, draw):
        """5000 numbers should need less memory than 5000 times 5000 numbers take."""
        attempt(draw.normal(5000)).has_shape(5000)

    @pytest.mark.gate
    @pytest.mark.weight(2)
    def test_the_sums_are_right(self, attempt, draw):
        """Each sum should be right."""
        attempt(draw.normal(7)).agrees()

    def test_two_equal_numbers(self, attempt, draw):
        """Equal numbers should add nothing."""
        attempt(draw.normal(1).repeat(2)).agrees()
''',
}
SQUARE = (
    "torch.stack([(number - x).clamp(min=0).sum() for number in x])",
    "(x[:, None] - x[None]).clamp(min=0).sum(1)",
)
Grade = Callable[..., Result]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The course, without stubs."""
    return written(tmp_path_factory.mktemp("costs"))


def written(root: Path, mark: str = "memory(mib=80)") -> Course:
    """The course in a folder, with a mark of its check's memory."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.replace("memory(mib=80)", mark), "utf-8")
    forget_checks(root)
    return load_course(root)


@pytest.fixture(scope="module")
def grader(course: Course) -> Iterator[SubmissionGrader]:
    """Grades with all checks."""
    grader = full_grader(course, "seed")
    yield grader
    grader.close()


@pytest.fixture
def grade_in_child(grader: SubmissionGrader, course: Course, warm_parent: WarmParent) -> Grade:
    """Grades edited solutions in a child process."""

    def run(*edits: tuple[str, str]) -> Result:
        submission = edited(course, *edits)
        session = ChildSession(warm_parent, submission, course.limits)
        result = grade(grader, submission, session, Scope(course.exercises))
        session.close()
        return result

    return run


def ended(result: Result) -> list[Outcome]:
    """How the checks of the exercise ended."""
    return [check.outcome for check in result.exercises[0].checks]


def test_what_needs_little_passes(grade_in_child: Grade) -> None:
    """A process of its own serves the check that limits memory, whatever is remembered."""
    for _again in range(2):
        assert ended(grade_in_child()) == [Outcome.PASSED] * 3


@pytest.mark.only_on("linux", reason="memory is limited there alone")
def test_a_square_does_not_fit_and_the_other_checks_still_run(grade_in_child: Grade) -> None:
    """The line, what it asked for and the limit are told."""
    result = grade_in_child(SQUARE)
    assert ended(result) == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]
    assert result.exercises[0].checks[1].message.splitlines()[-3:] == [
        "It asked for 95.4 MiB more; this check allows 80 MiB in all.",
        "  at 01_costs/costs.py:10",
        f"    return {SQUARE[1]}",
    ]


def test_where_no_process_of_its_own_can_be_it_is_said(
    grader: SubmissionGrader, course: Course
) -> None:
    """In a notebook's kernel the check runs without its limit, and a note says so."""
    submission = edited(course, SQUARE)
    session = InProcessSession(submission, is_alone=True)
    result = grade(grader, submission, session, Scope(course.exercises))
    assert ended(result) == [Outcome.PASSED] * 3
    (note,) = result.assignments[0].notes
    assert "Here they ran without that limit" in note
    assert InProcessSession(read_solutions(course)).within(course.limits) is not None


@pytest.mark.parametrize("mark", ["memory(64)", "memory(mib=1)", "memory(mib=6.5)", "memory()"])
def test_a_limit_that_says_something_else_is_refused(tmp_path: Path, mark: str) -> None:
    """Before anything runs."""
    with pytest.raises(CourseError, match="takes a whole number of at least 16"):
        collect(written(tmp_path, mark), [PAIRS], (Visibility.VISIBLE,))
