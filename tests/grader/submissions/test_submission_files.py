"""Reading a submission's files: links, encodings, sizes, times and the hash."""

import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from grader.submissions.notebooks import Cell
from grader.submissions.source_file import SourceFile
from grader.submissions.submission import Reading, read_submission
from tests.grader.submissions.conftest import DONE, LAYER, notebook, put

PY, NB = "01_first/first.py", "01_first/first.ipynb"
MARKED = ("utf-16", "utf-32", "utf-8-sig")
NO_CODINGS = (b"no-such-encoding", b"rot13", b"hex", b"undefined", b"utf-16", b"cp037")
NO_TEXT = "it is not text in UTF-8, CP1252; open it, and save it again as UTF-8"


@pytest.fixture
def script(read):
    """Reads bytes as the assignment's script."""
    return lambda data: read({PY: data}).sources[PY]


# Links.


@pytest.mark.parametrize("name", [PY, "first.py", "homework.py", "01_first"])
def test_what_a_link_leads_to_is_not_read(name, read, folder, tmp_path):
    """It could be a solution, or another student's work; not even the time in a linked folder is."""
    outside = tmp_path / "outside"
    put(outside, {"first.py": DONE, "timestamp.txt": "2027-02-01 12:00:00 UTC"})
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(outside if name == "01_first" else outside / "first.py")
    submission = read()
    assert submission.is_empty
    assert submission.readings["01_first"].submitted_at is None


def test_a_link_beside_a_file_does_not_hide_it(read, folder, tmp_path):
    """A link is passed over, and what lies beside it is read."""
    put(tmp_path, {"outside.py": DONE})
    put(folder, {NB: notebook()})
    (folder / PY).symlink_to(tmp_path / "outside.py")
    assert list(read().sources) == [NB]


# Encodings.


CODED = b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("x = 'é'\n".encode(), "x = 'é'\n", ""),
        *(("x = '人'\n".encode(name), "x = '人'\n", "") for name in MARKED),
        ("x = 'é'\r\n".encode("utf-16"), "x = 'é'\n", ""),
        (CODED, CODED.decode("latin-1"), ""),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'", None, ""),
        (b"x = 1\r\ny = 2\r\n", "x = 1\ny = 2\n", ""),
        (b"x = 1\ry = 2\r", "x = 1\ny = 2\n", ""),
        (b"", "", ""),
        # Python refuses such a file, although nobody can mistake it.
        (b"\xef\xbb\xbf# coding: latin-1\n'\xc3\xa9'", "# coding: latin-1\n'é'", ""),
        # Where a line claims what cannot be.
        (b"x = '\xe9'\n", "x = 'é'\n", "cp1252"),
        *((b"# coding: %b\nk = 1\n" % name, None, "utf-8") for name in NO_CODINGS),
        (b"# coding: ascii\n'\xc3\xa9'\n", "# coding: ascii\n'é'\n", "utf-8"),
        (b"# coding: utf-8\n'\xe9'\n", "# coding: utf-8\n'é'\n", "cp1252"),
        (b"# coding: punycode\n" + b"." * 70, "# coding: punycode\n" + "." * 70, "utf-8"),
    ],
)
def test_a_script_is_read_in_the_encoding_it_names_or_is_in(data, text, encoding, read):
    """As its mark or coding line says, as UTF-8, else as the first of the course's that fits."""
    submission = read({PY: data})
    cells = (Cell(None, data.decode("cp1252") if text is None else text),)
    assert submission.sources[PY] == SourceFile(PY, "first", True, cells, encoding=encoding)
    is_noted = any("encoding" in note for note in submission.readings["01_first"].notes)
    assert is_noted == bool(encoding)


@pytest.mark.parametrize("encoding", ["gb18030", "cp932"])
def test_a_course_says_which_encodings_are_tried(encoding, course, folder):
    """In China and Japan others than in Europe."""
    text = "def dot():  # 人\n    return 1\n"
    put(folder, {PY: text.encode(encoding)})
    known = replace(course, encodings=(encoding, "cp1252"))
    submission = read_submission(known, folder, "ada")
    assert submission.sources[PY].text == text
    note = f"{PY} does not say its encoding and was read as {encoding.upper()}. Save it as UTF-8."
    assert submission.readings["01_first"].notes == (note,)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0",
        bytes(200),
        b"PK\x03\x04\x14\xe9",
        b"x = '\x81\xe9'\n",
        b"\xff\xfex",
    ],
    ids=["picture", "zeros", "zip", "no letter", "half a sign"],
)
@pytest.mark.parametrize("name", [PY, NB, "other/first.py"])
def test_what_is_no_text_leaves_the_assignment_undecided(data, name, read):
    """Nobody can say what it was: that is no zero."""
    sentence = f"{name} cannot be read: {NO_TEXT}."
    assert read({name: data}).readings["01_first"] == Reading((), name, undecided=sentence)


@pytest.mark.parametrize(
    ("line", "is_undecided"),
    [("from first import dot", True), ("import os, first", True), ("# as in first.py", False)],
)
def test_what_imports_a_file_that_nobody_can_read_is_undecided(course, folder, line, is_undecided):
    """It would fail for that file alone."""
    first, second = course.assignments
    course = replace(course, assignments=(first, replace(second, imports=(first.id,))))
    put(folder, {PY: bytes(200), "02_second/second.py": f"{line}\n{LAYER}"})
    readings = read_submission(course, folder, "ada").readings
    assert readings["02_second"].undecided == readings["01_first"].undecided * is_undecided


