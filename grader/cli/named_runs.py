"""A folder holds results under names or under numbers, never both."""

from collections.abc import Mapping
from pathlib import Path

from grader.classes.records import FORMER, records_in
from grader.classes.store import Store
from grader.core.errors import UsageError
from grader.intake.folders import STORE

ANONYMOUS = "--anonymous"
"""Stands among a run's options where it has numbers."""


def require_numbers(folder: Path, option: str, numbers: Mapping[str, str]) -> None:
    """Raise UsageError where a folder has results under names.

    Args:
        folder: a run's.
        option: which option gives it.
        numbers: everybody's, by name.
    """
    found = {*records_in(folder), *records_in(folder / FORMER)}
    if named := sorted(found - {*numbers.values()}):
        raise UsageError(
            f"{folder} has results of students who are no numbers of the key file, like {named[0]}. "
            f"Give another --{option}."
        )


def require_names(out: Path) -> None:
    """Raise UsageError where a folder has results under numbers."""
    if not (out / STORE).is_file():
        return
    with Store.to_read(out) as store:
        before = store.options()
    if before is not None and ANONYMOUS in before.options:
        raise UsageError(
            f"{out} holds a run without names. Give its key file again, {ANONYMOUS} KEYFILE; or "
            "another --out."
        )
