"""Tests of `grader status`, and of what `grader` alone says: where a student is, what comes next."""

import subprocess
import sys
from unittest.mock import Mock

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.cli.status import print_status
from grader.core import language
from grader.course.course import load_course
from grader.progress import live_checks
from grader.progress.progress import read_progress
from grader.progress.store import Memory
from grader.sessions import launchers

pytestmark = pytest.mark.slow

FRESH = """\
Small steps: 0 of 6 points

01_scores                          0 / 2   not attempted yet
  · scores                         0 / 2   not attempted yet
02_mixture                         0 / 4   not attempted yet

Begin here: assignments/01_scores/scores.py:22
Write scores where it says TODO, there or in the notebook beside it.
Run `grader watch`: it checks your work each time you save.
"""
UNDER_WAY = """\
Small steps: 3 of 6 points

01_scores                          2 / 2   solved
02_mixture                         1 / 4   under way
  ✓ weights                        1 / 1   solved
  ✗ Mixture                        0 / 3   not defined

Next: 02_mixture/Mixture
  in assignments/02_mixture/mixture.py
When stuck: `grader hint Mixture`
"""
SOLVED = """\
Small steps: 6 of 6 points

01_scores                          2 / 2   solved
02_mixture                         4 / 4   solved

All of it is done. Your instructor grades with further checks.
"""


@pytest.fixture
def status(grader, monkeypatch):
    """Asks where the student is, and answers what is said."""
    monkeypatch.setattr(live_checks, "early_launcher", launchers.early_launcher)

    def ask(*options):
        ran = grader("status", *options)
        assert (ran.code, ran.err) == (0, "")
        return [line.rstrip() for line in ran.out.splitlines()]

    return ask


def test_a_fresh_copy_says_where_to_begin(status):
    """The assignment that comes next is opened."""
    assert status() == FRESH.splitlines()


def test_work_under_way_is_a_map(status, own):
    """Solved assignments are one line."""
    weights = "def weights(raw):\n    return raw.softmax(-1)\n"
    own(scores="right", mixture=weights)
    assert status() == UNDER_WAY.splitlines()


def test_a_part_that_is_done_is_not_called_all(status, own):
    """What is left besides it comes next."""
    own(scores="right")
    assert status("01")[-1] == "All of these are done. Next: 02_mixture/weights"


def test_a_command_that_is_stopped_says_so(grader, monkeypatch):
    """In our words, with the code of an interruption."""
    monkeypatch.setattr("grader.cli.status.what_next", Mock(side_effect=KeyboardInterrupt))
    ran = grader("status")
    assert (ran.code, ran.err) == (130, "Stopped. Run it again for the whole result.\n")


def test_what_waits_and_what_was_not_handed_in_are_told(status, own, folder):
    """In plain words, with the name of what it waits for."""
    stub = (folder / "assignments/02_mixture/mixture.py").read_text("utf-8")
    gap = 'raise NotImplementedError("02_mixture/Mixture: not attempted yet")'
    own(mixture=stub.replace(gap, "weights(torch.ones(2))"))
    assert status("Mixture")[3] == "  · Mixture                        0 / 3   waiting for weights"
    for path in (folder / "assignments/01_scores").iterdir():
        path.unlink()
    assert status("01")[2:4] == [
        "01_scores                          0 / 2   not handed in",
        "  ✗ scores                         0 / 2   not handed in",
    ]


def test_a_target_shows_its_exercises(status, own):
    """And only its points."""
    own(scores="unscaled")
    assert status("01") == [
        "Small steps: 0.8 of 2 points",
        "",
        "01_scores                        0.8 / 2   partly right",
        "  ✗ scores                       0.8 / 2   partly right",
        "",
        "Next: 01_scores/scores",
        "  in assignments/01_scores/scores.py:1",
        "When stuck: `grader hint scores`",
    ]


def test_what_is_worth_no_points_is_told_without_them(status, grader, own, edit):
    """In the map, and by a check."""
    edit("course.toml", "points = 6", "points = 4")
    edit("course.toml", "scores = 2", "scores = 0")
    own(scores="right")
    assert status("01")[:4] == [
        "Small steps",
        "",
        "01_scores                       unscored   solved",
        "  ✓ scores                      unscored   solved",
    ]
    told = grader("check", "01").out.splitlines()
    assert told[1] == "  ✓ scores                        unscored"
    assert "Worth no points, 3 of 3 checks passed." in told


def test_every_exercise_is_shown_where_asked_to(status):
    """Also those that are all alike."""
    assert status("--all")[4:7] == [
        "02_mixture                         0 / 4   not attempted yet",
        "  · weights                        0 / 1   not attempted yet",
        "  · Mixture                        0 / 3   not attempted yet",
    ]


