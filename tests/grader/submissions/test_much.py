"""However much one student hands in, reading it takes seconds, and a note names what was not read."""

import json
import time

import pytest

from grader.core.errors import SubmissionError
from grader.submissions import submission
from grader.submissions.notebooks import MOST_PARTS, Cell, cells_of, notebook_text
from grader.submissions.source_file import SourceFile, definitions, may_define
from tests.grader.submissions.conftest import DONE, assignment_of

PY = "01_first/first.py"
NOT_READ = "Not read, because all files together are more than one student's may be: "


@pytest.mark.parametrize("text", ["one " * 2**17, "import " * 2**16 + "one", "one=\n" * 2**15])
def test_no_text_takes_time_by_its_square(text):
    """Half a megabyte of a name in one line took minutes."""
    source = SourceFile("first.py", "first", True, (Cell(None, text),))
    begun = time.thread_time()
    may_define(source, assignment_of("01_first", "one"))
    list(definitions(source, "one"))
    assert time.thread_time() - begun < 2


def test_a_notebook_of_millions_of_values_is_refused():
    """Before they are made; commas and brackets in texts are none."""
    with pytest.raises(SubmissionError, match="more than 4000000 values"):
        notebook_text(b'{"cells": [' + b"[]," * (MOST_PARTS // 2 + 1) + b"0]}")
    said = json.dumps({"cells": [{"cell_type": "code", "source": "[," * MOST_PARTS}]})
    assert len(cells_of(notebook_text(said.encode()).text)) == 1


def test_so_many_files_are_read(read):
    """The others are named in a note."""
    found = read({f"f{number:03}.py": "x = 1\n" for number in range(300)} | {PY: DONE})
    assert len(found.sources) == 200
    (note,) = [n for n in found.readings["01_first"].notes if n.startswith(NOT_READ)]
    assert note == f"{NOT_READ}f200.py, f201.py, f202.py, f203.py, f204.py, …."


def test_time_is_counted(read, monkeypatch):
    """When it is over, no other file is begun."""
    monkeypatch.setattr(submission, "MOST_SECONDS", -1.0)
    found = read({PY: DONE})
    assert found.sources == {}
    assert found.readings["01_first"].notes == (f"{NOT_READ}{PY}.",)


@pytest.mark.proof
def test_notebooks_full_of_values_are_read_in_ten_seconds(read, folder):
    """Of CPU time, however many there are: as many values as one may have, each another key."""
    values = b",".join(b'"%d":%d' % (n, n) for n in range(MOST_PARTS // 2 - 1000))
    for name in ("first", *"abcdefghi"):
        (folder / f"{name}.ipynb").write_bytes(b'{"cells": [], "x": {' + values + b"}}")
    begun = time.process_time()
    found = read()
    assert time.process_time() - begun < 10
    assert any(note.startswith(NOT_READ) for note in found.readings["01_first"].notes)
