"""What is remembered of a copy of the course between commands: hints, predictions, last results.

It lies in the user's state folder, a file per copy, and nothing depends on it: where it is damaged
or cannot be written, everything begins again.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from grader.core.errors import UsageError
from grader.core.files import write_whole
from grader.core.kit import KIT_NAME
from grader.core.language import current
from grader.core.records import ExerciseResult, Record
from grader.core.text import hash_of
from grader.judging.results import as_json, exercise_in_file


class Remembered(Record, frozen=True):
    """The last result of an exercise, and a hash of everything that decided it.

    Args:
        file_failures: sentences about its file, where that does not run.
    """

    key: str
    exercise: ExerciseResult
    file_failures: tuple[str, ...] = ()


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
        shown = self._part("hints").get(exercise)
        return shown if type(shown) is int and shown >= 0 else 0

    def questions_asked(self, exercise: str) -> tuple[str, ...]:
        """The known mistakes whose questions were asked already, by name."""
        asked = self._part("questions").get(exercise)
        return tuple(map(str, asked)) if isinstance(asked, list) else ()

    def predictions(self) -> dict[str, int]:
        """The numbers of the choices that were predicted, by exercise."""
        found = self._part("predictions")
        return {id_: number for id_, number in found.items() if type(number) is int}

    def results(self) -> dict[str, Remembered]:
        """The last result of each exercise that was ever checked, by id."""
        found = {}
        for id_, entry in self._part(_results()).items():
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                found[id_] = convert(entry, Remembered)
        return found

    def remember_hint(self, exercise: str, shown: int) -> bool:
        """Keep how many hints were shown; False when that cannot be kept."""
        return self._write("hints", {exercise: shown})

    def remember_question(self, exercise: str, mistakes: tuple[str, ...]) -> bool:
        """Keep which mistakes were asked about; False when that cannot be kept."""
        return self._write("questions", {exercise: list(mistakes)})

    def remember_prediction(self, exercise: str, number: int) -> bool:
        """Keep which choice was predicted; False when that cannot be kept."""
        return self._write("predictions", {exercise: number})

    def remember_results(self, results: Mapping[str, Remembered]) -> bool:
        """Keep the results of some exercises; False when they cannot be kept."""
        kept = {
            id_: replace(last, exercise=exercise_in_file(last.exercise))
            for id_, last in results.items()
        }
        return self._write(_results(), as_json(kept))

    def _part(self, name: str) -> dict[str, Any]:
        part = self._everything().get(name)
        return part if isinstance(part, dict) else {}

    def _everything(self) -> dict[str, Any]:
        try:
            content = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _write(self, name: str, entries: Mapping[str, object]) -> bool:
        content = {**self._everything(), "copy": str(self.root.resolve())}
        content[name] = {**self._part(name), **entries}
        with suppress(UsageError):
            write_whole(self.path, json.dumps(content))
            return True
        return False


def _results() -> str:
    """The part that results lie in: a language has its own, because they hold messages."""
    return f"results {current()}"
