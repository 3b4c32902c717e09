"""What a view shows, as data: heat maps of a student's own results, one state for each setting."""

from dataclasses import dataclass
from itertools import product

from grader.core.language import _, listed
from grader.core.records import Axis, Number, Rows


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A grid of numbers with its labels.

    Args:
        title: what is written above it; "" for nothing.
        values: at most 12 rows of as many numbers; a vector is a single row.
    """

    title: str
    values: Rows
    rows: Axis
    columns: Axis


@dataclass(frozen=True, slots=True)
class Slider:
    """What can be moved, and where to."""

    name: str
    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class ViewResult:
    """One view of a student's own code, in the language of the run.

    Args:
        exercise: its id.
        title: what is shown.
        look: what to look for, in a sentence that holds for right code.
        ask: a question on it.
        sliders: at most two.
        states: the heat maps for each setting of the sliders; the last slider moves fastest.
        problem: why nothing is shown; "" where something is.
        notes: sentences on what the code was given.
        is_about_text: whether other words than the course's can be shown.
        is_solved: whether the exercise is; where not, what is shown may be wrong.
    """

    exercise: str
    title: str
    look: str
    ask: str
    sliders: tuple[Slider, ...] = ()
    states: tuple[tuple[HeatMap, ...], ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()
    is_about_text: bool = False
    is_solved: bool = True

    @property
    def first(self) -> int:
        """The state that is shown first, or alone: in the middle."""
        sizes = [len(slider.values) for slider in self.sliders]
        return [*product(*map(range, sizes))].index(tuple(size // 2 for size in sizes))

    def setting(self, state: int) -> tuple[Number, ...]:
        """What each slider is set to in a state, by the state's number."""
        return [*product(*(slider.values for slider in self.sliders))][state]

    def setting_words(self, state: int) -> str:
        """What can be moved, and where it is, like “p = 0.5”."""
        pairs = zip(self.sliders, self.setting(state), strict=True)
        return listed(f"{slider.name} = {value}" for slider, value in pairs)

    @property
    def look_words(self) -> str:
        """What to look for; of work that is not solved, what holds once it is."""
        if self.is_solved:
            return self.look
        return _("Once it is solved: {look}").format(look=self.look)
