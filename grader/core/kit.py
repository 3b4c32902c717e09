"""The kit's own name, which is in the formats of its files and in its users' folders."""

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any
from urllib.request import url2pathname

KIT_NAME = "grader-kit"
"""The distribution that is installed."""

DOCS = "docs"
"""The folder of the pages: in an installed package, or beside it in a clone."""


def installing(extra: str) -> str:
    """The command that installs the kit with one of its extras, from where it came."""
    origin = _origin()
    url = str(origin.get("url", ""))
    if not url.startswith("file:"):
        return f"pip install '{requirement(extra)}'"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{url2pathname(url.removeprefix('file://'))}[{extra}]'"


def requirement(extra: str) -> str:
    """What a file of requirements calls the kit with one of its extras, by where it came from."""
    origin, named = _origin(), f"{KIT_NAME}[{extra}]"
    if "url" not in origin:
        return named
    url = origin["url"]
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    inside = origin.get("subdirectory")
    return f"{named} @ {url}#subdirectory={inside}" if inside else f"{named} @ {url}"


def is_of_this_machine() -> bool:
    """Whether the kit was installed from a file or a folder that no other machine has."""
    return str(_origin().get("url", "")).startswith("file:")


def _origin() -> dict[str, Any]:
    """Where the kit was installed from, as installers note it (PEP 610); empty for an index.

    A student's copy installs a kit without extras: to get these, an index is asked.
    """
    kit = distribution(KIT_NAME)
    noted = kit.read_text("direct_url.json") if kit.metadata.get_all("Provides-Extra") else None
    found: dict[str, Any] = json.loads(noted or "{}")
    return found


def docs_folder() -> Path | None:
    """The folder of the kit's pages; None in a student's copy, which has none."""
    package = Path(__file__).parents[1]
    folders = (package / DOCS, package.parent / DOCS)
    return next((folder for folder in folders if (folder / "authors.md").is_file()), None)


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
