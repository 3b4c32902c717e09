"""Tests of the student's loop: what `grader watch` does with saves, keys and verdicts."""

import io
import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

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

NOT_SCALED = "def scores(queries, keys):\n    return queries @ keys.T\n"
UNKNOWN = "def scores(queries, keys):\n    return queries @ keys.T * 7\n"
RIGHT_TOO = "def scores(queries, keys):\n    return queries @ keys.T * keys.shape[-1] ** -0.5\n"
ENDLESS = "def scores(queries, keys):\n    while True:\n        pass\n"
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


@dataclass
class Driven:
    """A loop whose events are handed over one by one."""

    loop: Loop
    events: queue.SimpleQueue
    shown: io.StringIO
    folder: Path

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

    def write(self, module: str, text: str) -> None:
        """Write a student's file; `right` stands for the solution."""
        (solution,) = (self.folder / "solutions").glob(f"*/{module}.py")
        path = self.folder / "assignments" / solution.parent.name / f"{module}.py"
        path.write_text(solution.read_text("utf-8") if text == "right" else text, "utf-8")

    def save(self, module: str, text: str) -> list[str]:
        """The same, and what is written until its verdict is complete."""
        self.write(module, text)
        self.loop.saved()
        return self.settle()

    def press(self, key: str) -> list[str]:
        """Press a key; what is written."""
        self.loop.pressed(key)
        return self.told()


@pytest.fixture
def watching(folder: Path) -> Iterator[Callable[..., Driven]]:
    """Makes loops, and closes their desks."""
    desks = []

    def make(*targets: str) -> Driven:
        course = load_course(folder)
        events: queue.SimpleQueue = queue.SimpleQueue()
        made = LiveChecker(
            course,
            lambda verdict: events.put(lambda loop: loop.judged(verdict)),
            launcher=launchers.default_launcher(),
        )
        desks.append(made)
        shown = io.StringIO()
        loop = Loop(
            course,
            tuple(course.select(targets).values()),
            Console(file=shown, highlight=False, width=80),
            made,
            has_keys=True,
            clock=lambda: datetime(2027, 1, 1, 12),
        )
        return Driven(loop, events, shown, folder)

    yield make
    for made in desks:
        made.close()


@pytest.fixture
def driven(watching: Callable[..., Driven]) -> Driven:
    """A loop over everything that has begun, and whose first words were read."""
    made = watching()
    made.begin()
    return made


# Saving.


def test_a_newcomer_is_told_what_to_do(watching):
    """Three lines, after the first verdict."""
    assert watching().begin() == START.splitlines()


def test_a_save_is_judged_and_its_mistake_named(driven):
    """Only what is watched is shown, and then the keys."""
    told = driven.save("scores", NOT_SCALED)
    assert told[:8] == [
        "",
        SAVED,
        "01_scores  assignments/01_scores/scores.py",
        "  ✗ scores                         0.8 / 2  1 of 3 checks; wrong steps",
        "      → This looks like a known mistake:",
        "        The scores are not scaled.  (scores-not-scaled)",
        "        What happens to a score when keys get longer?",
        "      ✗ The scores are the document's.",
    ]
    assert told[-2:] == ["", KEYS]


def test_a_solved_exercise_is_praised_and_the_next_one_chosen(driven):
    """Without a key."""
    told = driven.save("scores", "right")
    assert told[3] == "  ✓ scores                           2 / 2"
    assert told[-3:] == [
        "scores is solved: 2 points. Well done!",
        "Next: 02_mixture/weights (not attempted yet)",
        "  in assignments/02_mixture/mixture.py:30",
    ]
    assert driven.loop.watched.id == "02_mixture/weights"


def test_what_a_save_solves_besides_is_told(driven):
    """And at the end there is nothing left to do."""
    driven.save("scores", "right")
    told = driven.save("mixture", "right")
    assert told[-3:] == [
        "Also solved: 02_mixture/Mixture.",
        "weights is solved: 1 point. Well done!",
        "Everything here is solved: 6 points. Congratulations!",
    ]
    assert driven.loop.watched is None


def test_what_a_save_breaks_elsewhere_is_told(driven):
    """Mixtures are built on the scores."""
    driven.save("scores", "right")
    driven.save("mixture", "right")
    told = driven.save("scores", BROKEN)
    assert "Solved before, and not any more: 02_mixture/weights, 02_mixture/Mixture." in told
    assert driven.loop.watched.id == "01_scores/scores"


def test_a_half_written_file_is_judged_like_any_other(driven):
    """The next save has the next verdict."""
    told = driven.save("scores", BROKEN)
    assert told[3:8] == [
        "  ✗ scores.py does not run: line 1: SyntaxError: expected ':'",
        "        def scores(queries, keys)",
        "                                 ^",
        "  ✗ scores                           0 / 2  not defined",
        "      scores.py stops before scores is defined: see above.",
    ]
    assert driven.save("scores", "right")[3] == "  ✓ scores                           2 / 2"