def test_what_was_checked_by_hand_is_not_checked_again(status, grader, own, monkeypatch):
    """`grader check` remembers, too."""
    own(scores="right", mixture="right")
    grader("check")
    monkeypatch.setattr(live_checks, "checked", lambda *_: pytest.fail("it checked"))
    assert status() == SOLVED.splitlines()


def test_what_changed_is_checked_with_what_builds_on_it(status, own, monkeypatch):
    """Mixtures build on the scores, and not the other way round; what did not change is known."""
    own(scores="right", mixture="right")
    status()
    asked = []
    check = live_checks.checked
    monkeypatch.setattr(
        live_checks,
        "checked",
        lambda now, exercises: asked.append([e.name for e in exercises]) or check(now, exercises),
    )
    own(mixture="def weights(raw):\n    return raw\n")
    status()
    own(scores="unscaled")
    status()
    status()
    status("--again")
    every = ["scores", "weights", "Mixture"]
    assert asked == [["weights", "Mixture"], every, every]


def test_an_undecided_exercise_is_no_zero(status, folder):
    """It is checked again each time."""
    (folder / "tests" / "checks" / "01_scores" / "test_visible.py").unlink()
    assert status()[2:4] == [
        "01_scores                          ? / 2   undecided: the grader failed",
        "  ! scores                         ? / 2   undecided: the grader failed",
    ]


def test_without_any_file_there_is_nothing_to_tell(grader, folder):
    """It is no zero."""
    for path in (folder / "assignments").rglob("*.*"):
        path.unlink()
    ran = grader("status")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"There is no .py and no .ipynb in {folder / 'assignments'}.\n"


def test_a_terminal_has_bars(status, own, folder):
    """In ASCII, beside the numbers; full only when all is done."""
    own(scores="unscaled")
    status()
    course = load_course(folder)
    xterm = {"TERM": "xterm"}
    screen = Console(width=80, force_terminal=True, color_system=None, _environ=xterm)
    with screen.capture() as shown:
        now = read_progress(course, Memory(course.root))
        print_status(now, list(course.exercises.values()), screen)
    assert shown.get().splitlines()[2:5] == [
        "01_scores                      [#####.......]   0.8 / 2   partly right",
        "  ✗ scores                                      0.8 / 2   partly right",
        "02_mixture                     [............]     0 / 4   not attempted yet",
    ]


def test_the_map_is_in_the_language_asked_for(status):
    """From its first line to its last."""
    told = status("--lang", "ja")
    assert told[0] == "Small steps：6 点中 0 点"
    assert told[-1] == "`grader watch` を実行すると、保存するたびにチェックされます。"


# `grader` alone.


@pytest.mark.slow
@pytest.mark.parametrize("code", language.languages())
def test_no_line_is_wider_than_eighty_columns(grader, own, monkeypatch, code):
    """Wide characters count as two."""
    monkeypatch.setenv(language.VARIABLE, code)
    for text in ("unscaled", "right"):
        told = [*grader().lines, *grader("status", "--lang", code).lines]
        told += grader("hint", "Mixture", "--all", "--lang", code).lines
        assert [line for line in told if cell_len(line.rstrip()) > 80] == []
        own(scores=text)
        grader("check")


def test_a_newcomer_is_told_what_to_do_in_three_lines(grader):
    """Without a command, and without a check, which would tell the line."""
    ran = grader()
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == FRESH.replace("scores.py:22", "scores.py").splitlines()[-3:]


WATCH = "`grader watch` checks each save; `grader status` shows all, `grader -h` more."
NEXT = ["Next: 02_mixture/weights", "  in assignments/02_mixture/mixture.py:30", WATCH]
DONE = ["All of it is done. Your instructor grades with further checks.", WATCH]
CHANGED = "Your work changed since it was last checked: `grader status` checks it and"


@pytest.mark.parametrize(
    ("checked", "changed", "told"),
    [
        ({"scores": "right"}, {}, ["2 of 6 points.", *NEXT]),
        ({"scores": "right", "mixture": "right"}, {}, ["6 of 6 points.", *DONE]),
        ({"scores": "right"}, {"scores": "unscaled"}, [CHANGED, "shows where you are."]),
    ],
    ids=["begun", "done", "changed"],
)
def test_who_has_begun_is_told_how_to_go_on(grader, own, checked, changed, told):
    """With how many points there are, unless what was known of them may no longer hold."""
    own(**checked)
    grader("check")
    own(**changed)
    assert grader().lines == told


def test_where_nothing_changed_torch_is_not_imported(status, folder):
    """The answer comes at once."""
    status()
    code = (
        "import sys\n"
        "from grader.cli import cli\n"
        "try:\n    cli.main(['status'], prog_name='grader')\n"
        "except SystemExit:\n    pass\n"
        "print(sorted({'torch', 'pytest', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"
