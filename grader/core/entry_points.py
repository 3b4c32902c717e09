"""Entry points of the kit and of other packages, each loaded when it is used.

An entry of the kit may name an extra in brackets, which installs what
the entry imports beyond the kit's own dependencies.
"""

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from grader.core.errors import UsageError
from grader.core.kit import installing


@cache
def entries(group: str) -> dict[str, EntryPoint]:
    """The entries of a group, and of those whose name begins with it and a dot, by name in order.

    Of several of one name the kit's own counts.
    """
    everything = entry_points()
    groups = [name for name in everything.groups if f"{name}.".startswith(f"{group}.")]
    found = [entry for name in groups for entry in everything.select(group=name)]
    found.sort(key=lambda entry: (entry.name, entry.module.startswith("grader.")))
    return {entry.name: entry for entry in found}


def of_address(group: str, address: str, usual: str) -> EntryPoint:
    """The entry that an address names before its first colon; else the one that is meant usually."""
    found = entries(group)
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
