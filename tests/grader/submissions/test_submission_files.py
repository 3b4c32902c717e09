"""Reading a submission's files: links, encodings, sizes, times and the hash."""

import json
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from grader.course.course import Assignment, Course, Exercise, LateRule, Limits
from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, read_submission

NO_TEXT = "it is not text in UTF-8, CP1252; open it, and save it again as UTF-8"


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
    ("data", "text", "encoding"),
    [
        (b"x = '\xe9'\n", "x = 'é'\n", "cp1252"),
        (b"# coding: no-such-encoding\n", "# coding: no-such-encoding\n", "utf-8"),
        (b"# coding: rot13\nk = 1\n", "# coding: rot13\nk = 1\n", "utf-8"),
        (b"# coding: hex\nk = 1\n", "# coding: hex\nk = 1\n", "utf-8"),
        (b"# coding: undefined\nx = 1\n", "# coding: undefined\nx = 1\n", "utf-8"),
        (b"# coding: utf-16\nx = 1\n", "# coding: utf-16\nx = 1\n", "utf-8"),
        (b"# coding: cp037\nx = 1\n", "# coding: cp037\nx = 1\n", "utf-8"),
        (b"# coding: ascii\n'\xc3\xa9'\n", "# coding: ascii\n'é'\n", "utf-8"),
        (b"# coding: utf-8\n'\xe9'\n", "# coding: utf-8\n'é'\n", "cp1252"),
        (b"# coding: punycode\n" + b"." * 70, "# coding: punycode\n" + "." * 70, "utf-8"),
    ],
    ids=[
        *("latin-1", "unknown", "rot13", "hex", "undefined", "utf-16", "ebcdic", "ascii"),
        *("not utf-8", "punycode"),
    ],
)
def test_a_script_that_does_not_say_its_encoding_is_read(data, text, encoding, script):
    """As UTF-8, else as the first of the course's encodings that fits, whatever a line claims."""
    wanted = (Cell(None, text),)
    assert script(data) == SourceFile("01_first/first.py", "first", True, wanted, encoding=encoding)


def test_a_mark_counts_more_than_a_coding_line(script):
    """Python refuses such a file, although nobody can mistake it."""
    assert script(b"\xef\xbb\xbf# coding: latin-1\n'\xc3\xa9'").text == "# coding: latin-1\n'é'"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_mark_of_an_encoding_needs_no_note(encoding, script, read):
    """The file says what it is."""
    assert script(f"x = '{PERSON}'\n".encode(encoding)).text == f"x = '{PERSON}'\n"
    assert not any("encoding" in note for note in read().readings["01_first"].notes)


PERSON = "人"


@pytest.mark.parametrize("encoding", ["gb18030", "cp932"])
def test_a_course_says_which_encodings_are_tried(encoding, course, folder):
    """In China and Japan others than in Europe."""
    text = f"def dot():  # {PERSON}\n    return 1\n"
    (folder / "01_first" / "first.py").write_bytes(text.encode(encoding))
    known = replace(course, encodings=(encoding, "cp1252"))
    submission = read_submission(known, folder, "ada")
    assert submission.sources["01_first/first.py"].text == text
    assert submission.readings["01_first"].notes == (
        f"01_first/first.py does not say its encoding and was read as {encoding.upper()}. Save it "
        "as UTF-8.",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00",
        bytes(200),
        b"PK\x03\x04\x14\xe9",
        b"x = '\x81\xe9'\n",
        b"\xff\xfex",
    ],
    ids=["picture", "zeros", "zip", "no letter", "half a sign"],
)
@pytest.mark.parametrize("name", ["01_first/first.py", "01_first/first.ipynb", "other/first.py"])
def test_what_is_no_text_leaves_the_assignment_undecided(data, name, read, folder):
    """Nobody can say what it was: that is no zero."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    sentence = f"{name} cannot be read: {NO_TEXT}."
    assert read().readings["01_first"] == Reading((), name, undecided=sentence)


def test_a_single_file_that_is_no_text_is_undecided(course, folder):
    """As in a folder."""
    (folder / "first.py").write_bytes(bytes(200))
    reading = read_submission(course, folder / "first.py", "ada").readings["01_first"]
    assert reading.undecided == f"first.py cannot be read: {NO_TEXT}."


def test_a_file_that_is_no_text_does_not_hide_one_that_is(read, folder):
    """The other form counts, as beside a damaged notebook."""
    (folder / "01_first" / "first.py").write_text("def dot():\n    return 1\n", "utf-8")
    (folder / "01_first" / "first.ipynb").write_bytes(bytes(200))
    reading = read().readings["01_first"]
    assert (reading.sources, reading.undecided) == (("01_first/first.py",), "")


def test_escapes_that_a_coding_line_asks_for_raise_no_warning(script):
    """The encoding `unicode_escape` warns of odd escapes; a warning must not end the reading."""
    source = script(b"# coding: unicode_escape\nx = '\\d'\n")
    assert bool(source.problem) is not bool(source.cells)


def test_any_bytes_in_a_notebook_are_text_or_a_problem(read, folder):
    """A notebook in another encoding is told like a broken one."""
    (folder / "01_first" / "first.ipynb").write_bytes(b"\xff\xe9")
    assert read().sources["01_first/first.ipynb"].problem.startswith("its JSON is damaged")


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
