"""Reading a submission's files: links, encodings, sizes, times and the hash."""

import json
import tracemalloc
from datetime import UTC, datetime, timedelta, timezone

import pytest

from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import read_submission

NOT_UTF8 = "it is not text in UTF-8; save it again in that encoding"


@pytest.fixture
def course(tmp_path):
    """One assignment without a stub."""
    first = Assignment("01_first", "First", (Exercise("01_first", "dot", 1),))
    return Course(tmp_path / "course", "T", "py", Limits(), LateRule(), (first,))


@pytest.fixture
def folder(tmp_path):
    """A student's folder with a folder for the assignment."""
    path = tmp_path / "ada"
    (path / "01_first").mkdir(parents=True)
    return path


@pytest.fixture
def read(course, folder):
    """Reads the student's folder."""
    return lambda: read_submission(course, folder, "ada")


@pytest.fixture
def script(read, folder):
    """Reads bytes as the assignment's script."""

    def script(data):
        (folder / "01_first" / "first.py").write_bytes(data)
        return read().sources["01_first/first.py"]

    return script


# Links.


@pytest.fixture
def outside(tmp_path):
    """A folder that no student should be able to point to."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "first.py").write_text("SECRET = 1\n", "utf-8")
    (path / "timestamp.txt").write_text("2027-02-01 12:00:00 UTC", "utf-8")
    return path


@pytest.mark.parametrize("name", ["01_first/first.py", "first.py", "homework.py"])
def test_a_linked_file_is_not_read(name, outside, read, folder):
    """A link could lead to a solution, or to another student's work."""
    (folder / name).symlink_to(outside / "first.py")
    assert read().is_empty


def test_a_linked_folder_is_not_read(outside, read, folder):
    """Nor could a link to a folder, not even for the time in it."""
    (folder / "01_first").rmdir()
    (folder / "01_first").symlink_to(outside, target_is_directory=True)
    submission = read()
    assert submission.is_empty
    assert submission.readings["01_first"].submitted_at is None


def test_a_link_beside_a_file_does_not_hide_it(outside, read, folder):
    """A link is passed over, and what lies beside it is read."""
    (folder / "01_first" / "first.py").symlink_to(outside / "first.py")
    (folder / "01_first" / "first.ipynb").write_text('{"cells": []}', "utf-8")
    assert list(read().sources) == ["01_first/first.ipynb"]


# Encodings.


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        ("x = 'é'\r\n".encode("utf-16"), "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None),
        (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n"),
        (b"x = 1\ry = 2\r", "x = 1\ny = 2\n"),
        (b"", ""),
    ],
    ids=["utf-8", "bom", "utf-16", "latin-1", "cp1252", "crlf", "cr", "empty"],
)
def test_a_script_is_read_in_the_encoding_it_names(data, text, script):
    """UTF-8, or what the coding line or the mark says; line ends become one."""
    source = script(data)
    wanted = text if text is not None else data.decode("cp1252")
    assert source == SourceFile("01_first/first.py", "first", True, (Cell(None, wanted),))


@pytest.mark.parametrize(
    "data",
    [
        b"x = '\xe9'\n",
        b"# coding: no-such-encoding\n",
        b"\xef\xbb\xbf# coding: latin-1\n",
        b"# coding: rot13\nk = 1\n",
        b"# coding: hex\nk = 1\n",
        b"# coding: undefined\nx = 1\n",
        b"# coding: punycode\n" + b"." * 70,
        b"# coding: ascii\n'\xc3\xa9'\n",
    ],
    ids=[
        *("latin-1", "unknown", "contradiction", "rot13", "hex", "undefined"),
        *("punycode", "ascii"),
    ],
)
def test_a_script_in_no_readable_encoding_says_so(data, script):
    """Whatever a coding line claims, the answer is one sentence that says what to do."""
    assert script(data) == SourceFile("01_first/first.py", "first", True, (), NOT_UTF8)


def test_escapes_that_a_coding_line_asks_for_raise_no_warning(script):
    """The encoding `unicode_escape` warns of odd escapes; a warning must not end the reading."""
    source = script(b"# coding: unicode_escape\nx = '\\d'\n")
    assert bool(source.problem) is not bool(source.cells)


def test_any_bytes_in_a_notebook_are_text_or_a_problem(read, folder):
    """A notebook in another encoding is told like a broken one."""
    (folder / "01_first" / "first.ipynb").write_bytes(b"\xff\xfe")
    assert read().sources["01_first/first.ipynb"].problem == "it is not JSON in UTF-8"


# Sizes.


def test_a_script_of_half_a_mebibyte_is_the_longest(script):
    """A longer one is told with both numbers."""
    assert script(b"#" * 2**19).problem == ""
    assert script(b"#" * (2**19 + 1)).problem == "it has 524289 bytes; at most 524288 are read"


