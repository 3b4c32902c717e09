"""What differs between the options of a run and those of the run before."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.classes.records import PUBLISHED
from grader.classes.store import ANONYMOUS
from grader.cli.shared import from_here

FLAGS = ("--history", ANONYMOUS)
USUAL = {"--policy": "last"}
"""What holds where an option is not given."""


def other_options(before: Sequence[str], now: Sequence[str]) -> str:
    """What decides differently what counts than in the run before; "" for nothing.

    One thing published is as another, and the first one is nothing new: it comes with `publish`.
    """
    earlier, later = dict(_pairs(before)), dict(_pairs(now))
    words = [
        _difference(option, earlier.get(option), later.get(option))
        for option in dict.fromkeys((*later, *earlier))
        if _same(earlier.get(option)) != _same(later.get(option))
        and (option in earlier or not _is_published(later[option]))
    ]
    return f"Unlike the run before: {'; '.join(words)}." if words else ""


def _pairs(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    rest = iter(options)
    for option in rest:
        yield option, "" if option in FLAGS else next(rest)


def _same(value: str | None) -> str | None:
    """What is compared of a value."""
    return str(Path(value).parent) if value and _is_published(value) else value


def _is_published(value: str) -> bool:
    return Path(value).parent.name == PUBLISHED


def _difference(option: str, before: str | None, now: str | None) -> str:
    was, is_ = (_shown(option, value) for value in (before, now))
    if option not in USUAL and now is None:
        return f"without {option}" + (f" {was}" if was else "")
    if before is None and option not in USUAL:
        return f"with {option}" + (f" {is_}" if is_ else "")
    return f"{option} {is_}, was {was}"


def _shown(option: str, value: str | None) -> str:
    if value is None or option in FLAGS:
        return USUAL.get(option, "")
    return from_here(Path(value)) if Path(value).is_absolute() else value