def test_a_new_save_does_not_wait_for_an_endless_loop(driven):
    """What was under way is dropped."""
    driven.write("scores", ENDLESS)
    driven.loop.saved()
    driven.loop.waited()
    assert driven.told() == ["", SAVED, STILL_CHECKING]
    told = driven.save("scores", "right")
    assert told[:4] == [
        "",
        SAVED,
        "01_scores  assignments/01_scores/scores.py",
        "  ✓ scores                           2 / 2",
    ]


def test_a_save_that_changes_nothing_says_nothing(driven):
    """Editors save more than once."""
    driven.loop.saved()
    assert (driven.told(), driven.loop.is_busy) == ([], False)


def test_the_exercise_that_is_worked_on_is_watched(driven):
    """Another assignment's file, then another exercise of the same."""
    told = driven.save("mixture", "def weights(raw):\n    return raw\n")
    assert told[1:3] == [
        "Saved at 12:00:00: assignments/02_mixture/mixture.py",
        "02_mixture  assignments/02_mixture/mixture.py",
    ]
    assert driven.loop.watched.id == "02_mixture/weights"
    both = "def weights(raw):\n    return raw\n\n\nclass Mixture:\n    pass\n"
    assert any("✗ Mixture" in line for line in driven.save("mixture", both))
    assert driven.loop.watched.id == "02_mixture/Mixture"


def test_only_the_targets_are_watched(watching):
    """A save of anything else is not told."""
    driven = watching("01")
    driven.begin()
    assert driven.save("mixture", "right") == []
    told = driven.save("scores", "right")
    assert told[-1] == "Everything here is solved: 2 points. Congratulations!"


def test_what_is_solved_without_points_is_praised_without_them(watching, edit):
    """There are none to name."""
    edit("course.toml", "points = 6", "points = 4")
    edit("course.toml", "scores = 2", "scores = 0")
    driven = watching("01")
    driven.begin()
    assert driven.save("scores", "right")[-2:] == [
        "scores is solved. Well done!",
        "Everything here is solved. Congratulations!",
    ]


def test_files_that_are_gone_are_told(driven):
    """Until the next one is saved."""
    for path in (driven.folder / "assignments").rglob("*.*"):
        path.unlink()
    driven.loop.saved()
    assert driven.told()[-1] == NOTHING_THERE
    assert driven.save("scores", "right")[3] == "  ✓ scores                           2 / 2"


def test_a_folder_that_is_gone_is_told(driven, tmp_path):
    """Until it is back."""
    away = (driven.folder / "assignments").rename(tmp_path / "away")
    driven.loop.saved()
    assert driven.told() == [NOTHING_THERE]
    away.rename(driven.folder / "assignments")
    assert driven.save("scores", "right")[3] == "  ✓ scores                           2 / 2"


def test_what_is_not_begun_is_not_shown_before_what_changed(driven):
    """The second exercise of a file was written, not the first."""
    path = driven.folder / "assignments" / "02_mixture" / "mixture.py"
    gap = 'raise NotImplementedError("02_mixture/Mixture: not attempted yet")'
    text = path.read_text("utf-8")
    assert gap in text
    told = driven.save("mixture", text.replace(gap, "raise ValueError"))
    assert told[2:4] == [
        "02_mixture  assignments/02_mixture/mixture.py",
        "  ✗ Mixture                          0 / 3",
    ]
    assert not any("weights" in line for line in told)


OPEN = 'raise NotImplementedError("02_mixture/Mixture: not attempted yet")'


@pytest.fixture
def mixture(driven):
    """Saves the second file with something in place of what `Mixture` leaves open."""
    path = driven.folder / "assignments" / "02_mixture" / "mixture.py"
    text = path.read_text("utf-8")
    return lambda body: driven.save("mixture", text.replace(OPEN, body))


def test_a_syntax_error_below_what_is_watched_is_shown(driven, mixture):
    """And after it the verdict on what was edited, not the empty exercise above."""
    driven.press("n")
    told = mixture("return torch.exp(x")
    assert any("✗ Mixture                          0 / 3  not defined" in line for line in told)
    assert any("SyntaxError" in line for line in told)
    assert driven.loop.watched.id == "02_mixture/Mixture"
    told = mixture("raise ValueError")
    assert told[3] == "  ✗ Mixture                          0 / 3"


def test_a_syntax_error_in_the_first_exercise_gives_way_to_the_verdict_on_it(driven):
    """The exercise that was watched is an empty stub again, which is no news."""
    path = driven.folder / "assignments" / "02_mixture" / "mixture.py"
    stub = path.read_text("utf-8")
    driven.press("n")
    driven.press("n")
    gap = 'raise NotImplementedError("02_mixture/weights: not attempted yet")'
    driven.save("mixture", stub.replace(gap, "return (raw"))
    told = driven.save("mixture", stub.replace(gap, "return raw"))
    assert told[3] == "  ✗ weights                          0 / 1  1 of 2 checks"
    assert driven.loop.watched.id == "02_mixture/weights"


