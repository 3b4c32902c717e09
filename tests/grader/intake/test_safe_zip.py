"""Zips that strangers made: a test per trap."""

import io
import stat
import struct
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.intake.safe_zip import (
    CLASS_CAPS,
    MIB,
    STUDENT_CAPS,
    ArchiveError,
    best_encoding,
    entry_names,
    open_archive,
    safe_path,
)

CODE = b"def one():\n    return 1\n"


def unpack(path, folder, caps=STUDENT_CAPS):
    """Unpacks all that an archive has: the names of what was unpacked, and what was left out."""
    with closing(open_archive(path, folder, caps)) as archive:
        archive.check_total(sum(map(archive.size, archive.entries)))
        said = {inner: archive.unpack(inner) for inner in archive.entries}
        problems = [f"{str(inner)!r} {problem}" for inner, problem in said.items() if problem]
        files = [str(inner) for inner, problem in said.items() if not problem]
        return SimpleNamespace(files=files, problems=[*archive.problems, *problems])


def entry(name, *, mode=0o100644, packing=zipfile.ZIP_DEFLATED):
    """One entry's header."""
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = packing
    return info


class RawNames(zipfile.ZipInfo):
    """An entry whose name is written byte for byte."""

    def _encodeFilenameFlags(self):  # noqa: N802, zipfile's own name
        return self.filename.encode("cp437"), self.flag_bits & ~0x800


@pytest.fixture
def make(tmp_path):
    """Makes an archive of entries and contents, in order."""

    def make_archive(*entries, name="work.zip"):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for head, content in entries:
                archive.writestr(entry(head) if isinstance(head, str) else head, content)
        return path

    return make_archive


@pytest.fixture
def open_(tmp_path):
    """Unpacks an archive, and answers what came of it with all files anywhere near."""

    def unpack_near(path, caps=STUDENT_CAPS):
        made = unpack(path, tmp_path / "inner" / "out", caps)
        near = {p for p in tmp_path.rglob("*") if p.is_file() or p.is_symlink()} - {path}
        assert all(p.is_relative_to(tmp_path / "inner" / "out") for p in near)
        return made

    return unpack_near


def test_what_can_be_graded_is_unpacked_and_nothing_else(make, open_, tmp_path):
    """Scripts, notebooks, zips and timestamps; what a system leaves behind is passed over."""
    passed_over = ("a/data.csv", "__MACOSX/a/._one.py", ".git/hooks/x.py")
    path = make(
        *(("a/one.py", CODE), ("a/One.IPYNB", b"{}"), ("a/more.zip", b"PK")),
        *(("a/timestamp.txt", b"now"), *((name, b"1") for name in passed_over)),
    )
    made = open_(path)
    names = ["a/one.py", "a/One.IPYNB", "a/more.zip", "a/timestamp.txt"]
    assert (made.files, made.problems) == (names, [])
    assert (tmp_path / "inner" / "out" / "a" / "one.py").read_bytes() == CODE


OUT, ABSOLUTE = "leads out of the folder", "has an absolute path"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *((name, OUT) for name in ("../one.py", "a/../../one.py", "..\\one.py")),
        *(
            (name, ABSOLUTE)
            for name in ("/tmp/one.py", "C:\\one.py", "C:one.py", "\\\\server\\one.py")
        ),
        ("a/one:stream.py", "has a name that cannot be a file's"),
        ("a/\u202eyp.eno.py", "has a name that cannot be a file's"),
        ("a/" + "x" * 300 + ".py", "has a path that is too long"),
        ("a/" * 30 + "one.py", "has a path that is too long"),
    ],
)
def test_no_path_leads_out_of_the_folder(make, open_, name, problem):
    """Outside, absolute, of another system, or of no use as a name: left out and told."""
    made = open_(make((name, CODE), ("fine.py", CODE)))
    assert made.files == ["fine.py"]
    assert [told.endswith(problem) for told in made.problems] == [True]


LARGE = bytes(range(256)) * 4096


@pytest.mark.parametrize(
    ("head", "content", "problem"),
    [
        (
            entry("a.py", mode=stat.S_IFLNK | 0o777),
            b"/etc",
            "'a.py' is a link; links are not followed",
        ),
        *(
            (entry("a.py", mode=kind | 0o666), b"/etc", "'a.py' is no ordinary file")
            for kind in (stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK)
        ),
        (
            entry("a.py"),
            b"\0" * (20 * MIB),
            "'a.py' unpacks to more than 200 times its size, as a bomb does",
        ),
        (entry("a.py"), LARGE, "'a.py' unpacks to more than 0 MiB"),
        # Some packings take memory without bound.
        (
            entry("a.py", packing=zipfile.ZIP_LZMA),
            CODE,
            "'a.py' is packed in a way that is not read; pack it as an ordinary zip",
        ),
    ],
    ids=["link", "character", "block", "pipe", "socket", "bomb", "large", "packing"],
)
def test_what_is_no_ordinary_file_is_left_out(make, open_, head, content, problem):
    """Neither made nor followed, however well it says what it is; the others stay."""
    caps = replace(STUDENT_CAPS, one=MIB // 2) if content == LARGE else STUDENT_CAPS
    made = open_(make((head, content), ("fine.py", CODE)), caps)
    assert (made.files, made.problems) == (["fine.py"], [problem])


@pytest.mark.parametrize(
    ("content", "caps", "said"),
    [
        # What they come to together counts, whatever the list of contents says.
        (LARGE, {"total": MIB}, "unpacks to more than 1 MiB"),
        (b"", {"entries": 20}, "has 30 entries; at most 20 are read"),
        # A long list of contents would take memory before it could be counted.
        (b"", {"directory": 1000}, "lists too many files"),
    ],
)
def test_too_much_ends_it(make, tmp_path, content, caps, said):
    """Before anything is written."""
    path = make(*((f"{n}.py", content) for n in range(30)))
    with pytest.raises(ArchiveError, match=said):
        unpack(path, tmp_path / "out", replace(STUDENT_CAPS, **caps))
    assert not (tmp_path / "out").exists()


def test_a_long_list_cannot_hide_behind_64_bit_sizes(make, tmp_path):
    """Python believes the wide size where there is one, so that is the one that is looked at."""
    path = make(*((f"{n}.py", b"") for n in range(30)))
    data = path.read_bytes()
    end = data.index(b"PK\x05\x06")
    size, start = struct.unpack_from("<2I", data, end + 12)
    record = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 30, 30, size, start)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 30, 30, 10, start, 0)
    path.write_bytes(data[:end] + record + locator + tail)
    assert len(unpack(path, tmp_path / "out").files) == 30
    with pytest.raises(ArchiveError, match="lists too many files"):
        unpack(path, tmp_path / "again", replace(STUDENT_CAPS, directory=1000))


