"""Tests of the student's loop: what `grader watch` does with saves, keys and verdicts."""

import io
import queue
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from example_views import write_views
from rich.console import Console

from grader.cli.loop import KEYS, NOTHING_THERE, STILL_CHECKING, Loop
from grader.cli.watch import run
from grader.core import language
from grader.core.errors import GraderFault
from grader.course.course import load_course
from grader.progress import live_checks
from grader.progress.live_checks import LiveChecker
from grader.progress.store import Memory
from grader.sessions import launchers

pytestmark = pytest.mark.slow

UNKNOWN = "def scores(queries, keys):\n    return queries @ keys.T * 7\n"
RIGHT_TOO = "def scores(queries, keys):\n    return queries @ keys.T * keys.shape[-1] ** -0.5\n"
BROKEN = "def scores(queries, keys)\n    return queries\n"

START = """\
Watching assignments/: save a file, and its verdict appears here.
h hint   n next exercise   a show all   q quit
01_scores  assignments/01_scores/scores.py
  · scores                           0 / 2  not attempted yet

Next: 01_scores/scores
  in assignments/01_scores/scores.py:22
Write it where it says TODO, there or in the notebook beside it, and save.
"""
SAVED = "Saved at 12:00:00: assignments/01_scores/scores.py"
SOLVED = "  ✓ scores                           2 / 2"


@dataclass
class Driven:
    """A loop whose events are handed over one by one."""

    loop: Loop
    events: queue.SimpleQueue
    shown: io.StringIO
    write: Callable[..., None]

    def told(self) -> list[str]:
        """What was written since the last time, without trailing space."""
        text = self.shown.getvalue()
        self.shown.seek(0)
        self.shown.truncate()
        return [line.rstrip() for line in text.splitlines()]

    def settle(self) -> list[str]:
        """Take verdicts until nothing is under way; what was written."""
        while self.loop.is_busy:
            self.events.get(timeout=60)(self.loop)
        return self.told()

    def begin(self) -> list[str]:
        """Begin, until everything is known."""
        self.loop.begin()
        return self.settle()

    def save(self, **files: str) -> list[str]:
        """Save a student's files; what is written until the verdict is complete."""
        self.write(**files)
        self.loop.saved()
        return self.settle()

    def press(self, key: str) -> list[str]:
        """Press a key; what is written."""
        self.loop.pressed(key)
        return self.told()


@pytest.fixture
def watching(folder: Path, own: Callable[..., None]) -> Iterator[Callable[..., Driven]]:
    """Makes loops, and closes their desks."""
    with ExitStack() as desks:

        def make(*targets: str) -> Driven:
            course, shown = load_course(folder), io.StringIO()
            events: queue.SimpleQueue = queue.SimpleQueue()
            judged = lambda verdict: events.put(lambda loop: loop.judged(verdict))  # noqa: E731
            checker = LiveChecker(course, judged, launcher=launchers.default_launcher())
            desks.callback(checker.close)
            exercises = tuple(course.select(targets).values())
            screen = Console(file=shown, highlight=False, width=80)
            noon = datetime(2027, 1, 1, 12)
            loop = Loop(course, exercises, screen, checker, has_keys=True, clock=lambda: noon)
            return Driven(loop, events, shown, own)

        yield make


@pytest.fixture
def driven(watching: Callable[..., Driven]) -> Driven:
    """A loop over everything that has begun, and whose first words were read."""
    made = watching()
    made.begin()
    return made


@pytest.fixture
def solved(driven: Driven) -> Driven:
    """The same, with all of it solved."""
    driven.save(scores="right")
    driven.save(mixture="right")
    return driven


# Saving.


def test_a_newcomer_is_told_what_to_do(watching):
    """Three lines, after the first verdict."""
    assert watching().begin() == START.splitlines()


def test_a_save_is_judged_and_its_mistake_named(driven):
    """Only what is watched is shown, and then the keys."""
    told = driven.save(scores="unscaled")
    assert told[:6] == [
        "",
        SAVED,
        "01_scores  assignments/01_scores/scores.py",
        "  ✗ scores                         0.8 / 2  1 of 3 checks; wrong steps",
        "      → This looks like a known mistake:",
        "        The scores are not scaled.  (scores-not-scaled)",
    ]
    assert told[-2:] == ["", KEYS]


