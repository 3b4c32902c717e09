"""What the workers of a class run have to agree on; apart from `worker`, which imports torch."""

from dataclasses import dataclass
from pathlib import Path

from grader.core.language import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What every worker of a run has to agree on.

    Args:
        root: the course's folder.
        course_hash: the course as the run began with it.
        seed: of the hidden inputs.
        isolation: "sealed" or "process".
        language: of what students read.
    """

    root: Path
    course_hash: str
    seed: str
    isolation: str
    language: str = DEFAULT_LANGUAGE
