"""The kit that is installed here, as a wheel: what a course keeps that no other machine could install.

A wheel is a zip of the package and of what pip knows about it, with the hash of each file
(https://packaging.python.org/en/latest/specifications/binary-distribution-format/).
"""

import base64
import hashlib
import io
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import grader
from grader.core.files import OutputFile
from grader.core.kit import DOCS, KIT_NAME, docs_folder

LICENSE = "licenses/LICENSE"
ABOUT = ("METADATA", "entry_points.txt", LICENSE)
WHEEL = f"Wheel-Version: 1.0\nGenerator: {KIT_NAME}\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def own_wheel(folder: str) -> OutputFile:
    """The wheel, the same to the byte as long as the kit is the same.

    Args:
        folder: where it is to lie in a course.
    """
    kit = distribution(KIT_NAME)
    name = f"{KIT_NAME.replace('-', '_')}-{kit.version}"
    about = {file: kit.read_text(file) for file in ABOUT} | {"WHEEL": WHEEL}
    files = {path: file.read_bytes() for path, file in _package().items()}
    files |= {f"{name}.dist-info/{file}": text.encode() for file, text in about.items() if text}
    record = f"{name}.dist-info/RECORD"
    lines = [f"{path},sha256={_hash(data)},{len(data)}\n" for path, data in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980, for all
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return OutputFile(f"{folder}/{name}-py3-none-any.whl", made.getvalue())


def _package() -> dict[str, Path]:
    """The files of the package and the pages, by their path in a wheel."""
    package, docs = Path(grader.__file__).parent, docs_folder()
    found = {path.relative_to(package.parent).as_posix(): path for path in package.rglob("*")}
    files = {p: found[p] for p in sorted(found) if found[p].is_file() and "__pycache__" not in p}
    pages = sorted(docs.glob("*.md")) if docs else []
    return files | {f"{package.name}/{DOCS}/{page.name}": page for page in pages}


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