def test_a_solved_exercise_is_praised_and_the_next_one_chosen(driven):
    """Without a key."""
    told = driven.save(scores="right")
    assert told[3] == SOLVED
    assert told[-3:] == [
        "scores is solved: 2 points. Well done!",
        "Next: 02_mixture/weights (not attempted yet)",
        "  in assignments/02_mixture/mixture.py:30",
    ]
    assert driven.loop.watched.id == "02_mixture/weights"


def test_what_a_save_solves_besides_is_told(driven):
    """And at the end there is nothing left to do."""
    driven.save(scores="right")
    told = driven.save(mixture="right")
    assert told[-3:] == [
        "Also solved: 02_mixture/Mixture.",
        "weights is solved: 1 point. Well done!",
        "Everything here is solved: 6 points. Congratulations!",
    ]
    assert driven.loop.watched is None


def test_what_a_save_breaks_elsewhere_is_told(solved):
    """Mixtures are built on the scores."""
    told = solved.save(scores=BROKEN)
    assert "Solved before, and not any more: 02_mixture/weights, 02_mixture/Mixture." in told
    assert solved.loop.watched.id == "01_scores/scores"


def test_a_half_written_file_is_judged_like_any_other(driven):
    """The next save has the next verdict."""
    told = driven.save(scores=BROKEN)
    assert told[3:8] == [
        "  ✗ scores.py does not run: line 1: SyntaxError: expected ':'",
        "        def scores(queries, keys)",
        "                                 ^",
        "  ✗ scores                           0 / 2  not defined",
        "      scores.py stops before scores is defined: see above.",
    ]
    assert driven.save(scores="right")[3] == SOLVED


def test_a_new_save_does_not_wait_for_an_endless_loop(driven):
    """What was under way is dropped."""
    driven.write(scores="def scores(queries, keys):\n    while True:\n        pass\n")
    driven.loop.saved()
    driven.loop.waited()
    assert driven.told() == ["", SAVED, STILL_CHECKING]
    assert driven.save(scores="right")[3] == SOLVED


def test_a_save_that_changes_nothing_says_nothing(driven):
    """Editors save more than once."""
    driven.loop.saved()
    assert (driven.told(), driven.loop.is_busy) == ([], False)


def test_the_exercise_that_is_worked_on_is_watched(driven):
    """Another assignment's file, then another exercise of the same."""
    told = driven.save(mixture="def weights(raw):\n    return raw\n")
    assert told[1:3] == [
        "Saved at 12:00:00: assignments/02_mixture/mixture.py",
        "02_mixture  assignments/02_mixture/mixture.py",
    ]
    assert driven.loop.watched.id == "02_mixture/weights"
    both = "def weights(raw):\n    return raw\n\n\nclass Mixture:\n    pass\n"
    assert any("✗ Mixture" in line for line in driven.save(mixture=both))
    assert driven.loop.watched.id == "02_mixture/Mixture"


def test_only_the_targets_are_watched(watching):
    """A save of anything else is not told."""
    driven = watching("01")
    driven.begin()
    assert driven.save(mixture="right") == []
    told = driven.save(scores="right")
    assert told[-1] == "Everything here is solved: 2 points. Congratulations!"


def test_what_is_solved_without_points_is_praised_without_them(watching, edit):
    """There are none to name."""
    edit("course.toml", "points = 6", "points = 4")
    edit("course.toml", "scores = 2", "scores = 0")
    driven = watching("01")
    driven.begin()
    assert driven.save(scores="right")[-2] == "scores is solved. Well done!"


@pytest.mark.parametrize("gone", [[""], ["01_scores", "02_mixture"]], ids=["folder", "files"])
def test_what_is_gone_is_told(driven, folder, tmp_path, gone):
    """The folder, or all that is in it, until they are back."""
    for name in gone:
        (folder / "assignments" / name).rename(tmp_path / f"away {name}")
    driven.loop.saved()
    assert driven.told()[-1] == NOTHING_THERE
    for name in gone:
        (tmp_path / f"away {name}").rename(folder / "assignments" / name)
    assert driven.save(scores="right")[3] == SOLVED


