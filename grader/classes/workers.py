"""Starts workers, early: what takes long is imported here and by their children's parent at one time."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.classes.store import RunSettings
from grader.course.course import load_course
from grader.sessions.launchers import Launcher, default_launcher

if TYPE_CHECKING:
    from grader.classes.worker import Worker

_kept: "dict[RunSettings, Worker]" = {}
"""What this process grades with, when it is a worker process: one at a time, of the latest run."""


def new_worker(
    settings: RunSettings,
    launcher: Launcher | None = None,
    says: Callable[[str, int], None] | None = None,
) -> "Worker":
    """A worker whose children are sealed where the run is to be.

    Args:
        settings: the run's.
        launcher: makes the children; it is closed with the worker.
        says: is told of which exercise how many known mistakes are run, which takes long.

    Raises:
        CourseError, CannotSealError, UsageError: as `Worker` and `sealed_launcher` do.
    """
    launcher = launcher or default_launcher(load_course(settings.root).packages)
    try:
        # Here, because they import torch, and the launcher's process may do so by now.
        from grader.classes.worker import Worker
        from grader.judging import seal_probe

        if settings.isolation == "sealed":
            launcher = seal_probe.sealed_launcher(started=launcher)
        return Worker(settings, launcher, says)
    except BaseException:
        launcher.close()
        raise


def kept_worker(settings: RunSettings) -> "Worker":
    """This process's worker, which keeps what it has loaded from one student to the next."""
    if settings not in _kept:
        for other in list(_kept):
            _kept.pop(other).close()
        _kept[settings] = new_worker(settings)
    return _kept[settings]
