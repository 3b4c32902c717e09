"""Unpacks zips that strangers made: never outside the folder, no links, no bombs.

Only what can be graded is written: scripts, notebooks, zips inside the zip, and nbgrader's
timestamps. What is left out is reported, unless nobody would miss it.
"""

import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from grader.core.errors import UsageError

WANTED = (".py", ".ipynb", ".zip")
TIMESTAMP = "timestamp.txt"
JUNK = ("__MACOSX", "__pycache__", "Thumbs.db")
UTF8_FLAG = 0x800
ENCRYPTED_FLAG = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others can ask for memory without bound."""
DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, ValueError, OverflowError, IndexError),
)
"""What Python's reader raises for an archive that is not whole."""
CHUNK = 1 << 16
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Caps:
    """How large an archive may be.

    Args:
        directory: bytes of its list of contents.
        one: bytes of one file, unpacked.
        total: bytes of all files together, unpacked.
        ratio: how many times its packed size a file above 1 MiB may be.
        name: bytes of one part of a path.
        parts: folders in a path.
    """

    entries: int = 200_000
    directory: int = 64 * MIB
    one: int = 256 * MIB
    total: int = 8192 * MIB
    ratio: int = 200
    name: int = 200
    parts: int = 20


CLASS_CAPS = Caps()
STUDENT_CAPS = Caps(entries=2_000, directory=MIB, one=32 * MIB, total=64 * MIB)
"""For a zip that one student handed in."""


class ArchiveError(UsageError):
    """An archive that is not unpacked at all."""


@dataclass(slots=True)
class Archive:
    """An open archive: what of it can be graded.

    Args:
        opened: the zip.
        folder: takes what is unpacked.
        caps: how large the archive may be.
        entries: the files that can be graded, by where they are put.
        others: files of kinds that nobody grades.
        problems: what was left out, and why.

    Raises:
        ArchiveError: when it holds more files than the caps allow.
    """

    opened: zipfile.ZipFile
    folder: Path
    caps: Caps
    entries: dict[PurePosixPath, zipfile.ZipInfo] = field(default_factory=dict)
    others: list[PurePosixPath] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        entries = self.opened.infolist()
        if len(entries) > self.caps.entries:
            raise ArchiveError(
                f"The archive has {len(entries)} entries; at most {self.caps.entries} are read."
            )
        taken: set[str] = set()
        for entry, name in zip(entries, entry_names(entries), strict=True):
            if entry.is_dir() or name.endswith("\\"):
                continue
            path, problem = safe_path(name, self.caps)
            if path is not None and not _is_junk(path):
                problem = self._list(path, entry, taken)
            if problem:
                name = name if len(name) <= 120 else f"{name[:120]}…"
                self.problems.append(f"{name!r} {problem}")

    def _list(self, path: PurePosixPath, entry: zipfile.ZipInfo, taken: set[str]) -> str:
        """List one file; return why it is left out, or "" where there is nothing to report."""
        if problem := _forbidden(entry, self.caps):
            return problem
        if path.suffix.lower() not in WANTED and path.name != TIMESTAMP:
            self.others.append(path)
            return ""
        key = unicodedata.normalize("NFC", str(path)).casefold()
        if key in taken:
            return "comes twice; the first one was taken"
        taken.add(key)
        self.entries[path] = entry
        return ""

    def size(self, path: PurePosixPath) -> int:
        """How many bytes a file has at most when it is unpacked."""
        return self.entries[path].file_size

    def path_of(self, target: Path) -> PurePosixPath:
        """The file that is unpacked to a place in the folder."""
        return PurePosixPath(target.relative_to(self.folder).as_posix())

    def check_total(self, size: int) -> None:
        """Check how many bytes all files come to.

        Raises:
            ArchiveError: when it is more than the caps allow.
        """
        if size > self.caps.total:
            raise ArchiveError(f"The archive unpacks to more than {self.caps.total // MIB} MiB.")

    def unpack(self, path: PurePosixPath) -> str:
        """Unpack one file; return why it could not be unpacked, or "".

        It never has more bytes than the list of contents says: Python's reader stops there.
        """
        target = self.folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.opened.open(self.entries[path]) as source, target.open("xb") as sink:
                shutil.copyfileobj(source, sink, CHUNK)
        except (OSError, *DAMAGE) as error:
            problem = f"is damaged ({error})"
        except (RuntimeError, NotImplementedError) as error:
            problem = f"cannot be unpacked ({error})"
        else:
            return ""
        if target.is_file():
            target.unlink()
        return problem

    def close(self) -> None:
        """Close the zip."""
        self.opened.close()


