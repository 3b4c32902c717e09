"""What is remembered of a copy of the course between commands: hints, predictions, last results.

It lies in the user's state folder, a file per copy, and nothing depends on it: where it is damaged
or cannot be written, everything begins again.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import DecodeError, Meta, Raw, field
from msgspec.json import decode, encode
from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.kit import KIT_NAME
from grader.core.language import current
from grader.core.records import ExerciseResult, Record
from grader.core.text import hash_of
from grader.judging.results import exercise_in_file


class Remembered(Record, frozen=True):
    """The last result of an exercise, and a hash of everything that decided it.

    Args:
        file_failures: sentences about its file, where that does not run.
    """

    key: str
    exercise: ExerciseResult
    file_failures: tuple[str, ...] = ()


class Contents(Record, frozen=True):
    """What the file holds.

    Args:
        copy: the folder of the copy.
        hints: how many hints were shown, by exercise.
        questions: the known mistakes whose questions were asked, by exercise.
        predictions: the numbers of the choices that were predicted, by exercise.
        results: the last results of exercises, by language, because they hold messages.
    """

    copy: str = ""
    hints: dict[str, Annotated[int, Meta(ge=0)]] = field(default_factory=dict)
    questions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    predictions: dict[str, int] = field(default_factory=dict)
    results: dict[str, Raw] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one copy of the course, which is in the folder `root`."""

    root: Path

    @property
    def path(self) -> Path:
        """The file it lies in."""
        from platformdirs import user_state_path

        name = hash_of(str(self.root.resolve()))
        folder = user_state_path(KIT_NAME, appauthor=False)
        return folder / "copies" / f"{name[:16]}.json"

    def hints_shown(self, exercise: str) -> int:
        """How many hints of an exercise were shown."""
        return self._contents().hints.get(exercise, 0)

    def questions_asked(self, exercise: str) -> tuple[str, ...]:
        """The known mistakes whose questions were asked already, by name."""
        return self._contents().questions.get(exercise, ())

    def predictions(self) -> dict[str, int]:
        """The numbers of the choices that were predicted, by exercise."""
        return self._contents().predictions

    def results(self) -> dict[str, Remembered]:
        """The last result of each exercise that was ever checked, by id."""
        with suppress(KeyError, DecodeError):
            return decode(self._contents().results[current()], type=dict[str, Remembered])
        return {}

    def remember_hint(self, exercise: str, shown: int) -> bool:
        """Keep how many hints were shown; False when that cannot be kept."""
        return self._write("hints", {exercise: shown})

    def remember_question(self, exercise: str, mistakes: tuple[str, ...]) -> bool:
        """Keep which mistakes were asked about; False when that cannot be kept."""
        return self._write("questions", {exercise: mistakes})

    def remember_prediction(self, exercise: str, number: int) -> bool:
        """Keep which choice was predicted; False when that cannot be kept."""
        return self._write("predictions", {exercise: number})

    def remember_results(self, results: Mapping[str, Remembered]) -> bool:
        """Keep the results of some exercises; False when they cannot be kept."""
        new = {i: replace(r, exercise=exercise_in_file(r.exercise)) for i, r in results.items()}
        return self._write("results", {current(): Raw(encode({**self.results(), **new}))})

    def _contents(self) -> Contents:
        try:
            return decode(self.path.read_bytes(), type=Contents)
        except (OSError, DecodeError):
            return Contents()

    def _write(self, name: str, entries: Mapping[str, object]) -> bool:
        before = self._contents()
        parts = {name: {**getattr(before, name), **entries}, "copy": str(self.root.resolve())}
        with suppress(UsageError):
            write_whole(self.path, encode(replace(before, **parts)))
            return True
        return False