def test_a_single_file_that_is_no_text_is_undecided(course, folder):
    """As in a folder."""
    put(folder, {"first.py": bytes(200)})
    reading = read_submission(course, folder / "first.py", "ada").readings["01_first"]
    assert reading.undecided == f"first.py cannot be read: {NO_TEXT}."


def test_a_file_that_is_no_text_does_not_hide_one_that_is(read):
    """The other form counts, as beside a damaged notebook."""
    reading = read({PY: DONE, NB: bytes(200)}).readings["01_first"]
    assert (reading.sources, reading.undecided) == ((PY,), "")


def test_escapes_that_a_coding_line_asks_for_raise_no_warning(script):
    """The encoding `unicode_escape` warns of odd escapes; a warning must not end the reading."""
    source = script(b"# coding: unicode_escape\nx = '\\d'\n")
    assert bool(source.problem) is not bool(source.cells)


def test_any_bytes_in_a_notebook_are_text_or_a_problem(read):
    """A notebook in another encoding is told like a broken one."""
    assert read({NB: b"\xff\xe9"}).sources[NB].problem.startswith("its JSON is damaged")


# Sizes.


def test_a_script_of_half_a_mebibyte_is_the_longest(script):
    """A longer one is told with both numbers."""
    assert script(b"#" * 2**19).problem == ""
    assert script(b"#" * (2**19 + 1)).problem == "it has 524289 bytes; at most 524288 are read"


@pytest.mark.parametrize("name", [PY, NB])
def test_a_huge_file_is_told_without_being_loaded(name, read, folder):
    """A file of a quarter of a gibibyte costs the grader next to no memory."""
    put(folder, {name: ""})
    with (folder / name).open("wb") as file:
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

TIMES = ("01_first/timestamp.txt", "timestamp.txt")
EARLIER = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2027-02-01 22:59:59.123456 UTC\n", datetime(2027, 2, 1, 22, 59, 59, 123456, UTC)),
        ("2027-02-01 22:59:59 UTC", datetime(2027, 2, 1, 22, 59, 59, tzinfo=UTC)),
        ("2027-02-01T22:59:59+01:00", datetime(2027, 2, 1, 22, 59, 59, tzinfo=EARLIER)),
        ("yesterday", None),
        ("", None),
        ("2027-13-01 22:59:59 UTC", None),
        ("2027-02-01 22:59:59 UTC" + " " * 100, None),
        *((data, None) for data in (b"\xff\xfe", bytes(20))),
    ],
)
@pytest.mark.parametrize("where", TIMES)
def test_the_time_beside_a_submission_is_read(where, text, moment, read):
    """The time that nbgrader writes down is when it was handed in; anything else is no time."""
    found = read({PY: "", where: text}).readings["01_first"]
    assert found.submitted_at == moment
    note = "timestamp.txt holds no date and time: nothing is taken for late."
    assert (note in found.notes) is (moment is None)


def test_the_assignments_own_time_goes_before_the_students(read):
    """Each assignment has its own time where it has one."""
    times = {name: f"2027-02-0{n} 12:00:00 UTC" for n, name in enumerate(TIMES, 1)}
    assert read(times).readings["01_first"].submitted_at == datetime(2027, 2, 1, 12, tzinfo=UTC)


# The hash.


def test_the_hash_is_the_same_for_the_same_code(course, tmp_path):
    """Another student's folder with the same files has the same hash, in any order of writing."""
    files = [(PY, "# first\n"), ("helpers.py", "# helpers\n")]
    hashes = []
    for student, order in (("ada", files), ("bob", files[::-1])):
        put(tmp_path / student, dict(order))
        hashes.append(read_submission(course, tmp_path / student, student).hash)
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 64


def test_the_hash_follows_every_change_of_code(course, tmp_path):
    """Text, name, form, an unreadable file and an additional one each change the hash."""
    works = (
        *({}, {PY: "x = 1\n"}, {PY: "x = 2\n"}, {"01_first/other.py": "x = 2\n"}),
        {"01_first/other.py": "x = 2\n", "helpers.py": "x = 2\n"},
        *({NB: notebook("x = 2\n")}, {NB: "{"}),
    )
    hashes = set()
    for number, files in enumerate(works):
        (tmp_path / f"{number}").mkdir()
        put(tmp_path / f"{number}", files)
        hashes.add(read_submission(course, tmp_path / f"{number}", "ada").hash)
    assert len(hashes) == 7


def test_the_hash_does_not_follow_what_was_not_read(read):
    """A time, a text beside the code and what a notebook printed change nothing."""
    before = read({NB: notebook("x = 1")}).hash
    beside = {"timestamp.txt": "2027-02-01 12:00:00 UTC", "notes.txt": "hello"}
    printed = notebook("x = 1").replace('"metadata"', '"outputs": [1], "metadata"', 1)
    assert read({**beside, NB: printed}).hash == before


def test_text_that_is_no_unicode_has_a_hash(read):
    """Half a surrogate pair, which JSON can spell, is hashed like any text."""
    assert len(read({NB: notebook("x = '\ud800'")}).hash) == 64


def test_a_source_goes_to_the_servant_as_plain_data(script):
    """What the servant takes is JSON: the module, the file's name, and its cells."""
    assert script(b"x = 1\n").header() == {
        "module": "first",
        "importable": True,
        "display": "first.py",
        "cells": [[None, "x = 1\n"]],
    }
