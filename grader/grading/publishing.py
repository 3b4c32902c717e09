"""What was published of a run: a copy that stays as it is, with which later runs are compared."""

import json
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from grader.core.errors import UsageError
from grader.core.files import writing
from grader.grading.class_files import SUMMARY, Row
from grader.grading.set_aside import REPORTS
from grader.submissions.student_folders import JOURNAL

PUBLISHED = "published"
NAME = "%Y-%m-%dT%H-%M-%SZ"
PARTS = ("results", "feedback", "scores.csv", SUMMARY, JOURNAL, REPORTS)
"""What is copied of a run's folder, where it is there."""


def publish(out: Path, now: datetime) -> Path:
    """Copy a run's results; the copy, whole or not at all.

    Args:
        out: the run's folder.
        now: the moment, with its zone, which names the copy.

    Raises:
        UsageError: when there is no run in the folder, or it cannot be copied.
    """
    if not (out / SUMMARY).is_file():
        raise UsageError(f"{out} holds no run: there is no {SUMMARY}. Give the --out of one.")
    target = _free(out / PUBLISHED / now.astimezone(UTC).strftime(NAME))
    unfinished = target.with_name(f".{target.name}")
    with writing(target):
        for left in target.parent.glob(".[0-9]*"):  # of a command that was killed
            shutil.rmtree(left, ignore_errors=True)
        unfinished.mkdir(parents=True)
        for path in (out / part for part in PARTS):
            if path.is_dir():
                shutil.copytree(path, unfinished / path.name)
            elif path.is_file():
                shutil.copy2(path, unfinished / path.name)
        unfinished.replace(target)
    return target


def _free(target: Path) -> Path:
    """This path, or one after it in order that is not taken."""
    names = (f"{target.name}_{number}" for number in count(2))
    paths = chain((target,), map(target.with_name, names))
    return next(path for path in paths if not path.exists())


def last_published(out: Path) -> Path | None:
    """The copy that was made last; None where there is none."""
    found = (path for path in (out / PUBLISHED).glob("[0-9]*") if (path / SUMMARY).is_file())
    return max(found, default=None)


def differing(published: Path, rows: Iterable[Row]) -> int:
    """How many scores are not as they were published; 0 where that cannot be read."""
    with suppress(OSError, ValueError, KeyError, AttributeError):
        before = json.loads((published / SUMMARY).read_text("utf-8"))["scores"]
        return sum(row.score != before.get(row.student) for row in rows)
    return 0