def open_archive(archive: Path, folder: Path, caps: Caps) -> Archive:
    """Open an archive and read what is in it.

    Args:
        archive: the zip.
        folder: takes the files.
        caps: how large the archive may be.

    Raises:
        ArchiveError: when it is no zip, or holds more than the caps allow.
    """
    _check_directory(archive, caps)
    try:
        return Archive(zipfile.ZipFile(archive), folder, caps)
    except (*DAMAGE, NotImplementedError) as error:
        raise ArchiveError(f"{archive.name} is no zip that can be read ({error}).") from error


def _check_directory(archive: Path, caps: Caps) -> None:
    """Check the size of the list of contents before it is read into memory.

    Raises:
        ArchiveError: when it is too long.
    """
    try:
        with archive.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 66_000))
            tail = file.read()
    except OSError as error:
        raise ArchiveError(f"{archive.name} cannot be read ({error.strerror}).") from error
    found = tail.rfind(b"PK\x05\x06")
    if found < 0 or len(tail) < found + 22:
        raise ArchiveError(f"{archive.name} is no zip that can be read.")
    (length,) = struct.unpack_from("<I", tail, found + 12)
    if found >= 76 and tail[found - 76 : found - 72] == b"PK\x06\x06":
        # An archive with 64-bit sizes has them right before; Python believes those.
        (length,) = struct.unpack_from("<Q", tail, found - 36)
    if length > caps.directory:
        raise ArchiveError(f"{archive.name} lists too many files to be a class's work.")


def _is_junk(path: PurePosixPath) -> bool:
    return bool(set(path.parts) & set(JUNK)) or any(part.startswith(".") for part in path.parts)


def _forbidden(entry: zipfile.ZipInfo, caps: Caps) -> str:
    """Why an entry is never unpacked, whatever it is called."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a link; links are not followed"
    if kind not in (0, stat.S_IFREG):
        return "is no ordinary file"
    if entry.flag_bits & ENCRYPTED_FLAG:
        return "is encrypted"
    if entry.compress_type not in METHODS:
        return "is packed in a way that is not read; pack it as an ordinary zip"
    if entry.file_size > caps.one:
        return f"unpacks to more than {caps.one // MIB} MiB"
    if entry.file_size > max(MIB, caps.ratio * entry.compress_size):
        return f"unpacks to more than {caps.ratio} times its size, as a bomb does"
    return ""


def safe_path(name: str, caps: Caps) -> tuple[PurePosixPath | None, str]:
    """A path inside the folder, or None and why there is none."""
    name = unicodedata.normalize("NFC", name.replace("\\", "/"))
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return None, "has an absolute path"
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        return None, "leads out of the folder"
    if not parts or not all(part.isprintable() and ":" not in part for part in parts):
        return None, "has a name that cannot be a file's"
    long = any(len(part.encode("utf-8", "replace")) > caps.name for part in parts)
    if long or len(parts) > caps.parts:
        return None, "has a path that is too long"
    return PurePosixPath(*parts), ""


# Names in old encodings.


def entry_names(entries: Iterable[zipfile.ZipInfo]) -> list[str]:
    """The entries' names; those not marked as UTF-8 all in the one encoding that fits best."""
    names = [e.filename if e.flag_bits & UTF8_FLAG else e.filename.encode("cp437") for e in entries]
    encoding = best_encoding([n for n in names if isinstance(n, bytes) and not n.isascii()])
    return [n if isinstance(n, str) else n.decode(encoding, "replace") for n in names]


def best_encoding(names: list[bytes]) -> str:
    """The encoding in which all names can be read, and read like words."""
    if not names:
        return "cp437"
    scores = {}
    for encoding in ("utf-8", "cp932", "gb18030", "cp437"):
        with suppress(UnicodeDecodeError):
            text = "".join(name.decode(encoding) for name in names)
            if encoding == "utf-8":
                return encoding  # nothing else looks like it by accident
            letters = [character for character in text if not character.isascii()]
            scores[encoding] = sum(map(_likelihood, letters)) / max(1, len(letters))
    return max(scores, key=lambda encoding: scores[encoding])


def _likelihood(character: str) -> float:
    """How likely a letter beyond ASCII stands in a name: read wrongly, names have rare ones."""
    if "\u3041" <= character <= "\u30fe":
        return 1.0  # Japanese syllables
    if "\u4e00" <= character <= "\u9fff":
        # The first level of the Chinese or the Japanese standard: the common characters.
        chinese = character.encode("gb2312", "ignore")[:1]
        japanese = character.encode("euc_jp", "ignore")[:1]
        return 0.9 if b"" < chinese <= b"\xd7" or b"" < japanese <= b"\xcf" else -0.5
    if character.isalpha() and character < "\u0250":
        return 0.5  # Latin with accents
    return -1.0
