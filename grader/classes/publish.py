"""What was published of a class: rows in its store, with which later runs are compared."""

import zlib
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from grader.classes.records import PUBLISHED, SUMMARY, open_records
from grader.classes.store import Store
from grader.core.errors import UsageError

NAME = "%Y-%m-%dT%H-%M-%SZ"


def publish(out: Path, now: datetime) -> Path:
    """Keep a run's records as students are given them; what they are called from now on.

    Args:
        out: the run's folder.
        now: the moment, with its zone, which names them.

    Raises:
        UsageError: when there is no run in the folder, or it cannot be written.
    """
    summary = out / SUMMARY
    if not summary.is_file():
        raise UsageError(f"{out} holds no run: there is no {SUMMARY}. Give the --out of one.")
    records = open_records(out)
    packed = {student: zlib.compress(records.text(student), 6) for student in records.texts}
    with Store.to_write(out) as store:
        name, taken = now.astimezone(UTC).strftime(NAME), store.published()
        names = chain((name,), (f"{name}_{number}" for number in count(2)))
        name = next(one for one in names if one not in taken)
        store.publish(name, summary.read_text("utf-8"), packed)
    return out / PUBLISHED / name


def last_published(out: Path) -> Path | None:
    """What was published last; None where nothing was."""
    with Store.to_read(out) as store:
        names = store.published()
    return out / PUBLISHED / names[-1] if names else None