def test_a_syntax_error_in_a_file_that_was_right_is_no_reason_for_praise(driven):
    """What stands above it is still solved, and the error is shown."""
    driven.save("scores", "right")
    driven.save("mixture", "right")
    right = (driven.folder / "solutions/02_mixture/mixture.py").read_text("utf-8")
    told = driven.save("mixture", right.replace("class Mixture", "class (Mixture"))
    assert any("SyntaxError" in line for line in told)
    assert not any("Well done" in line for line in told)


def test_what_is_as_it_was_is_not_shown_before_what_was_edited(driven, mixture):
    """Only the verdict on the edited exercise; when nothing differs, the old one again."""
    wrong = 'raise NotImplementedError("02_mixture/weights: not attempted yet")'
    path = driven.folder / "assignments" / "02_mixture" / "mixture.py"
    text = path.read_text("utf-8").replace(wrong, "return raw")
    driven.save("mixture", text)
    assert any("weights" in line for line in driven.save("mixture", f"{text}# more\n"))
    told = driven.save("mixture", text.replace(OPEN, "raise ValueError"))
    assert told[3] == "  ✗ Mixture                          0 / 3"
    assert not any("weights" in line for line in told)


def test_what_an_exercise_waits_for_is_named(driven, mixture):
    """The exercise it uses is not written yet."""
    told = mixture("weights(torch.ones(2))")
    assert told[2:5] == [
        "02_mixture  assignments/02_mixture/mixture.py",
        "  · Mixture                          0 / 3  waiting for weights",
        "      It needs 02_mixture/weights, which is not written yet.",
    ]


def test_a_notebook_is_judged_as_a_script_is(driven):
    """Where it was filled in, and the script was not."""
    path = driven.folder / "assignments" / "01_scores" / "scores.ipynb"
    gap = 'raise NotImplementedError(\\"01_scores/scores: not attempted yet\\")'
    text = path.read_text("utf-8")
    assert gap in text
    path.write_text(text.replace(gap, "return queries @ keys.T"), "utf-8")
    driven.loop.saved()
    told = driven.settle()
    assert told[1:4] == [
        "Saved at 12:00:00: assignments/01_scores/scores.ipynb",
        "01_scores  assignments/01_scores/scores.ipynb",
        "  ✗ scores                         0.8 / 2  1 of 3 checks; wrong steps",
    ]


def test_a_script_that_is_gone_is_not_called_saved(driven):
    """Its notebook counts then."""
    folder = driven.folder / "assignments" / "01_scores"
    (folder / "scores.py").unlink()
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
    assert driven.save("scores", "right")[-3] == "scores 已完成：2 分。做得好！"


def test_what_was_found_is_remembered_by_the_next_watch(driven, watching):
    """It begins with the first exercise that is not solved."""
    driven.save("scores", "right")
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

    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(live_checks, "grade", fail)
        assert driven.save("scores", NOT_SCALED) == ["", SAVED, said]
    assert driven.save("scores", "right")[3] == "  ✓ scores                           2 / 2"


# Keys.


def test_hints_climb_and_the_question_that_was_shown_is_not_asked_again(driven):
    """The verdict had it; `grader hint` goes on from here."""
    driven.save("scores", NOT_SCALED)
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
    driven.save("scores", UNKNOWN)
    driven.press("n")
    driven.press("n")
    told = driven.press("n")
    assert told[0] == "Next: 01_scores/scores (wrong)"
    assert "      ✗ The scores are the document's." in told


def test_all_of_an_assignment_can_be_shown(driven):
    """With its points."""
    driven.save("scores", "right")
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


@pytest.mark.parametrize("key", ["h", "n", "a"])
def test_keys_have_an_answer_when_all_is_solved(driven, key):
    """There is nothing left to do."""
    driven.save("scores", "right")
    driven.save("mixture", "right")
    assert driven.press(key)[-1] in (
        "Everything here is solved: there is nothing left to hint at.",
        "Everything here is solved: 6 points. Congratulations!",
        "6 of 6 points.",
    )


def test_what_was_just_solved_is_shown(watching: Callable[..., Driven], folder: Path) -> None:
    """Not what was solved at the beginning, and not again with the next save."""
    write_views(folder)
    driven = watching("01")
    driven.begin()
    told = driven.save("scores", "right")
    place = told.index("Scores of the first word  01_scores/scores")
    assert told[place - 2] == "scores is solved: 2 points. Well done!"
    assert told[place + 1] == "  size = 2"
    assert "More of it: `grader show scores`;" in " ".join(told[place:])
    title = told[place]
    assert title not in driven.save("scores", RIGHT_TOO)
    again = watching("01")
    assert title not in again.begin()
