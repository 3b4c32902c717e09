"""What the workers of a class run have to agree on; apart from `worker`, which imports torch."""

from dataclasses import dataclass
from pathlib import Path

from grader.core.language import DEFAULT_LANGUAGE


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The course as the run began with it, the hidden inputs' seed, and "sealed" or "process"."""

    root: Path
    course_hash: str
    seed: str
    isolation: str
    language: str = DEFAULT_LANGUAGE
