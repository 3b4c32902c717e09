"""What the workers of a class run have to agree on."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """What every worker of a run has to agree on.

    Args:
        root: the course's folder.
        course_hash: the course as the run began with it.
        seed: of the hidden inputs.
        isolation: "sealed" or "process".
    """

    root: Path
    course_hash: str
    seed: str
    isolation: str