def gap(exercise: str) -> str:
    """What a stub of the second file leaves open."""
    return f'raise NotImplementedError("02_mixture/{exercise}: not attempted yet")'


@pytest.fixture
def stub(folder):
    """The second file as it is handed out."""
    return (folder / "assignments/02_mixture/mixture.py").read_text("utf-8")


@pytest.mark.parametrize(
    ("presses", "exercise", "syntax_error", "body", "shown"),
    [
        (0, "Mixture", None, "raise ValueError", "  ✗ Mixture                          0 / 3"),
        (1, "Mixture", "return (x", "raise ValueError", "  ✗ Mixture                          0 / 3"),
        (2, "weights", "return (raw", "return raw", "  ✗ weights                          0 / 1"),
    ],
    ids=["another exercise", "mended below", "mended above"],
)  # fmt: skip
def test_the_verdict_is_on_what_was_edited(
    driven, stub, presses, exercise, syntax_error, body, shown
):
    """An empty exercise beside it is no news, whichever was watched; a syntax error is shown first."""
    for _ in range(presses):
        driven.press("n")
    if syntax_error:
        told = driven.save(mixture=stub.replace(gap(exercise), syntax_error))
        assert any("SyntaxError" in line for line in told)
        assert any("✗ Mixture                          0 / 3  not defined" in t for t in told)
        assert driven.loop.watched.id == "02_mixture/Mixture"
    told = driven.save(mixture=stub.replace(gap(exercise), body))
    assert told[3].startswith(shown)
    assert sum("/ 1" in line or "/ 3" in line for line in told) == 1
    assert driven.loop.watched.id == f"02_mixture/{exercise}"


def test_a_syntax_error_in_a_file_that_was_right_is_no_reason_for_praise(solved, folder):
    """What stands above it is still solved, and the error is shown."""
    right = (folder / "solutions/02_mixture/mixture.py").read_text("utf-8")
    told = solved.save(mixture=right.replace("class Mixture", "class (Mixture"))
    assert any("SyntaxError" in line for line in told)
    assert not any("Well done" in line for line in told)


def test_what_is_as_it_was_is_not_shown_before_what_was_edited(driven, stub):
    """Only the verdict on the edited exercise; when nothing differs, the old one again."""
    text = stub.replace(gap("weights"), "return raw")
    driven.save(mixture=text)
    assert any("weights" in line for line in driven.save(mixture=f"{text}# more\n"))
    told = driven.save(mixture=text.replace(gap("Mixture"), "raise ValueError"))
    assert told[3] == "  ✗ Mixture                          0 / 3"
    assert not any("weights" in line for line in told)


def test_a_notebook_is_judged_as_a_script_is(driven, edit):
    """Where it was filled in, and the script was not."""
    edit(
        "assignments/01_scores/scores.ipynb",
        'raise NotImplementedError(\\"01_scores/scores: not attempted yet\\")',
        "return queries @ keys.T",
    )
    driven.loop.saved()
    assert driven.settle()[1:4] == [
        "Saved at 12:00:00: assignments/01_scores/scores.ipynb",
        "01_scores  assignments/01_scores/scores.ipynb",
        "  ✗ scores                         0.8 / 2  1 of 3 checks; wrong steps",
    ]


def test_a_script_that_is_gone_is_not_called_saved(driven, folder):
    """Its notebook counts then."""
    (folder / "assignments" / "01_scores" / "scores.py").unlink()
    driven.loop.saved()
    assert " ".join(driven.settle()[1:3]) == (
        "At 12:00:00 assignments/01_scores/scores.py was gone: assignments/01_scores/scores.ipynb "
        "counts now."
    )


def test_it_speaks_the_language_of_the_run(watching):
    """As `grader check` does."""
    language.use("zh_CN")
    driven = watching()
    assert driven.begin()[:2] == [
        "正在监视 assignments/：保存文件后，结果会显示在这里。",
        "h 提示   n 下一道练习   a 全部显示   q 退出",
    ]
    assert driven.save(scores="right")[-3] == "scores 已完成：2 分。做得好！"