def test_entries_that_share_their_bytes_count_each(make, tmp_path):
    """A bomb of overlapping entries unpacks once, and is then counted as often as it is listed."""
    path = make(("a.py", bytes(range(256)) * 2000))
    data = path.read_bytes()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    times = 40
    directory = data[start:end] * times
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, times, times, len(directory), start, 0)
    path.write_bytes(data[:start] + directory + tail)
    made = unpack(path, tmp_path / "out", replace(STUDENT_CAPS, total=4 * MIB))
    assert made.files == ["a.py"]
    assert made.problems == ["'a.py' comes twice; the first one was taken"] * (times - 1)


def test_a_name_that_comes_twice_is_taken_once(make, open_, tmp_path):
    """Also where only case or the way an accent is written tells them apart."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = make(
            ("a.py", CODE), ("a.py", b"2"), ("A.py", b"3"), ("\u00e9.py", b""), ("e\u0301.py", b"")
        )
    made = open_(path)
    assert made.files == ["a.py", "\u00e9.py"]
    assert (tmp_path / "inner" / "out" / "a.py").read_bytes() == CODE
    assert len(made.problems) == 3


def test_a_file_in_the_way_of_a_folder_is_told(make, open_):
    """One path cannot be both."""
    made = open_(make(("a.py", CODE), ("a.py/b.py", CODE)))
    assert made.files == ["a.py"]
    assert made.problems[0].startswith("'a.py/b.py' is damaged")


@pytest.mark.parametrize(
    ("mark", "offset", "bits", "said"),
    [(b"PK\1\2", 8, 1, "'a.py' is encrypted"), (b"PK\3\4", 40, 0xFF, "'a.py' is damaged")],
)
def test_an_encrypted_or_damaged_file_is_told(make, open_, mark, offset, bits, said):
    """Nobody is asked for a password; the others stay."""
    path = make(("a.py", CODE * 50), ("b.py", CODE))
    data = bytearray(path.read_bytes())
    data[data.index(mark) + offset] ^= bits
    path.write_bytes(bytes(data))
    made = open_(path)
    assert made.files == ["b.py"]
    assert made.problems[0].startswith(said)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_zip_is_refused(tmp_path, content):
    """In a sentence."""
    path = tmp_path / "work.zip"
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=r"work\.zip (is no zip that|lists too many)"):
        unpack(path, tmp_path / "out", CLASS_CAPS)


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (["王芳/作业一.py", "李娜/注意力.py"], "gb18030"),
        (["张伟.py"], "gb18030"),
        (["山田太郎/課題.py", "さくら/コード.py"], "cp932"),
        (["佐藤花子.py"], "cp932"),
        (["王芳.py", "山田.py", "José.py"], "utf-8"),
        (["José/Müller.py"], "cp437"),
        (["课程/注意力.py", "宿題/ｱ.py"], "marked"),
    ],
)
def test_names_in_old_encodings_are_read(tmp_path, names, encoding):
    """Chinese, Japanese and Latin, as zips without the mark of UTF-8 have them; or with it, any."""
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            is_marked = encoding == "marked"
            head = name if is_marked else RawNames(name.encode(encoding).decode("cp437"))
            archive.writestr(head, CODE)
    made = unpack(path, tmp_path / "out")
    assert made.files == names
    assert all((tmp_path / "out" / name).read_bytes() == CODE for name in names)


def test_plain_names_have_no_encoding_to_guess():
    """ASCII is in all of them."""
    assert best_encoding([]) == "cp437"
    assert entry_names([entry("a.py")]) == ["a.py"]


@given(st.text(max_size=60))
@settings(max_examples=400)
def test_no_name_at_all_leads_out(name: str):
    """A path is relative, goes nowhere up, and ends in a name; or there is none."""
    path, problem = safe_path(name, STUDENT_CAPS)
    assert (path is None) == bool(problem)
    if path is not None:
        assert not path.is_absolute()
        assert not {"..", ""} & set(path.parts)
        assert (Path("/base") / path).is_relative_to("/base")


@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
@settings(max_examples=300)
def test_damage_anywhere_is_survived(tmp_path_factory, noise, position, value):
    """A zip with any byte changed, or any bytes at all: unpacked in part, or refused."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(entry("a/one.py"), CODE * 3)
        archive.writestr(entry("b/two.py"), CODE)
    data = bytearray(memory.getvalue())
    data[position % len(data)] = value
    folder = tmp_path_factory.mktemp("damaged")
    for number, content in enumerate((bytes(data), noise)):
        path = folder / f"{number}.zip"
        path.write_bytes(content)
        try:
            made = unpack(path, folder / f"out{number}")
        except ArchiveError:
            continue
        assert all((folder / f"out{number}" / name).is_file() for name in made.files)
