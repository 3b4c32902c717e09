"""The kit's own name, which is in the formats of its files and in its users' folders."""

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

KIT_NAME = "grader-kit"
"""The distribution that is installed."""


def installing(extra: str) -> str:
    """The command that installs the kit with one of its extras."""
    return f"pip install '{KIT_NAME}[{extra}]'"


@cache
def versions() -> dict[str, str]:
    """The versions that results record."""
    return {
        KIT_NAME: version(KIT_NAME),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


@cache
def grader_hash() -> str:
    """A hash of this package's own code."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
