"""Doors: what Python's entry points name, the kit's like any other package's, loaded when it is used.

A door is a group of entry points. An entry of the kit may name an extra in brackets, which installs what
the entry imports beyond the kit's own dependencies.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from grader.core.errors import UsageError
from grader.core.kit import installing


@cache
def entries(door: str) -> dict[str, EntryPoint]:
    """What stands at a door, and at those whose name begins with it and a dot, by name in order.

    Of several of one name the kit's own counts.
    """
    everything = entry_points()
    doors = [group for group in everything.groups if f"{group}.".startswith(f"{door}.")]
    found = [entry for group in doors for entry in everything.select(group=group)]
    found.sort(key=lambda entry: (entry.name, entry.module.startswith("grader.")))
    return {entry.name: entry for entry in found}


def of_address(door: str, address: str, usual: str) -> EntryPoint:
    """The entry that an address names before its first colon; else the one that is meant usually."""
    found = entries(door)
    return found.get(address.partition(":")[0], found[usual])


def lacking(entry: EntryPoint, error: Exception) -> str:
    """What to install, where an error says that the entry's extra is not there; "" for other errors."""
    if not (entry.extras and isinstance(error, ModuleNotFoundError)):
        return ""
    install = installing(entry.extras[0])
    return f"{entry.name} needs {error.name}, which is not installed. Run: {install}."


def load(entry: EntryPoint) -> Any:
    """What an entry names.

    Raises:
        UsageError: when the entry's extra is not installed.
    """
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        if sentence := lacking(entry, error):
            raise UsageError(sentence) from error
        raise
