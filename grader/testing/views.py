"""Views: what an exercise's right code lets a student see, as authors declare it.

A view is a function in `tests/checks/<assignment>/views.py`. It asks by the names of its parameters
for what it needs, as a check does:

- `student`: the handle on the student's code (`grader.testing.student`);
- `text`: the words that are shown, and their vectors, where the course has an `ExampleText`;
- `heat`: makes a heat map of what came back;
- and each thing that can be moved, by the name it has in `moves`.

It returns one heat map, or a list of them.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.core.errors import UsageError
from grader.core.language import _, listed
from grader.core.records import Axis, Number, Rows
from grader.core.text import clean
from grader.core.views import HeatMap
from grader.sandbox.torch_later import is_tensor, torch
from grader.sandbox.wire import RemoteObject
from grader.testing.compare import Say, describe
from grader.testing.judge import not_taken
from grader.testing.student import Call, StudentHandle

MOST_SHOWN = 12
"""The most words of a text, and the most rows and columns of a heat map."""

DIGITS = 7
"""The digits of a number that are kept: what a float32 has."""

LONGEST_WORD = 12


class CannotShow(Exception):
    """What came back is nothing that a view can show; says what it is."""


@dataclass(frozen=True, slots=True)
class View:
    """A view as its author declares it.

    Args:
        name: of the exercise that it is of.
        title: what is shown.
        look: what to look for, in a sentence that holds for right code.
        ask: a question on it.
        moves: by the parameter's name, the values that it can be moved to.
        function: returns the heat maps.
    """

    name: str
    title: str
    look: str
    ask: str
    moves: Mapping[str, Sequence[Number]]
    function: Callable[..., Any]


def view(
    name: str,
    title: str,
    *,
    look: str,
    ask: str,
    moves: Mapping[str, Sequence[Number]] | None = None,
) -> Callable[[Callable[..., Any]], View]:
    """Declare that a function shows what an exercise's code makes of the text.

    Args:
        name: of the exercise.
        title: what is shown.
        look: what to look for, in a sentence that holds for right code.
        ask: a question on it.
        moves: by the function's parameter, the values that a slider has; two of them at most.
    """
    return lambda function: View(name, title, look, ask, moves or {}, function)


@dataclass(frozen=True, slots=True)
class Text:
    """The words that a view is about.

    Args:
        words: as they are shown.
        vectors: shape `(number of words, features)`, float32.
        notes: what a student should know of the vectors.
    """

    words: tuple[str, ...]
    vectors: torch.Tensor
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExampleText:
    """A course's example: a text, and a vector for each of its words.

    Other words get vectors that are drawn from a seed made of the word, within the range of these.

    Args:
        words: with spaces between them.
        vectors: as many rows of numbers.
    """

    words: str
    vectors: Sequence[Sequence[float]]

    def text(self, words: str | None = None) -> Text:
        """The example's own text, or any other.

        Raises:
            UsageError: when there are no words, or too many.
        """
        own = self.words.split()
        shown = own if words is None else _words(words)
        known = {word.casefold(): row for word, row in zip(own, self.vectors, strict=True)}
        known |= dict(zip(own, self.vectors, strict=True))
        rows = [known.get(w) or known.get(w.casefold()) or self._drawn(w) for w in shown]
        others = dict.fromkeys(w for w in shown if w.casefold() not in known)
        notes = (_unknown(list(others)),) if others else ()
        return Text(tuple(map(_short, shown)), torch.tensor(rows, dtype=torch.float32), notes)

    def _drawn(self, word: str) -> list[float]:
        """A vector for a word that is not in the example, the same each time."""
        digest = hashlib.blake2b(word.casefold().encode("utf-8", "replace"), digest_size=7).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest, "big"))
        numbers = [number for row in self.vectors for number in row]
        low, high = min(numbers), max(numbers)
        drawn = torch.rand(len(self.vectors[0]), generator=generator)
        return (low + (high - low) * drawn).tolist()


def _words(text: str) -> list[str]:
    """A text's words without the signs around them.

    Raises:
        UsageError: when there are none, or too many.
    """
    bare = (re.sub(r"^\W+|\W+$", "", word) for word in clean(text).split())
    words = [word for word in bare if word]
    if not words:
        raise UsageError(_("--text holds no words. Give it a few, in quotation marks."))
    if len(words) > MOST_SHOWN:
        sentence = _("--text has {count} words; at most {most} can be shown.")
        raise UsageError(sentence.format(count=len(words), most=MOST_SHOWN))
    return words


def _short(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"


def _unknown(words: list[str]) -> str:
    sentence = _("Not in the example: {words}. Their vectors are random, the same each time.")
    if len(words) == 1:
        sentence = _("Not in the example: {words}. Its vector is random, the same each time.")
    return sentence.format(words=listed(map(_short, words)))


@dataclass(frozen=True, slots=True)
class Heat:
    """What views hand their tensors to: `heat(…)`, and what comes before it.

    Args:
        calls: the student handle's list of requests, for sentences.
        say: puts the course's own words into the language of the run.
    """

    calls: list[Call] = field(default_factory=list)
    say: Say = str

    def words(self, template: str, **names: Any) -> str:
        """Words of the course in the language of the run, with a `{placeholder}` for each name."""
        return self.say(template).format(**names)

    def tensor(self, value: Any, *shape: int) -> torch.Tensor:
        """A tensor of this shape, as float64 and without its gradient.

        Args:
            value: what came from the student.
            *shape: what it has to have.

        Raises:
            CannotShow: when it is something else.
        """
        if is_tensor(value) and value.shape == shape and not value.is_complex():
            return value.detach().to(torch.float64)
        name = self.calls[-1].target if self.calls else ""
        sentence = _("What came back is {what}; the picture needs a tensor of shape {shape}.")
        if name:
            sentence = _("{name} returned {what}; the picture needs a tensor of shape {shape}.")
        raise CannotShow(sentence.format(name=name, what=describe(value), shape=shape))

    def load(
        self,
        student: StudentHandle,
        instance: RemoteObject,
        values: Mapping[str, torch.Tensor],
        zeros: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """Give an instance's parameters values, all of them.

        Args:
            student: the handle whose instance it is.
            instance: of the student's.
            values: by the parameter's name.
            zeros: shapes of what is set to zero where it is there, such as a bias.

        Raises:
            CannotShow: when one does not take its value.
        """
        spare = {name: torch.zeros(tuple(shape)) for name, shape in (zeros or {}).items()}
        problems = student.load(instance, {**values, **spare}).problems
        if sentence := not_taken({name: problems[name] for name in values if name in problems}):
            raise CannotShow(sentence)

    def __call__(
        self,
        values: Any,
        *,
        columns: Sequence[str],
        rows: Sequence[str] = (),
        title: str = "",
        axes: Sequence[str] = (),
    ) -> HeatMap:
        """A heat map of a tensor with a value for each label.

        Args:
            values: a tensor with one axis, or with two where there are rows.
            columns: a label above each column, at most 12.
            rows: the same beside each row; none for a vector, which is a single row.
            title: what is written above it, in plain words or in `words(…)`.
            axes: what the positions of each axis are, like "query" and "key".

        Raises:
            CannotShow: when it is no such tensor.
            ValueError: when there are too many labels, or as many names as axes are missing.
        """
        sides = [tuple(side) for side in (rows, columns) if side]
        names = [self.say(name) for name in axes] or [""] * len(sides)
        if len(names) != len(sides) or any(len(side) > MOST_SHOWN for side in sides):
            raise ValueError(f"a name for each axis, and at most {MOST_SHOWN} labels")
        plane = self.tensor(values, *map(len, sides)).reshape(-1, len(columns))
        found = [Axis(n, 0, len(side), side) for n, side in zip(names, sides, strict=True)]
        rows_and_columns = [Axis("", 0, 1), *found][-2:]
        return HeatMap(self.say(title) if title else "", shown_numbers(plane), *rows_and_columns)


def shown_numbers(plane: torch.Tensor) -> Rows:
    """The numbers of a tensor with two axes, each with the digits that a float32 has."""

    def number(value: float) -> Number:
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)

    return tuple(tuple(map(number, row)) for row in plane.tolist())