def test_what_was_found_is_remembered_by_the_next_watch(driven, watching):
    """It begins with the first exercise that is not solved."""
    driven.save(scores="right")
    again = watching()
    assert again.begin()[2:4] == [
        "02_mixture  assignments/02_mixture/mixture.py",
        "  · weights                          0 / 1  not attempted yet",
    ]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (GraderFault("the parts are gone"), "the parts are gone"),
        (KeyError("part"), "The grader itself failed: KeyError: 'part'"),
    ],
)
def test_a_fault_of_the_grader_is_told(driven, monkeypatch, error, said):
    """It is no verdict, and the next save is judged."""
    with monkeypatch.context() as broken:
        broken.setattr(live_checks, "grade", Mock(side_effect=error))
        assert driven.save(scores="unscaled") == ["", SAVED, said]
    assert driven.save(scores="right")[3] == SOLVED


# Keys.


def test_hints_climb_and_the_question_that_was_shown_is_not_asked_again(driven):
    """The verdict had it; `grader hint` goes on from here."""
    driven.save(scores="unscaled")
    assert driven.press("h") == [
        "",
        "Hint 1 of 3 for 01_scores/scores:",
        "",
        "  What tells how well two vectors fit?",
    ]
    assert driven.press("h")[1] == "Hint 2 of 3 for 01_scores/scores:"
    assert Memory(driven.loop.course.root).hints_shown("01_scores/scores") == 2
    assert driven.press("h")[-2:] == ["", "That is the last hint of this exercise."]


def test_the_next_exercise_is_the_next_unfinished_one(driven):
    """And after the last one the first."""
    told = [driven.press("n")[0] for _ in range(3)]
    assert told == [
        "Next: 02_mixture/weights (not attempted yet)",
        "Next: 02_mixture/Mixture (not attempted yet)",
        "Next: 01_scores/scores (not attempted yet)",
    ]


def test_the_next_exercise_is_shown_where_it_was_tried(driven):
    """With what is wrong."""
    driven.save(scores=UNKNOWN)
    driven.press("n")
    driven.press("n")
    told = driven.press("n")
    assert told[0] == "Next: 01_scores/scores (wrong)"
    assert "      ✗ The scores are the document's." in told


def test_all_of_an_assignment_can_be_shown(driven):
    """With its points."""
    driven.save(scores="right")
    assert driven.press("a") == [
        "02_mixture  assignments/02_mixture/mixture.py",
        "  · weights                          0 / 1  not attempted yet",
        "  · Mixture                          0 / 3  not attempted yet",
        "",
        "0 of 4 points.",
    ]


def test_an_unknown_key_shows_the_keys(driven):
    """It does no harm."""
    assert driven.press("?") == [KEYS]


@pytest.mark.parametrize("key", ["q", "Q", "\x04"])
def test_it_can_be_quit(driven, key):
    """Whatever waits after that is not looked at."""
    driven.events.put(lambda loop: loop.pressed(key))
    driven.events.put(lambda loop: pytest.fail("it goes on"))
    run(driven.loop, driven.events)
    assert driven.loop.is_over


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("h", "Everything here is solved: there is nothing left to hint at."),
        ("n", "Everything here is solved: 6 points. Congratulations!"),
        ("a", "6 of 6 points."),
    ],
)
def test_keys_have_an_answer_when_all_is_solved(solved, key, answer):
    """There is nothing left to do."""
    assert solved.press(key)[-1] == answer


def test_what_was_just_solved_is_shown(watching: Callable[..., Driven], folder: Path) -> None:
    """Not what was solved at the beginning, and not again with the next save."""
    write_views(folder)
    driven = watching("01")
    driven.begin()
    told = driven.save(scores="right")
    place = told.index("Scores of the first word  01_scores/scores")
    assert told[place - 2] == "scores is solved: 2 points. Well done!"
    assert told[place + 1] == "  size = 2"
    assert "More of it: `grader show scores`;" in " ".join(told[place:])
    title = told[place]
    assert title not in driven.save(scores=RIGHT_TOO)
    again = watching("01")
    assert title not in again.begin()
