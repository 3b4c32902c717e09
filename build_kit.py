"""Builds the kit: flit does, and the pages of docs/ are put into the wheel, where `grader docs` finds them."""

import base64
import hashlib
import zipfile
from pathlib import Path
from typing import Any

from flit_core.buildapi import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from flit_core.buildapi import build_wheel as flits_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

RECORD = ".dist-info/RECORD"


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel, with the pages."""
    name: str = flits_wheel(wheel_directory, config_settings, metadata_directory)
    path = Path(wheel_directory) / name
    with zipfile.ZipFile(path) as built:
        content = {entry: built.read(entry) for entry in built.infolist()}
    pages = {
        f"grader/docs/{page.name}": page.read_bytes() for page in sorted(Path("docs").glob("*.md"))
    }
    lines = "".join(f"{page},sha256={_hash(data)},{len(data)}\n" for page, data in pages.items())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for page, data in pages.items():
            wheel.writestr(zipfile.ZipInfo(page, next(iter(content)).date_time), data)
        for entry, data in content.items():
            wheel.writestr(
                entry, lines.encode() + data if entry.filename.endswith(RECORD) else data
            )
    return name


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
