"""The student's loop: what is done when a file was saved, a key pressed, a verdict reached."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rich.console import Console
from rich.text import Text

from grader.cli.hint import NOT_REMEMBERED, advice_text, is_at_the_end
from grader.cli.render import print_assignment, print_file_failures
from grader.cli.shared import from_here
from grader.cli.status import place
from grader.cli.view import Lines, view_of
from grader.core.errors import GraderError, UsageError
from grader.core.language import N_, _, listed, ngettext
from grader.core.records import AssignmentResult, ExerciseResult, Outcome, Result, added
from grader.course.course import Course, Exercise
from grader.judging.outcomes import headline, is_attempted
from grader.judging.results import points
from grader.progress.live_checks import LiveChecker, Verdict
from grader.progress.next_hint import Helper, Question
from grader.progress.progress import Progress, read_progress, remember
from grader.progress.solved import Shown, what_precedes
from grader.progress.store import Memory

KEYS = N_("h hint   n next exercise   a show all   q quit")
NOTHING_THERE = N_("There is no .py and no .ipynb in assignments/ now. Save one to go on.")
STILL_CHECKING = N_("Still checking. Is there a loop that never ends? Mend it and save again.")


@dataclass
class Loop:
    """One `grader watch`.

    Args:
        chosen: the exercises to watch.
        has_keys: whether keys can be pressed.
        clock: returns the time of day.
        now: what is known of the work as it is.
        before: what was known before the last save.
        watched: the exercise whose verdicts are shown; None when all are solved.
        has_shown: whether its verdict was shown since the last save.
        follows: what there is to show of what was solved since then, by exercise.
    """

    course: Course
    chosen: Sequence[Exercise]
    screen: Console
    checker: LiveChecker
    has_keys: bool
    clock: Callable[[], datetime] = datetime.now
    now: Progress = field(init=False)
    before: Progress = field(init=False)
    watched: Exercise | None = None
    is_first_run: bool = True
    is_busy: bool = False
    is_over: bool = False
    has_shown: bool = False
    follows: dict[str, list[Shown]] = field(default_factory=dict)

    def begin(self) -> None:
        """Say what is watched, and check what is not known yet."""
        self.now = self.before = read_progress(self.course, Memory(self.course.root))
        self.watched = next(iter(self.now.unfinished(self.chosen)), None)
        self._say(_("Watching assignments/: save a file, and its verdict appears here."))
        self._say(_(KEYS) if self.has_keys else _("Ctrl-C ends it."), "dim")
        self._check(self.watched or self.chosen[0])

    # What happens.

    def saved(self) -> None:
        """A file was saved: check what it changed."""
        try:
            read = read_progress(self.course, Memory(self.course.root))
        except UsageError:  # the folder itself is gone
            self._stop()
            return
        if read.submission.hash == self.now.submission.hash:
            return
        ids = {assignment.id for assignment in read.differing(self.now)}
        affected = [exercise for exercise in self.chosen if exercise.assignment in ids]
        if not affected:  # nothing that is watched
            self.now = read
            return
        self.before, self.now, self.has_shown = self.now, read, False
        if self.watched is None or self.watched.assignment not in ids:
            self.watched = (self.before.unfinished(affected) or affected)[0]
        self.screen.print()
        file = self.course.root / read.file(self.watched)
        was = self.course.root / self.before.file(self.watched)
        sentence = _("Saved at {time}: {file}")
        if was != file and not was.exists():
            sentence = _("At {time} {was} was gone: {file} counts now.")
        at = {"time": f"{self.clock():%H:%M:%S}", "was": from_here(was), "file": from_here(file)}
        self._say(sentence.format(**at), "dim")
        if read.submission.is_empty:
            self._stop()
            return
        self._check(self.watched)

    def pressed(self, key: str) -> None:
        """A key was pressed."""
        match key.lower():
            case "q" | "\x03" | "\x04":
                self.is_over = True
            case "h":
                self._give_hint()
            case "n":
                self._go_on()
            case "a":
                self._show_all()
            case _:
                self._say(_(KEYS), "dim")

    def judged(self, verdict: Verdict) -> None:
        """A verdict was reached; one that belongs to an earlier save is dropped."""
        if verdict.run != self.checker.run:
            return
        self.is_busy = not verdict.is_last
        if verdict.result is None:
            self._say(verdict.fault, "bold magenta")
            return
        remember(self.course, self.now.submission, verdict.result)
        self.now = self.now.adding(verdict.result)
        self.follows |= verdict.follows
        if self.watched is not None:
            self._show_watched(verdict.result, self.watched)
        if verdict.is_last:
            self._conclude()

    def waited(self) -> None:
        """A run takes long."""
        if not self.is_first_run:
            self._say(_(STILL_CHECKING), "yellow")

    # What follows.

    def _stop(self) -> None:
        """There is nothing to check."""
        self.checker.stop()
        self.is_busy = False
        self._say(_(NOTHING_THERE))

    def _check(self, first: Exercise) -> None:
        """Check an exercise, then what else is not known, its own assignment first."""
        rest = [exercise for exercise in self.now.unknown(self.chosen) if exercise != first]
        near = [exercise for exercise in rest if exercise.assignment == first.assignment]
        far = [exercise for exercise in rest if exercise.assignment != first.assignment]
        self.is_busy = True
        batches = [batch for batch in ([first], near, far) if batch]
        self.follows = {}
        solved = [e.id for e in self.chosen if self.is_first_run or self.before.is_solved(e)]
        self.checker.check(self.now.submission, batches, solved)

    def _conclude(self) -> None:
        """All that a save changed is known."""
        if self.is_first_run:
            self.is_first_run = False
            self._settle()
            self.saved()  # what was saved while torch was loading
            return
        self._name_others()
        if self.watched is None:
            return
        was_solved = self.before.is_solved(self.watched)
        if not self.now.is_solved(self.watched) or (was_solved and self._edited(self.watched)):
            self._follow(self.watched)
            return
        self._say(_solved(self.watched, is_again=was_solved), "green")
        for shown in self.follows.get(self.watched.id, ()):
            self.screen.print(shown.text, soft_wrap=True)
        failures = self.now.file_failures.get(self.watched.assignment, ())
        self._go_on()
        if not self.has_shown:
            print_file_failures(self.screen, failures)

    def _settle(self) -> None:
        """Choose the exercise to begin with, now that everything is known."""
        if self.watched is None or self.now.is_solved(self.watched):
            self._go_on()
        elif not is_attempted(self.now.results.get(self.watched.id)):
            self._say_next(self.watched, self.watched.id)
            self._say(
                _("Write it where it says TODO, there or in the notebook beside it, and save.")
            )

    def _show_watched(self, result: Result, watched: Exercise) -> None:
        """Show the result of the exercise that is watched, when it is among these and worth it."""
        for assignment in result.assignments:
            of_watched = next((e for e in assignment.exercises if e.id == watched.id), None)
            if of_watched is None:
                continue
            # At first not what is solved already; later not at once what is as it was.
            is_new = watched.id not in self.before.results
            is_worth_it = self._has_news(watched) or (is_new and is_attempted(of_watched))
            if self.is_first_run:
                is_worth_it = not of_watched.is_solved
            if is_worth_it:
                self._show(assignment)

    def _name_others(self) -> None:
        """Name what the same save solved besides, or broke."""
        others = [exercise for exercise in self.chosen if exercise != self.watched]
        for sentence, style, solved, unsolved in (
            (_("Also solved: {exercises}."), "green", self.now, self.before),
            (_("Solved before, and not any more: {exercises}."), "red", self.before, self.now),
        ):
            names = [
                exercise.id
                for exercise in unsolved.unfinished(others)
                if solved.is_solved(exercise) and exercise.id in unsolved.results
            ]
            if names:
                self._say(sentence.format(exercises=listed(names)), style)

    def _follow(self, watched: Exercise) -> None:
        """Go where the student works: to what changed, when what is watched did not."""
        if not self._has_news(watched):
            edited = self._edited(watched)
            if edited is not None:
                self.watched, self.has_shown = edited, False
            if not self.has_shown:
                self._show(*self.now.shown([edited or watched]))
        if self.has_keys:
            self._say(_(KEYS), "dim")

    def _edited(self, watched: Exercise) -> Exercise | None:
        """The first unfinished exercise of the same file of which the last save has news."""
        near = [e for e in self.chosen if e.assignment == watched.assignment]
        return next(filter(self._has_news, self.now.unfinished(near)), None)

    def _has_news(self, exercise: Exercise) -> bool:
        """Whether a student sees another result than before, and not only an empty stub's."""
        now, before = (state.results.get(exercise.id) for state in (self.now, self.before))
        if now is None or before is None:
            return False
        is_stub = now.is_untouched and now.checks[0].outcome is Outcome.NOT_ATTEMPTED
        return not is_stub and _seen(now) != _seen(before)

    def _go_on(self) -> None:
        """Watch the next unfinished exercise, and say which it is."""
        unfinished = self.now.unfinished(self.chosen)
        if not unfinished:
            self.watched = None
            most = added(exercise.points for exercise in self.chosen)
            sentence = _("Everything here is solved. Congratulations!")
            if most:
                sentence = _("Everything here is solved: {points}. Congratulations!")
            self._say(sentence.format(points=_points(most)), "bold green")
            return
        order = list(self.chosen)
        position = order.index(self.watched) if self.watched in order else -1
        after = [exercise for exercise in unfinished if order.index(exercise) > position]
        self.watched = (after or unfinished)[0]
        result = self.now.results.get(self.watched.id)
        what = self.watched.id
        if result is not None:
            what = _("{exercise} ({outcome})").format(exercise=what, outcome=_(headline(result)))
        self._say_next(self.watched, what)
        if is_attempted(result) or self._has_news(self.watched):
            self._show(*self.now.shown([self.watched]))

    def _say_next(self, exercise: Exercise, what: str) -> None:
        self._say(_("Next: {what}").format(what=what), "bold")
        self._say("  " + _("in {file}").format(file=place(self.now, exercise)))
        if not is_attempted(self.now.results.get(exercise.id)):
            for line in what_precedes(self.course, exercise):
                self._say(line)

    def _give_hint(self) -> None:
        if self.watched is None:
            self._say(_("Everything here is solved: there is nothing left to hint at."))
            return
        helper = Helper(self.course, self.watched)
        try:
            shown = helper.next()
        except GraderError as error:
            self._say(str(error), "bold magenta")
            return
        self.screen.print(Text(f"\n{advice_text(shown, self.watched)}"))
        if is_at_the_end(shown):
            self._say("\n" + _("That is the last hint of this exercise."), "dim")
        if not helper.remember(shown):
            self._say(_(NOT_REMEMBERED))

    def _show_all(self) -> None:
        """Everything about the assignment that is watched, or all of it when that is done."""
        exercises = list(self.chosen)
        if self.watched is not None:
            exercises = [e for e in exercises if e.assignment == self.watched.assignment]
        for assignment in self.now.shown(exercises):
            print_assignment(self.screen, assignment, view_of(self.course, everything=True))
        most = added(exercise.points for exercise in exercises)
        if most:
            sentence = _("{score} of {max_score} points.")
            score = points(self.now.score(exercises))
            self._say(sentence.format(score=score, max_score=most), "bold")

    def _show(self, *assignments: AssignmentResult) -> None:
        """Show results; the next hint is then another than the questions that they show."""
        self.has_shown = True
        for assignment in assignments:
            print_assignment(self.screen, assignment, view_of(self.course))
            for result in assignment.exercises:
                helper = Helper(self.course, self.course.exercises[result.id])
                helper.remember(Question(finding.candidates) for finding in result.findings)

    def _say(self, text: str, style: str = "") -> None:
        if text:
            self.screen.print(Lines(Text(text, style=style)))


def _seen(result: ExerciseResult) -> object:
    """What a student sees of a result."""
    checks = [(check.id, check.outcome, check.message) for check in result.checks]
    return result.score, result.is_solved, checks


def _solved(exercise: Exercise, *, is_again: bool) -> str:
    """That an exercise is solved, with its points where it has any."""
    sentences = _("{exercise} is solved. Well done!"), _("{exercise} is still solved. Well done!")
    if exercise.points:
        sentences = (
            _("{exercise} is solved: {points}. Well done!"),
            _("{exercise} is still solved: {points}. Well done!"),
        )
    return sentences[is_again].format(exercise=exercise.name, points=_points(exercise.points))


def _points(number: float) -> str:
    return ngettext("{count} point", "{count} points", 1 if number == 1 else 2).format(count=number)