@pytest.mark.parametrize("name", ["first.py", "first.ipynb"])
def test_a_huge_file_is_told_without_being_loaded(name, read, folder):
    """A file of a quarter of a gibibyte costs the grader next to no memory."""
    with (folder / "01_first" / name).open("wb") as file:
        file.truncate(2**28)
    tracemalloc.start()
    try:
        (source,) = read().sources.values()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert source.problem.startswith("it has ")
    assert peak < 2**27


# When it was handed in.


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2027-02-01 22:59:59.123456 UTC\n", datetime(2027, 2, 1, 22, 59, 59, 123456, UTC)),
        ("2027-02-01 22:59:59 UTC", datetime(2027, 2, 1, 22, 59, 59, tzinfo=UTC)),
        (
            "2027-02-01T22:59:59+01:00",
            datetime(2027, 2, 1, 22, 59, 59, tzinfo=timezone(timedelta(hours=1))),
        ),
        ("yesterday", None),
        ("", None),
        ("2027-13-01 22:59:59 UTC", None),
        ("2027-02-01 22:59:59 UTC" + " " * 100, None),
    ],
)
@pytest.mark.parametrize("where", ["01_first/timestamp.txt", "timestamp.txt"])
def test_the_time_beside_a_submission_is_read(where, text, moment, read, folder):
    """The time that nbgrader writes down is when it was handed in; anything else is no time."""
    (folder / "01_first" / "first.py").touch()
    (folder / where).write_text(text, "utf-8")
    found = read().readings["01_first"]
    assert found.submitted_at == moment
    note = "timestamp.txt holds no date and time: nothing is taken for late."
    assert (note in found.notes) is (moment is None)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x00" * 20])
def test_a_time_that_is_no_text_is_no_time(data, read, folder):
    """Bytes of any kind in its place are passed over."""
    (folder / "timestamp.txt").write_bytes(data)
    assert read().readings["01_first"].submitted_at is None


def test_the_assignments_own_time_goes_before_the_students(read, folder):
    """Each assignment has its own time where it has one."""
    (folder / "timestamp.txt").write_text("2027-02-01 12:00:00 UTC", "utf-8")
    (folder / "01_first" / "timestamp.txt").write_text("2027-02-02 12:00:00 UTC", "utf-8")
    assert read().readings["01_first"].submitted_at == datetime(2027, 2, 2, 12, tzinfo=UTC)


# The hash.


def cell(source):
    """A notebook's text with one cell."""
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "metadata": {}}]})


def test_the_hash_is_the_same_for_the_same_code(course, tmp_path):
    """Another student's folder with the same files has the same hash, in any order of writing."""
    names = ["01_first/first.py", "helpers.py"]
    for student, order in (("ada", names), ("bob", names[::-1])):
        for name in order:
            path = tmp_path / student / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {name}\n", "utf-8")
    one, other = (read_submission(course, tmp_path / s, s).hash for s in ("ada", "bob"))
    assert one == other
    assert len(one) == 64


def test_the_hash_follows_every_change_of_code(read, folder):
    """Text, name, form, an unreadable file and an additional one each change the hash."""
    own = folder / "01_first"
    hashes = [read().hash]
    (own / "first.py").write_text("x = 1\n", "utf-8")
    hashes.append(read().hash)
    (own / "first.py").write_text("x = 2\n", "utf-8")
    hashes.append(read().hash)
    (own / "first.py").rename(own / "other.py")
    hashes.append(read().hash)
    (folder / "helpers.py").write_text("x = 2\n", "utf-8")
    hashes.append(read().hash)
    (own / "other.py").unlink()
    (own / "first.ipynb").write_text(cell("x = 2\n"), "utf-8")
    hashes.append(read().hash)
    (own / "first.ipynb").write_text("{", "utf-8")
    hashes.append(read().hash)
    assert len(set(hashes)) == 7


def test_the_hash_does_not_follow_what_was_not_read(read, folder):
    """A time, a text beside the code and what a notebook printed change nothing."""
    path = folder / "01_first" / "first.ipynb"
    path.write_text(cell("x = 1"), "utf-8")
    before = read().hash
    (folder / "timestamp.txt").write_text("2027-02-01 12:00:00 UTC", "utf-8")
    (folder / "notes.txt").write_text("hello", "utf-8")
    path.write_text(cell("x = 1").replace('"metadata"', '"outputs": [1], "metadata"'), "utf-8")
    assert read().hash == before


def test_text_that_is_no_unicode_has_a_hash(read, folder):
    """Half a surrogate pair, which JSON can spell, is hashed like any text."""
    (folder / "01_first" / "first.ipynb").write_text(cell("x = '\ud800'"), "utf-8")
    assert len(read().hash) == 64


def test_a_source_goes_to_the_servant_as_plain_data(script):
    """What the servant takes is JSON: the module, the file's name, and its cells."""
    assert script(b"x = 1\n").header() == {
        "module": "first",
        "importable": True,
        "display": "first.py",
        "cells": [[None, "x = 1\n"]],
    }
